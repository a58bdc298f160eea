// RUN: %invalid

/// A fact is over symbols that stand before it.

// CHECK: `s1` is not a symbol declared before this fact
func.func @f(%a: !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [min 2], nonneg s0 - s1>} {
  func.return
}

// -----

/// A symbol is declared once, with bounds that some number meets.

// CHECK: `s0` is declared twice
func.func @f(%a: !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [min 2], s0 = [min 3]>} {
  func.return
}

// -----

// CHECK: no number lies in 4 .. 3
func.func @f(%a: !aten.int<s0>) attributes {symbols = #aten.symbols<s0 = [min 4, max 3]>} {
  func.return
}

// -----

// CHECK: a negative size in [4, -8]
func.func @f(%x: !aten.t<f32[4, -8]>) {
  func.return
}
