// RUN: mini-opt %s -t triton | filecheck %s

/// An axis at hand: its extreme and then the place of it, in 32 bits where they hold all indices and
/// in 64 where they do not; mean and squares in two sums.
// CHECK-LABEL: def near(
// CHECK:         tl.reduce(
// CHECK:         tl.where({{.*}}.to(tl.int32), [1024]), 2147483647)
// CHECK-LABEL: def far(
// CHECK-NOT:     tl.int32), [1024]
// CHECK:         9223372036854775807)
// CHECK-LABEL: def moments(
// CHECK:         total = tl.sum(
// CHECK:         squares = tl.sum(
// CHECK-NOT:     mi_c_welford
// CHECK-LABEL: LAUNCH
kernel.func @near(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<i64[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> { tile d1 : 1024 <lanes 1024> {
    %v = load %x[1024 * d0 + d1] : f32  %i = scalar.index d1 : i64
    %m, %j = fold argmax %v, %i over d1 : f32, i64 -> f32, i64  store %j, %o[d0] } } }
kernel.func @far(read %x : !kernel.buf<f32[4294967296]>, write %o : !kernel.buf<i64[4194304]>) [] config {target = "triton", index = "i64"} {
  parallel d0 : 4194304 <run grid> { tile d1 : 1024 <lanes 1024> {
    %v = load %x[1024 * d0 + d1] : f32  %i = scalar.index 1024 * d0 + d1 : i64
    %m, %j = fold argmax %v, %i over d1 : f32, i64 -> f32, i64  store %j, %o[d0] } } }
kernel.func @moments(read %x : !kernel.buf<f32[64000]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> { tile d1 : 1000 <lanes 1024, tail mask> {
    %v = load %x[1000 * d0 + d1] : f32
    %m, %s, %n = fold welford %v over d1 : f32 -> f32, f32, f32  store %s, %o[d0] } } }
