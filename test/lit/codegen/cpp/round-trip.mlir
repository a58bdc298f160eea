// RUN: mini-opt %s -t cpp | filecheck %s

/// To bf16 and back stays in f32 registers.
// CHECK-LABEL: static int there_and_back_body(
// CHECK:         as_bf16(
// CHECK-NOT:     to_bf16
kernel.func @there_and_back(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <lanes 32, tail none> {
    %v = load %x[d0] : f32  %h = scalar.cast %v : f32 to bf16  %w = scalar.cast %h : bf16 to f32
    %c = scalar.constant 2.0 : f32  %r = scalar.mul %w, %c : f32  store %r, %o[d0] } }

/// Negative twin: a bf16 that is stored too is made once.
// CHECK-LABEL: static int stored_body(
// CHECK:         const auto [[H:[a-z]+]] = to_bf16(v);
// CHECK:         bf16_to([[H]])
// CHECK:         st(L, h + d0, [[H]]);
kernel.func @stored(read %x : !kernel.buf<f32[64]>, write %h : !kernel.buf<bf16[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 <lanes 32, tail none> {
    %v = load %x[d0] : f32  %b = scalar.cast %v : f32 to bf16  %w = scalar.cast %b : bf16 to f32
    store %b, %h[d0]  store %w, %o[d0] } }
