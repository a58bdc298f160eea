// RUN: %roundtrip
// RUN: %generic

/// Reduction, scan, update, view, extern call, group, commit.
// CHECK-LABEL: func.func @ops
// CHECK:         %sum = loop.nest (d0: s0) reduce (d1: 8) -> (%o : !aten.t<f32[s0]>) origins ["~sum m.py:3"] {
// CHECK:           loop.reduce add %v : f32 -> f32
// CHECK:         %run = loop.nest (d0: s0) scan (d1: 8) ->
// CHECK:           loop.scan add
// CHECK:         %upd = loop.nest (d0: s0) -> (%{{.*}} = %sum : !aten.t<f32[s0]>) {
// CHECK:           loop.store add
// CHECK:         loop.view %run offset 8 : !aten.t<f32[s0, 8]> to !aten.t<f32[8]>
// CHECK:         loop.extern "aten.mm.default"(%x, %x) args [#loop.arg<0>, #loop.arg<1>] :
// CHECK:         loop.group "neg" -> !aten.t<f32[s0]> bytes <floor 8 * s0, unfused 8 * s0, planned 8 * s0> {
// CHECK:           loop.yield %n
// CHECK:         loop.commit %g to %y : !aten.t<f32[s0]>, !aten.t<f32[s0]>
func.func @ops(%x: !aten.t<f32[s0, 8]>, %y: !aten.t<f32[s0]>) -> !aten.t<f32[8]> attributes {symbols = #aten.symbols<s0 = [hint 16, min 2]>} {
  %sum = loop.nest (d0: s0) reduce (d1: 8) -> (%o : !aten.t<f32[s0]>) origins ["~sum m.py:3"] {
    %v = load %x[d0, d1] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  %run = loop.nest (d0: s0) scan (d1: 8) -> (%o : !aten.t<f32[s0, 8]>) {
    %v = load %x[d0, d1] : f32
    %t = scan add %v : f32 -> f32
    store %t, %o[d0, d1] }
  %upd = loop.nest (d0: s0) -> (%o = %sum : !aten.t<f32[s0]>) {
    %v = load %y[d0] : f32
    store add %v, %o[d0] }
  %w = loop.view %run offset 8 : !aten.t<f32[s0, 8]> to !aten.t<f32[8]>
  %m = loop.extern "aten.mm.default"(%x, %x) args [#loop.arg<0>, #loop.arg<1>] : (!aten.t<f32[s0, 8]>, !aten.t<f32[s0, 8]>) -> !aten.t<f32[s0, 8]>
  %g = loop.group "neg" -> !aten.t<f32[s0]> bytes <floor 8 * s0, unfused 8 * s0, planned 8 * s0> {
    %n = nest (d0: s0) -> (%o : !aten.t<f32[s0]>) {
      %v = load %upd[d0] : f32
      %q = scalar.neg %v : f32
      store %q, %o[d0] }
    yield %n }
  loop.commit %g to %y : !aten.t<f32[s0]>, !aten.t<f32[s0]>
  func.return %w : !aten.t<f32[8]> }
