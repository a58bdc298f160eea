// RUN: mini-opt %s -p kernel-fast-math --print-remarks | filecheck %s
// RUN: mini-opt %s -p kernel-fast-math -t triton | filecheck %s --check-prefix=TEXT
// RUN: mini-opt %s -p 'kernel-fast-math{fast-math=false}' | filecheck %s --check-prefix=OFF

/// All that is read and stored is bf16: eight bits of a value are seen.
// CHECK-LABEL: kernel.func @half
// CHECK-SAME:    math = "fast"
// TEXT-LABEL: def half(
// TEXT:         mi_fast_tanh(
// TEXT:         mi_fast_div(
// OFF-NOT:    math
kernel.func @half(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 <run grid, lanes 256> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f32  %t = scalar.tanh %a : f32
    %q = scalar.div %t, %a : f32  %r = scalar.cast %q : f32 to bf16  store %r, %o[d0] } }

/// An f32 result shows all bits; f32 inputs may differ in their last ones alone; a comparison's
/// outcome may hang on one.
// CHECK-LABEL: kernel.func @whole
// CHECK-NOT:     math
// TEXT-LABEL: def whole(
// TEXT:         mi_tanh(
// CHECK-DAG: // remark: [kernel-fast-math] refused whole: it stores f32
// CHECK-DAG: // remark: [kernel-fast-math] refused wide: it reads f32
// CHECK-DAG: // remark: [kernel-fast-math] refused test: it stores bool, which may hang on the last bit of a comparison
kernel.func @whole(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 <run grid, lanes 256> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f32  %t = scalar.tanh %a : f32  store %t, %o[d0] } }
kernel.func @wide(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 <run grid, lanes 256> {
    %v = load %x[d0] : f32  %t = scalar.tanh %v : f32  %r = scalar.cast %t : f32 to bf16  store %r, %o[d0] } }
kernel.func @test(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<bool[1024]>) [] config {target = "triton"} {
  parallel d0 : 1024 <run grid, lanes 256> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f32  %t = scalar.tanh %a : f32
    %b = scalar.gt %t, %a : f32  store %b, %o[d0] } }
