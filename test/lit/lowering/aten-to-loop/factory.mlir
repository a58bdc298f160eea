// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Tensors made of numbers.

func.func @full(%n: !aten.int<s0>) -> (!aten.t<f16[s0, 4]>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %r = aten.full.default([s0, 4], 1.5, dtype = f16) : !aten.t<f16[s0, 4]>
  func.return %r : !aten.t<f16[s0, 4]>
}

// CHECK-LABEL: func.func @full
// CHECK-NEXT:    %buf0 = loop.nest (d0: s0, d1: 4) -> (%o : !aten.t<f16[s0, 4]>) origins ["full"] {
// CHECK-NEXT:      %0 = scalar.constant 1.5 : f16
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f16[s0, 4]>

// -----

/// Whole progressions are index arithmetic.
func.func @arange() -> !aten.t<i64[4]> {
  %r = aten.arange.start_step(2, 10, 2) : !aten.t<i64[4]>
  func.return %r : !aten.t<i64[4]>
}

// CHECK-LABEL: func.func @arange
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<i64[4]>) origins ["arange"] {
// CHECK-NEXT:      %0 = scalar.index 2 * d0 + 2 : i64
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[4]>

// -----

/// Fractions go through f64.
func.func @fractions() -> !aten.t<f32[4]> {
  %r = aten.arange.start_step(0, 1, 0.25) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @fractions
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["arange"] {
// CHECK-NEXT:      %0 = scalar.constant 0.25 : f64
// CHECK-NEXT:      %1 = scalar.index d0 : i64
// CHECK-NEXT:      %2 = scalar.cast %1 : i64 to f64
// CHECK-NEXT:      %3 = scalar.mul %0, %2 : f64
// CHECK-NEXT:      %4 = scalar.constant 0.0 : f64
// CHECK-NEXT:      %5 = scalar.add %4, %3 : f64
// CHECK-NEXT:      %6 = scalar.cast %5 : f64 to f32
// CHECK-NEXT:      loop.store %6, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>

// -----

func.func @eye() -> (!aten.t<f32[3, 4]>) {
  %r = aten.eye.m(3, 4) : !aten.t<f32[3, 4]>
  func.return %r : !aten.t<f32[3, 4]>
}

// CHECK-LABEL: func.func @eye
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3, d1: 4) -> (%o : !aten.t<f32[3, 4]>) origins ["eye"] {
// CHECK-NEXT:      %0 = scalar.within d0 - d1 in 0 to 1
// CHECK-NEXT:      %1 = scalar.constant 1.0 : f32
// CHECK-NEXT:      %2 = scalar.constant 0.0 : f32
// CHECK-NEXT:      %3 = scalar.select %0, %1, %2 : f32
// CHECK-NEXT:      loop.store %3, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3, 4]>
