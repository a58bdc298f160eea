// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s

/// Sums of rows inside a tile of columns: few warps, many rows at once, read once; no loads ahead.
// CHECK-LABEL: kernel.func @light
// CHECK-SAME:    warps = 4
// CHECK:         kernel.reduce d1 : 64 <lanes 8, tail none> [add]
// CHECK-NEXT:      kernel.load {{.*}} {evict = "first"}
kernel.func @light(read %x : !kernel.buf<bf16[33554432]>, write %w : !kernel.buf<f32[524288]>, write %o : !kernel.buf<f32[32768]>) [] config {target = "triton"} {
  parallel d2 : 512 { tile d0 : 1024 {
    %t = reduce d1 : 64 [add] -> f32 {
      %v = load %x[d0 + 1024 * d1 + 65536 * d2] : bf16  %a = scalar.cast %v : bf16 to f32
      %s = kernel.fold add %a over d0 : f32 -> f32
      store %s, %o[d1 + 64 * d2]
      yield %a : f32 }
    store %t, %w[d0 + 1024 * d2] } } }

// -----

/// Negative twin: rows that take more work keep eight warps, with loads ahead.
// CHECK-LABEL: kernel.func @heavy
// CHECK-SAME:    warps = 8
// CHECK:         kernel.reduce d1 : 64 <lanes 4, tail none, ahead 2> [add]
kernel.func @heavy(read %x : !kernel.buf<bf16[33554432]>, write %w : !kernel.buf<f32[524288]>, write %o : !kernel.buf<f32[32768]>) [] config {target = "triton"} {
  parallel d2 : 512 { tile d0 : 1024 {
    %t = reduce d1 : 64 [add] -> f32 {
      %v = load %x[d0 + 1024 * d1 + 65536 * d2] : bf16  %a = scalar.cast %v : bf16 to f32  %e = scalar.exp %a : f32  %f = scalar.exp %e : f32
      %s = kernel.fold add %f over d0 : f32 -> f32
      store %s, %o[d1 + 64 * d2]
      yield %f : f32 }
    store %t, %w[d0 + 1024 * d2] } } }
