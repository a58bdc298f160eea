// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Truths and bits.

/// Any dtype is a truth: non-zero.
func.func @both(%x: !aten.t<f32[4]>, %y: !aten.t<bool[4]>) -> !aten.t<bool[4]> {
  %r = aten.logical_and.default(%x, %y) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @both
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bool[4]>) origins ["logical_and"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.constant 0.0 : f32
// CHECK-NEXT:      %2 = scalar.ne %0, %1 : f32
// CHECK-NEXT:      %3 = loop.load %y[d0] : i1
// CHECK-NEXT:      %4 = scalar.and %2, %3 : i1
// CHECK-NEXT:      loop.store %4, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>

// -----

/// Bits of integers.
func.func @bits(%x: !aten.t<u8[4]>) -> !aten.t<u8[4]> {
  %r = aten.bitwise_and.Scalar(%x, 15) : !aten.t<u8[4]>
  func.return %r : !aten.t<u8[4]>
}

// CHECK-LABEL: func.func @bits
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<u8[4]>) origins ["bitwise_and"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : ui8
// CHECK-NEXT:      %1 = scalar.constant 15 : ui8
// CHECK-NEXT:      %2 = scalar.and %0, %1 : ui8
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<u8[4]>

// -----

/// A shift of bool is left to eager.
func.func @refused(%x: !aten.t<bool[4]>, %y: !aten.t<bool[4]>) -> !aten.t<bool[4]> {
  %r = aten.bitwise_left_shift.Tensor(%x, %y) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.bitwise_left_shift.Tensor"(%x, %y) args [#loop.arg<0>, #loop.arg<1>] {origins = #loop.origins<["bitwise_left_shift"]>} : (!aten.t<bool[4]>, !aten.t<bool[4]>) -> !aten.t<bool[4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>
// CHECK:       // remark: [aten-to-loop] note bitwise_left_shift.Tensor: extern: a shift of bool
