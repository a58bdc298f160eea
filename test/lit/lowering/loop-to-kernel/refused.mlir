// RUN: not mini-opt %s -p loop-to-kernel 2>&1 | filecheck %s

/// A value that is ready only after its whole loop cannot be used inside that loop's own rows.
// CHECK: group "wall" cannot become one kernel: `a` is read at ['0'], which is not where its value is made
func.func @f(%x: !aten.t<f32[8, 8]>) -> !aten.t<f32[8]> {
  %g = loop.group "wall" -> !aten.t<f32[8]> {
    %a = nest (d0: 8) reduce (d1: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %b = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %a[0] : f32
      store %v, %o[d0] }
    yield %b }
  func.return %g : !aten.t<f32[8]> }
