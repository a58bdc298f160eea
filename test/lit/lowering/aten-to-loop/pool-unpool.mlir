// RUN: mini-opt %s -p aten-to-loop | filecheck %s

/// Elements go to their saved places in a plane of zeros; of several the last one stays.
func.func @unpool(%x: !aten.t<f32[1, 2, 3, 2]>, %i: !aten.t<i64[1, 2, 3, 2]>) -> !aten.t<f32[1, 2, 6, 8]> {
  %r = aten.max_unpool2d.default(%x, %i, output_size = [6, 8]) : !aten.t<f32[1, 2, 6, 8]>
  func.return %r : !aten.t<f32[1, 2, 6, 8]>
}

// CHECK-LABEL: func.func @unpool
// CHECK:         %buf1 = loop.nest (d0: 2, d1: 3, d2: 2) -> (%o_1 = %buf0 : !aten.t<f32[1, 2, 6, 8]>) origins ["max_unpool2d"] {
// CHECK-NEXT:      %1 = loop.load %i[0, d0, d1, d2] : i64
// CHECK-NEXT:      %2 = scalar.bound %1 to 48
// CHECK-NEXT:      %3 = loop.load %x[0, d0, d1, d2] : f32
// CHECK-NEXT:      loop.store %3, %o_1[0, d0, (%2 floordiv 8), (%2 mod 8)] {ordered}
