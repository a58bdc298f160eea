// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// The place of an extreme is a logical index, whatever order loops run in.

func.func @max(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[8]>, !aten.t<i64[8]>) {
  %r0, %r1 = aten.max.dim(%x, 0) : !aten.t<f32[8]>, !aten.t<i64[8]>
  func.return %r0, %r1 : !aten.t<f32[8]>, !aten.t<i64[8]>
}

// CHECK-LABEL: func.func @max
// CHECK-NEXT:    %buf0, %buf1 = loop.nest (d0: 8) reduce (d1: 4) -> (%o0_ : !aten.t<f32[8]>, %o1_ : !aten.t<i64[8]>) origins ["max"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0] : f32
// CHECK-NEXT:      %1 = scalar.index d1 : i64
// CHECK-NEXT:      %2, %3 = loop.reduce argmax %0, %1 : f32, i64 -> f32, i64
// CHECK-NEXT:      loop.store %2, %o0_[d0]
// CHECK-NEXT:      loop.store %3, %o1_[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[8]>, !aten.t<i64[8]>

// -----

/// Without a dimension: of the flattened tensor.
func.func @argmin(%x: !aten.t<bf16[4, 8]>) -> !aten.t<i64[]> {
  %r = aten.argmin.default(%x) : !aten.t<i64[]>
  func.return %r : !aten.t<i64[]>
}

// CHECK-LABEL: func.func @argmin
// CHECK-NEXT:    %buf0 = loop.nest () reduce (d0: 4, d1: 8) -> (%o : !aten.t<i64[]>) origins ["argmin"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = scalar.index 8 * d0 + d1 : i64
// CHECK-NEXT:      %3, %4 = loop.reduce argmin %1, %2 : f32, i64 -> f32, i64
// CHECK-NEXT:      loop.store %4, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[]>

// -----

/// Of no elements: eager raises.
func.func @refused(%x: !aten.t<f32[0]>) -> !aten.t<i64[]> {
  %r = aten.argmax.default(%x) : !aten.t<i64[]>
  func.return %r : !aten.t<i64[]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.argmax.default"(%x) args [#loop.arg<0>] {origins = #loop.origins<["argmax"]>} : (!aten.t<f32[0]>) -> !aten.t<i64[]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[]>
// CHECK:       // remark: [aten-to-loop] note argmax.default: extern: an extreme over no elements
