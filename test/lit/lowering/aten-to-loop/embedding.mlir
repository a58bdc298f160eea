// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Rows of the gradient are added up where they were read; the padding row gets zeros.
func.func @padding(%g: !aten.t<f32[6, 4]>, %i: !aten.t<i64[6]>) -> !aten.t<f32[10, 4]> {
  %r = aten.embedding_dense_backward.default(%g, %i, num_weights = 10, padding_idx = 3, scale_grad_by_freq = false) : !aten.t<f32[10, 4]>
  func.return %r : !aten.t<f32[10, 4]>
}

// CHECK-LABEL: func.func @padding
// CHECK:           scalar.constant 0.0 : f32
// CHECK:         %buf1 = loop.nest (d0: 6, d1: 4) -> (%o_1 = %buf0 : !aten.t<f32[10, 4]>) origins ["embedding_dense_backward"] {
// CHECK-NEXT:      %1 = loop.load %i[d0] : i64
// CHECK-NEXT:      %2 = scalar.bound %1 to 10
// CHECK-NEXT:      %3 = loop.load %g[d0, d1] : f32
// CHECK-NEXT:      %4 = scalar.index %2 : i64
// CHECK-NEXT:      %5 = scalar.constant 3 : i64
// CHECK-NEXT:      %6 = scalar.ne %4, %5 : i64
// CHECK-NEXT:      %7 = scalar.constant 0.0 : f32
// CHECK-NEXT:      %8 = scalar.select %6, %3, %7 : f32
// CHECK-NEXT:      loop.store add %8, %o_1[%2, d1]
