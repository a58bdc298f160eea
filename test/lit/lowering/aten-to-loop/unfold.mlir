// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Two windows may hold an element: both are written out, the earlier one first, each read only
/// where there is such a window.

// CHECK-LABEL: func.func @overlap
// CHECK:         loop.nest (d0: 10)
// CHECK:           scalar.within (d0 floordiv 2) - 1 in 0 to 4
// CHECK:             loop.load %grad[(d0 floordiv 2) - 1, (d0 mod 2) + 2] : f32
// CHECK:             loop.load %grad[(d0 floordiv 2), (d0 mod 2)] : f32
// CHECK:           %[[S:.+]] = scalar.add
// CHECK:           loop.store %[[S]], %o[d0]
func.func @overlap(%grad: !aten.t<f32[4, 4]>) -> !aten.t<f32[10]> {
  %g = aten.unfold_backward.default(%grad, input_sizes = [10], dim = 0, size = 4, step = 2) : !aten.t<f32[10]>
  func.return %g : !aten.t<f32[10]>
}

// -----

/// Many windows over an element are a loop; half types are summed in f32.

// CHECK-LABEL: func.func @many
// CHECK:         loop.nest (d0: 3, d1: 40) reduce (d2: 16)
// CHECK:           loop.reduce add %{{.*}} : f32 -> f32
func.func @many(%grad: !aten.t<bf16[3, 25, 16]>) -> !aten.t<bf16[3, 40]> {
  %g = aten.unfold_backward.default(%grad, input_sizes = [3, 40], dim = 1, size = 16, step = 1) : !aten.t<bf16[3, 40]>
  func.return %g : !aten.t<bf16[3, 40]>
}

// -----

/// Windows that leave gaps: what lies in none of them is 0.

// CHECK-LABEL: func.func @gaps
// CHECK-NOT:     scalar.add
// CHECK:         scalar.within (d0 mod 5) in 0 to 2
func.func @gaps(%grad: !aten.t<f32[2, 2]>) -> !aten.t<f32[9]> {
  %g = aten.unfold_backward.default(%grad, input_sizes = [9], dim = 0, size = 2, step = 5) : !aten.t<f32[9]>
  func.return %g : !aten.t<f32[9]>
}

// -----

/// Not so where the gradient is not one of windows of `size` elements: eager's kernel.

// CHECK-LABEL: func.func @other
// CHECK:         loop.extern "aten.unfold_backward.default"
func.func @other(%grad: !aten.t<f32[4, 3]>) -> !aten.t<f32[10]> {
  %g = aten.unfold_backward.default(%grad, input_sizes = [10], dim = 0, size = 4, step = 2) : !aten.t<f32[10]>
  func.return %g : !aten.t<f32[10]>
}
