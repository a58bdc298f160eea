// RUN: mini-opt %s -t wrapper | filecheck %s

/// A kernel chosen by a size at run time is an `if`; candidates for measuring are one callable.

// CHECK:      small = host.triton("small")
// CHECK-NEXT: large_0 = host.triton("large.0")
// CHECK-NEXT: large_1 = host.triton("large.1")
// CHECK-NEXT: large = host.variants("large", [large_0, large_1], updates=[0])
// CHECK:          if -s0 + 1025 > 0:
// CHECK-NEXT:         small(x, s0)
// CHECK-NEXT:     else:
// CHECK-NEXT:         large(x, s0)
// CHECK-NEXT:     large(x, 4)
kernel.func @small(update %x : !kernel.buf<f32[s0]>) [s0] config {target = "triton"} {
}
kernel.func @large.0(update %x : !kernel.buf<f32[s0]>) [s0] config {target = "triton"} {
}
kernel.func @large.1(update %x : !kernel.buf<f32[s0]>) [s0] config {target = "triton"} {
}
kernel.variants @large [@large.0, @large.1]
func.func @call(%n: !aten.int<s0>, %x: !aten.t<f32[s0]@cuda>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  kernel.launch @small(%x)[s0] when (1025 - s0) else @large
  kernel.launch @large(%x)[4]
  func.return
}
