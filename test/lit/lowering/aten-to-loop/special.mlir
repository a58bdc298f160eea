// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Numbers, constants and checks without a schema.

/// Sizes as results; a number in a tensor's place; run-time arithmetic.
func.func @numbers(%n: !aten.int<s0>, %x: !aten.t<f32[s0]>) -> (!aten.int<2 * s0>, !aten.t<f32[s0]>) attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %two = aten.scalar 2 * s0
  %h = aten.py "truediv"(%n, %two)
  %r = aten.mul.Tensor(%x, %h) : !aten.t<f32[s0]>
  func.return %two, %r : !aten.int<2 * s0>, !aten.t<f32[s0]>
}

// CHECK-LABEL: func.func @numbers
// CHECK-NEXT:    %buf0 = loop.nest () -> (%o : !aten.t<f64[]>) origins ["py"] {
// CHECK-NEXT:      %0 = scalar.index s0 : i64
// CHECK-NEXT:      %1 = scalar.cast %0 : i64 to f64
// CHECK-NEXT:      %2 = scalar.index 2 * s0 : i64
// CHECK-NEXT:      %3 = scalar.cast %2 : i64 to f64
// CHECK-NEXT:      %4 = scalar.div %1, %3 : f64
// CHECK-NEXT:      loop.store %4, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: s0) -> (%o_1 : !aten.t<f32[s0]>) origins ["mul"] {
// CHECK-NEXT:      %5 = loop.load %x[d0] : f32
// CHECK-NEXT:      %6 = loop.load %buf0[] : f64
// CHECK-NEXT:      %7 = scalar.cast %6 : f64 to f32
// CHECK-NEXT:      %8 = scalar.mul %5, %7 : f32
// CHECK-NEXT:      loop.store %8, %o_1[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %size = loop.extern "minductor.size"() args [#loop.expr<2 * s0>] : () -> !aten.int<2 * s0>
// CHECK-NEXT:    func.return %size, %buf1 : !aten.int<2 * s0>, !aten.t<f32[s0]>

// -----

/// Constants in progression are arithmetic, others are made by the host.
func.func @constants() -> (!aten.t<i64[3]>, !aten.t<f32[2]>) {
  %a = aten.constant [3, 5, 7] : !aten.t<i64[3]>
  %b = aten.constant [1.0, 0.5] : !aten.t<f32[2]>
  func.return %a, %b : !aten.t<i64[3]>, !aten.t<f32[2]>
}

// CHECK-LABEL: func.func @constants
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3) -> (%o : !aten.t<i64[3]>) origins ["constant"] {
// CHECK-NEXT:      %0 = scalar.index 2 * d0 + 3 : i64
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.extern "minductor.constant"() args [[1.000000e+00 : f64, 5.000000e-01 : f64], #loop.index<[2]>] kwargs {dtype = #aten.dtype<f32>} : () -> !aten.t<f32[2]>
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<i64[3]>, !aten.t<f32[2]>
