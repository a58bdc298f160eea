// RUN: mini-opt %s --split-input-file -p aten-foreach | filecheck %s

/// An op over a list is one op for each tensor: with one number, a number each, or a tensor each.

// CHECK-LABEL: func.func @forms
// CHECK-NEXT:  %a = aten.add.Scalar(%x, other = 1) {origin = "_foreach_add"} : !aten.t<f32[3]>
// CHECK-NEXT:  %b = aten.add.Scalar(%y, other = 1) {origin = "_foreach_add"} : !aten.t<f32[5]>
// CHECK-NEXT:  %c = aten.mul.Scalar(%x, other = 2.0) {{.*}} : !aten.t<f32[3]>
// CHECK-NEXT:  %d = aten.mul.Scalar(%y, other = 3.0) {{.*}} : !aten.t<f32[5]>
// CHECK-NEXT:  %e = aten.sub.Tensor(%a, %c, alpha = 0.5) {{.*}} : !aten.t<f32[3]>
// CHECK-NEXT:  %f = aten.sub.Tensor(%b, %d, alpha = 0.5) {{.*}} : !aten.t<f32[5]>
// CHECK-NEXT:  %g = aten.addcdiv.default(%x, %c, %e, value = -1) {{.*}} : !aten.t<f32[3]>
// CHECK-NEXT:  %h = aten.pow.Scalar(self = 0.9, exponent = %s) {{.*}} : !aten.t<f32[]>
func.func @forms(%x: !aten.t<f32[3]>, %y: !aten.t<f32[5]>, %s: !aten.t<f32[]>) -> (!aten.t<f32[3]>, !aten.t<f32[5]>, !aten.t<f32[3]>, !aten.t<f32[]>) {
  %a, %b = aten._foreach_add.Scalar([%x, %y], scalar = 1) : !aten.t<f32[3]>, !aten.t<f32[5]>
  %c, %d = aten._foreach_mul.ScalarList([%x, %y], scalars = [2.0, 3.0]) : !aten.t<f32[3]>, !aten.t<f32[5]>
  %e, %f = aten._foreach_sub.List([%a, %b], [%c, %d], alpha = 0.5) : !aten.t<f32[3]>, !aten.t<f32[5]>
  %g = aten._foreach_addcdiv.Scalar([%x], [%c], [%e], value = -1) : !aten.t<f32[3]>
  %h = aten._foreach_pow.ScalarAndTensor(self = 0.9, exponent = [%s]) : !aten.t<f32[]>
  func.return %e, %f, %g, %h : !aten.t<f32[3]>, !aten.t<f32[5]>, !aten.t<f32[3]>, !aten.t<f32[]>
}

// -----

/// Negative twin: the numbers lie in a tensor, and no op on one tensor takes an element of one.

// CHECK-LABEL: func.func @in_a_tensor
// CHECK-NEXT:  aten._foreach_addcmul.Tensor
func.func @in_a_tensor(%x: !aten.t<f32[3]>, %y: !aten.t<f32[3]>, %v: !aten.t<f32[2]>) -> (!aten.t<f32[3]>, !aten.t<f32[3]>) {
  %a, %b = aten._foreach_addcmul.Tensor([%x, %y], [%y, %x], [%x, %x], %v) : !aten.t<f32[3]>, !aten.t<f32[3]>
  func.return %a, %b : !aten.t<f32[3]>, !aten.t<f32[3]>
}
