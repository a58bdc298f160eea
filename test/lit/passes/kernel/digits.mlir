// RUN: mini-opt %s -p 'kernel-digits,kernel-blocks' --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-digits{width=0}' | filecheck %s --check-prefix=OFF

/// A weight for each 3136 elements is read once for 64 of them.
// CHECK-LABEL: kernel.func @norm
// CHECK:           kernel.parallel d1 : 392 <lanes 32, tail mask> {
// CHECK-NEXT:        kernel.parallel d2 : 64 <lanes 64, tail none> {
// CHECK-NEXT:          %b = kernel.load %x[25088 * d0 + 64 * d1 + d2]
// CHECK-NEXT:          %w = kernel.load %s[(d1 floordiv 49)]
// OFF-LABEL:   kernel.func @norm
// OFF:           kernel.load %s[(d1 floordiv 3136)]
kernel.func @norm(read %x : !kernel.buf<f32[25690112]>, read %s : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[25690112]>) [] config {target = "triton"} {
  parallel d0 : 1024 {
    %m = reduce d1 : 25088 [max] -> f32 { %a = load %x[25088 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 25088 {
      %b = load %x[25088 * d0 + d1] : f32  %w = load %s[d1 floordiv 3136] : f32
      %c = scalar.mul %w, %m : f32  %d = scalar.mul %b, %c : f32  store %d, %o[25088 * d0 + d1] } } }

/// Channels of 49 elements end inside a block; a weight of each element is not shared.
// CHECK-LABEL: kernel.func @odd
// CHECK:           kernel.load %s[(d1 floordiv 49)]
// CHECK-LABEL: kernel.func @each
// CHECK:           kernel.parallel d1 : 25088
// CHECK:       // remark: [kernel-digits] refused odd: a division of the stage's variable is not by a multiple of 64
kernel.func @odd(read %x : !kernel.buf<f32[25690112]>, read %s : !kernel.buf<f32[512]>, write %o : !kernel.buf<f32[25690112]>) [] config {target = "triton"} {
  parallel d0 : 1024 {
    %m = reduce d1 : 25088 [max] -> f32 { %a = load %x[25088 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 25088 {
      %b = load %x[25088 * d0 + d1] : f32  %w = load %s[d1 floordiv 49] : f32
      %c = scalar.mul %w, %m : f32  %d = scalar.mul %b, %c : f32  store %d, %o[25088 * d0 + d1] } } }
kernel.func @each(read %x : !kernel.buf<f32[25690112]>, read %s : !kernel.buf<f32[25088]>, write %o : !kernel.buf<f32[25690112]>) [] config {target = "triton"} {
  parallel d0 : 1024 {
    %m = reduce d1 : 25088 [max] -> f32 { %a = load %x[25088 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 25088 {
      %b = load %x[25088 * d0 + d1] : f32  %w = load %s[d1] : f32
      %c = scalar.mul %w, %m : f32  %d = scalar.mul %b, %c : f32  store %d, %o[25088 * d0 + d1] } } }
