// RUN: mini-opt %s --split-input-file -p aten-cse --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p aten-cse --print-debuginfo | filecheck %s --check-prefix LOC

/// Equal ops merge, a commutative one with its operands in either order; locations are fused.

// CHECK-LABEL: @merge
// CHECK-NEXT: %a = aten.exp.default(%x)
// CHECK-NEXT: %c = aten.mul.Tensor(%a, %x)
// CHECK-NEXT: %e = aten.sub.Tensor(%c, %c)
// CHECK-NEXT: func.return %e
// LOC: %a = aten.exp.default(%x) : !aten.t<f32[4]> loc(fused["a"("m.py":1:1), "b"("m.py":2:1)])
func.func @merge(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %a = aten.exp.default(%x) : !aten.t<f32[4]> loc("a"("m.py":1:1))
  %b = aten.exp.default(%x) : !aten.t<f32[4]> loc("b"("m.py":2:1))
  %c = aten.mul.Tensor(%a, %x) : !aten.t<f32[4]>
  %d = aten.mul.Tensor(%x, %b) : !aten.t<f32[4]>
  %e = aten.sub.Tensor(%c, %d) : !aten.t<f32[4]>
  func.return %e : !aten.t<f32[4]>
}

// -----

/// Not merged: other arguments, other operand order of a difference, draws of random numbers.

// CHECK-LABEL: @keep
// CHECK-NEXT: aten.sub.Tensor(%x, %y)
// CHECK-NEXT: aten.sub.Tensor(%y, %x)
// CHECK-NEXT: aten.add.Tensor(%a, %b, alpha = 2)
// CHECK-NEXT: aten.add.Tensor(%b, %a, alpha = 2)
// CHECK-NEXT: aten.rand_like.default(%x)
// CHECK-NEXT: aten.rand_like.default(%x)
func.func @keep(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) {
  %a = aten.sub.Tensor(%x, %y) : !aten.t<f32[4]>
  %b = aten.sub.Tensor(%y, %x) : !aten.t<f32[4]>
  %c = aten.add.Tensor(%a, %b, alpha = 2) : !aten.t<f32[4]>
  %d = aten.add.Tensor(%b, %a, alpha = 2) : !aten.t<f32[4]>
  %e = aten.rand_like.default(%x) : !aten.t<f32[4]>
  %f = aten.rand_like.default(%x) : !aten.t<f32[4]>
  func.return
}

// -----

/// A read before and one after a write differ, also through a view.

// CHECK-LABEL: @write
// CHECK: %a = aten.exp.default(%v)
// CHECK: %w = aten.copy_.default(%x, %y)
// CHECK: %b = aten.exp.default(%v)
func.func @write(%x: !aten.t<f32[2, 2]>, %y: !aten.t<f32[2, 2]>) -> !aten.t<f32[4]> {
  %v = aten.view.default(%x, size = [4]) : !aten.t<f32[4]>
  %a = aten.exp.default(%v) : !aten.t<f32[4]>
  %w = aten.copy_.default(%x, %y) : !aten.t<f32[2, 2]>
  %b = aten.exp.default(%v) : !aten.t<f32[4]>
  %c = aten.add.Tensor(%a, %b) : !aten.t<f32[4]>
  func.return %c : !aten.t<f32[4]>
}

// -----

/// Two results of the function keep their own storage: the caller may write into one of them.

// CHECK-LABEL: @results
// CHECK-NEXT: %a = aten.exp.default(%x)
// CHECK-NEXT: %b = aten.exp.default(%x)
// CHECK: remark: [aten-cse] refused exp.default %b: equals %a, but both are results of the function
func.func @results(%x: !aten.t<f32[4]>) -> (!aten.t<f32[4]>, !aten.t<f32[4]>) {
  %a = aten.exp.default(%x) : !aten.t<f32[4]>
  %b = aten.exp.default(%x) : !aten.t<f32[4]>
  func.return %a, %b : !aten.t<f32[4]>, !aten.t<f32[4]>
}

// -----

/// Other spellings of one op are one: a turned comparison, alpha = -1, a number as a property.

// CHECK-LABEL: @spellings
// CHECK-NEXT: %k = aten.scalar 3
// CHECK-NEXT: %a = aten.sub.Tensor(%x, %y)
// CHECK-NEXT: %c = aten.gt.Tensor(%x, %y)
// CHECK-NEXT: %e = aten.mul.Tensor(%x, %k)
// CHECK-NEXT: %g = aten.add.Tensor(%x, %y, alpha = 2)
// CHECK-NEXT: %h = aten.add.Tensor(%y, %x, alpha = 2)
// CHECK-NEXT: %i = aten.mul.Scalar(%x, other = 3.0)
// CHECK-NEXT: func.return
func.func @spellings(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %k = aten.scalar 3
  %a = aten.sub.Tensor(%x, %y) : !aten.t<f32[4]>
  %b = aten.add.Tensor(%x, %y, alpha = -1) : !aten.t<f32[4]>
  %c = aten.gt.Tensor(%x, %y) : !aten.t<bool[4]>
  %d = aten.lt.Tensor(%y, %x) : !aten.t<bool[4]>
  %e = aten.mul.Tensor(%x, %k) : !aten.t<f32[4]>
  %f = aten.mul.Scalar(%x, other = 3) : !aten.t<f32[4]>
  %g = aten.add.Tensor(%x, %y, alpha = 2) : !aten.t<f32[4]>
  %h = aten.add.Tensor(%y, %x, alpha = 2) : !aten.t<f32[4]>
  %i = aten.mul.Scalar(%x, other = 3.0) : !aten.t<f32[4]>
  func.return %x : !aten.t<f32[4]>
}
