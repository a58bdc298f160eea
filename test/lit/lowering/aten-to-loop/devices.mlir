// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Beside a GPU's tensors, CPU tensors stay calls; what lies on the GPU becomes a nest.
// CHECK-LABEL: func.func @positions
// CHECK:         %buf0 = loop.extern "aten.arange.default"
// CHECK:         %buf1 = loop.extern "aten._to_copy.default"(%buf0)
// CHECK:         loop.nest (d0: 8) -> (%{{.*}} : !aten.t<f32[8]@cuda>)
// CHECK:       // remark: [aten-to-loop] note arange.default: extern: not on the kernels' device, cuda
func.func @positions(%x: !aten.t<f32[8]@cuda>) -> !aten.t<f32[8]@cuda> {
  %p = aten.arange.default(8) : !aten.t<i64[8]>
  %q = aten._to_copy.default(%p, device = "cuda") : !aten.t<i64[8]@cuda>
  %r = aten.add.Tensor(%q, %x) : !aten.t<f32[8]@cuda>
  func.return %r : !aten.t<f32[8]@cuda>
}

// -----

/// On one device everything becomes nests; a 0-d CPU tensor counts as a number.
// CHECK-LABEL: func.func @number
// CHECK-NOT:     loop.extern
// CHECK:         loop.nest (d0: 8)
func.func @number(%x: !aten.t<f32[8]@cuda>, %n: !aten.t<f64[]>) -> !aten.t<f32[8]@cuda> {
  %r = aten.mul.Tensor(%x, %n) : !aten.t<f32[8]@cuda>
  func.return %r : !aten.t<f32[8]@cuda>
}
