// RUN: mini-opt %s -p default-cpu | filecheck %s
// RUN: mini-opt %s -p default-cpu -t plan | filecheck %s --check-prefix=PLAN

/// One kernel; by the ledger each row is read from memory once and written once.
// CHECK:       kernel.func @cpp_fused_amax_div_exp_sub_sum_0
// CHECK-SAME:  bytes <floor 524288, unfused {{[0-9]+}}, planned 524288>
// CHECK:       kernel.parallel d0 : 64
// CHECK-COUNT-2: kernel.reduce d1 : 1024
// CHECK-NOT:   kernel.func
// PLAN:        1 fused, 0 nests, 0 extern; floor 524288
// PLAN-SAME:   planned 524288
func.func @inference(%arg0_1: !aten.t<f32[64, 1024]>) -> !aten.t<f32[64, 1024]> {
  %amax = aten.amax.default(%arg0_1, dim = [-1], keepdim = true) : !aten.t<f32[64, 1]>
  %sub = aten.sub.Tensor(%arg0_1, %amax) : !aten.t<f32[64, 1024]>
  %exp = aten.exp.default(%sub) : !aten.t<f32[64, 1024]>
  %sum = aten.sum.dim_IntList(%exp, dim = [-1], keepdim = true) : !aten.t<f32[64, 1]>
  %div = aten.div.Tensor(%exp, %sum) : !aten.t<f32[64, 1024]>
  func.return %div : !aten.t<f32[64, 1024]>
}
