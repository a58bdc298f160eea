// RUN: mini-opt %s --split-input-file -p 'aten-attention{cudnn=true},aten-dce' | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'aten-attention,aten-dce' | filecheck %s --check-prefix=TORCH

/// cuDNN's attention, whose logarithms are a column, where it is to be preferred; NaN is put back.

// CHECK-LABEL: @even
// CHECK: %4, %5, {{.*}} = aten._scaled_dot_product_cudnn_attention.default(%{{.*}}, %{{.*}}, %{{.*}}, compute_log_sumexp = true, scale = 0.125) {{.*}}: !aten.t<bf16[2, 4, 64, 64]@cuda>, !aten.t<f32[2, 4, 64, 1]@cuda>, !aten.absent, !aten.absent, !aten.int<64>, !aten.int<128>,
// CHECK: %[[A:.*]] = aten.abs.default(%5)
// CHECK: %[[F:.*]] = aten.lt.Scalar(%[[A]], other = inf)
// CHECK: aten.where.self(%[[F]], %4, %{{.*}})
// TORCH-LABEL: @even
// TORCH: aten._scaled_dot_product_flash_attention.default
func.func @even(%q: !aten.t<bf16[8, 64, 64]@cuda>, %k: !aten.t<bf16[8, 64, 128]:[8192, 1, 64]@cuda>, %v: !aten.t<bf16[8, 128, 64]@cuda>) -> !aten.t<bf16[8, 64, 64]@cuda> {
  %a = aten.bmm.default(%q, %k) : !aten.t<bf16[8, 64, 128]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 64, 128]) : !aten.t<bf16[2, 4, 64, 128]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<bf16[2, 4, 64, 128]@cuda>
  %f = aten._to_copy.default(%c, dtype = f32) : !aten.t<f32[2, 4, 64, 128]@cuda>
  %t = aten.amax.default(%f, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 64, 1]@cuda>
  %u = aten.sub.Tensor(%f, %t) : !aten.t<f32[2, 4, 64, 128]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 64, 128]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 64, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 64, 128]@cuda>
  %n = aten._to_copy.default(%p, dtype = bf16) : !aten.t<bf16[2, 4, 64, 128]@cuda>
  %r = aten.view.default(%n, size = [8, 64, 128]) : !aten.t<bf16[8, 64, 128]@cuda>
  %o = aten.bmm.default(%r, %v) : !aten.t<bf16[8, 64, 64]@cuda>
  func.return %o : !aten.t<bf16[8, 64, 64]@cuda>
}

// -----

/// Negative twin: 32 keys, which torch's own kernel takes.

// CHECK-LABEL: @odd
// CHECK: aten._scaled_dot_product_flash_attention.default
// TORCH-LABEL: @odd
func.func @odd(%q: !aten.t<bf16[8, 64, 64]@cuda>, %k: !aten.t<bf16[8, 64, 32]:[2048, 1, 64]@cuda>, %v: !aten.t<bf16[8, 32, 64]@cuda>) -> !aten.t<bf16[8, 64, 64]@cuda> {
  %a = aten.bmm.default(%q, %k) : !aten.t<bf16[8, 64, 32]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 64, 32]) : !aten.t<bf16[2, 4, 64, 32]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<bf16[2, 4, 64, 32]@cuda>
  %f = aten._to_copy.default(%c, dtype = f32) : !aten.t<f32[2, 4, 64, 32]@cuda>
  %t = aten.amax.default(%f, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 64, 1]@cuda>
  %u = aten.sub.Tensor(%f, %t) : !aten.t<f32[2, 4, 64, 32]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 64, 32]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 64, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 64, 32]@cuda>
  %n = aten._to_copy.default(%p, dtype = bf16) : !aten.t<bf16[2, 4, 64, 32]@cuda>
  %r = aten.view.default(%n, size = [8, 64, 32]) : !aten.t<bf16[8, 64, 32]@cuda>
  %o = aten.bmm.default(%r, %v) : !aten.t<bf16[8, 64, 64]@cuda>
  func.return %o : !aten.t<bf16[8, 64, 64]@cuda>
}
