// RUN: mini-opt %s -p 'kernel-vectorize{isa=avx512}' --split-input-file | filecheck %s

/// Rows: the reduction gets lanes, accumulators in flight, and a tail for what is left.
// CHECK-LABEL: kernel.func @rows
// CHECK-SAME:    isa = "avx512"
// CHECK:         kernel.parallel d0 : 64 {
// CHECK-NEXT:      kernel.reduce d1 : 1000 <lanes 16, unroll 4, tail scalar> [add]
kernel.func @rows(read %x : !kernel.buf<f32[64000]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %t = reduce d1 : 1000 [add] -> f32 { %v = load %x[1000 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// Columns: memory runs along the parallel loop, so the lanes go there, several vectors of columns at a time.
// CHECK-LABEL: kernel.func @columns
// CHECK:         kernel.parallel d0 : 768 <lanes 16, unroll 4, tail none> {
// CHECK-NEXT:      kernel.reduce d1 : 1000 [add]
kernel.func @columns(read %x : !kernel.buf<f32[768000]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  parallel d0 : 768 {
    %t = reduce d1 : 1000 [add] -> f32 { %v = load %x[768 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// A search for the place of an extreme: two in flight, since each step waits for a comparison. Not so
/// where other kinds of several accumulators stand beside it.
// CHECK-LABEL: kernel.func @place
// CHECK:         kernel.reduce d1 : 1024 <lanes 16, unroll 2, tail none> [argmax]
// CHECK:         kernel.reduce d1 : 1024 <lanes 16, tail none> [argmax, welford]
kernel.func @place(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<i64[64]>, write %p : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %a, %b = reduce d1 : 1024 [argmax] -> f32, i64 { %v = load %x[1024 * d0 + d1] : f32  %i = scalar.index d1 : i64  yield %v, %i : f32, i64 }
    store %b, %o[d0]
    %c, %d, %m, %n, %k = reduce d1 : 1024 [argmax, welford] -> f32, i64, f32, f32, f32 { %v = load %x[1024 * d0 + d1] : f32  %i = scalar.index d1 : i64  yield %v, %i, %v : f32, i64, f32 }
    store %m, %p[d0] } }

// -----

/// A double halves the lanes; an extent below the lanes shrinks them.
// CHECK-LABEL: kernel.func @doubles
// CHECK:         kernel.parallel d0 : 6 <lanes 4, tail scalar> {
kernel.func @doubles(read %x : !kernel.buf<f64[6]>, write %o : !kernel.buf<f64[6]>) [] config {target = "cpp"} {
  parallel d0 : 6 { %v = load %x[d0] : f64  %s = scalar.neg %v : f64  store %s, %o[d0] } }

// -----

/// Negative twin: an ordered loop never runs side by side, nor does a kernel for another target.
// CHECK-LABEL: kernel.func @ordered
// CHECK:         kernel.for d0 : 1024 {
// CHECK-LABEL: kernel.func @other
// CHECK:         kernel.parallel d0 : 1024 {
kernel.func @ordered(read %i : !kernel.buf<i64[1024]>, update %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  %one = scalar.constant 1.0 : f32
  for d0 : 1024 { %k = load %i[d0] : i64  %j = scalar.bound %k to 8  store add %one, %o[%j] } }
kernel.func @other(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
