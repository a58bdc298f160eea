// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Results and mutation: exact strides, aliases, commits.

/// Two results that are views of one value share its storage; a view of an argument points into it.
func.func @alias(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[8, 4]:[1, 8]>, !aten.t<f32[2, 8]>) {
  %y = aten.exp.default(%x) : !aten.t<f32[4, 8]>
  %t = aten.permute.default(%y, [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %v = aten.slice.Tensor(%x, 0, 2, 4) : !aten.t<f32[2, 8]>
  func.return %y, %t, %v : !aten.t<f32[4, 8]>, !aten.t<f32[8, 4]:[1, 8]>, !aten.t<f32[2, 8]>
}

// CHECK-LABEL: func.func @alias
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["exp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.exp %0 : f32
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf0_1 = loop.view %buf0 offset 0 : !aten.t<f32[4, 8]> to !aten.t<f32[8, 4]:[1, 8]>
// CHECK-NEXT:    %x_1 = loop.view %x offset 16 : !aten.t<f32[4, 8]> to !aten.t<f32[2, 8]>
// CHECK-NEXT:    func.return %buf0, %buf0_1, %x_1 : !aten.t<f32[4, 8]>, !aten.t<f32[8, 4]:[1, 8]>, !aten.t<f32[2, 8]>

// -----

/// An update of an argument is a commit, after all reads and results.
func.func @update(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>) {
  %y = aten.add.Scalar(%x, 1) : !aten.t<f32[4, 8]>
  %c = aten.copy_.default(%x, %y) : !aten.t<f32[4, 8]>
  %z = aten.exp.default(%y) : !aten.t<f32[4, 8]>
  func.return %z : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @update
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["add"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.constant 1.0 : f32
// CHECK-NEXT:      %2 = scalar.add %0, %1 : f32
// CHECK-NEXT:      loop.store %2, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 4, d1: 8) -> (%o_1 : !aten.t<f32[4, 8]>) origins ["exp"] {
// CHECK-NEXT:      %3 = loop.load %buf0[d0, d1] : f32
// CHECK-NEXT:      %4 = scalar.exp %3 : f32
// CHECK-NEXT:      loop.store %4, %o_1[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.commit %buf0 to %x : !aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>
// CHECK-NEXT:    func.return %buf1 : !aten.t<f32[4, 8]>

// -----

/// A swap needs copies: both are read before either is written.
func.func @swap(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.copy_.default(%x, %y) : !aten.t<f32[4]>
  %k = aten.clone.default(%x) : !aten.t<f32[4]>
  %b = aten.copy_.default(%y, %k) : !aten.t<f32[4]>
  func.return %k : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @swap
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["clone"] {
// CHECK-NEXT:      %0 = loop.load %y[d0] : f32
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 4) -> (%o_1 : !aten.t<f32[4]>) origins ["copy_"] {
// CHECK-NEXT:      %1 = loop.load %y[d0] : f32
// CHECK-NEXT:      loop.store %1, %o_1[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.commit %buf1 to %x : !aten.t<f32[4]>, !aten.t<f32[4]>
// CHECK-NEXT:    loop.commit %buf0 to %y : !aten.t<f32[4]>, !aten.t<f32[4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>
