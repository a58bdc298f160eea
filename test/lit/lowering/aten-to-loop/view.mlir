// RUN: mini-opt %s -p aten-to-loop --split-input-file --print-remarks | filecheck %s

/// Views leave no op: permute, view and slice become the index of the load.

func.func @compose(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[2, 8]> {
  %p = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
  %s = aten.slice.Tensor(%p, dim = 0, start = 2, end = 6) : !aten.t<f32[4, 4]:[1, 8]>
  %c = aten.clone.default(%s, memory_format = contiguous_format) : !aten.t<f32[4, 4]>
  %v = aten.view.default(%c, size = [2, 8]) : !aten.t<f32[2, 8]>
  %n = aten.neg.default(%v) : !aten.t<f32[2, 8]>
  func.return %n : !aten.t<f32[2, 8]>
}

// CHECK-LABEL: func.func @compose
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 4) -> (%o : !aten.t<f32[4, 4]>) origins ["clone"] {
// CHECK-NEXT:      %0 = loop.load %x[d1, d0 + 2] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf1 = loop.nest (d0: 2, d1: 8) -> (%o_1 : !aten.t<f32[2, 8]>) origins ["neg"] {
// CHECK-NEXT:      %1 = loop.load %buf0[2 * d0 + (d1 floordiv 4), (d1 mod 4)] : f32
// CHECK-NEXT:      %2 = scalar.neg %1 : f32
// CHECK-NEXT:      loop.store %2, %o_1[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf1 : !aten.t<f32[2, 8]>

// -----

/// Heads of attention with symbolic sizes: what does not change stays a plain variable.

func.func @heads(%x: !aten.t<f32[s0, s1, 768]>) -> !aten.t<f32[s0, 12, s1, 64]> attributes {symbols = #aten.symbols<s0 = [hint 2, min 2], s1 = [hint 9, min 2]>} {
  %v = aten.view.default(%x, size = [s0, s1, 12, 64]) : !aten.t<f32[s0, s1, 12, 64]>
  %p = aten.permute.default(%v, dims = [0, 2, 1, 3]) : !aten.t<f32[s0, 12, s1, 64]:[768 * s1, 64, 768, 1]>
  %c = aten.clone.default(%p, memory_format = contiguous_format) : !aten.t<f32[s0, 12, s1, 64]>
  func.return %c : !aten.t<f32[s0, 12, s1, 64]>
}

// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %buf0 = loop.nest (d0: s0, d1: 12, d2: s1, d3: 64) -> (%o : !aten.t<f32[s0, 12, s1, 64]>) origins ["clone"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d2, 64 * d1 + d3] : f32
// CHECK-NEXT:      loop.store %0, %o[d0, d1, d2, d3]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[s0, 12, s1, 64]>

// -----

/// A result that aliases its operand is a `loop.view` of the same storage, not a copy.

func.func @alias(%x: !aten.t<f32[4, 8]>) -> (!aten.t<f32[4, 8]>, !aten.t<f32[4]:[8]>) {
  %r = aten.relu.default(%x) : !aten.t<f32[4, 8]>
  %s = aten.select.int(%r, dim = 1, index = -1) : !aten.t<f32[4]:[8]>
  func.return %r, %s : !aten.t<f32[4, 8]>, !aten.t<f32[4]:[8]>
}

// CHECK-LABEL: func.func @alias
// CHECK-NEXT:    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["relu"] {
// CHECK-NEXT:      %0 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:      %1 = scalar.relu %0 : f32
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf0_1 = loop.view %buf0 offset 7 : !aten.t<f32[4, 8]> to !aten.t<f32[4]:[8]>
// CHECK-NEXT:    func.return %buf0, %buf0_1 : !aten.t<f32[4, 8]>, !aten.t<f32[4]:[8]>

// -----

/// `as_strided` with an offset of the user's on an argument: where its storage begins is known at
/// run time only, so eager's kernel makes the view.

func.func @strided(%x: !aten.t<f32[4, 8]>) -> !aten.t<f32[3, 4]:[5, 2]> {
  %s = aten.as_strided.default(%x, size = [3, 4], stride = [5, 2], storage_offset = 1) : !aten.t<f32[3, 4]:[5, 2]>
  func.return %s : !aten.t<f32[3, 4]:[5, 2]>
}

// CHECK-LABEL: func.func @strided
// CHECK-NEXT:    %buf0 = loop.extern "aten.as_strided.default"(%x) args [#loop.arg<0>, #loop.index<[3, 4]>, #loop.index<[5, 2]>, 1 : i64] {aliases = [#loop.index<[0, 0]>], origins = #loop.origins<["as_strided"]>} : (!aten.t<f32[4, 8]>) -> !aten.t<f32[3, 4]:[5, 2]>
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[3, 4]:[5, 2]>
// CHECK:       // remark: [aten-to-loop] note as_strided.default: extern: the storage offset of an argument is known at run time only
