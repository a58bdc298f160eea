// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Windows apart: every input element belongs to one of them.

func.func @average(%g: !aten.t<f32[1, 2, 2, 2]>, %x: !aten.t<f32[1, 2, 4, 4]>) -> !aten.t<f32[1, 2, 4, 4]> {
  %r = aten.avg_pool2d_backward.default(%g, %x, kernel_size = [2, 2], stride = [2, 2], padding = [0, 0], ceil_mode = false, count_include_pad = true, divisor_override = none) : !aten.t<f32[1, 2, 4, 4]>
  func.return %r : !aten.t<f32[1, 2, 4, 4]>
}

// CHECK-LABEL: func.func @average
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 4, d2: 4) -> (%o : !aten.t<f32[1, 2, 4, 4]>) origins ["avg_pool2d_backward"] {
// CHECK-NEXT:      %0 = loop.load %g[0, d0, (d1 floordiv 2), (d2 floordiv 2)] : f32
// CHECK-NEXT:      %1 = scalar.constant 4.0 : f32
// CHECK-NEXT:      %2 = scalar.div %0, %1 : f32
// CHECK-NEXT:      loop.store %2, %o[0, d0, d1, d2]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[1, 2, 4, 4]>

// -----

/// The gradient goes where the saved place is this element.

func.func @max(%g: !aten.t<f32[1, 2, 2, 2]>, %x: !aten.t<f32[1, 2, 4, 4]>, %i: !aten.t<i64[1, 2, 2, 2]>) -> !aten.t<f32[1, 2, 4, 4]> {
  %r = aten.max_pool2d_with_indices_backward.default(%g, %x, kernel_size = [2, 2], stride = [2, 2], padding = [0, 0], dilation = [1, 1], ceil_mode = false, indices = %i) : !aten.t<f32[1, 2, 4, 4]>
  func.return %r : !aten.t<f32[1, 2, 4, 4]>
}

// CHECK-LABEL: func.func @max
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 4, d2: 4) -> (%o : !aten.t<f32[1, 2, 4, 4]>) origins ["max_pool2d_with_indices_backward"] {
// CHECK-NEXT:      %0 = scalar.index 4 * d1 + d2 : i64
// CHECK-NEXT:      %1 = loop.load %i[0, d0, (d1 floordiv 2), (d2 floordiv 2)] : i64
// CHECK-NEXT:      %2 = scalar.eq %1, %0 : i64
// CHECK-NEXT:      %3 = loop.load %g[0, d0, (d1 floordiv 2), (d2 floordiv 2)] : f32
// CHECK-NEXT:      %4 = scalar.constant 0.0 : f32
// CHECK-NEXT:      %5 = scalar.select %2, %3, %4 : f32
// CHECK-NEXT:      loop.store %5, %o[0, d0, d1, d2]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[1, 2, 4, 4]>
