// RUN: mini-opt %s -p aten-to-loop | filecheck %s
// RUN: mini-opt %s -p default-cpu -t wrapper | filecheck %s --check-prefix TEXT

/// A collective is an ordered call. The wait shows its result, and holds what the collective reads.
/// Nothing but the wait looks at a result that is under way: no check of its layout before.
// CHECK:      %buf1 = loop.extern "_c10d_functional.all_gather_into_tensor.default"(%buf0) args [#loop.arg<0>, 2 : i64, "0"] {ordered
// CHECK-NEXT: %buf2 = loop.extern "_c10d_functional.wait_tensor.default"(%buf1, %buf0) args [#loop.arg<0>] {aliases = [#loop.index<[0, 0]>], ordered
// TEXT:       [[R:buf[0-9]+]] = _c10d_functional_all_gather_into_tensor([[Y:buf[0-9]+]], 2, '0')
/// The call that needs nothing of the gathered values runs meanwhile.
// TEXT-NEXT:  [[M:buf[0-9]+]] = empty_cpu(
// TEXT-NEXT:  aten_mm_into([[M]], x, x)
// TEXT-NEXT:  del x
// TEXT-NEXT:  {{buf[0-9]+}} = _c10d_functional_wait_tensor([[R]])
func.func @inference(%x: !aten.t<f32[8, 8]>) -> (!aten.t<f32[16, 8]>, !aten.t<f32[8, 8]>) {
  %y = aten.exp.default(%x) : !aten.t<f32[8, 8]>
  %r = aten._c10d_functional.all_gather_into_tensor.default(%y, group_size = 2, group_name = "0") : !aten.t<f32[16, 8]>
  %w = aten._c10d_functional.wait_tensor.default(%r) : !aten.t<f32[16, 8]>
  %m = aten.mm.default(%x, %x) : !aten.t<f32[8, 8]>
  %o = aten.mul.Tensor(%w, %w) : !aten.t<f32[16, 8]>
  func.return %o, %m : !aten.t<f32[16, 8]>, !aten.t<f32[8, 8]>
}
