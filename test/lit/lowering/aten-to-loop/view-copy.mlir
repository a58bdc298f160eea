// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// A copying op is a nest that reads through an index map.

func.func @flip(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[4, 8]> {
  %f = aten.flip.default(%x, dims = [1]) : !aten.t<f32[4, 8]>
  func.return %f : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @flip
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["flip"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, -d1 + 7] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 8]>

// -----

/// roll and repeat wrap round.

func.func @roll(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[4, 16]>) {
  %f = aten.roll.default(%x, shifts = [3], dims = [1]) : !aten.t<f32[4, 8]>
  %r = aten.repeat.default(%x, repeats = [1, 2]) : !aten.t<f32[4, 16]>
  func.return %f, %r : !aten.t<f32[4, 8]>, !aten.t<f32[4, 16]>
}

// CHECK-LABEL: func.func @roll
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["roll"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, ((d1 + 5) mod 8)] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 4, d1: 16) -> (%o_1 : !aten.t<f32[4, 16]>) origins ["repeat"] {
// CHECK-NEXT:      %1 = loop.load %x[d0, (d1 mod 8)] : f32
// CHECK-NEXT:      loop.store %1, %o_1[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[4, 8]>, !aten.t<f32[4, 16]>
