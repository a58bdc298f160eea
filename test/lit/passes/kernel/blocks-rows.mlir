// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s

/// Rows that a second stage reads again: few are under way at a time, so that they stay in the
/// cache. The first stage alone takes four, and four blocks at a time.
// CHECK-LABEL: kernel.func @again
// CHECK-SAME:    warps = 16
// CHECK:         kernel.reduce d1 : 50000 <lanes 2048, unroll 4, tail mask> [max]
// CHECK-NEXT:      kernel.load {{.*}} {evict = "last"}
// CHECK:         kernel.load {{.*}} {evict = "first"}
// CHECK-LABEL: kernel.func @once
// CHECK-SAME:    warps = 4
// CHECK:         kernel.reduce d1 : 50000 <lanes 2048, unroll 4, tail mask> [max]
// CHECK-NEXT:      kernel.load {{.*}} {evict = "first"}
// CHECK-LABEL: kernel.func @little
// CHECK-NOT:     evict
kernel.func @again(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[50000000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 50000 { %b = load %x[50000 * d0 + d1] : f32  %c = scalar.sub %b, %m : f32  store %c, %o[50000 * d0 + d1] } } }
kernel.func @once(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[1000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }
kernel.func @little(read %x : !kernel.buf<f32[5000000]>, write %o : !kernel.buf<f32[100]>) [] config {target = "triton"} {
  parallel d0 : 100 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }

/// Many rows: each is folded by one warp, short ones by a part of one; few take all warps, so that
/// the machine is busy.
// CHECK-LABEL: kernel.func @many
// CHECK-SAME:    warps = 1
// CHECK:         kernel.parallel d0 : 32768 <run grid> {
// CHECK-LABEL: kernel.func @short
// CHECK-SAME:    warps = 4
// CHECK:         kernel.parallel d0 : 524288 <run grid, lanes 32, tail none> {
// CHECK:             kernel.load {{.*}} {evict = "first"}
// CHECK-LABEL: kernel.func @kept
// CHECK-NOT:     evict
// CHECK-LABEL: kernel.func @lonely
// CHECK-SAME:    warps = 4
kernel.func @many(read %x : !kernel.buf<bf16[25165824]>, write %o : !kernel.buf<bf16[32768]>) [] config {target = "triton"} {
  parallel d0 : 32768 { tile d1 : 768 {
    %a = load %x[768 * d0 + d1] : bf16  %m = fold max %a over d1 : bf16 -> bf16  store %m, %o[d0] } } }
kernel.func @short(read %x : !kernel.buf<f32[33554432]>, write %o : !kernel.buf<f32[524288]>) [] config {target = "triton"} {
  parallel d0 : 524288 { tile d1 : 64 {
    %a = load %x[64 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32  store %m, %o[d0] } } }
kernel.func @kept(read %x : !kernel.buf<f32[33554432]>, write %o : !kernel.buf<f32[33554432]>) [] config {target = "triton"} {
  parallel d0 : 524288 { tile d1 : 64 {
    %a = load %x[64 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32
    %b = scalar.sub %a, %m : f32  store %b, %o[64 * d0 + d1] } } }
kernel.func @lonely(read %x : !kernel.buf<f32[131072]>, write %o : !kernel.buf<f32[128]>) [] config {target = "triton"} {
  parallel d0 : 128 { tile d1 : 1024 {
    %a = load %x[1024 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32  store %m, %o[d0] } } }

/// A reduction that computes much of each element goes block by block.
// CHECK-LABEL: kernel.func @heavy
// CHECK:         kernel.reduce d1 : 50000 <lanes 2048, tail mask> [add]
kernel.func @heavy(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[1000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [add] -> f32 { %a = load %x[50000 * d0 + d1] : f32  %s = scalar.sin %a : f32  yield %s : f32 }
    store %m, %o[d0] } }

// -----

/// What another kernel reads after this one stays as long as it can.
// CHECK-LABEL: kernel.func @first
// CHECK-NOT:     evict
kernel.func @first(read %x : !kernel.buf<f32[50000000]>, write %o : !kernel.buf<f32[1000]>) [] config {target = "triton"} {
  parallel d0 : 1000 {
    %m = reduce d1 : 50000 [max] -> f32 { %a = load %x[50000 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }
func.func @call(%x: !aten.t<f32[1000, 50000]@cuda>) -> (!aten.t<f32[1000]@cuda>, !aten.t<f32[1000]@cuda>) {
  %o = kernel.alloc : !aten.t<f32[1000]@cuda>
  %p = kernel.alloc : !aten.t<f32[1000]@cuda>
  kernel.launch @first(%x, %o)[]
  kernel.launch @first(%x, %p)[]
  func.return %o, %p : !aten.t<f32[1000]@cuda>, !aten.t<f32[1000]@cuda> }
