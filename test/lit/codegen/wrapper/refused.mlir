// RUN: not mini-opt %s -t wrapper 2>&1 | filecheck %s

/// What cannot be printed is refused with its reason.

// CHECK: the symbol s1 is used before anything binds it
func.func @call(%n: !aten.int<s0>) -> !aten.t<f32[s1]> attributes {symbols = #aten.symbols<s0 = [hint 64, min 2], s1 = [hint 4, min 2]>} {
  %buf = kernel.alloc : !aten.t<f32[s1]>
  func.return %buf : !aten.t<f32[s1]>
}
