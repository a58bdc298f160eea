// RUN: mini-opt %s -p kernel-memory | filecheck %s
// RUN: mini-opt %s -p 'kernel-memory{reuse=false}' | filecheck %s --check-prefix=FRESH

kernel.func @k(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }

/// The first buffer is dead when the third of equal bytes is needed: its memory is used again.
// CHECK-LABEL: func.func @call
// CHECK:         kernel.launch @k(%x, %a)[]
// CHECK-NEXT:    kernel.free %x
// CHECK:         kernel.launch @k(%a, %b)[]
// CHECK-NEXT:    %c = kernel.reuse %a : !aten.t<f32[1024]> to !aten.t<f32[32, 32]>
// CHECK-NEXT:    kernel.launch @k(%b, %c)[]
// CHECK-NEXT:    kernel.free %b
// CHECK-NEXT:    func.return %c
// FRESH:         kernel.free %a
// FRESH-NEXT:    %c = kernel.alloc
func.func @call(%x: !aten.t<f32[1024]>) -> !aten.t<f32[32, 32]> {
  kernel.check %x : !aten.t<f32[1024]>
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%a, %b)[]
  %c = kernel.alloc : !aten.t<f32[32, 32]>
  kernel.launch @k(%b, %c)[]
  func.return %c : !aten.t<f32[32, 32]>
}

/// Negative twins: a returned buffer, one with a live view, and one of other bytes are not reused.
// CHECK-LABEL: func.func @kept
// CHECK-NOT:     kernel.reuse
// CHECK:         func.return
func.func @kept(%x: !aten.t<f32[1024]>) -> (!aten.t<f32[1024]>, !aten.t<f32[512]>, !aten.t<f32[1024]>) {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %b)[]
  %v = kernel.reinterpret %b offset 0 : !aten.t<f32[1024]> to !aten.t<f32[512]>
  %c = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %c)[]
  func.return %a, %v, %c : !aten.t<f32[1024]>, !aten.t<f32[512]>, !aten.t<f32[1024]>
}

/// The plan's peak stands on the program: two buffers of 4096 bytes.
// CHECK-LABEL: func.func @bound
// CHECK-SAME:    attributes {eager_peak = 12288 : i64, planned_peak = 8192 : i64}
func.func @bound(%x: !aten.t<f32[1024]>) -> !aten.t<f32[1024]> attributes {eager_peak = 12288 : i64} {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%a, %b)[]
  func.return %b : !aten.t<f32[1024]>
}
