// RUN: mini-opt %s --split-input-file -p aten-algebra,aten-dce --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p aten-algebra --print-debuginfo | filecheck %s --check-prefix LOC

/// x * 1, neg(neg x), and pow(x, 2), which eager computes as a product; the new op keeps name,
/// location and the op that it comes from.

// CHECK-LABEL: @chain
// CHECK-NEXT: %e = aten.mul.Tensor(%x, %x) {origin = "pow m.py:4"} : !aten.t<f32[4]>
// CHECK-NEXT: func.return %e
// LOC: %e = aten.mul.Tensor(%x, %x) {origin = "pow m.py:4"} : !aten.t<f32[4]> loc("e"("m.py":4:1))
func.func @chain(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %c = aten.scalar 1.0
  %a = aten.mul.Tensor(%x, %c) : !aten.t<f32[4]>
  %b = aten.neg.default(%a) : !aten.t<f32[4]>
  %d = aten.neg.default(%b) : !aten.t<f32[4]>
  %e = aten.pow.Tensor_Scalar(%d, exponent = 2) {origin = "pow m.py:4"} : !aten.t<f32[4]> loc("e"("m.py":4:1))
  func.return %e : !aten.t<f32[4]>
}

// -----

/// Zero: exact for integers, and for floats only where -0.0 keeps its sign.

// CHECK-LABEL: @zero
// CHECK-NEXT: %z = aten.scalar 0
// CHECK-NEXT: %b = aten.add.Tensor(%x, %z)
// CHECK-NEXT: %e = aten.add.Tensor(%i, %i)
// CHECK-NEXT: %f = aten.mul.Tensor(%b, %z)
// CHECK-NEXT: func.return %f, %e
// CHECK: remark: [aten-algebra] refused add.Tensor %b: -0.0 + 0.0 is 0.0, so adding 0.0 changes the sign of a zero
// CHECK: remark: [aten-algebra] refused mul.Tensor %f: x * 0 is NaN for infinite x, and -0.0 for negative x
func.func @zero(%x: !aten.t<f32[4]>, %i: !aten.t<i64[4]>) -> (!aten.t<f32[4]>, !aten.t<i64[4]>) {
  %z = aten.scalar 0
  %b = aten.add.Tensor(%x, %z) : !aten.t<f32[4]>
  %c = aten.sub.Scalar(%b, other = 0.0) : !aten.t<f32[4]>
  %d = aten.add.Tensor(%i, %z) : !aten.t<i64[4]>
  %e = aten.add.Tensor(%d, %i) : !aten.t<i64[4]>
  %f = aten.mul.Tensor(%c, %z) : !aten.t<f32[4]>
  func.return %f, %e : !aten.t<f32[4]>, !aten.t<i64[4]>
}

// -----

/// Casts: to a wider dtype and back is exact, to a narrower one and back is not.

// CHECK-LABEL: @casts
// CHECK-NEXT: %c = aten.exp.default(%h)
// CHECK-NEXT: %d = aten._to_copy.default(%x, dtype = f16)
// CHECK-NEXT: %e = aten._to_copy.default(%d, dtype = f32)
// CHECK: remark: [aten-algebra] refused _to_copy.default %e: f16 does not hold every f32
func.func @casts(%h: !aten.t<bf16[4]>, %x: !aten.t<f32[4]>) -> (!aten.t<bf16[4]>, !aten.t<f32[4]>) {
  %a = aten._to_copy.default(%h, dtype = f32) : !aten.t<f32[4]>
  %b = aten._to_copy.default(%a, dtype = bf16) : !aten.t<bf16[4]>
  %c = aten.exp.default(%b) : !aten.t<bf16[4]>
  %d = aten._to_copy.default(%x, dtype = f16) : !aten.t<f16[4]>
  %e = aten._to_copy.default(%d, dtype = f32) : !aten.t<f32[4]>
  func.return %c, %e : !aten.t<bf16[4]>, !aten.t<f32[4]>
}

// -----

/// Kept: another dtype, another size by broadcasting, a negation that wraps in a narrower dtype.

// CHECK-LABEL: @keep
// CHECK: %a = aten.mul.Scalar(%i, other = 1.0)
// CHECK-NEXT: %n = aten.neg.default(%u)
// CHECK-NEXT: %b = aten.add.Tensor(%i, %n)
// CHECK-NEXT: %p = aten.pow.Tensor_Scalar(%i, exponent = 2.0)
func.func @keep(%i: !aten.t<i64[4]>, %u: !aten.t<u8[4]>) -> (!aten.t<f32[4]>, !aten.t<i64[4]>, !aten.t<f32[4]>) {
  %a = aten.mul.Scalar(%i, other = 1.0) : !aten.t<f32[4]>
  %n = aten.neg.default(%u) : !aten.t<u8[4]>
  %b = aten.add.Tensor(%i, %n) : !aten.t<i64[4]>
  %p = aten.pow.Tensor_Scalar(%i, exponent = 2.0) : !aten.t<f32[4]>
  func.return %a, %b, %p : !aten.t<f32[4]>, !aten.t<i64[4]>, !aten.t<f32[4]>
}

// -----

/// Not: the log of a softmax, which is -inf where a probability underflows.

// CHECK-LABEL: @log_softmax
// CHECK: aten.log.default
// CHECK: refused log.default %l: where a probability underflows, log gives -inf and log_softmax does not
func.func @log_softmax(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[4, 8]> {
  %e = aten.exp.default(%x) : !aten.t<f32[4, 8]>
  %s = aten.sum.dim_IntList(%e, dim = [1], keepdim = true) : !aten.t<f32[4, 1]>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[4, 8]>
  %l = aten.log.default(%p) : !aten.t<f32[4, 8]>
  func.return %l : !aten.t<f32[4, 8]>
}
