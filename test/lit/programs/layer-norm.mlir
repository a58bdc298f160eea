// RUN: mini-opt %s -p default-cpu | filecheck %s

/// One kernel; the row is read once, with weight and bias: (2 * 65536 + 2 * 1024) * 4 bytes.
// CHECK:       kernel.func @cpp_fused_add_mul_rsqrt_sub_var_mean_0
// CHECK-SAME:  bytes <floor 532480, unfused {{[0-9]+}}, planned 532480>
// CHECK:       kernel.parallel d0 : 64
// CHECK-NOT:   kernel.func
func.func @inference(%arg0_1: !aten.t<f32[64, 1024]>, %arg1_1: !aten.t<f32[1024]>, %arg2_1: !aten.t<f32[1024]>) -> !aten.t<f32[64, 1024]> {
  %getitem, %getitem_1 = aten.var_mean.correction(%arg0_1, dim = [1], correction = 0, keepdim = true) : !aten.t<f32[64, 1]>, !aten.t<f32[64, 1]>
  %0 = aten.scalar 1.0e-05
  %add = aten.add.Tensor(%getitem, %0) : !aten.t<f32[64, 1]>
  %rsqrt = aten.rsqrt.default(%add) : !aten.t<f32[64, 1]>
  %sub = aten.sub.Tensor(%arg0_1, %getitem_1) : !aten.t<f32[64, 1024]>
  %mul = aten.mul.Tensor(%sub, %rsqrt) : !aten.t<f32[64, 1024]>
  %mul_1 = aten.mul.Tensor(%mul, %arg1_1) : !aten.t<f32[64, 1024]>
  %add_1 = aten.add.Tensor(%mul_1, %arg2_1) : !aten.t<f32[64, 1024]>
  func.return %add_1 : !aten.t<f32[64, 1024]>
}
