// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// A call that writes through a view gives the base a new value.

func.func @view(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>) {
  %y = aten.exp.default(%x) : !aten.t<f32[4, 8]>
  %v = aten.select.int(%y, 0, 1) : !aten.t<f32[8]>
  %r = aten.erfinv_.default(%v) : !aten.t<f32[8]>
  %z = aten.neg.default(%y) : !aten.t<f32[4, 8]>
  func.return %z : !aten.t<f32[4, 8]>
}

// CHECK-LABEL: func.func @view
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["exp"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.exp %0 : f32
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf0_1 = loop.view %buf0 offset 8 : !aten.t<f32[4, 8]> to !aten.t<f32[8]>
// CHECK-NEXT:    %buf1, %buf2 = loop.extern "aten.erfinv_.default"(%buf0_1) args [#loop.arg<0>] {mutates = #loop.index<[0]>, aliases = [#loop.index<[0, 0]>], origins = #loop.origins<["erfinv_"]>} : (!aten.t<f32[8]>) -> (!aten.t<f32[8]>, !aten.t<f32[8]>)
// CHECK-NEXT:    %buf3 = loop.nest (d0: 8) -> (%o_1 = %buf0 : !aten.t<f32[4, 8]>) origins ["erfinv_"] {
// CHECK-NEXT:      %2 = loop.load %buf2[d0] : f32
// CHECK-NEXT:      loop.store %2, %o_1[1, d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf4 = loop.nest (d0: 4, d1: 8) -> (%o_2 : !aten.t<f32[4, 8]>) origins ["neg"] {
// CHECK-NEXT:      %3 = loop.load %buf3[d0, d1] : f32
// CHECK-NEXT:      %4 = scalar.neg %3 : f32
// CHECK-NEXT:      loop.store %4, %o_2[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf4 : !aten.t<f32[4, 8]>
