// RUN: not mini-opt %s -t triton 2>&1 | filecheck %s --check-prefix=ERROR

/// What waits for a grid can not stand in the same kernel.
// ERROR: k: a grid has no barrier
kernel.func @k(update %x : !kernel.buf<f32[1000]>, update %y : !kernel.buf<f32[1000]>) [] config {target = "triton", warps = 4, index = "i32"} {
  parallel d0 : 1000 <run grid, lanes 256, tail mask> { %c = scalar.constant 1.0 : f32  store %c, %x[d0] }
  barrier
  parallel d0 : 1000 <run grid, lanes 256, tail mask> { %c = load %x[d0] : f32  store %c, %y[d0] } }
