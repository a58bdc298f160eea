// RUN: mini-opt %s --split-input-file -p aten-conv-split --print-remarks | filecheck %s

/// The call is the peak: the weight's gradient comes first. The stride of 2 left a column of the input
/// out, which the transposed convolution pads.

// CHECK-LABEL: @peak
// CHECK-NEXT: %{{.*}}, %b, %c = aten.convolution_backward.default(%g, %x, %w,{{.*}} output_mask = [false, true, true]) : !aten.absent, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[32]>
// CHECK-NEXT: %a = aten.convolution.default(%g, %w, stride = [2, 2], padding = [1, 1], dilation = [1, 1], transposed = true, output_padding = [0, 1], groups = 1) {{.*}} : !aten.t<f32[4, 96, 63, 64]>
// CHECK: accepted convolution_backward.default %a: the weight's gradient is done before the input's is there {bytes = 6193152}
func.func @peak(%g: !aten.t<f32[4, 32, 32, 32]>, %x: !aten.t<f32[4, 96, 63, 64]>, %w: !aten.t<f32[32, 96, 3, 3]>) -> (!aten.t<f32[4, 96, 63, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[32]>) attributes {dying = array<i64: 1>} {
  %a, %b, %c = aten.convolution_backward.default(%g, %x, %w, bias_sizes = [32], stride = [2, 2], padding = [1, 1], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1, output_mask = [true, true, true]) : !aten.t<f32[4, 96, 63, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[32]>
  func.return %a, %b, %c : !aten.t<f32[4, 96, 63, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[32]>
}

// -----

/// Negative twin: ops before it need twice as much.

// CHECK-LABEL: @elsewhere
// CHECK:      %a, %b, %c = aten.convolution_backward.default
// CHECK-NEXT: func.return
// CHECK: refused convolution_backward.default %a: 14790788 bytes more than at entry live then, 33554432 at the peak
func.func @elsewhere(%g: !aten.t<f32[4, 32, 64, 64]>, %x: !aten.t<f32[4, 96, 64, 64]>, %w: !aten.t<f32[32, 96, 3, 3]>, %y: !aten.t<f32[4194304]>) -> (!aten.t<f32[4, 96, 64, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[]>) {
  %y1 = aten.sin.default(%y) : !aten.t<f32[4194304]>
  %y2 = aten.cos.default(%y1) : !aten.t<f32[4194304]>
  %s = aten.sum.dim_IntList(%y2, dim = [0], keepdim = false) : !aten.t<f32[]>
  %a, %b, %c = aten.convolution_backward.default(%g, %x, %w, bias_sizes = [32], stride = [1, 1], padding = [1, 1], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1, output_mask = [true, true, true]) : !aten.t<f32[4, 96, 64, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[32]>
  func.return %a, %b, %s : !aten.t<f32[4, 96, 64, 64]>, !aten.t<f32[32, 96, 3, 3]>, !aten.t<f32[]>
}
