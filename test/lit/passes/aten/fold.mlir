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
