// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// One value under a mask is a selection.

func.func @mask(%x: !aten.t<f32[8]>, %m: !aten.t<bool[8]>, %v: !aten.t<f32[]>) -> !aten.t<f32[8]> {
  %r = aten.index_put.default(%x, [%m], %v) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @mask
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["index_put"] {
// CHECK-NEXT:      %0 = loop.load %v[] : f32
// CHECK-NEXT:      %1 = loop.load %x[d0] : f32
// CHECK-NEXT:      %2 = loop.load %m[d0] : i1
// CHECK-NEXT:      %3 = scalar.select %2, %0, %1 : f32
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]>
