// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// Prefix reductions: the scanned dimension is the last variable.

func.func @cumsum(%x: !aten.t<bf16[4, 8]>) -> (!aten.t<bf16[4, 8]>) {
  %r = aten.cumsum.default(%x, 0) : !aten.t<bf16[4, 8]>
  func.return %r : !aten.t<bf16[4, 8]>
}

// CHECK-LABEL: func.func @cumsum
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) scan (d1: 4) -> (%o : !aten.t<bf16[4, 8]>) origins ["cumsum"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0] : bf16
// CHECK-NEXT:      %1 = scalar.cast %0 : bf16 to f32
// CHECK-NEXT:      %2 = loop.scan add %1 : f32 -> f32
// CHECK-NEXT:      %3 = scalar.cast %2 storage : f32 to bf16
// CHECK-NEXT:      loop.store %3, %o[d1, d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[4, 8]>

// -----

func.func @cummax(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<i64[4, 8]>) {
  %r0, %r1 = aten.cummax.default(%x, 1) : !aten.t<f32[4, 8]>, !aten.t<i64[4, 8]>
  func.return %r0, %r1 : !aten.t<f32[4, 8]>, !aten.t<i64[4, 8]>
}

// CHECK-LABEL: func.func @cummax
// CHECK-NEXT:    %buf0, %buf1 = loop.nest (d0: 4) scan (d1: 8) -> (%o0_ : !aten.t<f32[4, 8]>, %o1_ : !aten.t<i64[4, 8]>) origins ["cummax"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.index d1 : i64
// CHECK-NEXT:      %2, %3 = loop.scan cummax %0, %1 : f32, i64 -> f32, i64
// CHECK-NEXT:      loop.store %2, %o0_[d0, d1]
// CHECK-NEXT:      loop.store %3, %o1_[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[4, 8]>, !aten.t<i64[4, 8]>

// -----

/// A prefix sum as bool is left to eager.
func.func @refused(%x: !aten.t<i64[8]>) -> !aten.t<bool[8]> {
  %r = aten.cumsum.default(%x, 0, dtype = bool) : !aten.t<bool[8]>
  func.return %r : !aten.t<bool[8]>
}

// CHECK-LABEL: func.func @refused
// CHECK-NEXT:    %buf0 = loop.extern "aten.cumsum.default"(%x) args [#loop.arg<0>, 0 : i64] kwargs {dtype = #aten.dtype<bool>} {origins = #loop.origins<["cumsum"]>} : (!aten.t<i64[8]>) -> !aten.t<bool[8]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<bool[8]>
// CHECK:       // remark: [aten-to-loop] note cumsum.default: extern: a prefix sum as bool
