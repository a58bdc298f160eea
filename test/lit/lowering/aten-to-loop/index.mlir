// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Indices are checked and wrap; index tensors apart put their shape first.

func.func @index(%x: !aten.t<f32[2, 3, 4]>, %i: !aten.t<i64[5]>, %j: !aten.t<i32[1]>) -> !aten.t<f32[5, 3]> {
  %r = aten.index.Tensor(%x, [%i, none, %j]) : !aten.t<f32[5, 3]>
  func.return %r : !aten.t<f32[5, 3]>
}

// CHECK-LABEL: func.func @index
// CHECK-NEXT:    %buf0 = loop.nest (d0: 5, d1: 3) -> (%o : !aten.t<f32[5, 3]>) origins ["index"] {
// CHECK-NEXT:      %0 = loop.load %i[d0] : i64
// CHECK-NEXT:      %1 = scalar.bound %0 to 2 wrap
// CHECK-NEXT:      %2 = loop.load %j[0] : i32
// CHECK-NEXT:      %3 = scalar.cast %2 : i32 to i64
// CHECK-NEXT:      %4 = scalar.bound %3 to 4 wrap
// CHECK-NEXT:      %5 = loop.load %x[%1, d1, %4] : f32
// CHECK-NEXT:      loop.store %5, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[5, 3]>

// -----

/// A row gather through a view of the table; negative rows are faults.

func.func @embedding(%w: !aten.t<bf16[8, 6]>, %i: !aten.t<i64[s0]>) -> !aten.t<bf16[s0, 6]> attributes {symbols = #aten.symbols<s0 = [hint 5, min 2]>} {
  %r = aten.embedding.default(%w, %i) : !aten.t<bf16[s0, 6]>
  func.return %r : !aten.t<bf16[s0, 6]>
}

// CHECK-LABEL: func.func @embedding
// CHECK-NEXT:    %buf0 = loop.nest (d0: s0, d1: 6) -> (%o : !aten.t<bf16[s0, 6]>) origins ["embedding"] {
// CHECK-NEXT:      %0 = loop.load %i[d0] : i64
// CHECK-NEXT:      %1 = scalar.bound %0 to 8
// CHECK-NEXT:      %2 = loop.load %w[%1, d1] : bf16
// CHECK-NEXT:      loop.store %2, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[s0, 6]>

// -----

/// The result size of a mask is data: the call stays extern.

func.func @mask(%x: !aten.t<f32[4]>, %m: !aten.t<bool[4]>) -> !aten.t<f32[u0]> attributes {symbols = #aten.symbols<u0 = [min 0]>} {
  %r = aten.index.Tensor(%x, [%m]) : !aten.t<f32[u0]>
  func.return %r : !aten.t<f32[u0]>
}

// CHECK-LABEL: func.func @mask
// CHECK-NEXT:    %buf0 = loop.extern "aten.index.Tensor"(%x, %m) args [#loop.arg<0>, [#loop.arg<1>]] {origins = #loop.origins<["index"]>} : (!aten.t<f32[4]>, !aten.t<bool[4]>) -> !aten.t<f32[u0]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[u0]>
// CHECK:       // remark: [aten-to-loop] note index.Tensor: extern: an index of dtype bool is a mask: its result size is data
