// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Norms and variances.

/// Welford, and the mean for nothing.
func.func @var_mean(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>) {
  %r0, %r1 = aten.var_mean.correction(%x, [1], correction = 1, keepdim = true) : !aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>
  func.return %r0, %r1 : !aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>
}

// CHECK-LABEL: func.func @var_mean
// CHECK-NEXT:    %buf0, %buf1 = loop.nest (d0: 4) reduce (d1: 8) -> (%o0_ : !aten.t<f32[4, 1]>, %o1_ : !aten.t<f32[4, 1]>) origins ["var_mean"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1, %2, %3 = loop.reduce welford %0 : f32 -> f32, f32, f32
// CHECK-NEXT:      %4 = scalar.constant 7.0 : f32
// CHECK-NEXT:      %5 = scalar.div %2, %4 : f32
// CHECK-NEXT:      loop.store %5, %o0_[d0, 0]
// CHECK-NEXT:      loop.store %1, %o1_[d0, 0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[4, 1]>, !aten.t<f32[4, 1]>

// -----

/// A symbolic count is an index. The root is taken in f64 on a CPU, as eager does.
func.func @std(%x: !aten.t<f16[s0]>) -> !aten.t<f16[]> attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %r = aten.std.correction(%x) : !aten.t<f16[]>
  func.return %r : !aten.t<f16[]>
}

// CHECK-LABEL: func.func @std
// CHECK-NEXT:    %buf0 = loop.nest () reduce (d0: s0) -> (%o : !aten.t<f16[]>) origins ["std"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f16
// CHECK-NEXT:      %1 = scalar.cast %0 : f16 to f32
// CHECK-NEXT:      %2 = scalar.cast %1 : f32 to f64
// CHECK-NEXT:      %3, %4, %5 = loop.reduce welford %2 : f64 -> f64, f64, f64
// CHECK-NEXT:      %6 = scalar.index s0 : i64
// CHECK-NEXT:      %7 = scalar.cast %6 : i64 to f64
// CHECK-NEXT:      %8 = scalar.constant 1.0 : f64
// CHECK-NEXT:      %9 = scalar.sub %7, %8 : f64
// CHECK-NEXT:      %10 = scalar.constant 0.0 : f64
// CHECK-NEXT:      %11 = scalar.maximum %9, %10 : f64
// CHECK-NEXT:      %12 = scalar.div %4, %11 : f64
// CHECK-NEXT:      %13 = scalar.sqrt %12 : f64
// CHECK-NEXT:      %14 = scalar.cast %13 : f64 to f32
// CHECK-NEXT:      %15 = scalar.cast %14 storage : f32 to f16
// CHECK-NEXT:      loop.store %15, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f16[]>

// -----

func.func @norm(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[]> {
  %r = aten.linalg_vector_norm.default(%x, 3) : !aten.t<f32[]>
  func.return %r : !aten.t<f32[]>
}

// CHECK-LABEL: func.func @norm
// CHECK-NEXT:    %buf0 = loop.nest () reduce (d0: 4, d1: 8) -> (%o : !aten.t<f32[]>) origins ["linalg_vector_norm"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.abs %0 : f32
// CHECK-NEXT:      %2 = scalar.constant 3.0 : f32
// CHECK-NEXT:      %3 = scalar.pow %1, %2 : f32
// CHECK-NEXT:      %4 = loop.reduce add %3 : f32 -> f32
// CHECK-NEXT:      %5 = scalar.constant 0.33333334 : f32
// CHECK-NEXT:      %6 = scalar.pow %4, %5 : f32
// CHECK-NEXT:      loop.store %6, %o[]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[]>

// -----

/// The mean of nothing is NaN; where the ranges leave it open, the count decides.
func.func @nothing(%x: !aten.t<f32[u0]>) -> (!aten.t<f32[]>, !aten.t<f32[]>) attributes {symbols = #aten.symbols<u0 = [hint 64, min 0]>} {
  %r0, %r1 = aten.var_mean.correction(%x, [0]) : !aten.t<f32[]>, !aten.t<f32[]>
  func.return %r0, %r1 : !aten.t<f32[]>, !aten.t<f32[]>
}

// CHECK-LABEL: func.func @nothing
// CHECK:      %11 = scalar.within u0 in 1 to u0 + 1
// CHECK-NEXT:      %12 = scalar.constant nan : f32
// CHECK-NEXT:      %13 = scalar.select %11, %1, %12 : f32
