// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// A distance is a reduction over the columns.
func.func @cdist(%x: !aten.t<f32[4, 3]>, %y: !aten.t<f32[5, 3]>) -> !aten.t<f32[4, 5]> {
  %r = aten._cdist_forward.default(%x, %y, 1.0, none) : !aten.t<f32[4, 5]>
  func.return %r : !aten.t<f32[4, 5]>
}

// CHECK-LABEL: func.func @cdist
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 5) reduce (d2: 3) -> (%o : !aten.t<f32[4, 5]>) origins ["_cdist_forward"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d2] : f32
// CHECK-NEXT:      %1 = loop.load %y[d1, d2] : f32
// CHECK-NEXT:      %2 = scalar.sub %0, %1 : f32
// CHECK-NEXT:      %3 = scalar.abs %2 : f32
// CHECK-NEXT:      %4 = loop.reduce add %3 : f32 -> f32
// CHECK-NEXT:      loop.store %4, %o[d0, d1]

// -----

/// The negative twin: many Euclidean distances.
func.func @refused(%x: !aten.t<f32[4, 3]>, %y: !aten.t<f32[26, 3]>) -> !aten.t<f32[4, 26]> {
  %r = aten._cdist_forward.default(%x, %y, 2.0, none) : !aten.t<f32[4, 26]>
  func.return %r : !aten.t<f32[4, 26]>
}

// CHECK-LABEL: func.func @refused
// CHECK:           loop.extern "aten._cdist_forward.default"
// CHECK:       // remark: [aten-to-loop] note _cdist_forward.default: extern: many Euclidean distances are a matrix product
