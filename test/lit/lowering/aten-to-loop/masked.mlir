// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// The numbers of the elements under the mask by a scan, then one guarded selection.

func.func @masked_scatter(%x: !aten.t<f32[8]>, %m: !aten.t<bool[8]>, %s: !aten.t<f32[5]>) -> !aten.t<f32[8]> {
  %r = aten.masked_scatter.default(%x, %m, %s) : !aten.t<f32[8]>
  func.return %r : !aten.t<f32[8]>
}

// CHECK-LABEL: func.func @masked_scatter
// CHECK-NEXT:    %buf0 = loop.nest () scan (d0: 8) -> (%o : !aten.t<i64[8]>) origins ["masked_scatter"] {
// CHECK-NEXT:      %0 = loop.load %m[d0] : i1
// CHECK-NEXT:      %1 = scalar.cast %0 : i1 to i64
// CHECK-NEXT:      %2 = loop.scan add %1 : i64 -> i64
// CHECK-NEXT:      loop.store %2, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 8) -> (%o_1 : !aten.t<f32[8]>) origins ["masked_scatter"] {
// CHECK-NEXT:      %3 = loop.load %m[d0] : i1
// CHECK-NEXT:      %4 = scalar.if %3 -> f32 {
// CHECK-NEXT:        %5 = loop.load %buf0[d0] : i64
// CHECK-NEXT:        %6 = scalar.constant 1 : i64
// CHECK-NEXT:        %7 = scalar.sub %5, %6 : i64
// CHECK-NEXT:        %8 = scalar.bound %7 to 5
// CHECK-NEXT:        %9 = loop.load %s[%8] : f32
// CHECK-NEXT:        scalar.yield %9 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %10 = loop.load %x[d0] : f32
// CHECK-NEXT:        scalar.yield %10 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %4, %o_1[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf1 : !aten.t<f32[8]>

// -----

/// A mask wider than the tensor is left to eager's kernel.

func.func @wider(%x: !aten.t<f32[8]>, %m: !aten.t<bool[2, 8]>, %s: !aten.t<f32[16]>) -> !aten.t<f32[2, 8]> {
  %r = aten.masked_scatter.default(%x, %m, %s) : !aten.t<f32[2, 8]>
  func.return %r : !aten.t<f32[2, 8]>
}

// CHECK-LABEL: func.func @wider
// CHECK-NEXT:    %buf0 = loop.extern "aten.masked_scatter.default"(%x, %m, %s) args [#loop.arg<0>, #loop.arg<1>, #loop.arg<2>] {origins = #loop.origins<["masked_scatter"]>} : (!aten.t<f32[8]>, !aten.t<bool[2, 8]>, !aten.t<f32[16]>) -> !aten.t<f32[2, 8]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2, 8]>
// CHECK:       // remark: [aten-to-loop] note masked_scatter.default: extern: a mask that is not bool, or wider than the tensor
