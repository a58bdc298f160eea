// RUN: mini-opt %s -t triton | filecheck %s

/// Several blocks of a reduction at a time: loads first, then one step of each accumulator; what is
/// left over goes block by block, with a mask where the last is not whole. `ahead`: loads of later
/// turns are under way.
// CHECK-LABEL: def sums(
// CHECK:         for d1_base in range(0, 4096, 2048):
// CHECK-NEXT:        d1 = d1_base + tl.arange(0, 1024)
// CHECK-NEXT:        v = tl.load(x + (5000 * d0 + d1))
// CHECK-NEXT:        d1 = d1_base + 1024 + tl.arange(0, 1024)
// CHECK-NEXT:        v_1 = tl.load(x + (5000 * d0 + d1))
// CHECK-NEXT:        acc = acc + (v + v_1)
// CHECK-NEXT:    for d1_base in range(4096, 5000, 1024):
// CHECK:             m1 = d1 < 5000
// CHECK-LABEL: def even(
// CHECK:         for d1_base in range(0, 4096, 2048):
// CHECK-NOT:     for d1_base
// CHECK-LABEL: def online(
// CHECK:           high = tl.broadcast_to(mi_c_max(mi_c_max(acc, v), v_1), [1024])
// CHECK:           acc_1 = acc_1 * tl.exp(acc - base) + (tl.exp(v - base) + tl.exp(v_1 - base))
// CHECK-LABEL: def moments(
// CHECK:           mid = (v + v_1) * 0.5
// CHECK:           to = acc + off * share
// CHECK-LABEL: def once(
// CHECK:         for d1_base in range(0, 4096, 1024):
// CHECK-LABEL: def early(
// CHECK:         for d1_base in tl.range(0, 4096, 1024, num_stages=3):
kernel.func @sums(read %x : !kernel.buf<f32[320000]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %t = reduce d1 : 5000 <lanes 1024, unroll 2, tail mask> [add] -> f32 { %v = load %x[5000 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @even(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %t = reduce d1 : 4096 <lanes 1024, unroll 2, tail none> [max] -> f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @online(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %m, %s = reduce d1 : 4096 <lanes 1024, unroll 2, tail none> [max_sumexp] -> f32, f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %s, %o[d0] } }
kernel.func @moments(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %m, %s, %n = reduce d1 : 4096 <lanes 1024, unroll 2, tail none> [welford] -> f32, f32, f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %s, %o[d0] } }
kernel.func @once(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %t = reduce d1 : 4096 <lanes 1024, tail none> [add] -> f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @early(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton", index = "i32"} {
  parallel d0 : 64 <run grid> {
    %t = reduce d1 : 4096 <lanes 1024, tail none, ahead 2> [add] -> f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }
