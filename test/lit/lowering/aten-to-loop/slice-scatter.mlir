// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// A slice written into a tensor that lives on: one pass picks its source.

func.func @pick(%x: !aten.t<f32[8]>, %s: !aten.t<f32[2]>) -> !aten.t<f32[8]> {
  %r = aten.slice_scatter.default(%x, %s, dim = 0, start = 2, end = 4) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @pick
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["slice_scatter"] {
// CHECK-NEXT:      %0 = scalar.within d0 in 2 to 4
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %s[d0 - 2] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = loop.load %x[d0] : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]>

// -----

/// A cache that is written back: only the part is stored, into the argument's storage.

func.func @cache(%x: !aten.t<f32[8, 4]>, %s: !aten.t<f32[4]>) {
  %r = aten.select_scatter.default(%x, %s, dim = 0, index = 2) : !aten.t<f32[8, 4]>
  %c = aten.copy_.default(%x, %r) : !aten.t<f32[8, 4]>
  func.return
}

// CHECK-LABEL: func.func @cache
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o = %x : !aten.t<f32[8, 4]>) origins ["select_scatter"] {
// CHECK-NEXT:      %0 = loop.load %s[d0] : f32
// CHECK-NEXT:      loop.store %0, %o[2, d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.commit %buf0 to %x : !aten.t<f32[8, 4]>, !aten.t<f32[8, 4]>
// CHECK-NEXT:    func.return

// -----

/// What a triangle drops is not read.

func.func @tril(%x: !aten.t<f32[4, 4]>) -> !aten.t<f32[4, 4]> {
  %r = aten.tril.default(%x) : !aten.t<f32[4, 4]>
  func.return %r : !aten.t<f32[4, 4]>
}

// CHECK-LABEL: func.func @tril
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 4) -> (%o : !aten.t<f32[4, 4]>) origins ["tril"] {
// CHECK-NEXT:      %0 = scalar.within d0 - d1 in 0 to 4
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = scalar.constant 0.0 : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 4]>
