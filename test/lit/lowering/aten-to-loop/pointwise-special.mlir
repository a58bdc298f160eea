// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Polygamma of order 2 is -2! zeta(3, x); integers become f32.
func.func @polygamma(%x: !aten.t<i64[8]>) -> !aten.t<f32[8]> {
  %r = aten.polygamma.default(2, %x) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @polygamma
// CHECK:           %1 = scalar.cast %0 : i64 to f32
// CHECK-NEXT:      %2 = scalar.constant 3.0 : f32
// CHECK-NEXT:      %3 = scalar.zeta %2, %1 : f32
// CHECK-NEXT:      %4 = scalar.constant -2.0 : f32
// CHECK-NEXT:      %5 = scalar.mul %4, %3 : f32

// -----

/// A number in the place of a degree.
func.func @degree(%x: !aten.t<f64[8]>) -> !aten.t<f64[8]> {
  %r = aten.special_legendre_polynomial_p.n_scalar(%x, 3) : !aten.t<f64[8]>
  func.return %r : !aten.t<f64[8]>
}

// CHECK-LABEL: func.func @degree
// CHECK:           %1 = scalar.constant 3.0 : f64
// CHECK-NEXT:      %2 = scalar.legendre_polynomial_p %0, %1 : f64

// -----

/// A row without Triton text is native on the CPU only.
func.func @igamma(%a: !aten.t<f32[8]@cuda>, %x: !aten.t<f32[8]@cuda>) -> !aten.t<f32[8]@cuda> {
  %r = aten.igamma.default(%a, %x) : !aten.t<f32[8]@cuda>
  func.return %r : !aten.t<f32[8]@cuda>
}

// CHECK-LABEL: func.func @igamma
// CHECK:           loop.extern "aten.igamma.default"
// CHECK:       // remark: [aten-to-loop] note igamma.default: extern: igamma has no Triton form
