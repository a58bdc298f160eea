// RUN: mini-opt %s -p 'default-cpu{preset=seed}' --logs ir_pre_fusion,fusion,ir_post_fusion | filecheck %s

/// relu(sin(x) + 1): one nest before fusion, nothing to fuse.
// CHECK:     // op0: SchedulerNode(name='op0'), Pointwise(['[1024, 1024]', 'origins=OrderedSet([relu, add, sin])'])
// CHECK:     // ===== attempting fusion (1/10): 1 nodes =====
// CHECK:     // found 0 possible fusions
// CHECK:     kernel.func @cpp_fused_add_relu_sin_0
// CHECK-NOT: kernel.func
func.func @inference(%arg0_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024, 1024]> {
  %sin = aten.sin.default(%arg0_1) : !aten.t<f32[1024, 1024]>
  %0 = aten.scalar 1
  %add = aten.add.Tensor(%sin, %0) : !aten.t<f32[1024, 1024]>
  %relu = aten.relu.default(%add) : !aten.t<f32[1024, 1024]>
  func.return %relu : !aten.t<f32[1024, 1024]>
}
