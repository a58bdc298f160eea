// RUN: mini-opt %s --split-input-file -p aten-to-loop | filecheck %s

/// s1 <= s0 puts the slice inside its tensor: no load is `assumed`.

// CHECK-LABEL: @tail
// CHECK:       loop.load %x[d0 + s0 - s1] : f32
func.func @tail(%n: !aten.int<s0>, %m: !aten.int<s1>, %x: !aten.t<f32[s0]>) -> !aten.t<f32[s1]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2], nonneg s0 - s1>} {
  %a = aten.slice.Tensor(%x, dim = 0, start = s0 - s1, end = s0) : !aten.t<f32[s1]>
  %b = aten.relu.default(%a) : !aten.t<f32[s1]>
  func.return %b : !aten.t<f32[s1]>
}

// -----

/// Without the fact it is.

// CHECK-LABEL: @unknown
// CHECK:       loop.load %x[d0] {assumed} : f32
func.func @unknown(%n: !aten.int<s0>, %m: !aten.int<s1>, %x: !aten.t<f32[s0]>) -> !aten.t<f32[s1]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2]>} {
  %a = aten.slice.Tensor(%x, dim = 0, start = 0, end = s1) : !aten.t<f32[s1]>
  %b = aten.relu.default(%a) : !aten.t<f32[s1]>
  func.return %b : !aten.t<f32[s1]>
}

// -----

/// An even size: both halves of a row, by plain indices.

// CHECK-LABEL: @halves
// CHECK:       loop.load %x[(s0 floordiv 2) * d0 + d1] : f32
func.func @halves(%n: !aten.int<s0>, %x: !aten.t<f32[s0]>) -> !aten.t<f32[2, s0 floordiv 2]> attributes {symbols = #aten.symbols<s0 = [min 2, multiple 2]>} {
  %a = aten.view.default(%x, size = [2, s0 floordiv 2]) : !aten.t<f32[2, s0 floordiv 2]>
  %b = aten.relu.default(%a) : !aten.t<f32[2, s0 floordiv 2]>
  func.return %b : !aten.t<f32[2, s0 floordiv 2]>
}

// -----

/// s0 * s1 is a multiple of s2, by the guard of a reshape.

// CHECK-LABEL: @rows
// CHECK:       loop.load %x[((s2 * d0 + d1) floordiv s1), ((s2 * d0 + d1) mod s1)] : f32
func.func @rows(%n: !aten.int<s0>, %m: !aten.int<s1>, %k: !aten.int<s2>, %x: !aten.t<f32[s0, s1]>) -> !aten.t<f32[(s0 * s1) floordiv s2, s2]> attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2], s2 = [min 2], zero (s0 * s1) mod s2>} {
  %a = aten.view.default(%x, size = [(s0 * s1) floordiv s2, s2]) : !aten.t<f32[(s0 * s1) floordiv s2, s2]>
  %b = aten.relu.default(%a) : !aten.t<f32[(s0 * s1) floordiv s2, s2]>
  func.return %b : !aten.t<f32[(s0 * s1) floordiv s2, s2]>
}
