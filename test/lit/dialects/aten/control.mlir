// RUN: %roundtrip
// RUN: %generic

/// Control flow is a call that names private functions of the module among its arguments.

// CHECK:      func.func @f(%p: !aten.t<bool[]>, %x: !aten.t<f32[4]>)
// CHECK-NEXT:   %r = aten.control "minductor.cond"(%p, %x) args [#loop.arg<0>, @yes, @no, [#loop.arg<1>]] : (!aten.t<bool[]>, !aten.t<f32[4]>) -> !aten.t<f32[4]>
// CHECK:      func.func private @yes(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
func.func @f(%p: !aten.t<bool[]>, %x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %r = aten.control "minductor.cond"(%p, %x) args [#loop.arg<0>, @yes, @no, [#loop.arg<1>]] : (!aten.t<bool[]>, !aten.t<f32[4]>) -> !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}
func.func private @yes(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.sin.default(%x) : !aten.t<f32[4]>
  func.return %a : !aten.t<f32[4]>
}
func.func private @no(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.cos.default(%x) : !aten.t<f32[4]>
  func.return %a : !aten.t<f32[4]>
}
