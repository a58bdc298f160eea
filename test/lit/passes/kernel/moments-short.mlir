// RUN: mini-opt %s -p kernel-moments --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-moments{twice=0}" --split-input-file | filecheck %s --check-prefix ONCE

/// A short row of f32 whose variance is wanted under a root, before costly work, is walked twice in f32.
// CHECK-LABEL: kernel.func @costly
// CHECK:         = kernel.reduce d1 : 768 [add] -> f32 {
// CHECK:         %m = scalar.div
// CHECK-NEXT:    %v = kernel.reduce d1 : 768 [add] -> f32 {
// CHECK:           scalar.sub %{{.*}}, %m : f32
// ONCE-LABEL:  kernel.func @costly
// ONCE:          kernel.reduce d1 : 768 [add, add] -> f64, f64 {
kernel.func @costly(read %x : !kernel.buf<f32[6144]>, write %o : !kernel.buf<f32[6144]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 { %a = load %x[768 * d0 + d1] : f32  yield %a : f32 }
    %d = scalar.div %v, %n : f32  %c = scalar.constant 1.0e-05 : f32  %e = scalar.add %d, %c : f32  %r = scalar.rsqrt %e : f32
    parallel d1 : 768 { %a = load %x[768 * d0 + d1] : f32  %b = scalar.sub %a, %m : f32  %f = scalar.mul %b, %r : f32
      %g = scalar.erf %f : f32  store %g, %o[768 * d0 + d1] } } }

// -----

/// Negative twins: light work after it, for which the row comes from memory; a variance that is stored
/// as it is, in which eager has no error; a row that the first cache does not hold.
// CHECK-LABEL: kernel.func @light
// CHECK:         [add, add] -> f64, f64
// CHECK-LABEL: kernel.func @stored
// CHECK:         [add, add] -> f64, f64
// CHECK-LABEL: kernel.func @long
// CHECK:         [add, add] -> f64, f64
kernel.func @light(read %x : !kernel.buf<f32[6144]>, write %o : !kernel.buf<f32[6144]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 { %a = load %x[768 * d0 + d1] : f32  yield %a : f32 }
    %r = scalar.rsqrt %v : f32
    parallel d1 : 768 { %a = load %x[768 * d0 + d1] : f32  %b = scalar.sub %a, %m : f32  %f = scalar.mul %b, %r : f32
      store %f, %o[768 * d0 + d1] } } }
kernel.func @stored(read %x : !kernel.buf<f32[6144]>, write %o : !kernel.buf<f32[6144]>, write %p : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 { %a = load %x[768 * d0 + d1] : f32  yield %a : f32 }
    %r = scalar.rsqrt %v : f32  store %v, %p[d0]
    parallel d1 : 768 { %a = load %x[768 * d0 + d1] : f32  %b = scalar.sub %a, %m : f32  %f = scalar.mul %b, %r : f32
      %g = scalar.erf %f : f32  store %g, %o[768 * d0 + d1] } } }
kernel.func @long(read %x : !kernel.buf<f32[80000]>, write %o : !kernel.buf<f32[80000]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 10000 [welford] -> f32, f32, f32 { %a = load %x[10000 * d0 + d1] : f32  yield %a : f32 }
    %r = scalar.rsqrt %v : f32
    parallel d1 : 10000 { %a = load %x[10000 * d0 + d1] : f32  %b = scalar.sub %a, %m : f32  %f = scalar.mul %b, %r : f32
      %g = scalar.erf %f : f32  store %g, %o[10000 * d0 + d1] } } }
