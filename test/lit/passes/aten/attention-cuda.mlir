// RUN: mini-opt %s --split-input-file -p 'aten-attention,aten-dce' --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'aten-attention{scores=finite},aten-dce' | filecheck %s --check-prefix=FINITE
// RUN: mini-opt %s --split-input-file -p 'aten-attention{flash=false}' --print-remarks | filecheck %s --check-prefix=OLD

/// On CUDA the kernel for half types tells which queries had no finite score: they get NaN.

// CHECK-LABEL: @half
// CHECK: %4, %5, {{.*}} = aten._scaled_dot_product_flash_attention.default(%{{.*}}, %{{.*}}, %{{.*}}, scale = 0.125) {{.*}}: !aten.t<bf16[2, 4, 16, 64]@cuda>, !aten.t<f32[2, 4, 16]@cuda>, !aten.absent, !aten.absent, !aten.int<16>, !aten.int<32>,
// CHECK: %[[L:.*]] = aten.unsqueeze.default(%5, dim = -1)
// CHECK: %[[A:.*]] = aten.abs.default(%[[L]])
// CHECK: %[[F:.*]] = aten.lt.Scalar(%[[A]], other = inf)
// CHECK: aten.where.self(%{{.*}}, %4, %{{.*}})
// CHECK-NOT: aten.bmm
// FINITE-LABEL: @half
// FINITE: aten._scaled_dot_product_flash_attention.default
// FINITE-NOT: where
// OLD-LABEL: @half
// OLD: refused bmm.default %o: cuda has no kernel for it here
func.func @half(%q: !aten.t<bf16[8, 16, 64]@cuda>, %k: !aten.t<bf16[8, 64, 32]:[2048, 1, 64]@cuda>, %v: !aten.t<bf16[8, 32, 64]@cuda>) -> !aten.t<bf16[8, 16, 64]@cuda> {
  %a = aten.bmm.default(%q, %k) : !aten.t<bf16[8, 16, 32]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 16, 32]) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %f = aten._to_copy.default(%c, dtype = f32) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %t = aten.amax.default(%f, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %u = aten.sub.Tensor(%f, %t) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %n = aten._to_copy.default(%p, dtype = bf16) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %r = aten.view.default(%n, size = [8, 16, 32]) : !aten.t<bf16[8, 16, 32]@cuda>
  %o = aten.bmm.default(%r, %v) : !aten.t<bf16[8, 16, 64]@cuda>
  func.return %o : !aten.t<bf16[8, 16, 64]@cuda>
}

// -----

/// Heads that were copied together are read where they lie; the result lies as they do.

// CHECK-LABEL: @strided
// CHECK-NOT: aten.clone
// CHECK: aten._scaled_dot_product_flash_attention.default(%y, {{.*}}: !aten.t<bf16[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
func.func @strided(%x: !aten.t<bf16[2, 16, 4, 64]@cuda>, %k: !aten.t<bf16[8, 64, 32]:[2048, 1, 64]@cuda>, %v: !aten.t<bf16[8, 32, 64]@cuda>) -> !aten.t<bf16[8, 16, 64]@cuda> {
  %y = aten.permute.default(%x, dims = [0, 2, 1, 3]) : !aten.t<bf16[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
  %z = aten.clone.default(%y, memory_format = contiguous_format) : !aten.t<bf16[2, 4, 16, 64]@cuda>
  %q = aten.view.default(%z, size = [8, 16, 64]) : !aten.t<bf16[8, 16, 64]@cuda>
  %a = aten.bmm.default(%q, %k) : !aten.t<bf16[8, 16, 32]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 16, 32]) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %f = aten._to_copy.default(%c, dtype = f32) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %t = aten.amax.default(%f, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %u = aten.sub.Tensor(%f, %t) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %n = aten._to_copy.default(%p, dtype = bf16) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %r = aten.view.default(%n, size = [8, 16, 32]) : !aten.t<bf16[8, 16, 32]@cuda>
  %o = aten.bmm.default(%r, %v) : !aten.t<bf16[8, 16, 64]@cuda>
  func.return %o : !aten.t<bf16[8, 16, 64]@cuda>
}
