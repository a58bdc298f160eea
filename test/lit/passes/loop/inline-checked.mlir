// RUN: mini-opt %s -p 'loop-inline' --split-input-file --print-remarks | filecheck %s

/// A checked index is computed in a guarded reader too when another reader checks it at all points.
// CHECK-LABEL: func.func @sum_and_part
// CHECK-NEXT:    %buf0 = loop.nest (d0: 64) reduce (d1: 2000)
// CHECK:           scalar.bound
// CHECK:         %buf1 = loop.nest (d0: 65, d1: 2000)
// CHECK:           scalar.if
// CHECK:             scalar.bound
// CHECK:         func.return %buf0, %buf1
func.func @sum_and_part(%i: !aten.t<i64[64]>) -> (!aten.t<f32[64]>, !aten.t<f32[65, 2000]>) {
  %a = loop.nest (d0: 64, d1: 2000) -> (%o : !aten.t<f32[64, 2000]>) origins ["one_hot"] {
    %k = load %i[d0] : i64
    %b = scalar.bound %k to 2000
    %d = scalar.index d1 : i64
    %e = scalar.index %b : i64
    %q = scalar.eq %d, %e : i64
    %v = scalar.cast %q : i1 to f32
    store %v, %o[d0, d1] }
  %s = loop.nest (d0: 64) reduce (d1: 2000) -> (%o : !aten.t<f32[64]>) origins ["sum"] {
    %v = load %a[d0, d1] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  %p = loop.nest (d0: 65, d1: 2000) -> (%o : !aten.t<f32[65, 2000]>) origins ["pad"] {
    %c = scalar.within d0 in 0 to 64
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 { %w = load %a[d0, d1] : f32 yield %w : f32 } else { yield %z : f32 }
    store %v, %o[d0, d1] }
  func.return %s, %p : !aten.t<f32[64]>, !aten.t<f32[65, 2000]> }

// -----

/// Negative twin: the only reader is guarded, so an index that it skips would go unchecked.
// CHECK-LABEL: func.func @part
// CHECK-NEXT:    %buf0 = loop.nest (d0: 64, d1: 2000)
// CHECK:           scalar.bound
// CHECK:         %buf1 = loop.nest (d0: 63, d1: 2000)
// CHECK-NOT:       scalar.bound
// CHECK:       refused one_hot: a checked index would be skipped where a guard fails
func.func @part(%i: !aten.t<i64[64]>, %n: !aten.t<bool[63]>) -> !aten.t<f32[63, 2000]> {
  %a = loop.nest (d0: 64, d1: 2000) -> (%o : !aten.t<f32[64, 2000]>) origins ["one_hot"] {
    %k = load %i[d0] : i64
    %b = scalar.bound %k to 2000
    %d = scalar.index d1 : i64
    %e = scalar.index %b : i64
    %q = scalar.eq %d, %e : i64
    %v = scalar.cast %q : i1 to f32
    store %v, %o[d0, d1] }
  %p = loop.nest (d0: 63, d1: 2000) -> (%o : !aten.t<f32[63, 2000]>) origins ["where"] {
    %c = load %n[d0] : i1
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 { %w = load %a[d0 + 1, d1] : f32 yield %w : f32 } else { yield %z : f32 }
    %u = scalar.if %c -> f32 { %w = load %a[d0, d1] : f32 yield %w : f32 } else { yield %z : f32 }
    %y = scalar.add %u, %v : f32
    store %y, %o[d0, d1] }
  func.return %p : !aten.t<f32[63, 2000]> }
