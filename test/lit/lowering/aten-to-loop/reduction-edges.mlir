// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Reductions of bool, of one element and of none.

/// The greatest of bool is any.
func.func @amax(%x: !aten.t<bool[2, 3]>) -> !aten.t<bool[3]> {
  %r = aten.amax.default(%x, [0]) : !aten.t<bool[3]>
  func.return %r : !aten.t<bool[3]>
}

// CHECK-LABEL: func.func @amax
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3) reduce (d1: 2) -> (%o : !aten.t<bool[3]>) origins ["amax"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0] : i1
// CHECK-NEXT:      %1 = loop.reduce any %0 : i1 -> i1
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[3]>

// -----

/// A 0-d tensor is its own sum.
func.func @point(%x: !aten.t<f32[]>) -> !aten.t<f32[]> {
  %r = aten.sum.default(%x) : !aten.t<f32[]>
  func.return %r : !aten.t<f32[]>
}

// CHECK-LABEL: func.func @point
// CHECK-NEXT:    %buf0 = loop.nest () -> (%o : !aten.t<f32[]>) origins ["sum"] {
// CHECK-NEXT:      %0 = loop.load %x[] : f32
// CHECK-NEXT:      loop.store %0, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[]>

// -----

/// The sum of nothing is 0: a reduction over an empty range.
func.func @nothing(%x: !aten.t<f32[0, 3]>) -> !aten.t<f32[3]> {
  %r = aten.sum.dim_IntList(%x, [0]) : !aten.t<f32[3]>
  func.return %r : !aten.t<f32[3]>
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3) reduce (d1: 0) -> (%o : !aten.t<f32[3]>) origins ["sum"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0] : f32
// CHECK-NEXT:      %1 = loop.reduce add %0 : f32 -> f32
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3]>

// -----

/// A result without elements needs no input.
func.func @empty(%x: !aten.t<f32[2, 0]>) -> (!aten.t<f32[2, 0]>) {
  %r = aten.exp.default(%x) : !aten.t<f32[2, 0]>
  func.return %r : !aten.t<f32[2, 0]>
}

// CHECK-LABEL: func.func @empty
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 0) -> (%o : !aten.t<f32[2, 0]>) origins ["exp"] {
// CHECK-NEXT:      %0 = scalar.constant 0.0 : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2, 0]>

// -----

/// The greatest of nothing: eager raises.
func.func @refused(%x: !aten.t<f32[0, 3]>) -> !aten.t<f32[3]> {
  %r = aten.amax.default(%x, [0]) : !aten.t<f32[3]>
  func.return %r : !aten.t<f32[3]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.amax.default"(%x) args [#loop.arg<0>, #loop.index<[0]>] {origins = #loop.origins<["amax"]>} : (!aten.t<f32[0, 3]>) -> !aten.t<f32[3]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3]>
// CHECK:       // remark: [aten-to-loop] note amax.default: extern: an extreme over no elements
