// RUN: mini-opt %s -p aten-to-loop --print-debuginfo --split-input-file | filecheck %s

/// Nests keep the location and the origin of their aten op.

func.func @where(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %r = aten.relu.default(%x) {origin = "relu model.py:12"} : !aten.t<f32[4]> loc("relu"("model.py":12:5))
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @where
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["relu model.py:12"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32 loc(unknown)
// CHECK-NEXT:      %1 = scalar.relu %0 : f32 loc(unknown)
// CHECK-NEXT:      loop.store %1, %o[d0] loc(unknown)
// CHECK-NEXT:    } loc("relu"("model.py":12:5))
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]> loc(unknown)
// CHECK-NEXT:  } loc(unknown)
// CHECK-NEXT:} loc(unknown)
