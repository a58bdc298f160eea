// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Windows inside the tensor: no tests, the window written out.

func.func @max(%x: !aten.t<f32[1, 3, 4]>) -> (!aten.t<f32[1, 3, 2]>, !aten.t<i64[1, 3, 2]>) {
  %v, %i = aten.max_pool2d_with_indices.default(%x, kernel_size = [1, 2], stride = [1, 2]) : !aten.t<f32[1, 3, 2]>, !aten.t<i64[1, 3, 2]>
  func.return %v, %i : !aten.t<f32[1, 3, 2]>, !aten.t<i64[1, 3, 2]>
}

// CHECK-LABEL: func.func @max
// CHECK-NEXT:    %buf0, %buf1 = loop.nest (d0: 3, d1: 2) -> (%o0_ : !aten.t<f32[1, 3, 2]>, %o1_ : !aten.t<i64[1, 3, 2]>) origins ["max_pool2d_with_indices"] {
// CHECK-NEXT:      %0 = scalar.constant -inf : f32
// CHECK-NEXT:      %1 = scalar.index 4 * d0 + 2 * d1 : i64
// CHECK-NEXT:      %2 = loop.load %x[0, d0, 2 * d1] : f32
// CHECK-NEXT:      %3 = loop.load %x[0, d0, 2 * d1 + 1] : f32
// CHECK-NEXT:      %4 = scalar.gt %3, %2 : f32
// CHECK-NEXT:      %5 = scalar.isnan %3 : f32
// CHECK-NEXT:      %6 = scalar.or %4, %5 : i1
// CHECK-NEXT:      %7 = scalar.select %6, %3, %2 : f32
// CHECK-NEXT:      %8 = scalar.index 4 * d0 + 2 * d1 + 1 : i64
// CHECK-NEXT:      %9 = scalar.select %6, %8, %1 : i64
// CHECK-NEXT:      loop.store %7, %o0_[0, d0, d1]
// CHECK-NEXT:      loop.store %9, %o1_[0, d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[1, 3, 2]>, !aten.t<i64[1, 3, 2]>

// -----

/// Padding is not read; the divisor counts what is inside.

func.func @average(%x: !aten.t<f32[3, 8]>) -> !aten.t<f32[3, 4]> {
  %r = aten.avg_pool1d.default(%x, kernel_size = [3], stride = [2], padding = [1], count_include_pad = false) : !aten.t<f32[3, 4]>
  func.return %r : !aten.t<f32[3, 4]>
}

// CHECK-LABEL: func.func @average
// CHECK-NEXT:    %buf0 = loop.nest (d0: 3, d1: 4) -> (%o : !aten.t<f32[3, 4]>) origins ["avg_pool1d"] {
// CHECK-NEXT:      %0 = scalar.within 2 * d1 - 1 in 0 to 8
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %x[d0, 2 * d1 - 1] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = scalar.constant 0.0 : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      %4 = loop.load %x[d0, 2 * d1] : f32
// CHECK-NEXT:      %5 = scalar.add %1, %4 : f32
// CHECK-NEXT:      %6 = loop.load %x[d0, 2 * d1 + 1] : f32
// CHECK-NEXT:      %7 = scalar.add %5, %6 : f32
// CHECK-NEXT:      %8 = scalar.index 2 * d1 - max(0, 2 * d1 - 1) + 2 : i64
// CHECK-NEXT:      %9 = scalar.cast %8 : i64 to f32
// CHECK-NEXT:      %10 = scalar.div %7, %9 : f32
// CHECK-NEXT:      loop.store %10, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3, 4]>
