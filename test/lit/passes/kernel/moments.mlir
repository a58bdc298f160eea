// RUN: mini-opt %s --split-input-file -p kernel-moments --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'kernel-moments{moments=false}' | filecheck %s --check-prefix=OFF

/// Moments become sums of differences to the first element, in f64.
// CHECK-LABEL: kernel.func @row
// CHECK:         %[[X:.*]] = kernel.load %x[1000 * d0] : f32
// CHECK-NEXT:    %[[FIRST:.*]] = scalar.cast %[[X]] : f32 to f64
// CHECK-NEXT:    %[[S:.*]], %[[Q:.*]] = kernel.reduce d1 : 1000 [add, add] -> f64, f64 {
// CHECK-NEXT:      kernel.load %x[1000 * d0 + d1] : f32
// CHECK-NEXT:      scalar.cast
// CHECK-NEXT:      %[[D:.*]] = scalar.sub %{{.*}}, %[[FIRST]] : f64
// CHECK-NEXT:      %[[E:.*]] = scalar.mul %[[D]], %[[D]] : f64
// CHECK-NEXT:      kernel.yield %[[D]], %[[E]] : f64, f64
// OFF-LABEL:   kernel.func @row
// OFF:           [welford]
kernel.func @row(read %x : !kernel.buf<f32[8000]>, write %o : !kernel.buf<f32[8]>, write %p : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 1000 [welford] -> f32, f32, f32 { %a = load %x[1000 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0]
    store %v, %p[d0] } }

// -----

/// A walk over (images, places) of a channel becomes two loops; the inner one is in order.
// CHECK-LABEL: kernel.func @channel
// CHECK:         kernel.reduce d1 : 8 [add, add] -> f64, f64 {
// CHECK-NEXT:      kernel.reduce d2 : 49 [add, add] -> f64, f64 {
// CHECK-NEXT:        kernel.load %x[49 * d0 + 784 * d1 + d2] : f32
// OFF-LABEL:   kernel.func @channel
kernel.func @channel(read %x : !kernel.buf<f32[6272]>, write %o : !kernel.buf<f32[16]>) [] config {target = "cpp"} {
  parallel d0 : 16 {
    %m, %v, %n = reduce d1 : 392 [welford] -> f32, f32, f32 {
      %a = load %x[49 * d0 + 784 * (d1 floordiv 49) + (d1 mod 49)] : f32
      yield %a : f32 }
    store %v, %o[d0] } }

// -----

/// Negative twins: f64 has no wider type; an index beside the moments; maybe no element; Triton.
// CHECK-LABEL: kernel.func @wide
// CHECK:         [welford]
// CHECK-LABEL: kernel.func @beside
// CHECK:         [welford, argmax]
// CHECK-LABEL: kernel.func @empty
// CHECK:         [welford]
// CHECK-LABEL: kernel.func @gpu
// CHECK:         [welford]
// CHECK:       // remark: [kernel-moments] refused wide: moments of f64 are not summed with a shift
// CHECK-NEXT:  // remark: [kernel-moments] refused beside: [argmax] stands beside them
// CHECK-NEXT:  // remark: [kernel-moments] refused empty: there may be no first element
// OFF-LABEL:   kernel.func @wide
kernel.func @wide(read %x : !kernel.buf<f64[1000]>, write %o : !kernel.buf<f64[1]>) [] config {target = "cpp"} {
  %m, %v, %n = reduce d0 : 1000 [welford] -> f64, f64, f64 { %a = load %x[d0] : f64  yield %a : f64 }
  store %v, %o[0] }
kernel.func @beside(read %x : !kernel.buf<f32[1000]>, write %o : !kernel.buf<f32[1]>, write %p : !kernel.buf<i64[1]>) [] config {target = "cpp"} {
  %m, %v, %n, %b, %i = reduce d0 : 1000 [welford, argmax] -> f32, f32, f32, f32, i64 {
    %a = load %x[d0] : f32  %j = scalar.index d0 : i64  yield %a, %a, %j : f32, f32, i64 }
  store %v, %o[0]
  store %i, %p[0] }
kernel.func @empty(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[1]>) [s0] config {target = "cpp"} {
  %m, %v, %n = reduce d0 : s0 [welford] -> f32, f32, f32 { %a = load %x[d0] : f32  yield %a : f32 }
  store %v, %o[0] }
kernel.func @gpu(read %x : !kernel.buf<f32[1000]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %m, %v, %n = reduce d0 : 1000 [welford] -> f32, f32, f32 { %a = load %x[d0] : f32  yield %a : f32 }
  store %v, %o[0] }
