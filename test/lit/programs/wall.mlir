// RUN: mini-opt %s -p 'default-cpu{preset=seed}' --logs ir_pre_fusion,fusion,ir_post_fusion | filecheck %s

/// y = sin(x); relu(y + y.sum()): the refusal is the kernel boundary; sin is computed twice.
// CHECK:      // op0.group.iteration = ((), (1048576,))
// CHECK:      // op1.group.iteration = ((1048576,), ())
// CHECK:      // op0 and op1 has 4194308 shared data
// CHECK:      // cannot fuse op0 with op1:
// CHECK:      // found 0 possible fusions
// CHECK:      kernel.func @cpp_fused_sin_sum_0
// CHECK:        scalar.sin
// CHECK:      kernel.func @cpp_fused_add_relu_sin_1
// CHECK:        scalar.sin
// CHECK-LABEL: func.func @call
// CHECK:        kernel.alloc : !aten.t<f32[]>
// CHECK:        kernel.alloc {pool} : !aten.t<f32[1024, 1024]>
// CHECK-NOT:    kernel.alloc
func.func @inference(%arg0_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024, 1024]> {
  %sin = aten.sin.default(%arg0_1) : !aten.t<f32[1024, 1024]>
  %sum = aten.sum.dim_IntList(%sin, dim = []) : !aten.t<f32[]>
  %add = aten.add.Tensor(%sin, %sum) : !aten.t<f32[1024, 1024]>
  %relu = aten.relu.default(%add) : !aten.t<f32[1024, 1024]>
  func.return %relu : !aten.t<f32[1024, 1024]>
}
