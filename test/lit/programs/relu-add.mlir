// RUN: mini-opt %s -p 'default-cpu{preset=seed threads=2}' -t cpp | filecheck %s
// RUN: mini-opt %S/Inputs/relu-add-small.mlir -p 'default-cpu{preset=seed threads=2}' -t cpp | filecheck %s --check-prefix=SMALL

/// relu(x + y) * 2: one kernel, each input read once, one store, vectors; threads at a million.
// CHECK:         static int cpp_fused_add_mul_relu_0_body(
// CHECK:         #pragma omp parallel
// CHECK:         lane_loop<16, 4,
// CHECK-COUNT-2: = ld(L,
// CHECK-NOT:     = ld(L,
// CHECK:         st(L,
// CHECK-NOT:     st(L,
// SMALL-LABEL:   static int cpp_fused_add_mul_relu_0_body(
// SMALL-NOT:     #pragma omp
// SMALL:         lane_loop<16, 4,
func.func @inference(%arg0_1: !aten.t<f32[1024, 1024]>, %arg1_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024, 1024]> {
  %add = aten.add.Tensor(%arg0_1, %arg1_1) : !aten.t<f32[1024, 1024]>
  %relu = aten.relu.default(%add) : !aten.t<f32[1024, 1024]>
  %0 = aten.scalar 2
  %mul = aten.mul.Tensor(%relu, %0) : !aten.t<f32[1024, 1024]>
  func.return %mul : !aten.t<f32[1024, 1024]>
}
