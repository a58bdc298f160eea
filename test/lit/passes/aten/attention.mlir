// RUN: mini-opt %s --split-input-file -p 'aten-attention{scores=finite},aten-dce' --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p aten-attention --print-remarks | filecheck %s --check-prefix=EXACT

/// A masked, scaled attention becomes the library's; the scores stay out of memory.

// CHECK-LABEL: @masked
// CHECK: %{{.*}}, %{{.*}} = aten._scaled_dot_product_flash_attention_for_cpu.default(%{{.*}}, %{{.*}}, %{{.*}}, attn_mask = %m, scale = 0.5) {{.*}}: !aten.t<f32[2, 4, 16, 8]>, !aten.t<f32[2, 4, 16]:[64, 1, 4]>
// CHECK-NEXT: %o = aten.view.default
// CHECK-NEXT: func.return %o
// CHECK: accepted bmm.default %o: attention: the scores stay out of memory {bytes = 65536}
// EXACT-LABEL: @masked
// EXACT-NOT: scaled_dot_product
// EXACT: refused bmm.default %o: the library's attention gives 0, not NaN, where all scores of a query are -inf or NaN; scores=finite promises that there is no such query
func.func @masked(%q: !aten.t<f32[8, 16, 8]>, %k: !aten.t<f32[8, 8, 32]:[256, 1, 8]>, %v: !aten.t<f32[8, 32, 8]>, %m: !aten.t<f32[16, 32]>) -> !aten.t<f32[8, 16, 8]> {
  %a = aten.bmm.default(%q, %k) : !aten.t<f32[8, 16, 32]>
  %b = aten.view.default(%a, size = [2, 4, 16, 32]) : !aten.t<f32[2, 4, 16, 32]>
  %h = aten.scalar 0.5
  %c = aten.mul.Tensor(%b, %h) : !aten.t<f32[2, 4, 16, 32]>
  %d = aten.add.Tensor(%c, %m) : !aten.t<f32[2, 4, 16, 32]>
  %t = aten.amax.default(%d, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]>
  %u = aten.sub.Tensor(%d, %t) : !aten.t<f32[2, 4, 16, 32]>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 16, 32]>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 16, 32]>
  %r = aten.view.default(%p, size = [8, 16, 32]) : !aten.t<f32[8, 16, 32]>
  %o = aten.bmm.default(%r, %v) : !aten.t<f32[8, 16, 8]>
  func.return %o : !aten.t<f32[8, 16, 8]>
}

// -----

/// Not: probabilities that are a result too (a backward needs them); a mask that fills in a finite
/// number.

// CHECK-LABEL: @kept
// CHECK-NOT: scaled_dot_product
// CHECK: refused bmm.default %o: %p inside is used elsewhere too, by func.return
// CHECK: refused bmm.default %o2: masked scores are -1000000000.0, so that a row of masked keys is uniform
func.func @kept(%q: !aten.t<f32[8, 16, 8]>, %k: !aten.t<f32[8, 8, 32]:[256, 1, 8]>, %v: !aten.t<f32[8, 32, 8]>, %m: !aten.t<bool[16, 32]>) -> (!aten.t<f32[8, 16, 8]>, !aten.t<f32[8, 16, 32]>, !aten.t<f32[8, 16, 8]>) {
  %a = aten.bmm.default(%q, %k) : !aten.t<f32[8, 16, 32]>
  %t = aten.amax.default(%a, dim = [-1], keepdim = true) : !aten.t<f32[8, 16, 1]>
  %u = aten.sub.Tensor(%a, %t) : !aten.t<f32[8, 16, 32]>
  %e = aten.exp.default(%u) : !aten.t<f32[8, 16, 32]>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[8, 16, 1]>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[8, 16, 32]>
  %o = aten.bmm.default(%p, %v) : !aten.t<f32[8, 16, 8]>
  %low = aten.scalar_tensor.default(s = -1000000000.0, dtype = f32) : !aten.t<f32[]>
  %a2 = aten.bmm.default(%q, %k) : !aten.t<f32[8, 16, 32]>
  %w2 = aten.where.self(%m, %low, %a2) : !aten.t<f32[8, 16, 32]>
  %t2 = aten.amax.default(%w2, dim = [-1], keepdim = true) : !aten.t<f32[8, 16, 1]>
  %u2 = aten.sub.Tensor(%w2, %t2) : !aten.t<f32[8, 16, 32]>
  %e2 = aten.exp.default(%u2) : !aten.t<f32[8, 16, 32]>
  %s2 = aten.sum.dim_IntList(%e2, dim = [-1], keepdim = true) : !aten.t<f32[8, 16, 1]>
  %p2 = aten.div.Tensor(%e2, %s2) : !aten.t<f32[8, 16, 32]>
  %o2 = aten.bmm.default(%p2, %v) : !aten.t<f32[8, 16, 8]>
  func.return %o, %p, %o2 : !aten.t<f32[8, 16, 8]>, !aten.t<f32[8, 16, 32]>, !aten.t<f32[8, 16, 8]>
}
