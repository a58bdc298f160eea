// RUN: mini-opt %s -p loop-fuse | filecheck %s

/// The two comparisons fuse, but a call whose result has u0 elements binds u0: the check of u0 stays
/// behind it.

// CHECK:      loop.group
// CHECK:      loop.extern "aten.index.Tensor"
// CHECK:      loop.extern "minductor.assert"
// CHECK:      loop.extern "aten.index.Tensor"
func.func @masks(%n: !aten.int<s0>, %x: !aten.t<f32[s0]>) -> (!aten.t<f32[u0]>, !aten.t<f32[u1]>) attributes {symbols = #aten.symbols<u0 = [min 0], u1 = [min 0], s0 = [hint 12, min 2]>} {
  %a = loop.nest (d0: s0) -> (%o : !aten.t<bool[s0]>) origins ["gt"] {
    %0 = loop.load %x[d0] : f32
    %1 = scalar.constant 0.0 : f32
    %2 = scalar.gt %0, %1 : f32
    loop.store %2, %o[d0]
  }
  %b = loop.extern "aten.index.Tensor"(%x, %a) args [#loop.arg<0>, [#loop.arg<1>]] : (!aten.t<f32[s0]>, !aten.t<bool[s0]>) -> !aten.t<f32[u0]>
  loop.extern "minductor.assert"() args [#loop.expr<u0 - 1>, "none"] {ordered} : () -> ()
  %c = loop.nest (d0: s0) -> (%o : !aten.t<bool[s0]>) origins ["lt"] {
    %0 = loop.load %x[d0] : f32
    %1 = scalar.constant 0.0 : f32
    %2 = scalar.lt %0, %1 : f32
    loop.store %2, %o[d0]
  }
  %d = loop.extern "aten.index.Tensor"(%x, %c) args [#loop.arg<0>, [#loop.arg<1>]] : (!aten.t<f32[s0]>, !aten.t<bool[s0]>) -> !aten.t<f32[u1]>
  func.return %b, %d : !aten.t<f32[u0]>, !aten.t<f32[u1]>
}
