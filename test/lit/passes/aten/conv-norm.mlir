// RUN: mini-opt %s --split-input-file -p aten-conv-norm,aten-dce --print-remarks | filecheck %s

/// A batch norm with known statistics goes into the weights when only a convolution reads it.

// CHECK-LABEL: @taken
// CHECK: %[[S:.*]] = aten.view.default(%{{.*}}, size = [4, 1, 1, 1])
// CHECK-NEXT: %[[W:.*]] = aten.mul.Tensor(%w, %[[S]]) {{.*}} : !aten.t<f32[4, 4, 1, 1]>
// CHECK-NEXT: %d = aten.convolution.default(%x, %[[W]], %{{.*}}, stride = [1, 1]
// CHECK-NEXT: %e = aten.convolution.default(%d, %w, stride
// CHECK: accepted add.Tensor %d: the norm goes into the weights of the convolution {bytes = 4480}
func.func @taken(%x: !aten.t<f32[4, 4, 6, 6]>, %w: !aten.t<f32[4, 4, 1, 1]>, %m: !aten.t<f32[4]>, %g: !aten.t<f32[4]>) -> !aten.t<f32[4, 4, 6, 6]> {
  %a = aten.convolution.default(%x, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 6, 6]>
  %m3 = aten.view.default(%m, size = [4, 1, 1]) : !aten.t<f32[4, 1, 1]>
  %g3 = aten.view.default(%g, size = [4, 1, 1]) : !aten.t<f32[4, 1, 1]>
  %b = aten.sub.Tensor(%a, %m3) : !aten.t<f32[4, 4, 6, 6]>
  %c = aten.mul.Tensor(%b, %g3) : !aten.t<f32[4, 4, 6, 6]>
  %d = aten.add.Tensor(%c, %m3) : !aten.t<f32[4, 4, 6, 6]>
  %e = aten.convolution.default(%d, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 6, 6]>
  func.return %e : !aten.t<f32[4, 4, 6, 6]>
}

// -----

/// Not: a kernel that reads the result, half types, large weights, a result used before the norm.

// CHECK-LABEL: @keep
// CHECK-COUNT-4: aten.convolution.default
// CHECK: refused mul.Tensor %b: the kernel that reads the result takes the norm along for nothing
// CHECK: refused mul.Tensor %h: the scaled weights would be rounded to bf16
// CHECK: refused mul.Tensor %k: the weights are larger than the result
// CHECK: refused mul.Tensor %o: %n is used elsewhere too
func.func @keep(%x: !aten.t<f32[4, 4, 6, 6]>, %w: !aten.t<f32[4, 4, 1, 1]>, %m: !aten.t<f32[4, 1, 1]>, %y: !aten.t<bf16[4, 4, 6, 6]>, %v: !aten.t<bf16[4, 4, 1, 1]>, %mh: !aten.t<bf16[4, 1, 1]>, %u: !aten.t<f32[4, 4, 6, 6]>) -> (!aten.t<f32[4, 4, 6, 6]>, !aten.t<bf16[4, 4, 6, 6]>, !aten.t<f32[4, 4, 1, 1]>, !aten.t<f32[4, 4, 6, 6]>, !aten.t<f32[4, 4, 6, 6]>) {
  %a = aten.convolution.default(%x, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 6, 6]>
  %b = aten.mul.Tensor(%a, %m) : !aten.t<f32[4, 4, 6, 6]>
  %c = aten.relu.default(%b) : !aten.t<f32[4, 4, 6, 6]>
  %g = aten.convolution.default(%y, %v, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<bf16[4, 4, 6, 6]>
  %h = aten.mul.Tensor(%g, %mh) : !aten.t<bf16[4, 4, 6, 6]>
  %j = aten.convolution.default(%x, %u, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 1, 1]>
  %k = aten.mul.Tensor(%j, %m) : !aten.t<f32[4, 4, 1, 1]>
  %n = aten.convolution.default(%x, %w, stride = [1, 1], padding = [0, 0], dilation = [1, 1], transposed = false, output_padding = [0, 0], groups = 1) : !aten.t<f32[4, 4, 6, 6]>
  %o = aten.mul.Tensor(%n, %m) : !aten.t<f32[4, 4, 6, 6]>
  func.return %c, %h, %k, %n, %o : !aten.t<f32[4, 4, 6, 6]>, !aten.t<bf16[4, 4, 6, 6]>, !aten.t<f32[4, 4, 1, 1]>, !aten.t<f32[4, 4, 6, 6]>, !aten.t<f32[4, 4, 6, 6]>
}
