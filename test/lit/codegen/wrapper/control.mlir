// RUN: mini-opt %s -p default-cpu -t wrapper | filecheck %s

/// A private function is a function of its own beside `call`; it takes operands in the layout of its
/// types, copying those that differ. Kernels are numbered over the whole module.

// CHECK:      minductor_cond = host.extern("minductor.cond")
// CHECK:      def call(args):
// CHECK:          buf0 = minductor_cond(p, yes, no, [x])
// CHECK-NEXT:     buf0 = promised(buf0)
// CHECK:          return [buf0]
// CHECK:      def yes(args):
// CHECK-NEXT:     (x_1,) = args
// CHECK-NEXT:     args.clear()
// CHECK-NEXT:     x_1 = fitted(x_1)
// CHECK:          cpp_fused_sin_0(x_1, buf0_1)
// CHECK:      def no(args):
// CHECK:          cpp_fused_cos_1(x_2, buf0_2)
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
