// RUN: %roundtrip
// RUN: %generic

/// What is known of size symbols: one alone (value at capture, bounds, divisor; `signed` has no lower
/// bound), and what relates several.

// CHECK: symbols = #aten.symbols<s0 = [hint 64, min 2, multiple 8], s1 = [min 0, max 9], s2 = [hint -3, signed], u0 = [min -5], nonneg s0 - s1, zero ((s1 * s0) mod 6), nonzero s0 - s2>
func.func @known(%a: !aten.int<s0>, %b: !aten.int<s1>, %c: !aten.int<s2>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2, multiple 8], s1 = [max 9], s2 = [signed, hint -3], u0 = [min -5], nonneg s0 - s1, zero (s0 * s1) mod 6, nonzero s0 - s2>} {
  func.return
}
