// RUN: mini-opt %s -p 'default-cpu{preset=seed}' --logs ir_pre_fusion,fusion,ir_post_fusion | filecheck %s

/// sin(x), cos(x.t()).contiguous(): one buffer through two index expressions shares nothing.
// CHECK:      // op0.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 1048576})]
// CHECK:      // op1.met_dependencies = [MemoryDep('arg0_1', c0 + 1024*c1, {c0: 1024, c1: 1024})]
// CHECK:      // op0 and op1 has 0 shared data
// CHECK:      // cannot fuse op0 with op1: no shared data
// CHECK:      // found 0 possible fusions
// CHECK-COUNT-2: kernel.func @cpp_fused
// CHECK-NOT:  kernel.func
func.func @inference(%arg0_1: !aten.t<f32[1024, 1024]>) -> (!aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>) {
  %sin = aten.sin.default(%arg0_1) : !aten.t<f32[1024, 1024]>
  %permute = aten.permute.default(%arg0_1, dims = [1, 0]) : !aten.t<f32[1024, 1024]:[1, 1024]>
  %cos = aten.cos.default(%permute) : !aten.t<f32[1024, 1024]:[1, 1024]>
  %clone = aten.clone.default(%cos, memory_format = contiguous_format) : !aten.t<f32[1024, 1024]>
  func.return %sin, %clone : !aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>
}
