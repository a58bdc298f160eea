// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Comparisons compute in the promoted dtype and give bool.

/// A number takes the dtype of the tensor; a half type is compared in f32.
func.func @gt(%x: !aten.t<bf16[4]>) -> !aten.t<bool[4]> {
  %r = aten.gt.Scalar(%x, 0.5) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @gt
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bool[4]>) origins ["gt"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %3 = scalar.gt %1, %2 : f32
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>

// -----

/// A floating number lifts integers.
func.func @lift(%x: !aten.t<i32[4]>) -> !aten.t<bool[4]> {
  %r = aten.eq.Scalar(%x, 1.5) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @lift
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bool[4]>) origins ["eq"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i32
// CHECK-NEXT:      %1 = scalar.cast %0 : i32 to f32
// CHECK-NEXT:      %2 = scalar.constant 1.5 : f32
// CHECK-NEXT:      %3 = scalar.eq %1, %2 : f32
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>

// -----

/// Integers are never NaN.
func.func @isnan(%x: !aten.t<i32[4]>) -> !aten.t<bool[4]> {
  %r = aten.isnan.default(%x) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @isnan
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bool[4]>) origins ["isnan"] {
// CHECK-NEXT:      %0 = scalar.constant 0 : i1
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>

// -----

/// Complex values are compared by eager.
func.func @refused(%x: !aten.t<c64[4]>, %y: !aten.t<c64[4]>) -> !aten.t<bool[4]> {
  %r = aten.eq.Tensor(%x, %y) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.eq.Tensor"(%x, %y) args [#loop.arg<0>, #loop.arg<1>] {origins = #loop.origins<["eq"]>} : (!aten.t<c64[4]>, !aten.t<c64[4]>) -> !aten.t<bool[4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>
// CHECK:       // remark: [aten-to-loop] note eq.Tensor: extern: dtype c64 has no scalar form
