// RUN: mini-opt %s --split-input-file -p 'aten-patterns{file=%S/Inputs/patterns.mlir}' --print-remarks | filecheck %s

/// A fit in any order of a commutative op's operands, on any sizes and any device; in turn.

// CHECK-LABEL: @fits
// CHECK-NEXT: %b = aten.silu.default(%x) {{.*}} : !aten.t<f32[4, 8]@cuda>
// CHECK-NEXT: %d = aten.silu.default(%b) {{.*}} : !aten.t<f32[4, 8]@cuda>
// CHECK: accepted silu at %b: 2 ops became 1
func.func @fits(%x: !aten.t<f32[4, 8]@cuda>) -> !aten.t<f32[4, 8]@cuda> {
  %a = aten.sigmoid.default(%x) : !aten.t<f32[4, 8]@cuda>
  %b = aten.mul.Tensor(%a, %x) : !aten.t<f32[4, 8]@cuda>
  %c = aten.sigmoid.default(%b) : !aten.t<f32[4, 8]@cuda>
  %d = aten.mul.Tensor(%b, %c) : !aten.t<f32[4, 8]@cuda>
  func.return %d : !aten.t<f32[4, 8]@cuda>
}

// -----

/// Two results, a number that stands for any, sizes that are symbols here too.

// CHECK-LABEL: @two
// CHECK-NEXT: %{{.*}} = aten.scalar 3
// CHECK-NEXT: %[[A:.*]] = aten.mul.Tensor(%x, %{{.*}}) {{.*}}: !aten.t<f32[2 * s0, 2 * s0]>
// CHECK-NEXT: %b = aten.sinh.default(%[[A]]) {{.*}}: !aten.t<f32[2 * s0, 2 * s0]>
// CHECK-NEXT: %e = aten.full.default(size = [2 * s0, 2 * s0]
// CHECK-NEXT: func.return %b, %e
func.func @two(%x: !aten.t<f32[2 * s0, 2 * s0]>) -> (!aten.t<f32[2 * s0, 2 * s0]>, !aten.t<f32[2 * s0, 2 * s0]>) attributes {symbols = #aten.symbols<s0 = [min 2]>} {
  %k = aten.scalar 3
  %a = aten.mul.Tensor(%x, %k) : !aten.t<f32[2 * s0, 2 * s0]>
  %b = aten.exp.default(%a) : !aten.t<f32[2 * s0, 2 * s0]>
  %c = aten.permute.default(%a, dims = [1, 0]) : !aten.t<f32[2 * s0, 2 * s0]:[1, 2 * s0]>
  %d = aten.sin.default(%c) : !aten.t<f32[2 * s0, 2 * s0]:[1, 2 * s0]>
  %e = aten.clone.default(%d, memory_format = contiguous_format) : !aten.t<f32[2 * s0, 2 * s0]>
  func.return %b, %e : !aten.t<f32[2 * s0, 2 * s0]>, !aten.t<f32[2 * s0, 2 * s0]>
}

// -----

/// Each refusal has its reason: dtype, layout, a size that the pattern excludes, a value inside that
/// is used elsewhere, storage that the caller could tell apart.

// CHECK-LABEL: @refused
// CHECK-NOT: aten.silu
// CHECK: refused silu at %b: %x is f16, the pattern has f32
// CHECK: refused silu at %d: %x has the strides [1, 4], [s1, 1] in the pattern
// CHECK: refused silu at %f: the pattern needs nonneg s0 - 2, here nonneg -1
// CHECK: refused silu at %h: %g inside is used elsewhere too, by func.return
// CHECK: refused itself at %j: a result of the function would share the storage of an argument
func.func @refused(%x: !aten.t<f16[4, 8]>, %y: !aten.t<f32[4, 8]:[1, 4]>, %z: !aten.t<f32[1, 8]>, %u: !aten.t<f32[4, 8]>, %v: !aten.t<f32[4]>) -> (!aten.t<f16[4, 8]>, !aten.t<f32[4, 8]:[1, 4]>, !aten.t<f32[1, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4]>) {
  %a = aten.sigmoid.default(%x) : !aten.t<f16[4, 8]>
  %b = aten.mul.Tensor(%x, %a) : !aten.t<f16[4, 8]>
  %c = aten.sigmoid.default(%y) : !aten.t<f32[4, 8]:[1, 4]>
  %d = aten.mul.Tensor(%y, %c) : !aten.t<f32[4, 8]:[1, 4]>
  %e = aten.sigmoid.default(%z) : !aten.t<f32[1, 8]>
  %f = aten.mul.Tensor(%z, %e) : !aten.t<f32[1, 8]>
  %g = aten.sigmoid.default(%u) : !aten.t<f32[4, 8]>
  %h = aten.mul.Tensor(%u, %g) : !aten.t<f32[4, 8]>
  %i = aten.exp.default(%v) : !aten.t<f32[4]>
  %j = aten.log.default(%i) : !aten.t<f32[4]>
  func.return %b, %d, %f, %g, %h, %j : !aten.t<f16[4, 8]>, !aten.t<f32[4, 8]:[1, 4]>, !aten.t<f32[1, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>, !aten.t<f32[4]>
}
