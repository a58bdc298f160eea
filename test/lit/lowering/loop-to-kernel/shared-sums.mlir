// RUN: mini-opt %s -p loop-to-kernel --split-input-file | filecheck %s

/// Extents that are sums are shared as they stand, whatever symbols their products begin with.
// CHECK-LABEL: kernel.func @cpp_fused_padded_0
// CHECK:         kernel.parallel d0 : s1 + 3 {
// CHECK:           kernel.parallel d1 : s0 {
// CHECK:             kernel.reduce d2 : 2 [max] -> f32 {
// CHECK:             kernel.parallel d2 : s1 + 3 {
func.func @padded(%a: !aten.int<s0>, %b: !aten.int<s1>, %x: !aten.t<f32[s0, s1 + 3, 2]>)
    -> !aten.t<f32[s1 + 3, s0, s1 + 3]> {
  %g = loop.group "padded" -> !aten.t<f32[s1 + 3, s0, s1 + 3]> {
    %m = nest (d0: s1 + 3, d1: s0) reduce (d2: 2) -> (%o : !aten.t<f32[s0, s1 + 3]>) {
      %v = load %x[d1, d0, d2] : f32
      %t = reduce max %v : f32 -> f32
      store %t, %o[d1, d0] }
    %r = nest (d0: s1 + 3, d1: s0, d2: s1 + 3) -> (%o : !aten.t<f32[s1 + 3, s0, s1 + 3]>) {
      %v = load %x[d1, d2, 0] : f32
      %w = load %m[d1, d0] : f32
      %d = scalar.sub %v, %w : f32
      store %d, %o[d0, d1, d2] }
    yield %r }
  func.return %g : !aten.t<f32[s1 + 3, s0, s1 + 3]> }

// -----

/// Such a sum divides its products too: the points of one nest are the pairs of the other.
// CHECK-LABEL: kernel.func @cpp_fused_pairs_0
// CHECK:         kernel.parallel d0 : s0 {
// CHECK:           kernel.parallel d1 : s1 + 3 {
// CHECK-NOT:         floordiv
// CHECK:         func.func @call
func.func @pairs(%a: !aten.int<s0>, %b: !aten.int<s1>, %x: !aten.t<f32[s1 + 3, s0, 2]>)
    -> !aten.t<f32[3 * s0 + s0 * s1]> {
  %g = loop.group "pairs" -> !aten.t<f32[3 * s0 + s0 * s1]> {
    %m = nest (d0: s0, d1: s1 + 3) reduce (d2: 2) -> (%o : !aten.t<f32[s0, s1 + 3]>) {
      %v = load %x[d1, d0, d2] : f32
      %t = reduce max %v : f32 -> f32
      store %t, %o[d0, d1] }
    %r = nest (d0: 3 * s0 + s0 * s1) -> (%o : !aten.t<f32[3 * s0 + s0 * s1]>) {
      %w = load %m[d0 floordiv (s1 + 3), d0 mod (s1 + 3)] : f32
      %d = scalar.neg %w : f32
      store %d, %o[d0] }
    yield %r }
  func.return %g : !aten.t<f32[3 * s0 + s0 * s1]> }
