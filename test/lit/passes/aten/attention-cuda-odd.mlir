// RUN: mini-opt %s --split-input-file -p 'aten-attention,aten-dce' --print-remarks | filecheck %s

/// Negative twin: the kernel takes no heads of twenty columns.

// CHECK-LABEL: @odd
// CHECK-NOT: scaled_dot_product
// CHECK: refused bmm.default %o: heads of 20 columns: its kernel on CUDA takes eights up to 256
func.func @odd(%q: !aten.t<bf16[8, 16, 20]@cuda>, %k: !aten.t<bf16[8, 20, 32]:[640, 1, 20]@cuda>, %v: !aten.t<bf16[8, 32, 20]@cuda>) -> !aten.t<bf16[8, 16, 20]@cuda> {
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
  %o = aten.bmm.default(%r, %v) : !aten.t<bf16[8, 16, 20]@cuda>
  func.return %o : !aten.t<bf16[8, 16, 20]@cuda>
}

// -----

/// Negative twins: f32, whose scores are not rounded; a mask; heads that are no eights.

// CHECK-LABEL: @single
// CHECK-NOT: scaled_dot_product
// CHECK: refused bmm.default %o: it has no kernel for f32 on cuda
func.func @single(%q: !aten.t<f32[8, 16, 64]@cuda>, %k: !aten.t<f32[8, 64, 32]:[2048, 1, 64]@cuda>, %v: !aten.t<f32[8, 32, 64]@cuda>) -> !aten.t<f32[8, 16, 64]@cuda> {
  %a = aten.bmm.default(%q, %k) : !aten.t<f32[8, 16, 32]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 16, 32]) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %t = aten.amax.default(%c, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %u = aten.sub.Tensor(%c, %t) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 16, 32]@cuda>
  %r = aten.view.default(%p, size = [8, 16, 32]) : !aten.t<f32[8, 16, 32]@cuda>
  %o = aten.bmm.default(%r, %v) : !aten.t<f32[8, 16, 64]@cuda>
  func.return %o : !aten.t<f32[8, 16, 64]@cuda>
}

// -----

// CHECK-LABEL: @masked
// CHECK-NOT: scaled_dot_product
// CHECK: refused bmm.default %o: its kernel on CUDA takes no mask
func.func @masked(%q: !aten.t<bf16[8, 16, 64]@cuda>, %k: !aten.t<bf16[8, 64, 32]:[2048, 1, 64]@cuda>, %v: !aten.t<bf16[8, 32, 64]@cuda>, %m: !aten.t<bf16[2, 4, 16, 32]@cuda>) -> !aten.t<bf16[8, 16, 64]@cuda> {
  %a = aten.bmm.default(%q, %k) : !aten.t<bf16[8, 16, 32]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 16, 32]) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %h = aten.scalar 0.125
  %c = aten.mul.Tensor(%b, %h) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %w = aten.add.Tensor(%c, %m) : !aten.t<bf16[2, 4, 16, 32]@cuda>
  %f = aten._to_copy.default(%w, dtype = f32) : !aten.t<f32[2, 4, 16, 32]@cuda>
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
