// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-blocks{long=1000}' --split-input-file | filecheck %s --check-prefix=SHORT

/// Loads that neighbours share: one warp, whose threads divide for several elements at once. With one
/// such load there is little to share.
// CHECK-LABEL: kernel.func @several
// CHECK-SAME:    warps = 1
// CHECK:         kernel.parallel d0 : 56 <run grid, lanes 8, tail none>
// CHECK-LABEL: kernel.func @single
// CHECK-SAME:    warps = 4
kernel.func @several(read %x : !kernel.buf<f32[1568]>, write %o : !kernel.buf<f32[3136]>) [] config {target = "triton"} {
  parallel d0 : 56 { parallel d1 : 56 {
    %a = load %x[28 * d0 + (d1 floordiv 2)] : f32  %b = load %x[28 * d0 + ((d1 + 1) floordiv 2)] : f32
    %s = scalar.add %a, %b : f32  store %s, %o[56 * d0 + d1] } } }
kernel.func @single(read %x : !kernel.buf<f32[1568]>, write %o : !kernel.buf<f32[3136]>) [] config {target = "triton"} {
  parallel d0 : 56 { parallel d1 : 56 {
    %a = load %x[28 * d0 + (d1 floordiv 2)] : f32  store %a, %o[56 * d0 + d1] } } }

// -----

/// What computes for long has a larger block, if enough are left; what does not, has not.
// CHECK-LABEL: kernel.func @long
// CHECK:         kernel.parallel d0 : 33554432 <run grid, lanes 2048, tail none>
// SHORT-LABEL: kernel.func @long
// SHORT:         kernel.parallel d0 : 33554432 <run grid, lanes 1024, tail none>
// CHECK-LABEL: kernel.func @few
// CHECK:         kernel.parallel d0 : 1048576 <run grid, lanes 1024, tail none>
kernel.func @long(read %x : !kernel.buf<f32[33554432]>, write %o : !kernel.buf<f32[33554432]>) [] config {target = "triton"} {
  parallel d0 : 33554432 { %a = load %x[d0] : f32  %b = scalar.tanh %a : f32  %c = scalar.exp %b : f32  %d = scalar.log %c : f32
    store %d, %o[d0] } }
kernel.func @few(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "triton"} {
  parallel d0 : 1048576 { %a = load %x[d0] : f32  %b = scalar.tanh %a : f32  %c = scalar.exp %b : f32  %d = scalar.log %c : f32
    store %d, %o[d0] } }

// -----

/// A sine in a reduction asks first whether its argument is large; in a pointwise kernel it asks last.
// CHECK-LABEL: kernel.func @row
// CHECK-SAME:    far = "first"
// CHECK-LABEL: kernel.func @point
// CHECK-NOT:     far
// CHECK:         kernel.parallel
kernel.func @row(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 { %t = reduce d1 : 1024 [add] -> f32 { %a = load %x[1024 * d0 + d1] : f32  %s = scalar.sin %a : f32  yield %s : f32 }
    store %t, %o[d0] } }
kernel.func @point(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "triton"} {
  parallel d0 : 1048576 { %a = load %x[d0] : f32  %s = scalar.sin %a : f32  store %s, %o[d0] } }

// -----

/// Moments of columns: 64 columns and two warps, since three accumulators are folded; a sum has more.
// CHECK-LABEL: kernel.func @moments
// CHECK-SAME:    warps = 2
// CHECK:         kernel.parallel d0 : 1024 <run grid, lanes 64, tail none>
// CHECK:           kernel.reduce d1 : 512 <lanes 8, unroll 4, tail none> [welford]
// CHECK-LABEL: kernel.func @sums
// CHECK-SAME:    warps = 8
// CHECK:         kernel.parallel d0 : 1024 <run grid, lanes 128, tail none>
kernel.func @moments(read %x : !kernel.buf<bf16[33554432]>, write %m : !kernel.buf<f32[65536]>) [] config {target = "triton"} {
  parallel d2 : 64 { parallel d0 : 1024 {
    %a, %b, %c = reduce d1 : 512 [welford] -> f32, f32, f32 { %v = load %x[1024 * d1 + d0 + 524288 * d2] : bf16  %w = scalar.cast %v : bf16 to f32  yield %w : f32 }
    store %b, %m[d0 + 1024 * d2] } } }
kernel.func @sums(read %x : !kernel.buf<bf16[33554432]>, write %m : !kernel.buf<f32[65536]>) [] config {target = "triton"} {
  parallel d2 : 64 { parallel d0 : 1024 {
    %a = reduce d1 : 512 [add] -> f32 { %v = load %x[1024 * d1 + d0 + 524288 * d2] : bf16  %w = scalar.cast %v : bf16 to f32  yield %w : f32 }
    store %a, %m[d0 + 1024 * d2] } } }
