// RUN: mini-opt %s -p kernel-strength --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-strength{strength=false}" --split-input-file | filecheck %s --check-prefix OFF

/// A division by what a vector loop holds fixed goes by its reciprocal, one by a power of two is a
/// product; 1 + erf is one function.
// CHECK-LABEL: kernel.func @row
// CHECK:         %q = scalar.divide_by %v, %s : f32
// CHECK:         %inverse = scalar.constant 0.5 : f32
// CHECK-NEXT:    %h = scalar.mul %q, %inverse : f32
// CHECK:         %g = scalar.erf_plus_one %h : f32
// CHECK-NOT:     scalar.erf %
// OFF-LABEL:   kernel.func @row
// OFF:           %q = scalar.div %v, %s : f32
// OFF:           %h = scalar.div %q, %two : f32
// OFF:           %g = scalar.add %e, %one : f32
kernel.func @row(read %x : !kernel.buf<f32[65536]>, read %z : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    parallel d1 : 1024 <lanes 16> {
      %v = load %x[1024 * d0 + d1] : f32
      %s = load %z[d0] : f32
      %q = scalar.div %v, %s : f32
      %two = scalar.constant 2.0 : f32
      %h = scalar.div %q, %two : f32
      %e = scalar.erf %h : f32
      %one = scalar.constant 1.0 : f32
      %g = scalar.add %e, %one : f32
      store %g, %o[1024 * d0 + d1] } } }

// -----

/// A divisor of each lane's own, one that the loop stores, integers and loops without lanes stay; so
/// does an error function that is wanted by itself.
// CHECK-LABEL: kernel.func @stay
// CHECK-NOT:     scalar.divide_by
// CHECK-NOT:     scalar.erf_plus_one
kernel.func @stay(read %x : !kernel.buf<f32[4096]>, read %n : !kernel.buf<i64[1]>, update %o : !kernel.buf<f32[4096]>, write %p : !kernel.buf<i64[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 <lanes 16> {
    %v = load %x[d0] : f32
    %w = load %x[4095 - d0] : f32
    %a = scalar.div %v, %w : f32
    %u = load %o[0] : f32
    %b = scalar.div %a, %u : f32
    %e = scalar.erf %b : f32
    %one = scalar.constant 1.0 : f32
    %g = scalar.add %e, %one : f32
    %r = scalar.mul %g, %e : f32
    store %r, %o[d0]
    %i = scalar.index d0 : i64
    %j = load %n[0] : i64
    %k = scalar.truncdiv %i, %j : i64
    store %k, %p[d0] }
  parallel d1 : 4096 {
    %v = load %x[d1] : f32
    %s = load %x[0] : f32
    %q = scalar.div %v, %s : f32
    store %q, %o[d1] } }

// -----

/// One and a tanh, as in a gelu, is a sigmoid. Negative twin: a tanh that is wanted by itself.
// CHECK-LABEL: kernel.func @tanh
// CHECK:         scalar.mul
// CHECK-NEXT:    scalar.sigmoid
// CHECK-NEXT:    scalar.mul
// CHECK-LABEL: kernel.func @both
// CHECK-NOT:     scalar.sigmoid
kernel.func @tanh(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 <lanes 16> {
    %v = load %x[d0] : f32  %t = scalar.tanh %v : f32  %one = scalar.constant 1.0 : f32
    %g = scalar.add %t, %one : f32  store %g, %o[d0] } }
kernel.func @both(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 <lanes 16> {
    %v = load %x[d0] : f32  %t = scalar.tanh %v : f32  %one = scalar.constant 1.0 : f32
    %g = scalar.add %t, %one : f32  %r = scalar.mul %g, %t : f32  store %r, %o[d0] } }
