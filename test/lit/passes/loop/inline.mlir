// RUN: mini-opt %s --split-input-file -p loop-inline --print-remarks | filecheck %s

/// `wall`: a cheap value on both sides of a reduction is computed twice, the second copy marked; the
/// addition, used once, goes into its reader.

// CHECK-LABEL: @wall
// CHECK-NEXT:  %buf0 = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<f32[]>) origins ["sin", "sum"]
// CHECK:       %buf1 = loop.nest (d0: 4096) -> (%{{.*}}) origins ["~sin", "add", "relu"]
// CHECK-NEXT:    loop.load %x[d0] : f32
// CHECK-NEXT:    scalar.sin
// CHECK-NEXT:    loop.load %buf0[] : f32
// CHECK-NEXT:    scalar.add
// CHECK-NEXT:    scalar.relu
// CHECK:       remark: [loop-inline] accepted sin: computed in 2 places {bytes = {{[0-9]+}}}
func.func @wall(%x: !aten.t<f32[4096]>) -> !aten.t<f32[4096]> {
  %sin = loop.nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) origins ["sin"] {
    %v = loop.load %x[d0] : f32
    %s = scalar.sin %v : f32
    loop.store %s, %o[d0]
  }
  %sum = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<f32[]>) origins ["sum"] {
    %v = loop.load %sin[d0] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[]
  }
  %add = loop.nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) origins ["add"] {
    %v = loop.load %sin[d0] : f32
    %w = loop.load %sum[] : f32
    %s = scalar.add %v, %w : f32
    loop.store %s, %o[d0]
  }
  %relu = loop.nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) origins ["relu"] {
    %v = loop.load %add[d0] : f32
    %s = scalar.relu %v : f32
    loop.store %s, %o[d0]
  }
  func.return %relu : !aten.t<f32[4096]>
}

// -----

/// Into a guarded load the whole body goes, with its loads; the rounding for storage goes.

// CHECK-LABEL: @guarded
// CHECK:       scalar.within d0 in 0 to 4
// CHECK-NEXT:  scalar.if
// CHECK-NEXT:    loop.load %x[d0] : bf16
// CHECK-NEXT:    scalar.cast %{{.*}} : bf16 to f32
// CHECK-NEXT:    scalar.exp
// CHECK-NEXT:    scalar.yield
func.func @guarded(%x: !aten.t<bf16[4]>) -> !aten.t<f32[8]> {
  %exp = loop.nest (d0: 4) -> (%o : !aten.t<bf16[4]>) origins ["exp"] {
    %v = loop.load %x[d0] : bf16
    %f = scalar.cast %v : bf16 to f32
    %s = scalar.exp %f : f32
    %h = scalar.cast %s storage : f32 to bf16
    loop.store %h, %o[d0]
  }
  %pad = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["pad"] {
    %c = scalar.within d0 in 0 to 4
    %v = scalar.if %c -> f32 {
      %a = loop.load %exp[d0] : bf16
      %f = scalar.cast %a : bf16 to f32
      scalar.yield %f : f32
    } else {
      %z = scalar.constant 0.0 : f32
      scalar.yield %z : f32
    }
    loop.store %v, %o[d0]
  }
  func.return %pad : !aten.t<f32[8]>
}
