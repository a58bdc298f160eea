// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Which dtype an op computes in.

/// Integers divide as floats.
func.func @div(%x: !aten.t<i64[4]>, %y: !aten.t<i64[1]>) -> !aten.t<f32[4]> {
  %r = aten.div.Tensor(%x, %y) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @div
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["div"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i64
// CHECK-NEXT:      %1 = scalar.cast %0 : i64 to f32
// CHECK-NEXT:      %2 = loop.load %y[0] : i64
// CHECK-NEXT:      %3 = scalar.cast %2 : i64 to f32
// CHECK-NEXT:      %4 = scalar.div %1, %3 : f32
// CHECK-NEXT:      loop.store %4, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>

// -----

/// A floating number on integers gives f32.
func.func @clamp(%x: !aten.t<i32[4]>) -> !aten.t<f32[4]> {
  %r = aten.clamp.default(%x, min = 0.5) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @clamp
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["clamp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i32
// CHECK-NEXT:      %1 = scalar.cast %0 : i32 to f32
// CHECK-NEXT:      %2 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %3 = scalar.maximum %2, %1 : f32
// CHECK-NEXT:      loop.store %3, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>

// -----

/// A number is rounded to a half type first, except as second factor or divisor: eager reads the number itself.
func.func @sum(%x: !aten.t<bf16[4]>) -> !aten.t<bf16[4]> {
  %r = aten.add.Scalar(%x, 0.1) : !aten.t<bf16[4]>
  func.return %r : !aten.t<bf16[4]>
}

// CHECK-LABEL: func.func @sum
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bf16[4]>) origins ["add"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = scalar.constant 0.100097656 : f32
// CHECK-NEXT:      %3 = scalar.add %1, %2 : f32
// CHECK-NEXT:      %4 = scalar.cast %3 storage : f32 to bf16
// CHECK-NEXT:      loop.store %4, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[4]>

// -----

func.func @product(%x: !aten.t<bf16[4]>) -> !aten.t<bf16[4]> {
  %r = aten.mul.Scalar(%x, 0.1) : !aten.t<bf16[4]>
  func.return %r : !aten.t<bf16[4]>
}

// CHECK-LABEL: func.func @product
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<bf16[4]>) origins ["mul"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = scalar.constant 0.1 : f32
// CHECK-NEXT:      %3 = scalar.mul %1, %2 : f32
// CHECK-NEXT:      %4 = scalar.cast %3 storage : f32 to bf16
// CHECK-NEXT:      loop.store %4, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[4]>
