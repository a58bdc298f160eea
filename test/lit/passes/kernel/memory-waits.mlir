// RUN: mini-opt %s -p kernel-memory --print-remarks | filecheck %s

kernel.func @k(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @big(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[2048]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }

/// The first buffer could serve the last, but the peak lies between: it is freed before.
// CHECK-LABEL: func.func @peak
// CHECK-SAME:    planned_peak = 12288 : i64
// CHECK:         kernel.launch @k(%a, %b)[]
// CHECK-NEXT:    kernel.free %a
// CHECK:         kernel.launch @big(%b, %p)[]
// CHECK:         %c = kernel.alloc : !aten.t<f32[1024]>
func.func @peak(%x: !aten.t<f32[1024]>) -> (!aten.t<f32[1024]>, !aten.t<f32[1024]>) {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %b = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%a, %b)[]
  %p = kernel.alloc : !aten.t<f32[2048]>
  kernel.launch @big(%b, %p)[]
  %c = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%b, %c)[]
  func.return %b, %c : !aten.t<f32[1024]>, !aten.t<f32[1024]>
}

/// The twin has its peak earlier: the buffer waits below it, and is used again.
// CHECK-LABEL: func.func @below
// CHECK-SAME:    planned_peak = 20480 : i64
// CHECK:         kernel.launch @two(%a, %p, %q)[]
// CHECK:         %b = kernel.reuse %{{[pq]}}
// CHECK:         %c = kernel.reuse %a
kernel.func @two(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[2048]>, write %p : !kernel.buf<f32[2048]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0]  store %v, %p[d0] } }
func.func @below(%x: !aten.t<f32[1024]>) -> (!aten.t<f32[2048]>, !aten.t<f32[1024]>) {
  %a = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %a)[]
  %p = kernel.alloc : !aten.t<f32[2048]>
  %q = kernel.alloc : !aten.t<f32[2048]>
  kernel.launch @two(%a, %p, %q)[]
  kernel.launch @big(%x, %p)[]
  %b = kernel.alloc : !aten.t<f32[2048]>
  kernel.launch @big(%x, %b)[]
  %c = kernel.alloc : !aten.t<f32[1024]>
  kernel.launch @k(%x, %c)[]
  func.return %b, %c : !aten.t<f32[2048]>, !aten.t<f32[1024]>
}
// CHECK: // remark: [kernel-memory] refused c, a: waiting for it would raise the peak from 12288 to 16384 bytes
