// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// An accumulating write updates its operand's value; duplicates add up.

func.func @accumulate(%x: !aten.t<f32[s1, 64]>, %i: !aten.t<i64[s0]>, %v: !aten.t<f32[s0, 64]>) -> !aten.t<f32[s1, 64]> attributes {symbols = #aten.symbols<s0 = [hint 5, min 2], s1 = [hint 9, min 2]>} {
  %r = aten.index_put.default(%x, [%i], %v, accumulate = true) : !aten.t<f32[s1, 64]>
  func.return %r : !aten.t<f32[s1, 64]>
}

// CHECK-LABEL: func.func @accumulate
// CHECK-NEXT:    %buf0 = loop.nest (d0: s0, d1: 64) -> (%o = %x : !aten.t<f32[s1, 64]>) origins ["index_put"] {
// CHECK-NEXT:      %0 = loop.load %i[d0] : i64
// CHECK-NEXT:      %1 = scalar.bound %0 to s1 wrap
// CHECK-NEXT:      %2 = loop.load %v[d0, d1] : f32
// CHECK-NEXT:      loop.store add %2, %o[%1, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[s1, 64]>

// -----

/// Without accumulation the last of several writes wins: the store is ordered.

func.func @last(%x: !aten.t<f32[8]>, %i: !aten.t<i64[3]>, %v: !aten.t<f32[3]>) -> !aten.t<f32[8]> {
  %r = aten.scatter.src(%x, dim = 0, index = %i, src = %v) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @last
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3) -> (%o = %x : !aten.t<f32[8]>) origins ["scatter"] {
// CHECK-NEXT:      %0 = loop.load %i[d0] : i64
// CHECK-NEXT:      %1 = scalar.bound %0 to 8
// CHECK-NEXT:      %2 = loop.load %v[d0] : f32
// CHECK-NEXT:      loop.store %2, %o[%1] {ordered}
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]>

// -----

/// Half types are summed in f32 and rounded once.

func.func @half(%x: !aten.t<bf16[8]>, %i: !aten.t<i64[3]>, %v: !aten.t<bf16[3]>) -> !aten.t<bf16[8]> {
  %r = aten.scatter_add.default(%x, dim = 0, index = %i, src = %v) : !aten.t<bf16[8]>
  func.return %r : !aten.t<bf16[8]>
}

// CHECK-LABEL: func.func @half
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["scatter_add"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 3) -> (%o_1 = %buf0 : !aten.t<f32[8]>) origins ["scatter_add"] {
// CHECK-NEXT:      %2 = loop.load %i[d0] : i64
// CHECK-NEXT:      %3 = scalar.bound %2 to 8
// CHECK-NEXT:      %4 = loop.load %v[d0] : bf16
// CHECK-NEXT:      %5 = scalar.cast %4 : bf16 to f32
// CHECK-NEXT:      loop.store add %5, %o_1[%3]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf2 = loop.nest (d0: 8) -> (%o_2 : !aten.t<bf16[8]>) origins ["scatter_add"] {
// CHECK-NEXT:      %6 = loop.load %buf1[d0] : f32
// CHECK-NEXT:      %7 = scalar.cast %6 : f32 to bf16
// CHECK-NEXT:      loop.store %7, %o_2[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf2 : !aten.t<bf16[8]>
