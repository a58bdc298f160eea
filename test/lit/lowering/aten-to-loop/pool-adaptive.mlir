// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Equal shares of the input are a plain reduction.

func.func @adaptive(%x: !aten.t<f32[2, 3, 8, 8]>) -> !aten.t<f32[2, 3, 1, 1]> {
  %r = aten._adaptive_avg_pool2d.default(%x, output_size = [1, 1]) : !aten.t<f32[2, 3, 1, 1]>
  func.return %r : !aten.t<f32[2, 3, 1, 1]>
}

// CHECK-LABEL: func.func @adaptive
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 3) reduce (d2: 8, d3: 8) -> (%o : !aten.t<f32[2, 3, 1, 1]>) origins ["_adaptive_avg_pool2d"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1, d2, d3] : f32
// CHECK-NEXT:      %1 = loop.reduce add %0 : f32 -> f32
// CHECK-NEXT:      %2 = scalar.constant 64.0 : f32
// CHECK-NEXT:      %3 = scalar.div %1, %2 : f32
// CHECK-NEXT:      loop.store %3, %o[d0, d1, 0, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2, 3, 1, 1]>

// -----

/// Shares that differ: the widest one, what is beyond the end left out; backward sums the owners.

func.func @uneven(%x: !aten.t<f32[2, 3, 8, 5]>, %g: !aten.t<f32[2, 3, 1, 3]>) -> (!aten.t<f32[2, 3, 1, 3]>, !aten.t<f32[2, 3, 8, 5]>) {
  %r = aten._adaptive_avg_pool2d.default(%x, output_size = [1, 3]) : !aten.t<f32[2, 3, 1, 3]>
  %b = aten._adaptive_avg_pool2d_backward.default(%g, %x) : !aten.t<f32[2, 3, 8, 5]>
  func.return %r, %b : !aten.t<f32[2, 3, 1, 3]>, !aten.t<f32[2, 3, 8, 5]>
}

// CHECK-LABEL: func.func @uneven
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 3, d2: 3) reduce (d3: 8, d4: 3) -> (%o : !aten.t<f32[2, 3, 1, 3]>) origins ["_adaptive_avg_pool2d"] {
// CHECK-NEXT:      %0 = scalar.within d4 + ((5 * d2) floordiv 3) in 0 to ((5 * d2 + 1) floordiv 3) + 2
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %x[d0, d1, d3, d4 + ((5 * d2) floordiv 3)] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = scalar.constant 0.0 : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %4 = loop.reduce add %1 : f32 -> f32
// CHECK-NEXT:      %5 = scalar.index -8 * ((5 * d2) floordiv 3) + 8 * ((5 * d2 + 1) floordiv 3) + 16 : i64
// CHECK-NEXT:      %6 = scalar.cast %5 : i64 to f32
// CHECK-NEXT:      %7 = scalar.div %4, %6 : f32
// CHECK-NEXT:      loop.store %7, %o[d0, d1, 0, d2]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 2, d1: 3, d2: 8, d3: 5) reduce (d4: 2) -> (%o_1 : !aten.t<f32[2, 3, 8, 5]>) origins ["_adaptive_avg_pool2d_backward"] {
// CHECK-NEXT:      %8 = scalar.constant 0.0 : f32
// CHECK-NEXT:      %9 = scalar.within d4 + ((3 * d3) floordiv 5) in 0 to 3
// CHECK-NEXT:      %10 = scalar.within d3 in ((5 * d4 + 5 * ((3 * d3) floordiv 5)) floordiv 3) to ((5 * d4 + 5 * ((3 * d3) floordiv 5) + 1) floordiv 3) + 2
// CHECK-NEXT:      %11 = scalar.if %9 -> f32 {
// CHECK-NEXT:        %12 = scalar.if %10 -> f32 {
// CHECK-NEXT:          %13 = loop.load %g[d0, d1, 0, d4 + ((3 * d3) floordiv 5)] : f32
// CHECK-NEXT:          %14 = scalar.index -8 * ((5 * d4 + 5 * ((3 * d3) floordiv 5)) floordiv 3) + 8 * ((5 * d4 + 5 * ((3 * d3) floordiv 5) + 1) floordiv 3) + 16 : i64
// CHECK-NEXT:          %15 = scalar.cast %14 : i64 to f32
// CHECK-NEXT:          %16 = scalar.div %13, %15 : f32
// CHECK-NEXT:          scalar.yield %16 : f32
// CHECK-NEXT:        } else {
// CHECK-NEXT:          scalar.yield %8 : f32
// CHECK-NEXT:        }
// CHECK-NEXT:        scalar.yield %12 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scalar.yield %8 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %17 = loop.reduce add %11 : f32 -> f32
// CHECK-NEXT:      loop.store %17, %o_1[d0, d1, d2, d3]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[2, 3, 1, 3]>, !aten.t<f32[2, 3, 8, 5]>
