// RUN: %roundtrip
// RUN: %generic

/// Tensors at the front are given by position, all else by name; defaults are left out; operand
/// types are those of their definitions.

// CHECK:      func.func @ops(%x: !aten.t<f32[4, 8]>, %y: !aten.t<f32[4, 8]>, %i: !aten.t<i64[3]>, %k: !aten.t<f32[1, 1, 3, 3]>)
// CHECK-NEXT:   %a = aten.add.Tensor(%x, %y) : !aten.t<f32[4, 8]>
// CHECK-NEXT:   %b = aten.add.Tensor(%x, %y, alpha = 2) {origin = "add m.py:3"} : !aten.t<f32[4, 8]>
// CHECK-NEXT:   %c = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[4, 16]>
// CHECK-NEXT:   %d = aten.index.Tensor(%x, [none, %i]) : !aten.t<f32[4, 3]>
// CHECK-NEXT:   %mean, %rstd = aten.var_mean.correction(%x, dim = [-1], correction = 0, keepdim = true) : !aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>
// CHECK-NEXT:   %f = aten.full.default(size = [2, 3], fill_value = -1.5e-05, dtype = bf16, device = "cuda:1") : !aten.t<bf16[2, 3]@"cuda:1">
// CHECK-NEXT:   %g = aten.clone.default(%x, memory_format = contiguous_format) : !aten.t<f32[4, 8]>
// CHECK-NEXT:   %h = aten.convolution.default(%k, %k, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[1, 1, 1, 1]>
func.func @ops(%x: !aten.t<f32[4, 8]>, %y: !aten.t<f32[4, 8]>, %i: !aten.t<i64[3]>, %k: !aten.t<f32[1, 1, 3, 3]>) {
  %a = aten.add.Tensor(%x, %y, alpha = 1) : !aten.t<f32[4, 8]>
  %b = aten.add.Tensor(%x, other = %y, alpha = 2) {origin = "add m.py:3"} : !aten.t<f32[4, 8]>
  %c = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[4, 16]>
  %d = aten.index.Tensor(%x, [none, %i]) : !aten.t<f32[4, 3]>
  %mean, %rstd = aten.var_mean.correction(%x, dim = [-1], correction = 0, keepdim = true) : !aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>
  %f = aten.full.default(size = [2, 3], fill_value = -1.5e-05, dtype = bf16, device = "cuda:1") : !aten.t<bf16[2, 3]@"cuda:1">
  %g = aten.clone.default(%x, memory_format = contiguous_format) : !aten.t<f32[4, 8]>
  %h = aten.convolution.default(%k, %k, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[1, 1, 1, 1]>
  func.return
}

// -----

/// Sizes are index expressions; a Python number stands in a tensor's place as `aten.scalar`, in a
/// number's place as it is, or as the operand that holds it at run time.

// CHECK:      %c = aten.scalar 2.0
// CHECK-NEXT: %n = aten.scalar 2 * s0
// CHECK-NEXT: %t = aten.py "truediv"(%n, %c)
// CHECK-NEXT: %a = aten.mul.Tensor(%x, %c) : !aten.t<f32[s0]>
// CHECK-NEXT: %b = aten.mul.Scalar(%a, other = %t) : !aten.t<f32[s0]>
// CHECK-NEXT: %d = aten.mul.Scalar(%a, other = s0 - 1) : !aten.t<f32[s0]>
// CHECK-NEXT: %e = aten.view.default(%d, size = [s0, 1]) : !aten.t<f32[s0, 1]>
// CHECK-NEXT: %k = aten.constant [1.0, inf, nan] : !aten.t<f32[3]>
// CHECK-NEXT: aten.assert s0 - 2, "too few"
// CHECK-NEXT: %u = aten.item.default(%k) : !aten.int<u0>
// CHECK-NEXT: %z = aten.full.default(size = [u0], fill_value = true, dtype = bool) : !aten.t<bool[u0]>
func.func @numbers(%x: !aten.t<f32[s0]>) attributes {symbols = #aten.symbols<s0 = [hint 8, min 2, multiple 4]>} {
  %c = aten.scalar 2.0
  %n = aten.scalar 2 * s0
  %t = aten.py "truediv"(%n, %c)
  %a = aten.mul.Tensor(%x, %c) : !aten.t<f32[s0]>
  %b = aten.mul.Scalar(%a, other = %t) : !aten.t<f32[s0]>
  %d = aten.mul.Scalar(%a, other = s0 - 1) : !aten.t<f32[s0]>
  %e = aten.view.default(%d, size = [s0, 1]) : !aten.t<f32[s0, 1]>
  %k = aten.constant [1.0, inf, nan] : !aten.t<f32[3]>
  aten.assert s0 - 2, "too few"
  %u = aten.item.default(%k) : !aten.int<u0>
  %z = aten.full.default(size = [u0], fill_value = true, dtype = bool) : !aten.t<bool[u0]>
  func.return
}

// -----

/// Ops of other namespaces, ops that write, and a custom op that brings its schema along.

// CHECK:      %a = aten.prims.convert_element_type.default(%x, dtype = f16) : !aten.t<f16[4]>
// CHECK-NEXT: %b = aten.custom "mylib::foo(Tensor x, float s, Tensor? w=None) -> Tensor"(%a, s = 2.0) : !aten.t<f16[4]>
// CHECK-NEXT: %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
// CHECK-NEXT: %s = aten.seed : !aten.t<i64[1]>
// CHECK-NEXT: %r = aten.rand_like.default(%x, rng_seed = %s) : !aten.t<f32[4]>
func.func @others(%x: !aten.t<f32[4]>) {
  %a = aten.prims.convert_element_type.default(%x, dtype = f16) : !aten.t<f16[4]>
  %b = aten.custom "mylib::foo(Tensor x, float s, Tensor? w=None) -> Tensor"(%a, s = 2.0) : !aten.t<f16[4]>
  %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
  %s = aten.seed : !aten.t<i64[1]>
  %r = aten.rand_like.default(%x, rng_seed = %s) : !aten.t<f32[4]>
  func.return
}
