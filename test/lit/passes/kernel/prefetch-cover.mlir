// RUN: mini-opt %s -p kernel-prefetch | filecheck %s
// RUN: mini-opt %s -p 'kernel-prefetch{cover=false}' | filecheck %s --check-prefix=FIRST

/// The exponentials of a row hide the next row's way here, and its maximum need not ask; a long row is
/// asked for near its use too. Negative twins: a light second stage (@rows of prefetch.mlir), rows that do not fit
/// into the cache beside each other, a stage that has stores of its own to wait for.
// FIRST-LABEL: kernel.func @softmax
// FIRST:         %x[1024 * d0 + d1] {ahead = #loop.expr<1024>}
// FIRST:         %x[1024 * d0 + d2] : f32
// CHECK-LABEL: kernel.func @softmax
// CHECK:         kernel.load %x[1024 * d0 + d1] : f32
// CHECK:         kernel.load %x[1024 * d0 + d2] {ahead = #loop.expr<1024>} : f32
// CHECK:         kernel.load %x[20000 * d3 + d4] {ahead = #loop.expr<1024>} : f32
// CHECK:         kernel.load %x[20000 * d3 + d5] {ahead = #loop.expr<20000>} : f32
// CHECK-LABEL: kernel.func @long
// CHECK:         kernel.load %x[50000 * d0 + d1] {ahead = #loop.expr<1024>} : f32
// CHECK:         kernel.load %x[50000 * d0 + d2] : f32
// CHECK:         kernel.load %x[20000 * d3 + d5] : f32
kernel.func @softmax(read %x : !kernel.buf<f32[2560000]>, write %o : !kernel.buf<f32[2500]>) [] config {target = "cpp"} {
  parallel d0 : 2500 {
    %m = reduce d1 : 1024 <lanes 16, tail none> [max] -> f32 { %a = load %x[1024 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d2 : 1024 <lanes 16, tail none> [add] -> f32 { %b = load %x[1024 * d0 + d2] : f32  %c = scalar.sub %b, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
    store %s, %o[d0] }
  parallel d3 : 128 {
    %m = reduce d4 : 20000 <lanes 16, tail none> [max] -> f32 { %a = load %x[20000 * d3 + d4] : f32  yield %a : f32 }
    %s = reduce d5 : 20000 <lanes 16, tail none> [add] -> f32 { %b = load %x[20000 * d3 + d5] : f32  %c = scalar.sub %b, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
    store %s, %o[d3] } }
kernel.func @long(read %x : !kernel.buf<f32[2560000]>, write %o : !kernel.buf<f32[2560000]>) [] config {target = "cpp"} {
  parallel d0 : 50 {
    %m = reduce d1 : 50000 <lanes 16, tail none> [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d2 : 50000 <lanes 16, tail none> [add] -> f32 { %b = load %x[50000 * d0 + d2] : f32  %c = scalar.sub %b, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
    store %s, %o[d0] }
  parallel d3 : 128 {
    %m = reduce d4 : 20000 <lanes 16, tail none> [max] -> f32 { %a = load %x[20000 * d3 + d4] : f32  yield %a : f32 }
    parallel d5 : 20000 <lanes 16, tail none> { %b = load %x[20000 * d3 + d5] : f32  %c = scalar.sub %b, %m : f32  %e = scalar.exp %c : f32  store %e, %o[20000 * d3 + d5] } } }
