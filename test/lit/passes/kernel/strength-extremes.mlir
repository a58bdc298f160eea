// RUN: mini-opt %s -p kernel-strength | filecheck %s
// RUN: mini-opt %s -p "kernel-strength{strength=false}" | filecheck %s --check-prefix OFF

/// The step of a pooling window is an extreme. Negative twins: a tie that takes the other one, a test of
/// the other one, integers, another value chosen.
// CHECK-LABEL: kernel.func @window
// CHECK:         %m = scalar.maximum %a, %b : f32
// CHECK-NEXT:    %n = scalar.minimum %m, %b : f32
// CHECK:         %r = scalar.select
// CHECK:         %u = scalar.select
// CHECK:         %w = scalar.select
// OFF-LABEL:   kernel.func @window
// OFF-NOT:       scalar.maximum
kernel.func @window(read %x : !kernel.buf<f32[8192]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 <lanes 16> {
    %a = load %x[d0] : f32
    %b = load %x[d0 + 4096] : f32
    %g = scalar.gt %a, %b : f32
    %i = scalar.isnan %a : f32
    %c = scalar.or %g, %i : i1
    %m = scalar.select %c, %a, %b : f32
    %l = scalar.lt %m, %b : f32
    %j = scalar.isnan %m : f32
    %d = scalar.or %j, %l : i1
    %n = scalar.select %d, %m, %b : f32
    %q = scalar.ge %n, %b : f32
    %k = scalar.isnan %n : f32
    %e = scalar.or %q, %k : i1
    %r = scalar.select %e, %n, %b : f32
    %s = scalar.gt %r, %b : f32
    %t = scalar.isnan %b : f32
    %f = scalar.or %s, %t : i1
    %u = scalar.select %f, %r, %b : f32
    %v = scalar.gt %u, %b : f32
    %y = scalar.isnan %u : f32
    %h = scalar.or %v, %y : i1
    %w = scalar.select %h, %a, %b : f32
    store %w, %o[d0] } }
