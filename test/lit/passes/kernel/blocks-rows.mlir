// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s

/// Rows that a second stage reads again: few are under way at a time, so that they stay in the
/// cache. The first stage alone would take eight warps.
// CHECK-LABEL: kernel.func @again
// CHECK-SAME:    warps = 32
// CHECK:         kernel.reduce d1 : 50000 <lanes 4096, tail mask> [max]
// CHECK-NEXT:      kernel.load {{.*}} {evict = "last"}
// CHECK:         kernel.load {{.*}} {evict = "first"}
// CHECK-LABEL: kernel.func @once
// CHECK-SAME:    warps = 8
// CHECK-NOT:     evict
kernel.func @again(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[50000000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 50000 { %b = load %x[50000 * d0 + d1] : f32  %c = scalar.sub %b, %m : f32  store %c, %o[50000 * d0 + d1] } } }
kernel.func @once(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[1000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }
