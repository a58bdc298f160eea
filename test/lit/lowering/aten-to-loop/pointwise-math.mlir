// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Transcendental functions, rounding and powers.

/// Integers become f32.
func.func @exp(%x: !aten.t<i64[8]>) -> !aten.t<f32[8]> {
  %r = aten.exp.default(%x) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @exp
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["exp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i64
// CHECK-NEXT:      %1 = scalar.cast %0 : i64 to f32
// CHECK-NEXT:      %2 = scalar.exp %1 : f32
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]>

// -----

/// Whole numbers are rounded already.
func.func @floor(%x: !aten.t<i64[8]>) -> !aten.t<i64[8]> {
  %r = aten.floor.default(%x) : !aten.t<i64[8]>
  func.return %r : !aten.t<i64[8]>
}

// CHECK-LABEL: func.func @floor
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<i64[8]>) origins ["floor"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i64
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[8]>

// -----

/// Small powers are products, as in eager's kernel.
func.func @cube(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %r = aten.pow.Tensor_Scalar(%x, 3) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @cube
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["pow"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.mul %0, %0 : f32
// CHECK-NEXT:      %2 = scalar.mul %1, %0 : f32
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]>

// -----

/// A power of a half is a root, but of f16 eager has the power itself.
func.func @root(%x: !aten.t<bf16[8]>) -> !aten.t<bf16[8]> {
  %r = aten.pow.Tensor_Scalar(%x, 0.5) : !aten.t<bf16[8]>
  func.return %r : !aten.t<bf16[8]>
}

// CHECK-LABEL: func.func @root
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bf16[8]>) origins ["pow"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = scalar.sqrt %1 : f32
// CHECK-NEXT:      %3 = scalar.cast %2 storage : f32 to bf16
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[8]>

// -----

func.func @not_a_root(%x: !aten.t<f16[8]>) -> !aten.t<f16[8]> {
  %r = aten.pow.Tensor_Scalar(%x, 0.5) : !aten.t<f16[8]>
  func.return %r : !aten.t<f16[8]>
}

// CHECK-LABEL: func.func @not_a_root
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f16[8]>) origins ["pow"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f16
// CHECK-NEXT:      %1 = scalar.cast %0 : f16 to f32
// CHECK-NEXT:      %2 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %3 = scalar.pow %1, %2 : f32
// CHECK-NEXT:      %4 = scalar.cast %3 storage : f32 to f16
// CHECK-NEXT:      loop.store %4, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f16[8]>

// -----

/// A half type steps in its own bits.
func.func @step(%x: !aten.t<bf16[8]>, %y: !aten.t<bf16[8]>) -> !aten.t<bf16[8]> {
  %r = aten.nextafter.default(%x, %y) : !aten.t<bf16[8]>
  func.return %r : !aten.t<bf16[8]>
}

// CHECK-LABEL: func.func @step
// CHECK:           scalar.bitcast {{%.*}} : bf16 to i16
// CHECK:           scalar.bitcast {{%.*}} : i16 to bf16
// CHECK:           loop.store
