// RUN: mini-opt %s -t triton | filecheck %s

/// `far = "first"`: the helper that asks first whether an argument is large, also of the fast ones;
/// without the word the helper that asks last.
// CHECK-LABEL: def mi_first_sin(a):
// CHECK-NEXT:      far =
// CHECK-LABEL: def mi_sin_f32(a):
// CHECK-NEXT:      v = mi_sin_near(a)
// CHECK-NEXT:      far =
// CHECK-LABEL: def first(
// CHECK:           mi_first_sin(
// CHECK-LABEL: def last(
// CHECK:           mi_sin(
// CHECK-LABEL: def fast(
// CHECK:           mi_first_fast_sin(
kernel.func @first(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, far = "first", index = "i32"} {
  parallel d0 : 64 <run grid, lanes 64, tail none> { %a = load %x[d0] : f32  %s = scalar.sin %a : f32  store %s, %o[d0] } }
kernel.func @last(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 64 <run grid, lanes 64, tail none> { %a = load %x[d0] : f32  %s = scalar.sin %a : f32  store %s, %o[d0] } }
kernel.func @fast(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", warps = 4, math = "fast", far = "first", index = "i32"} {
  parallel d0 : 64 <run grid, lanes 64, tail none> { %a = load %x[d0] : f32  %s = scalar.sin %a : f32  store %s, %o[d0] } }
