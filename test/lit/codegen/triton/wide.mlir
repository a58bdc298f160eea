// RUN: mini-opt %s -t triton --split-input-file | filecheck %s

/// A loop counts in 32 bits, and 32800 * d1 does not fit them: its variable is widened.
// CHECK-LABEL: def columns(
// CHECK:         pid = tl.program_id(0).to(tl.int64)
// CHECK:         for d1_base in range(0, 65600, 32):
// CHECK-NEXT:      d1 = d1_base + tl.arange(0, 32).to(tl.int64)[None, :]
// CHECK:           tl.load(x + (d0 + 32800 * d1)
kernel.func @columns(read %x : !kernel.buf<f32[2151680000]>, write %o : !kernel.buf<f32[32800]>) [] config {target = "triton", warps = 4, index = "i64"} {
  parallel d0 : 32800 <run grid, lanes 128, tail mask> {
    %s = reduce d1 : 65600 <lanes 32> [add] -> f32 {
      %v = load %x[d0 + 32800 * d1] : f32
      yield %v : f32 }
    store %s, %o[d0] } }

// -----

/// So is one that goes element by element.
// CHECK-LABEL: def steps(
// CHECK:         for d1_base in range(0, 65600):
// CHECK-NEXT:      d1 = d1_base + tl.full([], 0, tl.int64)
kernel.func @steps(read %x : !kernel.buf<f32[2151680000]>, update %o : !kernel.buf<f32[32800]>) [] config {target = "triton", warps = 4, index = "i64"} {
  parallel d0 : 32800 <run grid, lanes 128, tail mask> {
    for d1 : 65600 {
      %v = load %x[d0 + 32800 * d1] : f32
      store max %v, %o[d0] } } }

// -----

/// Where 32 bits hold every address nothing is widened.
// CHECK-LABEL: def narrow(
// CHECK:         d1 = d1_base + tl.arange(0, 32)[None, :]
kernel.func @narrow(read %x : !kernel.buf<f32[8192000]>, write %o : !kernel.buf<f32[32800]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 32000 <run grid, lanes 128, tail mask> {
    %s = reduce d1 : 256 <lanes 32> [add] -> f32 {
      %v = load %x[d0 + 32000 * d1] : f32
      yield %v : f32 }
    store %s, %o[d0] } }
