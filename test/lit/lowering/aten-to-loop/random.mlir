// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// One seed a function, one stream an op, logical flat indices.

func.func @two(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[3]>) {
  %a = aten.rand_like.default(%x) : !aten.t<f32[4, 8]>
  %b = aten.randn.default([3]) : !aten.t<f32[3]>
  func.return %a, %b : !aten.t<f32[4, 8]>, !aten.t<f32[3]>
}

// CHECK-LABEL: func.func @two
// CHECK-NEXT:    %seed = loop.extern "minductor.seed"() args [] kwargs {device = #aten.device<"cpu">} {random, ordered} : () -> !aten.t<i64[1]>
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["rand_like"] {
// CHECK-NEXT:      %0 = loop.load %seed[0] : i64
// CHECK-NEXT:      %1 = scalar.random philox %0, 8 * d0 + d1 stream 0 -> f32
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 3) -> (%o_1 : !aten.t<f32[3]>) origins ["randn"] {
// CHECK-NEXT:      %2 = loop.load %seed[0] : i64
// CHECK-NEXT:      %3 = scalar.random philox_normal %2, d0 stream 1 -> f32
// CHECK-NEXT:      loop.store %3, %o_1[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[4, 8]>, !aten.t<f32[3]>

// -----

/// A half type holds fewer digits; no value rounds up to 1.
func.func @half(%x: !aten.t<bf16[8]>) -> !aten.t<bf16[8]> {
  %r = aten.rand_like.default(%x) : !aten.t<bf16[8]>
  func.return %r : !aten.t<bf16[8]>
}

// CHECK-LABEL: func.func @half
// CHECK-NEXT:    %seed = loop.extern "minductor.seed"() args [] kwargs {device = #aten.device<"cpu">} {random, ordered} : () -> !aten.t<i64[1]>
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bf16[8]>) origins ["rand_like"] {
// CHECK-NEXT:      %0 = loop.load %seed[0] : i64
// CHECK-NEXT:      %1 = scalar.random philox %0, d0 stream 0 -> f32
// CHECK-NEXT:      %2 = scalar.constant 256.0 : f32
// CHECK-NEXT:      %3 = scalar.mul %1, %2 : f32
// CHECK-NEXT:      %4 = scalar.floor %3 : f32
// CHECK-NEXT:      %5 = scalar.div %4, %2 : f32
// CHECK-NEXT:      %6 = scalar.cast %5 storage : f32 to bf16
// CHECK-NEXT:      loop.store %6, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[8]>

// -----

/// Dropout and its mask are one nest.
func.func @dropout(%x: !aten.t<f32[8]>) -> (!aten.t<f32[8]>, !aten.t<bool[8]>) {
  %r0, %r1 = aten.native_dropout.default(%x, 0.25, true) : !aten.t<f32[8]>, !aten.t<bool[8]>
  func.return %r0, %r1 : !aten.t<f32[8]>, !aten.t<bool[8]>
}

// CHECK-LABEL: func.func @dropout
// CHECK-NEXT:    %seed = loop.extern "minductor.seed"() args [] kwargs {device = #aten.device<"cpu">} {random, ordered} : () -> !aten.t<i64[1]>
// CHECK-NEXT:    %buf0, %buf1 = loop.nest (d0: 8) -> (%o0_ : !aten.t<f32[8]>, %o1_ : !aten.t<bool[8]>) origins ["native_dropout"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.constant 0.25 : f32
// CHECK-NEXT:      %2 = loop.load %seed[0] : i64
// CHECK-NEXT:      %3 = scalar.random philox %2, d0 stream 0 -> f32
// CHECK-NEXT:      %4 = scalar.le %1, %3 : f32
// CHECK-NEXT:      %5 = scalar.constant 1.3333334 : f32
// CHECK-NEXT:      %6 = scalar.cast %4 : i1 to f32
// CHECK-NEXT:      %7 = scalar.mul %0, %6 : f32
// CHECK-NEXT:      %8 = scalar.mul %7, %5 : f32
// CHECK-NEXT:      loop.store %8, %o0_[d0]
// CHECK-NEXT:      loop.store %4, %o1_[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[8]>, !aten.t<bool[8]>
