// RUN: mini-opt %s -p 'aten-attention,aten-dce' --print-remarks | filecheck %s

/// Negative twin: scores to which a mask was added, which the kernel does not take.

// CHECK-LABEL: @masked
// CHECK-NOT: flash
// CHECK: refused _to_copy.default %o: its scores are masked
func.func @masked(%q: !aten.t<bf16[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>, %k: !aten.t<bf16[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>, %v: !aten.t<bf16[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>, %m: !aten.t<f32[2, 4, 16, 16]@cuda>) -> (!aten.t<bf16[2, 4, 16, 64]@cuda>) {
  %q32 = aten._to_copy.default(%q, dtype = f32) : !aten.t<f32[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
  %k32 = aten._to_copy.default(%k, dtype = f32) : !aten.t<f32[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
  %v32 = aten._to_copy.default(%v, dtype = f32) : !aten.t<f32[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
  %qs = aten.mul.Scalar(%q32, other = 0.5) : !aten.t<f32[2, 4, 16, 64]:[4096, 64, 256, 1]@cuda>
  %kt = aten.permute.default(%k32, dims = [0, 1, 3, 2]) : !aten.t<f32[2, 4, 64, 16]:[4096, 64, 1, 256]@cuda>
  %ks = aten.mul.Scalar(%kt, other = 0.25) : !aten.t<f32[2, 4, 64, 16]:[4096, 64, 1, 256]@cuda>
  %qc = aten.clone.default(%qs, memory_format = contiguous_format) : !aten.t<f32[2, 4, 16, 64]@cuda>
  %q3 = aten.view.default(%qc, size = [8, 16, 64]) : !aten.t<f32[8, 16, 64]@cuda>
  %kc = aten.clone.default(%ks, memory_format = contiguous_format) : !aten.t<f32[2, 4, 64, 16]@cuda>
  %k3 = aten.view.default(%kc, size = [8, 64, 16]) : !aten.t<f32[8, 64, 16]@cuda>
  %a = aten.bmm.default(%q3, %k3) : !aten.t<f32[8, 16, 16]@cuda>
  %b = aten.view.default(%a, size = [2, 4, 16, 16]) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %w = aten.add.Tensor(%b, %m) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %t = aten.amax.default(%w, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %u = aten.sub.Tensor(%w, %t) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %e = aten.exp.default(%u) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %s = aten.sum.dim_IntList(%e, dim = [-1], keepdim = true) : !aten.t<f32[2, 4, 16, 1]@cuda>
  %p = aten.div.Tensor(%e, %s) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %eq = aten.eq.Scalar(%w, other = -inf) : !aten.t<bool[2, 4, 16, 16]@cuda>
  %ne = aten.logical_not.default(%eq) : !aten.t<bool[2, 4, 16, 16]@cuda>
  %any = aten.any.dim(%ne, dim = -1, keepdim = true) : !aten.t<bool[2, 4, 16, 1]@cuda>
  %none = aten.logical_not.default(%any) : !aten.t<bool[2, 4, 16, 1]@cuda>
  %z = aten.full_like.default(%p, fill_value = 0, memory_format = preserve_format) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %safe = aten.where.self(%none, %z, %p) : !aten.t<f32[2, 4, 16, 16]@cuda>
  %p3 = aten.view.default(%safe, size = [8, 16, 16]) : !aten.t<f32[8, 16, 16]@cuda>
  %vc = aten.clone.default(%v32, memory_format = contiguous_format) : !aten.t<f32[2, 4, 16, 64]@cuda>
  %v3 = aten.view.default(%vc, size = [8, 16, 64]) : !aten.t<f32[8, 16, 64]@cuda>
  %o3 = aten.bmm.default(%p3, %v3) : !aten.t<f32[8, 16, 64]@cuda>
  %o4 = aten.view.default(%o3, size = [2, 4, 16, 64]) : !aten.t<f32[2, 4, 16, 64]@cuda>
  %o = aten._to_copy.default(%o4, dtype = bf16) : !aten.t<bf16[2, 4, 16, 64]@cuda>
  func.return %o : !aten.t<bf16[2, 4, 16, 64]@cuda>
}
