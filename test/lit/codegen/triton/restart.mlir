// RUN: mini-opt %s -t triton --split-input-file | filecheck %s

/// A Triton loop may not change the type of a variable: one that was a block of another shape becomes
/// one of the loop's before it.
// CHECK-LABEL: def two_shapes(
// CHECK:         d1 = tl.arange(0, 64)
// CHECK:         fold = tl.sum
// CHECK:         d1 = tl.arange(0, 128)
// CHECK-NEXT:    m1 = d1 < 1000
// CHECK-NEXT:    for d1_base in range(0, 1000, 128):
// CHECK-NEXT:      d1 = d1_base + tl.arange(0, 128)
kernel.func @two_shapes(read %x : !kernel.buf<f32[6400]>, write %o : !kernel.buf<f32[100000]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 100 <run grid> {
    %s = reduce d1 : 64 <lanes 64, tail none> [add] -> f32 {
      %v = load %x[64 * d0 + d1] : f32
      yield %v : f32 }
    parallel d1 : 1000 <lanes 128, tail mask> {
      store %s, %o[1000 * d0 + d1] } } }

// -----

/// One that is of the loop's shape already is left alone.
// CHECK-LABEL: def one_shape(
// CHECK:         d1 = tl.arange(0, 128)
// CHECK:         fold = tl.sum
// CHECK-NEXT:    fold = fold.to(tl.float32)
// CHECK-NEXT:    s = fold
// CHECK-NEXT:    for d1_base in range(0, 1000, 128):
kernel.func @one_shape(read %x : !kernel.buf<f32[12800]>, write %o : !kernel.buf<f32[100000]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 100 <run grid> {
    %s = reduce d1 : 128 <lanes 128, tail none> [add] -> f32 {
      %v = load %x[128 * d0 + d1] : f32
      yield %v : f32 }
    parallel d1 : 1000 <lanes 128, tail mask> {
      store %s, %o[1000 * d0 + d1] } } }
