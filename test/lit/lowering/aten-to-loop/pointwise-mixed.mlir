// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Ops of several steps, in eager's order.

/// A known weight still picks the end it starts from per element.
func.func @lerp(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %r = aten.lerp.Scalar(%x, %y, 0.25) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @lerp
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["lerp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = loop.load %y[d0] : f32
// CHECK-NEXT:      %2 = scalar.constant 0.25 : f32
// CHECK-NEXT:      %3 = scalar.sub %1, %0 : f32
// CHECK-NEXT:      %4 = scalar.abs %2 : f32
// CHECK-NEXT:      %5 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %6 = scalar.lt %4, %5 : f32
// CHECK-NEXT:      %7 = scalar.mul %2, %3 : f32
// CHECK-NEXT:      %8 = scalar.add %0, %7 : f32
// CHECK-NEXT:      %9 = scalar.constant 1.0 : f32
// CHECK-NEXT:      %10 = scalar.sub %9, %2 : f32
// CHECK-NEXT:      %11 = scalar.mul %3, %10 : f32
// CHECK-NEXT:      %12 = scalar.sub %1, %11 : f32
// CHECK-NEXT:      %13 = scalar.select %6, %8, %12 : f32
// CHECK-NEXT:      loop.store %13, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>

// -----

func.func @addcmul(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>, %z: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %r = aten.addcmul.default(%x, %y, %z, value = 0.5) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @addcmul
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>) origins ["addcmul"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = loop.load %y[d0] : f32
// CHECK-NEXT:      %2 = loop.load %z[d0] : f32
// CHECK-NEXT:      %3 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %4 = scalar.mul %1, %3 : f32
// CHECK-NEXT:      %5 = scalar.mul %4, %2 : f32
// CHECK-NEXT:      %6 = scalar.add %0, %5 : f32
// CHECK-NEXT:      loop.store %6, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4]>

// -----

/// Integers have no quotient here.
func.func @refused(%x: !aten.t<i64[4]>, %y: !aten.t<i64[4]>, %z: !aten.t<i64[4]>) -> !aten.t<i64[4]> {
  %r = aten.addcdiv.default(%x, %y, %z) : !aten.t<i64[4]>
  func.return %r : !aten.t<i64[4]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.addcdiv.default"(%x, %y, %z) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<2>] {origins = #loop.origins<["addcdiv"]>} : (!aten.t<i64[4]>, !aten.t<i64[4]>, !aten.t<i64[4]>) -> !aten.t<i64[4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<i64[4]>
// CHECK:       // remark: [aten-to-loop] note addcdiv.default: extern: addcdiv of integers

// -----

/// Dynamo makes a prim of addcmul_ and addcdiv_; its product is rounded, as its definition says.
func.func @fma(%x: !aten.t<f32[4]>, %y: !aten.t<f32[4]>) -> !aten.t<f32[4]> {
  %k = aten.scalar 0.5
  %r = aten.custom "prims::fma(Tensor a, Tensor b, Tensor c) -> Tensor"(%x, %k, %y) : !aten.t<f32[4]>
  func.return %r : !aten.t<f32[4]>
}

// CHECK-LABEL: func.func @fma
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<f32[4]>)
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.constant 0.5 : f32
// CHECK-NEXT:      %2 = loop.load %y[d0] : f32
// CHECK-NEXT:      %3 = scalar.mul %0, %1 : f32
// CHECK-NEXT:      %4 = scalar.add %3, %2 : f32
