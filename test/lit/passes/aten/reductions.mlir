// RUN: mini-opt %s --split-input-file -p aten-reductions,aten-dce --print-remarks | filecheck %s

/// An unused index goes, a permute is taken up, and a reduction is made once for both `keepdim`.

// CHECK-LABEL: @one_form
// CHECK-NEXT: %v = aten.amax.default(%x, dim = [1]) {{.*}}: !aten.t<f32[4]>
// CHECK-NEXT: %s = aten.sum.dim_IntList(%x, dim = [1]) : !aten.t<f32[4]>
// CHECK-NEXT: %k = aten.view.default(%s, size = [4, 1]) {{.*}}: !aten.t<f32[4, 1]>
// CHECK-NEXT: %r = aten.div.Tensor(%s, %v)
// CHECK-NEXT: %q = aten.mul.Tensor(%x, %k)
// CHECK-NEXT: func.return
func.func @one_form(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4]>, !aten.t<f32[4, 8]>) {
  %v, %i = aten.max.dim(%x, dim = 1) : !aten.t<f32[4]>, !aten.t<i64[4]>
  %p = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %s = aten.sum.dim_IntList(%p, dim = [0]) : !aten.t<f32[4]>
  %k = aten.sum.dim_IntList(%x, dim = [1], keepdim = true) : !aten.t<f32[4, 1]>
  %r = aten.div.Tensor(%s, %v) : !aten.t<f32[4]>
  %q = aten.mul.Tensor(%x, %k) : !aten.t<f32[4, 8]>
  func.return %r, %q : !aten.t<f32[4]>, !aten.t<f32[4, 8]>
}

// -----

/// A sum of everything, through a copy too.

// CHECK-LABEL: @everything
// CHECK-NEXT: %s = aten.mean.dim(%x, dim = [0, 1, 2]) : !aten.t<f32[]>
// CHECK-NEXT: func.return %s
func.func @everything(%x: !aten.t<f32[s0, 3, 5]>) -> !aten.t<f32[]> attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %p = aten.permute.default(%x, dims = [2, 0, 1]) : !aten.t<f32[5, s0, 3]:[1, 15, 5]>
  %c = aten.clone.default(%p, memory_format = contiguous_format) : !aten.t<f32[5, s0, 3]>
  %s = aten.mean.dim(%c, dim = []) : !aten.t<f32[]>
  func.return %s : !aten.t<f32[]>
}

// -----

/// Not: an index that is used, dimensions that change places, two results that would share storage.

// CHECK-LABEL: @keep
// CHECK-NEXT: aten.max.dim
// CHECK-NEXT: aten.permute.default
// CHECK-NEXT: %s = aten.sum.dim_IntList(%p, dim = [0])
// CHECK-NEXT: %t = aten.amax.default(%x, dim = [0])
// CHECK-NEXT: %u = aten.amax.default(%x, dim = [0], keepdim = true)
// CHECK-NEXT: func.return
// CHECK: refused max.dim %v: its index is used
// CHECK: refused sum.dim_IntList %s: the dimensions that stay come in another order
// CHECK: refused amax.default %u: two results of the function would share storage
func.func @keep(%x: !aten.t<f32[4, 8, 2]>) -> (!aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>, !aten.t<f32[2, 4]>, !aten.t<f32[8, 2]>, !aten.t<f32[1, 8, 2]>) {
  %v, %i = aten.max.dim(%x, dim = 1) : !aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>
  %p = aten.permute.default(%x, dims = [1, 2, 0]) : !aten.t<f32[8, 2, 4]:[2, 1, 16]>
  %s = aten.sum.dim_IntList(%p, dim = [0]) : !aten.t<f32[2, 4]>
  %t = aten.amax.default(%x, dim = [0]) : !aten.t<f32[8, 2]>
  %u = aten.amax.default(%x, dim = [0], keepdim = true) : !aten.t<f32[1, 8, 2]>
  func.return %v, %i, %s, %t, %u : !aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>, !aten.t<f32[2, 4]>, !aten.t<f32[8, 2]>, !aten.t<f32[1, 8, 2]>
}
