// RUN: mini-opt %s -p aten-to-loop | filecheck %s

/// Numbers that a graph returns keep their kind: an int that is constant is no float.

// CHECK:      loop.extern "minductor.number"() args [4 : i64] : () -> !aten.int<4>
// CHECK:      loop.extern "minductor.number"() args [5.000000e-01 : f64] : () -> !aten.float
// CHECK:      loop.extern "minductor.size"() args [#loop.expr<s0 + 1>] : () -> !aten.int<s0 + 1>
func.func @numbers(%n: !aten.int<s0>) -> (!aten.int<4>, !aten.float, !aten.int<s0 + 1>) attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %a = aten.scalar 4
  %b = aten.scalar 0.5
  %c = aten.scalar s0 + 1
  func.return %a, %b, %c : !aten.int<4>, !aten.float, !aten.int<s0 + 1>
}
