// RUN: mini-opt %s -p aten-to-loop --print-remarks --split-input-file | filecheck %s

/// A cast that the user wrote has no `storage` mark.

func.func @to(%x: !aten.t<f32[8]>) -> !aten.t<bf16[8]> {
  %r = aten._to_copy.default(%x, dtype = bf16) : !aten.t<bf16[8]>
  func.return %r : !aten.t<bf16[8]>
}

// CHECK-LABEL: func.func @to
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bf16[8]>) origins ["_to_copy"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.cast %0 : f32 to bf16
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<bf16[8]>

// -----

/// A copy is a nest, its layout stands in the type.
func.func @clone(%x: !aten.t<f32[4, 8]:[1, 4]>) -> (!aten.t<f32[4, 8]>) {
  %r = aten.clone.default(%x, memory_format = contiguous_format) : !aten.t<f32[4, 8]>
  func.return %r : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @clone
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["clone"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 8]>

// -----

/// Bits under another dtype: a view.
func.func @bits(%x: !aten.t<f32[8]>) -> !aten.t<i32[8]> {
  %v = aten.view.dtype(%x, i32) : !aten.t<i32[8]>
  %r = aten.neg.default(%v) : !aten.t<i32[8]>
  func.return %r : !aten.t<i32[8]>
}

// CHECK-LABEL: func.func @bits
// CHECK-NEXT:    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<i32[8]>) origins ["neg"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      %1 = scalar.bitcast %0 : f32 to i32
// CHECK-NEXT:      %2 = scalar.neg %1 : i32
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<i32[8]>

// -----

/// A copy to another device is a call.
func.func @device(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]@"cuda:0"> {
  %r = aten._to_copy.default(%x, device = "cuda:0") : !aten.t<f32[8]@"cuda:0">
  func.return %r : !aten.t<f32[8]@"cuda:0">
}

// CHECK-LABEL: func.func @device
// CHECK-NEXT:    %buf0 = loop.extern "aten._to_copy.default"(%x) args [#loop.arg<0>] kwargs {device = #aten.device<"cuda:0">} {origins = #loop.origins<["_to_copy"]>} : (!aten.t<f32[8]>) -> !aten.t<f32[8]@"cuda:0">
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[8]@"cuda:0">
// CHECK:       // remark: [aten-to-loop] note _to_copy.default: extern: not on the kernels' device, cuda:0
