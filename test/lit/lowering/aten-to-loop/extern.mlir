// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// What has no lowering is a call: tensors with promised strides, defaults left out.

/// A view argument gets its pointer.
func.func @mm(%x: !aten.t<f32[4, 8]>, %w: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 4]>) {
  %t = aten.permute.default(%w, [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %r = aten.mm.default(%x, %t) : !aten.t<f32[4, 4]>
  func.return %r : !aten.t<f32[4, 4]>
}

// CHECK-LABEL: func.func @mm
// CHECK-NEXT:    %w_1 = loop.view %w offset 0 : !aten.t<f32[4, 8]> to !aten.t<f32[8, 4]:[1, 8]>
// CHECK-NEXT:    %buf0 = loop.extern "aten.mm.default"(%x, %w_1) args [#loop.arg<0>, #loop.arg<1>] {origins = #loop.origins<["mm"]>} : (!aten.t<f32[4, 8]>, !aten.t<f32[8, 4]:[1, 8]>) -> !aten.t<f32[4, 4]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[4, 4]>

// -----

/// Keyword arguments, lists and several results.
func.func @topk(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>) {
  %v, %i = aten.topk.default(%x, 2, sorted = false) : !aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>
  func.return %v, %i : !aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>
}

// CHECK-LABEL: func.func @topk
// CHECK-NEXT:    %buf0, %buf1 = loop.extern "aten.topk.default"(%x) args [#loop.arg<0>, 2 : i64, -1 : i64, true, false] {origins = #loop.origins<["topk"]>} : (!aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>)
// CHECK-NEXT:    func.return %buf0, %buf1 : !aten.t<f32[4, 2]>, !aten.t<i64[4, 2]>

// -----

/// A call that writes its operand gives the new value back.
func.func @written(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>) {
  %y = aten.exp.default(%x) : !aten.t<f32[4, 8]>
  %r = aten.erfinv_.default(%y) : !aten.t<f32[4, 8]>
  %z = aten.neg.default(%y) : !aten.t<f32[4, 8]>
  func.return %z : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @written
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["exp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.exp %0 : f32
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1, %buf2 = loop.extern "aten.erfinv_.default"(%buf0) args [#loop.arg<0>] {mutates = #loop.index<[0]>, aliases = [#loop.index<[0, 0]>], origins = #loop.origins<["erfinv_"]>} : (!aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[4, 8]>)
// CHECK-NEXT:    %buf3 = loop.nest (d0: 4, d1: 8) -> (%o_1 : !aten.t<f32[4, 8]>) origins ["neg"] {
// CHECK-NEXT:      %2 = loop.load %buf2[d0, d1] : f32
// CHECK-NEXT:      %3 = scalar.neg %2 : f32
// CHECK-NEXT:      loop.store %3, %o_1[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf3 : !aten.t<f32[4, 8]>
