// RUN: mini-opt %s --split-input-file -p aten-cat,aten-dce --print-remarks | filecheck %s

/// Pieces of one tensor, put together again, are the tensor; a cat in a cat becomes one.

// CHECK-LABEL: @together
// CHECK-NEXT: %f = aten.relu.default(%y) : !aten.t<f32[4, 4]>
// CHECK-NEXT: %g = aten.relu.default(%x) : !aten.t<f32[4, 12]>
// CHECK-NEXT: func.return
func.func @together(%x: !aten.t<f32[4, 12]>, %y: !aten.t<f32[4, 4]>) -> (!aten.t<f32[4, 4]>, !aten.t<f32[4, 12]>) {
  %a, %b = aten.split_with_sizes.default(%x, split_sizes = [4, 8], dim = 1) : !aten.t<f32[4, 4]:[12, 1]>, !aten.t<f32[4, 8]:[12, 1]>
  %c = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[4, 12]>
  %d = aten.cat.default([%c, %y], dim = 1) : !aten.t<f32[4, 16]>
  %e = aten.slice.Tensor(%d, dim = 1, start = 12, end = 16) : !aten.t<f32[4, 4]:[16, 1]>
  %f = aten.relu.default(%e) : !aten.t<f32[4, 4]>
  %g = aten.relu.default(%c) : !aten.t<f32[4, 12]>
  func.return %f, %g : !aten.t<f32[4, 4]>, !aten.t<f32[4, 12]>
}

// -----

/// Neighbours become one slice, written out; symbolic offsets too.

// CHECK-LABEL: @neighbours
// CHECK: %{{.*}} = aten.slice.Tensor(%x, dim = 1, start = s0, end = s0 + 12) {origin = "cat"} : !aten.t<f32[4, 12]:[2 * s0 + 12, 1]>
// CHECK-NEXT: %d = aten.clone.default(%{{.*}}, memory_format = contiguous_format) {origin = "cat"} : !aten.t<f32[4, 12]>
// CHECK-NEXT: %e = aten.cat.default([%y, %x, %y], dim = 1)
func.func @neighbours(%n: !aten.int<s0>, %x: !aten.t<f32[4, 12 + 2 * s0]>, %y: !aten.t<f32[4, 2]>) -> (!aten.t<f32[4, 12]>, !aten.t<f32[4, 16 + 2 * s0]>) attributes {symbols = #aten.symbols<s0 = [hint 5, min 2, max 100]>} {
  %a, %b, %b2, %c = aten.split_with_sizes.default(%x, split_sizes = [s0, 4, 8, s0], dim = 1) : !aten.t<f32[4, s0]:[12 + 2 * s0, 1]>, !aten.t<f32[4, 4]:[12 + 2 * s0, 1]>, !aten.t<f32[4, 8]:[12 + 2 * s0, 1]>, !aten.t<f32[4, s0]:[12 + 2 * s0, 1]>
  %d = aten.cat.default([%b, %b2], dim = 1) : !aten.t<f32[4, 12]>
  %e = aten.cat.default([%y, %a, %b, %b2, %c, %y], dim = 1) : !aten.t<f32[4, 16 + 2 * s0]>
  func.return %d, %e : !aten.t<f32[4, 12]>, !aten.t<f32[4, 16 + 2 * s0]>
}

// -----

/// Not: pieces in another order, a result that would share the argument's storage, a shared inner
/// cat, a slice that an op reads whose result may depend on strides, parts of two tensors.

// CHECK-LABEL: @keep
// CHECK-COUNT-2: aten.slice.Tensor(%x
// CHECK-NEXT: %swap = aten.cat.default
// CHECK-NEXT: %whole = aten.cat.default
// CHECK-NEXT: %in = aten.cat.default
// CHECK-NEXT: %out = aten.cat.default([%in, %y]
// CHECK-NEXT: %p = aten.slice.Tensor(%out
// CHECK-NEXT: %q = aten.slice.Tensor(%out
// CHECK: refused cat.default %whole: a result of the function would share the storage of an argument
// CHECK: refused cat.default %out: the cat inside, %in, is used elsewhere too
// CHECK: refused slice.Tensor %p: what reads it may depend on its strides
// CHECK: refused slice.Tensor %q: it shows parts of several tensors, or a part of one
func.func @keep(%x: !aten.t<f32[4, 8]>, %y: !aten.t<f32[4, 4]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4, 12]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>) {
  %a = aten.slice.Tensor(%x, dim = 1, start = 0, end = 4) : !aten.t<f32[4, 4]:[8, 1]>
  %b = aten.slice.Tensor(%x, dim = 1, start = 4, end = 9223372036854775807) : !aten.t<f32[4, 4]:[8, 1]>
  %swap = aten.cat.default([%b, %a], dim = 1) : !aten.t<f32[4, 8]>
  %whole = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[4, 8]>
  %in = aten.cat.default([%y, %swap], dim = 1) : !aten.t<f32[4, 12]>
  %out = aten.cat.default([%in, %y], dim = 1) : !aten.t<f32[4, 16]>
  %p = aten.slice.Tensor(%out, dim = 1, start = 12, end = 16) : !aten.t<f32[4, 4]:[16, 1]>
  %q = aten.slice.Tensor(%out, dim = 1, start = 2, end = 6) : !aten.t<f32[4, 4]:[16, 1]>
  %m = aten.mm.default(%p, %y) : !aten.t<f32[4, 4]>
  %r = aten.relu.default(%q) : !aten.t<f32[4, 4]>
  func.return %swap, %whole, %in, %m, %r : !aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4, 12]>, !aten.t<f32[4, 4]>, !aten.t<f32[4, 4]>
}
