// RUN: %roundtrip
// RUN: %generic

/// One of each form; generic text reads back to the same.
// CHECK-LABEL: kernel.func @ops
// CHECK:         scalar.constant 2.0 : f32
// CHECK:         scalar.constant nan : bf16
// CHECK:         scalar.constant -inf : f64
// CHECK:         scalar.constant 250 : ui8
// CHECK:         scalar.lt %a, %b : f32
// CHECK:         scalar.select %l, %a, %b : f32
// CHECK:         scalar.cast %a storage : f32 to bf16
// CHECK:         scalar.bitcast %a : f32 to i32
// CHECK:         scalar.index 4 * d0 + %i : i64
// CHECK:         scalar.within d0 in 0 to 512
// CHECK:         scalar.bound %i to s1 wrap
// CHECK:         scalar.random philox %i, 64 * d0 stream 3 -> f32
// CHECK:         scalar.if %w -> f32 {
// CHECK:           scalar.yield %a : f32
// CHECK:         scalar.lookup %u -> f32 {
// CHECK:           scalar.cast %y : ui8 to f32
kernel.func @ops(read %x : !kernel.buf<i64[s1]>, write %o : !kernel.buf<f32[s1]>) [s1] config {target = "cpp"} {
  parallel d0 : s1 {
    %a = scalar.constant 2.0 : f32
    %b = scalar.constant -1.0e-5 : f32
    %n = scalar.constant nan : bf16
    %m = scalar.constant -inf : f64
    %u = scalar.constant 250 : ui8
    %i = load %x[d0] : i64
    %l = scalar.lt %a, %b : f32
    %s = scalar.select %l, %a, %b : f32
    %c = scalar.cast %a storage : f32 to bf16
    %d = scalar.bitcast %a : f32 to i32
    %e = scalar.index d0 * 4 + %i : i64
    %w = scalar.within d0 in 0 to 512
    %j = scalar.bound %i to s1 wrap
    %r = scalar.random philox %i, d0 * 64 stream 3 -> f32
    %v = scalar.if %w -> f32 { yield %a : f32 } else { %q = scalar.neg %a : f32  yield %q : f32 }
    %t = scalar.lookup %u -> f32 { ^bb0(%y : ui8): %z = scalar.cast %y : ui8 to f32  yield %z : f32 }
    store %v, %o[d0] } }
