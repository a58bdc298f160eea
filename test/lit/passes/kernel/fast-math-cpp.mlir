// RUN: mini-opt %s -p 'kernel-fast-math{target=cpp}' --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-fast-math{target=cpp}' -t cpp | filecheck %s --check-prefix=TEXT
// RUN: mini-opt %s -p 'kernel-fast-math{target=cpp fast-math=false}' | filecheck %s --check-prefix=OFF

/// All that is read and stored is bf16: eight bits of a value are seen.
// CHECK-LABEL: kernel.func @half
// CHECK-SAME:    math = "bf16"
// TEXT-LABEL: static int half_body(
// TEXT:         m_bf16_tanh(
// TEXT:         m_bf16_divide_by(
// OFF-NOT:    math
kernel.func @half(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 32> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f32  %t = scalar.tanh %a : f32
    %c = scalar.constant 3.0 : f32  %q = scalar.divide_by %t, %c : f32
    %r = scalar.cast %q : f32 to bf16  store %r, %o[d0] } }

/// f16 keeps three bits more.
// CHECK-LABEL: kernel.func @sharper
// CHECK-SAME:    math = "fast"
// TEXT-LABEL: static int sharper_body(
// TEXT:         m_fast_tanh(
kernel.func @sharper(read %x : !kernel.buf<f16[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 32> {
    %v = load %x[d0] : f16  %a = scalar.cast %v : f16 to f32  %t = scalar.tanh %a : f32
    %r = scalar.cast %t : f32 to bf16  store %r, %o[d0] } }

/// An f32 result shows all bits, and f64 arithmetic has no short functions.
// CHECK-LABEL: kernel.func @whole
// CHECK-NOT:     math
// TEXT-LABEL: static int whole_body(
// TEXT:         m_tanh(
// TEXT-LABEL: static int double_body(
// TEXT:         m_tanh(
// CHECK-LABEL: kernel.func @double
// CHECK:       // remark: [kernel-fast-math] refused whole: it stores f32
kernel.func @whole(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 16> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f32  %t = scalar.tanh %a : f32  store %t, %o[d0] } }
kernel.func @double(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 8> {
    %v = load %x[d0] : bf16  %a = scalar.cast %v : bf16 to f64  %t = scalar.tanh %a : f64
    %r = scalar.cast %t : f64 to bf16  store %r, %o[d0] } }
