// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// A whole factor is index arithmetic, and its backward a small sum.

func.func @whole(%x: !aten.t<f32[1, 2, 8, 8]>, %g: !aten.t<f32[1, 2, 16, 8]>) -> (!aten.t<f32[1, 2, 16, 16]>, !aten.t<f32[1, 2, 8, 8]>) {
  %r = aten.upsample_nearest2d.default(%x, output_size = [16, 16]) : !aten.t<f32[1, 2, 16, 16]>
  %b = aten.upsample_nearest2d_backward.default(%g, output_size = [16, 8], input_size = [1, 2, 8, 8]) : !aten.t<f32[1, 2, 8, 8]>
  func.return %r, %b : !aten.t<f32[1, 2, 16, 16]>, !aten.t<f32[1, 2, 8, 8]>
}

// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 16, d2: 16) -> (%o : !aten.t<f32[1, 2, 16, 16]>) origins ["upsample_nearest2d"] {
// CHECK-NEXT:      %0 = loop.load %x[0, d0, (d1 floordiv 2), (d2 floordiv 2)] : f32
// CHECK-NEXT:      loop.store %0, %o[0, d0, d1, d2]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 2, d1: 8, d2: 8) reduce (d3: 2) -> (%o_1 : !aten.t<f32[1, 2, 8, 8]>) origins ["upsample_nearest2d_backward"] {
// CHECK-NEXT:      %1 = loop.load %g[0, d0, 2 * d1 + d3, d2] : f32
// CHECK-NEXT:      %2 = loop.reduce add %1 : f32 -> f32
// CHECK-NEXT:      loop.store %2, %o_1[0, d0, d1, d2]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[1, 2, 16, 16]>, !aten.t<f32[1, 2, 8, 8]>

// -----

/// Any other factor rounds as eager does, in f32.

func.func @other(%x: !aten.t<f32[1, 1, 5]>) -> !aten.t<f32[1, 1, 8]> {
  %r = aten.upsample_nearest1d.default(%x, output_size = [8]) : !aten.t<f32[1, 1, 8]>
  func.return %r : !aten.t<f32[1, 1, 8]>
}

// CHECK-LABEL: func.func @other
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[1, 1, 8]>) origins ["upsample_nearest1d"] {
// CHECK-NEXT:      %0 = scalar.constant 5.0 : f32
// CHECK-NEXT:      %1 = scalar.constant 8.0 : f32
// CHECK-NEXT:      %2 = scalar.div %0, %1 : f32
// CHECK-NEXT:      %3 = scalar.index d0 : i64
// CHECK-NEXT:      %4 = scalar.cast %3 : i64 to f32
// CHECK-NEXT:      %5 = scalar.mul %4, %2 : f32
// CHECK-NEXT:      %6 = scalar.floor %5 : f32
// CHECK-NEXT:      %7 = scalar.cast %6 : f32 to i64
// CHECK-NEXT:      %8 = scalar.constant 4 : i64
// CHECK-NEXT:      %9 = scalar.minimum %7, %8 : i64
// CHECK-NEXT:      %10 = scalar.bound %9 to 5
// CHECK-NEXT:      %11 = loop.load %x[0, 0, %10] : f32
// CHECK-NEXT:      loop.store %11, %o[0, 0, d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[1, 1, 8]>

// -----

/// The gradient of another factor asks each output near an element for its place.

func.func @gradient(%g: !aten.t<f32[1, 1, 8]>) -> !aten.t<f32[1, 1, 5]> {
  %b = aten.upsample_nearest1d_backward.default(%g, output_size = [8], input_size = [1, 1, 5]) : !aten.t<f32[1, 1, 5]>
  func.return %b : !aten.t<f32[1, 1, 5]>
}

// CHECK-LABEL: func.func @gradient
// CHECK-NEXT:    %buf0 = loop.nest (d0: 5) reduce (d1: 5) -> (%o : !aten.t<f32[1, 1, 5]>) origins ["upsample_nearest1d_backward"] {
// CHECK:           scalar.eq
// CHECK:           loop.load %g[0, 0, d1 + ((8 * d0) floordiv 5) - 1] : f32
// CHECK:           loop.reduce add

// -----

/// The negative twin: a factor of 3 does not make 8 of 5.

func.func @refused(%g: !aten.t<f32[1, 1, 8]>) -> !aten.t<f32[1, 1, 5]> {
  %b = aten.upsample_nearest1d_backward.default(%g, output_size = [8], input_size = [1, 1, 5], scales = 3.0) : !aten.t<f32[1, 1, 5]>
  func.return %b : !aten.t<f32[1, 1, 5]>
}

// CHECK-LABEL: func.func @refused
// CHECK:           loop.extern "aten.upsample_nearest1d_backward.default"
// CHECK:       // remark: [aten-to-loop] note upsample_nearest1d_backward.default: extern: the factor is not that of the sizes
