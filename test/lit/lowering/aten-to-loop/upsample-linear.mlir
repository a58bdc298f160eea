// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Position o of twice the size is (2 o - 1) / 4: two reads with exact weights.

func.func @twice(%x: !aten.t<f32[1, 2, 8]>) -> !aten.t<f32[1, 2, 16]> {
  %r = aten.upsample_linear1d.default(%x, output_size = [16], align_corners = false, scales = 2.0) : !aten.t<f32[1, 2, 16]>
  func.return %r : !aten.t<f32[1, 2, 16]>
}

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 16) -> (%o : !aten.t<f32[1, 2, 16]>) origins ["upsample_linear1d"] {
// CHECK:           scalar.index (max(0, 2 * d1 - 1) mod 4) : i64
// CHECK:           loop.load %x[0, d0, (max(0, 2 * d1 - 1) floordiv 4)] : f32
// CHECK:           loop.load %x[0, d0, min((max(0, 2 * d1 - 1) floordiv 4) + 1, 7)] : f32
// CHECK:           loop.store

// -----

/// Its gradient is a gather of the four outputs near an element, with no buffer to clear.

func.func @gradient(%g: !aten.t<f32[1, 2, 16]>) -> !aten.t<f32[1, 2, 8]> {
  %r = aten.upsample_linear1d_backward.default(%g, output_size = [16], input_size = [1, 2, 8], align_corners = false) : !aten.t<f32[1, 2, 8]>
  func.return %r : !aten.t<f32[1, 2, 8]>
}

// CHECK-LABEL: func.func @gradient
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 8) -> (%o : !aten.t<f32[1, 2, 8]>) origins ["upsample_linear1d_backward"] {
// CHECK:           scalar.within 2 * d1 - 1 in 0 to 16
// CHECK:           loop.load %g[0, d0, 2 * d1 - 1] : f32
// CHECK:           loop.load %g[0, d0, 2 * d1] : f32
// CHECK:           loop.load %g[0, d0, 2 * d1 + 1] : f32
// CHECK:           loop.load %g[0, d0, 2 * d1 + 2] : f32
// CHECK-NOT:       loop.load
// CHECK:         func.return

// -----

/// The negative twin: 1.5 times 5 is 7, so no ratio of the sizes is the user's factor.

func.func @refused(%g: !aten.t<f32[1, 2, 7]>) -> !aten.t<f32[1, 2, 5]> {
  %r = aten.upsample_linear1d_backward.default(%g, output_size = [7], input_size = [1, 2, 5], align_corners = false, scales = 1.5) : !aten.t<f32[1, 2, 5]>
  func.return %r : !aten.t<f32[1, 2, 5]>
}

// CHECK-LABEL: func.func @refused
// CHECK:           loop.extern "aten.upsample_linear1d_backward.default"
// CHECK:       // remark: [aten-to-loop] note upsample_linear1d_backward.default: extern: the factor is no ratio of the sizes
