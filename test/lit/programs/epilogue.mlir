// RUN: mini-opt %s -p 'default-cpu{preset=seed}' --logs ir_pre_fusion,fusion,ir_post_fusion | filecheck %s

/// z = sin(x) + 1; relu(z.sum(dim=1)) * 2: the epilogue reads each row's sum where it is made.
// CHECK:      // op0.writes = [MemoryDep('buf0', c0, {c0: 1024})]
// CHECK:      // op0.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 1048576})]
// CHECK:      // op1.unmet_dependencies = [MemoryDep('buf0', c0, {c0: 1024})]
// CHECK:      // ===== attempting fusion (1/10): 2 nodes =====
// CHECK:      // op0 and op1 has 4096 shared data
// CHECK:      // found 1 possible fusions
// CHECK:      // fusing op0 with op1
// CHECK:      // completed fusion round (1/10): fused 2 nodes into 1 nodes
// CHECK:      kernel.func @cpp_fused_add_mul_relu_sin_sum_0
// CHECK:        kernel.parallel d0 : 1024
// CHECK-NEXT:     {{.*}}scalar.constant
// CHECK:          kernel.reduce d1 : 1024
// CHECK:          scalar.relu
// CHECK-NOT:  kernel.func
func.func @inference(%arg0_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024]> {
  %sin = aten.sin.default(%arg0_1) : !aten.t<f32[1024, 1024]>
  %0 = aten.scalar 1
  %add = aten.add.Tensor(%sin, %0) : !aten.t<f32[1024, 1024]>
  %sum = aten.sum.dim_IntList(%add, dim = [1]) : !aten.t<f32[1024]>
  %relu = aten.relu.default(%sum) : !aten.t<f32[1024]>
  %1 = aten.scalar 2
  %mul = aten.mul.Tensor(%relu, %1) : !aten.t<f32[1024]>
  func.return %mul : !aten.t<f32[1024]>
}
