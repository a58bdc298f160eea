// RUN: %invalid

/// A store that leaves elements out.
func.func @cover(%x: !aten.t<f32[8]>) {
  // CHECK: the store to fresh result 0 is not proved to cover [16] exactly once; use an updating result
  %a = loop.nest (d0: 8) -> (%o : !aten.t<f32[16]>) { %v = load %x[d0] : f32  store %v, %o[d0] }
  func.return }

// -----

/// An index that may leave the tensor.
func.func @range(%x: !aten.t<f32[8]>) {
  // CHECK: index 0 of `loop.load`, `d0 + 1`, is not proved to be in 0 .. 8 - 1; guard it with scalar.if or bound it with scalar.bound
  %a = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) { %v = load %x[d0 + 1] : f32  store %v, %o[d0] }
  func.return }

// -----

/// A variable that the domain does not have.
func.func @domain(%x: !aten.t<f32[8]>) {
  // CHECK: `loop.load` uses d1, which is not in the domain of its nest
  %a = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) { %v = load %x[d1] : f32  store %v, %o[d0] }
  func.return }

// -----

/// A value that still varies with a reduce variable.
func.func @reduce(%x: !aten.t<f32[8, 4]>) {
  // CHECK: a stored value or its index varies with a reduce variable; reduce it first
  %a = loop.nest (d0: 8) reduce (d1: 4) -> (%o : !aten.t<f32[8]>) { %v = load %x[d0, d1] : f32  store %v, %o[d0] }
  func.return }

// -----

/// A data-dependent store needs something to update.
func.func @scatter(%i: !aten.t<i64[8]>) {
  // CHECK: a data-dependent store index needs
  %a = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
    %k = load %i[d0] : i64
    %j = scalar.bound %k to 8
    %one = scalar.constant 1.0 : f32
    store %one, %o[%j] }
  func.return }

// -----

/// A mutated argument keeps its sizes.
func.func @commit(%x: !aten.t<f32[8]>, %y: !aten.t<f32[4]>) {
  // CHECK: sizes, dtype differ
  loop.commit %x to %y : !aten.t<f32[8]>, !aten.t<f32[4]>
  func.return }

// -----

/// What a nest gathers over the loops of its group is ready only after them.
func.func @across(%x: !aten.t<f32[8, 4]>) -> !aten.t<f32[4]> {
  // CHECK: the result of nest 0, which is `across`, is read in the group
  %g = loop.group "sum" -> !aten.t<f32[4]> across [0] {
    %a = nest (d0: 4) reduce (d1: 8) -> (%o : !aten.t<f32[4]>) {
      %v = load %x[d1, d0] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %b = nest (d0: 4) -> (%o : !aten.t<f32[4]>) {
      %v = load %a[d0] : f32
      store %v, %o[d0] }
    yield %b }
  func.return %g : !aten.t<f32[4]> }
