// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// What lies outside is not read; the dimension without padding has no test.

func.func @constant(%x: !aten.t<f32[2, 8]>) -> !aten.t<f32[2, 11]> {
  %r = aten.constant_pad_nd.default(%x, pad = [1, 2], value = 0.5) : !aten.t<f32[2, 11]>
  func.return %r : !aten.t<f32[2, 11]>
}

// CHECK-LABEL: func.func @constant
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 11) -> (%o : !aten.t<f32[2, 11]>) origins ["constant_pad_nd"] {
// CHECK-NEXT:      %0 = scalar.within d1 in 1 to 9
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %x[d0, d1 - 1] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = scalar.constant 0.5 : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2, 11]>

// -----

/// Negative padding crops: nothing to test.

func.func @crop(%x: !aten.t<f32[8]>) -> !aten.t<f32[5]> {
  %r = aten.constant_pad_nd.default(%x, pad = [-1, -2]) : !aten.t<f32[5]>
  func.return %r : !aten.t<f32[5]>
}

// CHECK-LABEL: func.func @crop
// CHECK-NEXT:    %buf0 = loop.nest (d0: 5) -> (%o : !aten.t<f32[5]>) origins ["constant_pad_nd"] {
// CHECK-NEXT:      %0 = loop.load %x[d0 + 1] : f32
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[5]>

// -----

/// Replication only moves the index.

func.func @replicate(%x: !aten.t<f32[2, 8]>) -> !aten.t<f32[2, 10]> {
  %r = aten.replication_pad1d.default(%x, padding = [1, 1]) : !aten.t<f32[2, 10]>
  func.return %r : !aten.t<f32[2, 10]>
}

// CHECK-LABEL: func.func @replicate
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2, d1: 10) -> (%o : !aten.t<f32[2, 10]>) origins ["replication_pad1d"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, min(max(0, d1 - 1), 7)] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2, 10]>
