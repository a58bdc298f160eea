// RUN: mini-opt %s --split-input-file -p aten-conv-bias --print-remarks | filecheck %s

/// On CUDA the kernel that reads a convolution adds its bias.

// CHECK-LABEL: @taken
// CHECK-NEXT: %[[A:.*]] = aten.convolution.default(%x, %w, stride = [1, 1]
// CHECK-NEXT: %[[B:.*]] = aten.view.default(%b, size = [1, 4, 1, 1]) {{.*}} : !aten.t<bf16[1, 4, 1, 1]@cuda>
// CHECK-NEXT: %[[C:.*]] = aten.add.Tensor(%[[A]], %[[B]]) {{.*}} : !aten.t<bf16[4, 4, 6, 6]@cuda>
// CHECK-NEXT: aten.relu.default(%[[C]])
// CHECK: accepted convolution.default %a: the kernel that reads the result adds the bias {bytes = 2304}
func.func @taken(%x: !aten.t<bf16[4, 4, 6, 6]@cuda>, %w: !aten.t<bf16[4, 4, 1, 1]@cuda>, %b: !aten.t<bf16[4]@cuda>) -> !aten.t<bf16[4, 4, 6, 6]@cuda> {
  %a = aten.convolution.default(%x, %w, %b, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  %c = aten.relu.default(%a) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  func.return %c : !aten.t<bf16[4, 4, 6, 6]@cuda>
}

// -----

/// Not: a convolution without a bias, one that the next convolution alone reads, one on a CPU.

// CHECK-LABEL: @keep
// CHECK-NEXT: %a = aten.convolution.default(%x, %w, stride
// CHECK-NEXT: %c = aten.relu.default(%a)
// CHECK-NEXT: %d = aten.convolution.default(%c, %w, %b, stride
// CHECK-NEXT: %e = aten.convolution.default(%d, %w, stride
// CHECK-NEXT: %f = aten.convolution.default(%y, %v, %u, stride
// CHECK: refused convolution.default %d: no kernel reads the result: nothing is saved
// CHECK: refused convolution.default %f: the library adds the bias as it writes: nothing is saved
func.func @keep(%x: !aten.t<bf16[4, 4, 6, 6]@cuda>, %w: !aten.t<bf16[4, 4, 1, 1]@cuda>, %b: !aten.t<bf16[4]@cuda>, %y: !aten.t<f32[4, 4, 6, 6]>, %v: !aten.t<f32[4, 4, 1, 1]>, %u: !aten.t<f32[4]>) -> (!aten.t<bf16[4, 4, 6, 6]@cuda>, !aten.t<f32[4, 4, 6, 6]>) {
  %a = aten.convolution.default(%x, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  %c = aten.relu.default(%a) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  %d = aten.convolution.default(%c, %w, %b, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  %e = aten.convolution.default(%d, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<bf16[4, 4, 6, 6]@cuda>
  %f = aten.convolution.default(%y, %v, %u, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 6, 6]>
  %g = aten.relu.default(%f) : !aten.t<f32[4, 4, 6, 6]>
  func.return %e, %g : !aten.t<bf16[4, 4, 6, 6]@cuda>, !aten.t<f32[4, 4, 6, 6]>
}
