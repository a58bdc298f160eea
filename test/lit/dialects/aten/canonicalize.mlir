// RUN: mini-opt %s -p canonicalize,cse | filecheck %s

/// xDSL's own passes see the traits: a dead pure op goes, equal ones merge, a write and a draw of
/// random numbers stay.

// CHECK:      func.func @f(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
// CHECK-NEXT:   %a = aten.relu.default(%x) : !aten.t<f32[4]>
// CHECK-NEXT:   %c = aten.add.Tensor(%a, %a) : !aten.t<f32[4]>
// CHECK-NEXT:   %r = aten.rand_like.default(%x) : !aten.t<f32[4]>
// CHECK-NEXT:   %w = aten.copy_.default(%x, %c) : !aten.t<f32[4]>
// CHECK-NEXT:   func.return %c : !aten.t<f32[4]>
func.func @f(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.relu.default(%x) : !aten.t<f32[4]>
  %b = aten.relu.default(%x) : !aten.t<f32[4]>
  %dead = aten.exp.default(%x) : !aten.t<f32[4]>
  %c = aten.add.Tensor(%a, %b) : !aten.t<f32[4]>
  %r = aten.rand_like.default(%x) : !aten.t<f32[4]>
  %w = aten.copy_.default(%x, %c) : !aten.t<f32[4]>
  func.return %c : !aten.t<f32[4]>
}
