// RUN: mini-opt %s --split-input-file -p aten-dce --print-remarks | filecheck %s

/// What nobody uses goes, chains of it too, and unused draws of random numbers.

// CHECK-LABEL: @dead
// CHECK-NEXT: %b = aten.relu.default(%x)
// CHECK-NEXT: func.return %b
// CHECK: remark: [aten-dce] note dead: 4 dead ops dropped
func.func @dead(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.exp.default(%x) : !aten.t<f32[4]>
  %b = aten.relu.default(%x) : !aten.t<f32[4]>
  %c = aten.scalar 1.0
  %d = aten.add.Tensor(%a, %c) : !aten.t<f32[4]>
  %r = aten.rand_like.default(%x) : !aten.t<f32[4]>
  func.return %b : !aten.t<f32[4]>
}

// -----

/// Writes into an argument, checks, calls that return nothing and ops marked as ordered stay; and
/// an op stays when one of its results is used.

// CHECK-LABEL: @effects
// CHECK-NEXT: %w = aten.copy_.default(%x, %y)
// CHECK-NEXT: aten.custom "mylib::log(Tensor x) -> ()"(%x)
// CHECK-NEXT: %c = aten.custom "mylib::show(Tensor x) -> Tensor"(%x) {ordered}
// CHECK-NEXT: aten.assert
// CHECK-NEXT: %v, %m = aten.var_mean.correction(%x, dim = [0])
// CHECK-NEXT: func.return %m
func.func @effects(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> !aten.t<f32[]> {
  %w = aten.copy_.default(%x, %y) : !aten.t<f32[4]>
  aten.custom "mylib::log(Tensor x) -> ()"(%x)
  %c = aten.custom "mylib::show(Tensor x) -> Tensor"(%x) {ordered} : !aten.t<f32[4]>
  aten.assert 4 - 2, "too few"
  %v, %m = aten.var_mean.correction(%x, dim = [0]) : !aten.t<f32[]>, !aten.t<f32[]>
  func.return %m : !aten.t<f32[]>
}

// -----

/// An op stays while an expression uses the size symbol that it binds, in a type or an attribute.

// CHECK-LABEL: @binds
// CHECK-NEXT: %i = aten._local_scalar_dense.default(%n) : !aten.int<u0>
// CHECK-NEXT: %s = aten.slice.Tensor(%x, start = u0, end = u0 + 2)
// CHECK-NEXT: func.return %s
func.func @binds(%x: !aten.t<f32[5, 4]>, %n: !aten.t<i64[]>) -> !aten.t<f32[2, 4]> attributes {symbols = #aten.symbols<u0 = [min 0, max 5], u1 = [min 0]>} {
  %i = aten._local_scalar_dense.default(%n) : !aten.int<u0>
  %j = aten._local_scalar_dense.default(%n) : !aten.int<u1>
  %s = aten.slice.Tensor(%x, start = u0, end = u0 + 2) : !aten.t<f32[2, 4]>
  func.return %s : !aten.t<f32[2, 4]>
}

// -----

/// A write that is overwritten before anyone reads goes; one that is read, or ends in an argument, or
/// is overwritten in part only, stays.

// CHECK-LABEL: @writes
// CHECK-NEXT: %b = aten.copy_.default(%x, %z)
// CHECK-NEXT: %c = aten.copy_.default(%y, %z)
// CHECK-NEXT: %r = aten.exp.default(%y)
// CHECK-NEXT: %d = aten.copy_.default(%y, %r)
// CHECK-NEXT: %e = aten.copy_.default(%w, %z)
// CHECK-NEXT: %v = aten.slice.Tensor(%w, start = 0, end = 2)
// CHECK-NEXT: %f = aten.copy_.default(%v, %s)
// CHECK-NEXT: func.return %b
// CHECK: note writes: 2 dead writes dropped
func.func @writes(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>, %z: !aten.t<f32[4]>, %w: !aten.t<f32[4]>, %s: !aten.t<f32[2]>) -> !aten.t<f32[4]> {
  %a = aten.copy_.default(%x, %y) : !aten.t<f32[4]>
  %b = aten.copy_.default(%a, %z) : !aten.t<f32[4]>
  %c = aten.copy_.default(%y, %z) : !aten.t<f32[4]>
  %r = aten.exp.default(%y) : !aten.t<f32[4]>
  %d = aten.copy_.default(%y, %r) : !aten.t<f32[4]>
  %g = aten.copy_.default(%z, %z) : !aten.t<f32[4]>
  %e = aten.copy_.default(%w, %z) : !aten.t<f32[4]>
  %v = aten.slice.Tensor(%w, start = 0, end = 2) : !aten.t<f32[2]>
  %f = aten.copy_.default(%v, %s) : !aten.t<f32[2]>
  func.return %b : !aten.t<f32[4]>
}
