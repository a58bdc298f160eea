// RUN: mini-opt %s --split-input-file -p loop-layout | filecheck %s

/// Gradients: those of images stay channels last, those of weights are given back as promised.

// CHECK-LABEL: @three
// CHECK: %h = loop.nest (d0: 4, d1: 28, d2: 28, d3: 16)
// CHECK: %x_turned = loop.nest (d0: 4, d1: 28, d2: 28, d3: 16)
// CHECK: %w_turned = loop.nest (d0: 16, d1: 3, d2: 3, d3: 16)
// CHECK: %a, %b, %c = loop.extern "aten.convolution_backward.default"(%h, %x_turned, %w_turned)
// CHECK-SAME: -> (!aten.t<bf16[4, 16, 28, 28]:[12544, 1, 448, 16]@cuda>, !aten.t<bf16[16, 16, 3, 3]:[144, 1, 48, 16]@cuda>, !aten.absent)
// CHECK-NEXT: %b_turned = loop.nest (d0: 16, d1: 16, d2: 3, d3: 3)
// CHECK: func.return %d, %b_turned
func.func @three(%g: !aten.t<bf16[4, 16, 28, 28]@cuda>, %x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 3, 3]@cuda>) -> (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 3, 3]@cuda>) {
  %h = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["neg"] {
    %0 = loop.load %g[d0, d1, d2, d3] : bf16
    %1 = scalar.neg %0 : bf16
    loop.store %1, %o[d0, d1, d2, d3]
  }
  %a, %b, %c = loop.extern "aten.convolution_backward.default"(%h, %x, %w) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<2>, #loop.index<[0]>, #loop.index<[1, 1]>, #loop.index<[1, 1]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64, [true, true, false]] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 3, 3]@cuda>) -> (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 3, 3]@cuda>, !aten.absent)
  %d = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["neg"] {
    %0 = loop.load %a[d0, d1, d2, d3] : bf16
    %1 = scalar.neg %0 : bf16
    loop.store %1, %o[d0, d1, d2, d3]
  }
  func.return %d, %b : !aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 3, 3]@cuda>
}

// -----

/// Weights of one pixel: the same memory, but the strides that were promised.

// CHECK-LABEL: @one
// CHECK: loop.extern "aten.convolution_backward.default"(%h, %x_turned, %w)
// CHECK-SAME: !aten.t<bf16[16, 16, 1, 1]:[16, 1, 16, 16]@cuda>
// CHECK-NEXT: %b_turned = loop.view %b offset 0
// CHECK: func.return %d, %b_turned
func.func @one(%g: !aten.t<bf16[4, 16, 28, 28]@cuda>, %x: !aten.t<bf16[4, 16, 28, 28]@cuda>, %w: !aten.t<bf16[16, 16, 1, 1]@cuda>) -> (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) {
  %h = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["neg"] {
    %0 = loop.load %g[d0, d1, d2, d3] : bf16
    %1 = scalar.neg %0 : bf16
    loop.store %1, %o[d0, d1, d2, d3]
  }
  %a, %b, %c = loop.extern "aten.convolution_backward.default"(%h, %x, %w) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<2>, #loop.index<[0]>, #loop.index<[1, 1]>, #loop.index<[0, 0]>, #loop.index<[1, 1]>, false, #loop.index<[0, 0]>, 1 : i64, [true, true, false]] : (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>) -> (!aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>, !aten.absent)
  %d = loop.nest (d0: 4, d1: 16, d2: 28, d3: 28) -> (%o : !aten.t<bf16[4, 16, 28, 28]@cuda>) origins ["neg"] {
    %0 = loop.load %a[d0, d1, d2, d3] : bf16
    %1 = scalar.neg %0 : bf16
    loop.store %1, %o[d0, d1, d2, d3]
  }
  func.return %d, %b : !aten.t<bf16[4, 16, 28, 28]@cuda>, !aten.t<bf16[16, 16, 1, 1]@cuda>
}
