// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Backward of replication: every gradient is added to the element that was repeated.

func.func @replicate(%g: !aten.t<f32[2, 10]>, %x: !aten.t<f32[2, 8]>) -> !aten.t<f32[2, 8]> {
  %r = aten.replication_pad1d_backward.default(%g, %x, padding = [1, 1]) : !aten.t<f32[2, 8]>
  func.return %r : !aten.t<f32[2, 8]>
}

// CHECK-LABEL: func.func @replicate
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 8) -> (%o : !aten.t<f32[2, 8]>) origins ["replication_pad1d_backward"] {
// CHECK-NEXT:      %0 = scalar.constant 0.0 : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 2, d1: 10) -> (%o_1 = %buf0 : !aten.t<f32[2, 8]>) origins ["replication_pad1d_backward"] {
// CHECK-NEXT:      %1 = loop.load %g[d0, d1] : f32
// CHECK-NEXT:      loop.store add %1, %o_1[d0, min(max(0, d1 - 1), 7)]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf1 : !aten.t<f32[2, 8]>
