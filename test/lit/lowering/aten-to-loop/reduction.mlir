// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Parallel variables in the result's order, then the reduced dimensions.

/// Half types accumulate in f32.
func.func @sum(%x: !aten.t<bf16[4, 8]>) -> (!aten.t<bf16[4, 1]>) {
  %r = aten.sum.dim_IntList(%x, [-1], true) : !aten.t<bf16[4, 1]>
  func.return %r : !aten.t<bf16[4, 1]>
}

// CHECK-LABEL: func.func @sum
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) reduce (d1: 8) -> (%o : !aten.t<bf16[4, 1]>) origins ["sum"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = loop.reduce add %1 : f32 -> f32
// CHECK-NEXT:      %3 = scalar.cast %2 storage : f32 to bf16
// CHECK-NEXT:      loop.store %3, %o[d0, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[4, 1]>

// -----

/// Sums of bool and small integers are i64.
func.func @count(%x: !aten.t<bool[4, 8]>) -> !aten.t<i64[]> {
  %r = aten.sum.default(%x) : !aten.t<i64[]>
  func.return %r : !aten.t<i64[]>
}

// CHECK-LABEL: func.func @count
// CHECK-NEXT:    %buf0 = loop.nest () reduce (d0: 4, d1: 8) -> (%o : !aten.t<i64[]>) origins ["sum"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : i1
// CHECK-NEXT:      %1 = scalar.cast %0 : i1 to i64
// CHECK-NEXT:      %2 = loop.reduce add %1 : i64 -> i64
// CHECK-NEXT:      loop.store %2, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[]>

// -----

/// Several dimensions; the mean divides by their number.
func.func @mean(%x: !aten.t<f32[2, 3, 4]>) -> !aten.t<f32[3]> {
  %r = aten.mean.dim(%x, [0, 2]) : !aten.t<f32[3]>
  func.return %r : !aten.t<f32[3]>
}

// CHECK-LABEL: func.func @mean
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3) reduce (d1: 2, d2: 4) -> (%o : !aten.t<f32[3]>) origins ["mean"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0, d2] : f32
// CHECK-NEXT:      %1 = loop.reduce add %0 : f32 -> f32
// CHECK-NEXT:      %2 = scalar.constant 8.0 : f32
// CHECK-NEXT:      %3 = scalar.div %1, %2 : f32
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3]>
