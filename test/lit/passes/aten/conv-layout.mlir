// RUN: mini-opt %s --split-input-file -p aten-conv-layout --print-remarks | filecheck %s

/// The library would make 128 x 128 kernels of 7 x 7 for 4 x 4 pixels: the pixels are copied.

// CHECK-LABEL: @small
// CHECK-NEXT: %[[X:.*]] = aten.clone.default(%x, memory_format = contiguous_format) {{.*}} : !aten.t<f32[4, 128, 4, 4]>
// CHECK-NEXT: %[[G:.*]], %b, %c = aten.convolution_backward.default(%g, %[[X]], %w, {{.*}}) : !aten.t<f32[4, 128, 4, 4]>, !aten.t<f32[128, 1, 7, 7]>
// CHECK-NEXT: %a = aten.clone.default(%[[G]], memory_format = channels_last) {{.*}} : !aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>
// CHECK: accepted convolution_backward.default %a: the input is copied in place of a dense weight gradient {bytes = 3211264}
func.func @small(%g: !aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>, %x: !aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>, %w: !aten.t<f32[128, 1, 7, 7]>) -> (!aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>, !aten.t<f32[128, 1, 7, 7]>, !aten.t<f32[128]>) {
  %a, %b, %c = aten.convolution_backward.default(%g, %x, %w, bias_sizes = [128], stride = [1, 1], padding = [3, 3], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 128, output_mask = [true, true, true]) : !aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>, !aten.t<f32[128, 1, 7, 7]>, !aten.t<f32[128]>
  func.return %a, %b, %c : !aten.t<f32[4, 128, 4, 4]:[2048, 1, 512, 128]>, !aten.t<f32[128, 1, 7, 7]>, !aten.t<f32[128]>
}

// -----

/// Negative twin: of 56 x 56 pixels a copy costs more than the scratch.

// CHECK-LABEL: @large
// CHECK-NEXT: aten.convolution_backward.default(%g, %x, %w,
// CHECK: refused convolution_backward.default %a: a scratch of 200704 elements for 401408 of the input
func.func @large(%g: !aten.t<f32[2, 64, 56, 56]:[200704, 1, 3584, 64]>, %x: !aten.t<f32[2, 64, 56, 56]:[200704, 1, 3584, 64]>, %w: !aten.t<f32[64, 1, 7, 7]>) -> !aten.t<f32[64, 1, 7, 7]> {
  %a, %b, %c = aten.convolution_backward.default(%g, %x, %w, bias_sizes = [64], stride = [1, 1], padding = [3, 3], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 64, output_mask = [true, true, true]) : !aten.t<f32[2, 64, 56, 56]:[200704, 1, 3584, 64]>, !aten.t<f32[64, 1, 7, 7]>, !aten.t<f32[64]>
  func.return %b : !aten.t<f32[64, 1, 7, 7]>
}
