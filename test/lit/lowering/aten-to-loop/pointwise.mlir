// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Operands are cast to the promoted dtype; half types compute in f32.

/// A storage cast rounds the result; a scaled operand.
func.func @add(%x: !aten.t<bf16[4, 8]>, %y: !aten.t<bf16[8]>) -> (!aten.t<bf16[4, 8]>) {
  %r = aten.add.Tensor(%x, %y, alpha = 2) : !aten.t<bf16[4, 8]>
  func.return %r : !aten.t<bf16[4, 8]>
}

// CHECK-LABEL: func.func @add
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<bf16[4, 8]>) origins ["add"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = loop.load %y[d1] : bf16
// CHECK-NEXT:      %3 = scalar.cast %2 : bf16 to f32
// CHECK-NEXT:      %4 = scalar.constant 2.0 : f32
// CHECK-NEXT:      %5 = scalar.mul %3, %4 : f32
// CHECK-NEXT:      %6 = scalar.add %1, %5 : f32
// CHECK-NEXT:      %7 = scalar.cast %6 storage : f32 to bf16
// CHECK-NEXT:      loop.store %7, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[4, 8]>

// -----

/// Sums of bool are or; NaN and -0.0 rules are those of the table rows.
func.func @truths(%x: !aten.t<bool[4]>, %y: !aten.t<bool[4]>) -> !aten.t<bool[4]> {
  %r = aten.add.Tensor(%x, %y) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @truths
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bool[4]>) origins ["add"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i1
// CHECK-NEXT:      %1 = loop.load %y[d0] : i1
// CHECK-NEXT:      %2 = scalar.or %0, %1 : i1
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>

// -----

/// No row for a difference of bool: a call of eager, which raises.
func.func @refused(%x: !aten.t<bool[4]>, %y: !aten.t<bool[4]>) -> !aten.t<bool[4]> {
  %r = aten.sub.Tensor(%x, %y) : !aten.t<bool[4]>
  func.return %r : !aten.t<bool[4]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.sub.Tensor"(%x, %y) args [#loop.arg<0>, #loop.arg<1>] {origins = #loop.origins<["sub"]>} : (!aten.t<bool[4]>, !aten.t<bool[4]>) -> !aten.t<bool[4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[4]>
// CHECK:       // remark: [aten-to-loop] note sub.Tensor: extern: sub of bool
