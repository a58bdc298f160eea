// RUN: mini-opt %s -p 'kernel-split{programs=256}' --split-input-file --print-remarks | filecheck %s

/// A sum over everything: 256 programs sum parts, one sums the parts.
// CHECK-LABEL: kernel.func @total_parts(read %x : !kernel.buf<f32[1048576]>, write %ws : !kernel.buf<f32[256]>)
// CHECK-NEXT:    kernel.parallel d1 : 256 {
// CHECK-NEXT:      %t = kernel.reduce d0 : 4096 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[d0 + 4096 * d1] : f32
// CHECK:           kernel.store %t, %ws[d1]
// CHECK-LABEL: kernel.func @total(write %o : !kernel.buf<f32[1]>, read %ws : !kernel.buf<f32[256]>)
// CHECK-NEXT:    %t = kernel.reduce d1 : 256 [add] -> f32 {
// CHECK-NEXT:      {{%.*}} = kernel.load %ws[d1] : f32
// CHECK:         kernel.store %t, %o[0]
// CHECK-LABEL: func.func @call
// CHECK:         %ws = kernel.alloc : !aten.t<f32[256]@cuda>
// CHECK-NEXT:    kernel.launch @total_parts(%x, %ws)[]
// CHECK-NEXT:    kernel.launch @total(%o, %ws)[]
kernel.func @total(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %t = reduce d0 : 1048576 [add] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %t, %o[0] }
func.func @call(%x: !aten.t<f32[1048576]@cuda>) -> !aten.t<f32[]@cuda> {
  %o = kernel.alloc : !aten.t<f32[]@cuda>
  kernel.launch @total(%x, %o)[]
  func.return %o : !aten.t<f32[]@cuda> }

// -----

/// Many rows fill the machine by themselves.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.reduce d1 : 4096
// CHECK:       // remark: [kernel-split] refused rows: enough programs, or a short reduction
kernel.func @rows(read %x : !kernel.buf<f32[67108864]>, write %o : !kernel.buf<f32[16384]>) [] config {target = "triton"} {
  parallel d0 : 16384 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// A mean with its squares does not combine its own results.
// CHECK:       // remark: [kernel-split] refused moments: [welford] does not combine its own results
kernel.func @moments(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %m, %s, %n = reduce d0 : 1048576 [welford] -> f32, f32, f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %m, %o[0] }
