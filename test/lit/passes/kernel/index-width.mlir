// RUN: mini-opt %s -p kernel-index-width --split-input-file | filecheck %s

/// Small buffers are addressed with 32 bits; what may pass 2^31 elements is not.
// CHECK-LABEL: kernel.func @small
// CHECK-SAME:    index = "i32"
// CHECK-LABEL: kernel.func @huge
// CHECK-SAME:    index = "i64"
// CHECK-LABEL: kernel.func @dynamic
// CHECK-SAME:    index = "i64"
kernel.func @small(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @huge(read %x : !kernel.buf<f32[2147483648]>, write %o : !kernel.buf<f32[2147483648]>) [] config {target = "triton"} {
  parallel d0 : 2147483648 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @dynamic(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[s0]>) [s0] config {target = "triton"} {
  parallel d0 : s0 { %v = load %x[d0] : f32  store %v, %o[d0] } }

// -----

/// A size with a known bound is as good as a number.
// CHECK-LABEL: kernel.func @bounded
// CHECK-SAME:    index = "i32"
kernel.func @bounded(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[s0]>) [s0] config {target = "triton"} {
  parallel d0 : s0 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%n: !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2, max 4096]>} {
  func.return }
