// RUN: mini-opt %s --split-input-file -p aten-fold,aten-dce --print-remarks | filecheck %s

/// A cast to the operand's own type is a copy that nobody can tell; known numbers are computed; a
/// cast of `full` makes the `full` in the other dtype.

// CHECK-LABEL: @fold
// CHECK-NEXT: %b = aten.add.Tensor(%x, %y)
// CHECK-NEXT: %e = aten.scalar 0.75
// CHECK-NEXT: %g = aten.full.default(size = [4], fill_value = 1, dtype = bf16) {origin = "full m.py:2"} : !aten.t<bf16[4]>
// CHECK-NEXT: func.return %b, %e, %g
func.func @fold(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.float, !aten.t<bf16[4]>) {
  %a = aten._to_copy.default(%x, dtype = f32) : !aten.t<f32[4]>
  %b = aten.add.Tensor(%a, %y) : !aten.t<f32[4]>
  %c = aten.scalar 3
  %d = aten.scalar 4
  %e = aten.py "truediv"(%c, %d)
  %f = aten.full.default(size = [4], fill_value = 1, dtype = f32) : !aten.t<f32[4]>
  %g = aten._to_copy.default(%f, dtype = bf16) {origin = "full m.py:2"} : !aten.t<bf16[4]>
  func.return %b, %e, %g : !aten.t<f32[4]>, !aten.float, !aten.t<bf16[4]>
}

// -----

/// Ops that give back an operand: a copy over all of a tensor, a cat of one, padding by nothing.

// CHECK-LABEL: @operand
// CHECK-NEXT: %e = aten.exp.default(%y)
// CHECK-NEXT: %f = aten.slice_scatter.default(%x, %z, end = 2)
// CHECK-NEXT: func.return %e, %f
func.func @operand(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>, %z: !aten.t<f32[2]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>) {
  %a = aten.copy.default(%x, %y) : !aten.t<f32[4]>
  %b = aten.slice_scatter.default(%x, %a, start = 0) : !aten.t<f32[4]>
  %c = aten.cat.default([%b]) : !aten.t<f32[4]>
  %d = aten.constant_pad_nd.default(%c, pad = [0, 0]) : !aten.t<f32[4]>
  %e = aten.exp.default(%d) : !aten.t<f32[4]>
  %f = aten.slice_scatter.default(%x, %z, end = 2) : !aten.t<f32[4]>
  func.return %e, %f : !aten.t<f32[4]>, !aten.t<f32[4]>
}

// -----

/// Kept: a cast whose result the caller would find sharing an argument's storage; a number that
/// rounds on the way; a division by zero; a number known only with the sizes.

// CHECK-LABEL: @keep
// CHECK-NEXT: %a = aten._to_copy.default(%x, dtype = f32)
// CHECK-NEXT: %f = aten.full.default(size = [4], fill_value = 0.1, dtype = bf16)
// CHECK-NEXT: %g = aten._to_copy.default(%f, dtype = f32)
// CHECK: %e = aten.py "truediv"
// CHECK: %h = aten.py "truediv"
// CHECK: remark: [aten-fold] refused _to_copy.default %a: a result of the function would share the storage of an argument
func.func @keep(%n: !aten.int<s0>, %x: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>, !aten.float, !aten.float) {
  %a = aten._to_copy.default(%x, dtype = f32) : !aten.t<f32[4]>
  %f = aten.full.default(size = [4], fill_value = 0.1, dtype = bf16) : !aten.t<bf16[4]>
  %g = aten._to_copy.default(%f, dtype = f32) : !aten.t<f32[4]>
  %c = aten.scalar 3
  %d = aten.scalar 0
  %e = aten.py "truediv"(%c, %d)
  %h = aten.py "truediv"(%c, %n)
  func.return %a, %g, %e, %h : !aten.t<f32[4]>, !aten.t<f32[4]>, !aten.float, !aten.float
}

// -----

/// Constants in other sizes, whole numbers in them, a condition that is the same everywhere; not
/// numbers that some dtype rounds, nor a view that is no plain tensor.

// CHECK-LABEL: @constants
// CHECK: %c = aten.full.default(size = [8, 2], fill_value = 6
// CHECK: %n = aten.add.Tensor(%m, %q)
// CHECK: %e = aten.expand.default
// CHECK: func.return %c, %n, %e, %z
func.func @constants(%x: !aten.t<f32[4]>) -> (!aten.t<bf16[8, 2]>, !aten.t<f32[4]>, !aten.t<f32[3, 4]:[0, 1]>, !aten.t<f32[4]>) {
  %k = aten.scalar 2
  %q = aten.scalar 0.5
  %f = aten.full.default(size = [16], fill_value = 3, dtype = bf16) : !aten.t<bf16[16]>
  %v = aten.view.default(%f, size = [8, 2]) : !aten.t<bf16[8, 2]>
  %c = aten.mul.Tensor(%v, %k) : !aten.t<bf16[8, 2]>
  %m = aten.full.default(size = [4], fill_value = 3, dtype = f32) : !aten.t<f32[4]>
  %n = aten.add.Tensor(%m, %q) : !aten.t<f32[4]>
  %e = aten.expand.default(%m, size = [3, 4]) : !aten.t<f32[3, 4]:[0, 1]>
  %t = aten.full.default(size = [4], fill_value = true, dtype = bool) : !aten.t<bool[4]>
  %y = aten.exp.default(%x) : !aten.t<f32[4]>
  %z = aten.sin.default(%x) : !aten.t<f32[4]>
  %w = aten.where.self(%t, %z, %y) : !aten.t<f32[4]>
  func.return %c, %n, %e, %w : !aten.t<bf16[8, 2]>, !aten.t<f32[4]>, !aten.t<f32[3, 4]:[0, 1]>, !aten.t<f32[4]>
}
