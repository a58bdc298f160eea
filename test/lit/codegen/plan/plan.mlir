// RUN: mini-opt %s --split-input-file -t plan | filecheck %s

/// Groups are priced at the sizes of capture; an inner nest is no row of its own.

// CHECK:      plan of @forward, at s0 = 64
// CHECK-NEXT:   group relu_sum: floor 16896, unfused 17408, planned 16896
// CHECK-NEXT:     op0: sin, sum
// CHECK-NEXT:     op1: relu
// CHECK-NEXT:   extern op2: aten.mm.default
// CHECK-NEXT:   peak: planned 16640
// CHECK-NEXT: graph: 1 fused, 0 nests, 1 extern; floor 49408, unfused 17408, planned 16896
func.func @forward(%x: !aten.t<f32[s0, 64]>, %unused: !aten.t<f32[9]>, %w: !aten.t<f32[64, 64]>)
    -> (!aten.t<f32[s0]>, !aten.t<f32[64, 64]>)
    attributes {symbols = #aten.symbols<s0 = [hint 64, min 2]>} {
  %r = loop.group "relu_sum" -> !aten.t<f32[s0]> bytes <floor 260 * s0 + 256, unfused 268 * s0 + 256, planned 260 * s0 + 256> {
    %buf0 = loop.nest (d0: s0) reduce (d1: 64) -> (%o : !aten.t<f32[s0]>) origins ["sin", "sum"] {
      %v = loop.load %x[d0, d1] : f32
      %s = scalar.sin %v : f32
      %t = loop.reduce add %s : f32 -> f32
      loop.store %t, %o[d0]
    }
    %buf1 = loop.nest (d0: s0) -> (%o : !aten.t<f32[s0]>) origins ["relu"] {
      %v = loop.load %buf0[d0] : f32
      %s = scalar.relu %v : f32
      loop.store %s, %o[d0]
    }
    loop.yield %buf1
  }
  %buf2 = loop.extern "aten.mm.default"(%w, %w) args [#loop.arg<0>, #loop.arg<1>] : (!aten.t<f32[64, 64]>, !aten.t<f32[64, 64]>) -> !aten.t<f32[64, 64]>
  func.return %r, %buf2 : !aten.t<f32[s0]>, !aten.t<f32[64, 64]>
}
