// RUN: mini-opt %s -p aten-to-loop --split-input-file | filecheck %s

/// Few inputs: one nest that picks its source.

func.func @cat(%x: !aten.t<f32[s0, 512]>, %y: !aten.t<f32[s0, 256]>) -> !aten.t<f32[s0, 768]> attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %c = aten.cat.default([%x, %y], dim = 1) : !aten.t<f32[s0, 768]>
  func.return %c : !aten.t<f32[s0, 768]>
}

// CHECK-LABEL: func.func @cat
// CHECK-NEXT:    %buf0 = loop.nest (d0: s0, d1: 768) -> (%o : !aten.t<f32[s0, 768]>) origins ["cat"] {
// CHECK-NEXT:      %0 = scalar.within d1 in 0 to 512
// CHECK-NEXT:      %1 = scalar.if %0 -> f32 {
// CHECK-NEXT:        %2 = loop.load %x[d0, d1] : f32
// CHECK-NEXT:        scalar.yield %2 : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %3 = loop.load %y[d0, d1 - 512] : f32
// CHECK-NEXT:        scalar.yield %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %1, %o[d0, d1]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[s0, 768]>

// -----

/// Inputs without elements are left out, dtypes are promoted.

func.func @promote(%e: !aten.t<f32[0]>, %x: !aten.t<i32[2]>) -> !aten.t<f32[2]> {
  %c = aten.cat.default([%e, %x]) : !aten.t<f32[2]>
  func.return %c : !aten.t<f32[2]>
}

// CHECK-LABEL: func.func @promote
// CHECK-NEXT:    %buf0 = loop.nest (d0: 2) -> (%o : !aten.t<f32[2]>) origins ["cat"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : i32
// CHECK-NEXT:      %1 = scalar.cast %0 : i32 to f32
// CHECK-NEXT:      loop.store %1, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf0 : !aten.t<f32[2]>

// -----

/// Many inputs: a chain over one buffer, each nest updates its slice.

func.func @chain(%x: !aten.t<f32[2]>) -> !aten.t<f32[34]> {
  %c = aten.cat.default([%x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x]) : !aten.t<f32[34]>
  func.return %c : !aten.t<f32[34]>
}

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %buf0 = loop.extern "aten.empty_strided.default"() args [#loop.index<[34]>, #loop.index<[1]>] kwargs {dtype = #aten.dtype<f32>, device = #aten.device<"cpu">} : () -> !aten.t<f32[34]>
// CHECK-NEXT:    %buf1 = loop.nest (d0: 2) -> (%o = %buf0 : !aten.t<f32[34]>) origins ["cat"] {
// CHECK-NEXT:      %0 = loop.load %x[d0] : f32
// CHECK-NEXT:      loop.store %0, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    %buf2 = loop.nest (d0: 2) -> (%o_1 = %buf1 : !aten.t<f32[34]>) origins ["cat"] {
// CHECK-NEXT:      %1 = loop.load %x[d0] : f32
// CHECK-NEXT:      loop.store %1, %o_1[d0 + 2]
// CHECK-NEXT:    }
// CHECK:         %buf17 = loop.nest (d0: 2) -> (%o_16 = %buf16 : !aten.t<f32[34]>) origins ["cat"] {
// CHECK-NEXT:      %16 = loop.load %x[d0] : f32
// CHECK-NEXT:      loop.store %16, %o_16[d0 + 32]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %buf17 : !aten.t<f32[34]>
