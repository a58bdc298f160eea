// RUN: mini-opt %s -p aten-to-loop | filecheck %s

/// A tensor and its alias are two results: autograd may treat one of them otherwise. What is returned
/// twice as it is stays one.
// CHECK-LABEL: func.func @beside
// CHECK:         %[[V:.*]] = loop.view %buf0 offset 0
// CHECK-NEXT:    func.return %buf0, %[[V]], %buf0
func.func @beside(%x: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>) {
  %a = aten.sin.default(%x) : !aten.t<f32[4]>
  %b = aten.alias.default(%a) : !aten.t<f32[4]>
  func.return %a, %b, %a : !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.t<f32[4]>
}
