// RUN: mini-opt %s -p 'kernel-call{many=3}' --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-call{many=3}' -t cpp | filecheck %s --check-prefix=TEXT
// RUN: mini-opt %s -p 'kernel-call{many=0}' | filecheck %s --check-prefix=OFF

/// Three functions: each is compiled once and called. An addition and a square root are instructions.
// CHECK-LABEL: kernel.func @many
// CHECK-SAME:    call = 8
// TEXT:       #define CALLED(f)
// TEXT:       {{^}}CALLED(m_pow)
// TEXT-NEXT:  {{^}}CALLED(m_sin)
// TEXT-LABEL: static int many_body(
// TEXT:         call_m_sin(v)
// TEXT:         call_m_pow(
// TEXT:         = m_sqrt(
// OFF-NOT:    call = 8
kernel.func @many(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 16> {
    %v = load %x[d0] : f32  %a = scalar.sin %v : f32  %b = scalar.sin %a : f32
    %c = scalar.pow %b, %a : f32  %d = scalar.sqrt %c : f32  store %d, %o[d0] } }

/// Two, and integers, whose power is no function of floats: all stands in line.
// CHECK-LABEL: kernel.func @few
// CHECK-NOT:     call =
// TEXT-LABEL: static int few_body(
// TEXT-NOT:     call_
// CHECK:      // remark: [kernel-call] refused few: 2 functions are fewer than 3
kernel.func @few(read %x : !kernel.buf<f32[1024]>, read %i : !kernel.buf<i64[1024]>, write %o : !kernel.buf<f32[1024]>, write %p : !kernel.buf<i64[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 <lanes 8> {
    %v = load %x[d0] : f32  %a = scalar.sin %v : f32  %b = scalar.sin %a : f32  store %b, %o[d0]
    %i0 = load %i[d0] : i64  %j = scalar.pow %i0, %i0 : i64  store %j, %p[d0] } }
