// RUN: mini-opt %s -p aten-to-loop | filecheck %s

/// Control flow stays a call, ordered, whose operands are real tensors: a transposed view is handed
/// over as a view. Its functions are lowered as any other and stay private.

// CHECK:      func.func @f
// CHECK:        %x_1 = loop.view %x offset 0
// CHECK-NEXT:   %buf0 = loop.extern "minductor.cond"(%p, %x_1) args [#loop.arg<0>, @yes, @no, [#loop.arg<1>]] {ordered, origins = #loop.origins<["cond"]>}
// CHECK:      func.func private @yes
// CHECK:        loop.nest
func.func @f(%p: !aten.t<bool[]>, %x: !aten.t<f32[4, 3]>) -> !aten.t<f32[3, 4]> {
  %t = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[3, 4]:[1, 3]>
  %r = aten.control "minductor.cond"(%p, %t) args [#loop.arg<0>, @yes, @no, [#loop.arg<1>]] : (!aten.t<bool[]>, !aten.t<f32[3, 4]:[1, 3]>) -> !aten.t<f32[3, 4]>
  func.return %r : !aten.t<f32[3, 4]>
}
func.func private @yes(%x: !aten.t<f32[3, 4]:[1, 3]>) -> !aten.t<f32[3, 4]> {
  %a = aten.sin.default(%x) : !aten.t<f32[3, 4]>
  func.return %a : !aten.t<f32[3, 4]>
}
func.func private @no(%x: !aten.t<f32[3, 4]:[1, 3]>) -> !aten.t<f32[3, 4]> {
  %a = aten.cos.default(%x) : !aten.t<f32[3, 4]>
  func.return %a : !aten.t<f32[3, 4]>
}
