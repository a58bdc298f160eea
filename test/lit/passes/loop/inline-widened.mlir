// RUN: mini-opt %s --split-input-file -p loop-inline --print-remarks | filecheck %s

/// A costly bf16 value that several readers want in f32 is stored once, as bf16: half the bytes.
// CHECK-LABEL: @narrow
// CHECK:         %{{.*}} = loop.nest (d0: 4096) -> (%{{.*}} : !aten.t<bf16[4096]>) origins ["costly"]
// CHECK-COUNT-2: loop.reduce
// CHECK:       remark: [loop-inline] accepted wide: it only widens what its readers can read as it is
func.func @narrow(%x: !aten.t<f32[4096]>) -> (!aten.t<f32[]>, !aten.t<f32[]>) {
  %costly = loop.nest (d0: 4096) -> (%o : !aten.t<bf16[4096]>) origins ["costly"] {
    %v = loop.load %x[d0] : f32  %a = scalar.lgamma %v : f32  %b = scalar.lgamma %a : f32
    %c = scalar.lgamma %b : f32  %h = scalar.cast %c : f32 to bf16  loop.store %h, %o[d0] }
  %wide = loop.nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) origins ["wide"] {
    %v = loop.load %costly[d0] : bf16  %w = scalar.cast %v : bf16 to f32  loop.store %w, %o[d0] }
  %sum = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<f32[]>) origins ["sum"] {
    %v = loop.load %wide[d0] : f32  %s = loop.reduce add %v : f32 -> f32  loop.store %s, %o[] }
  %max = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<f32[]>) origins ["max"] {
    %v = loop.load %wide[d0] : f32  %s = loop.reduce max %v : f32 -> f32  loop.store %s, %o[] }
  func.return %sum, %max : !aten.t<f32[]>, !aten.t<f32[]> }

// -----

/// Negative twin: a cast that narrows is stored, for its readers would read twice the bytes.
// CHECK-LABEL: @rounded
// CHECK:         loop.nest (d0: 4096) -> (%{{.*}} : !aten.t<bf16[4096]>) origins ["costly", "half"]
// CHECK-NOT:   only widens
func.func @rounded(%x: !aten.t<f32[4096]>) -> (!aten.t<bf16[]>, !aten.t<bf16[]>) {
  %costly = loop.nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) origins ["costly"] {
    %v = loop.load %x[d0] : f32  %a = scalar.lgamma %v : f32  %b = scalar.lgamma %a : f32
    %c = scalar.lgamma %b : f32  loop.store %c, %o[d0] }
  %half = loop.nest (d0: 4096) -> (%o : !aten.t<bf16[4096]>) origins ["half"] {
    %v = loop.load %costly[d0] : f32  %w = scalar.cast %v : f32 to bf16  loop.store %w, %o[d0] }
  %max = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<bf16[]>) origins ["max"] {
    %v = loop.load %half[d0] : bf16  %s = loop.reduce max %v : bf16 -> bf16  loop.store %s, %o[] }
  %min = loop.nest () reduce (d0: 4096) -> (%o : !aten.t<bf16[]>) origins ["min"] {
    %v = loop.load %half[d0] : bf16  %s = loop.reduce min %v : bf16 -> bf16  loop.store %s, %o[] }
  func.return %max, %min : !aten.t<bf16[]>, !aten.t<bf16[]> }
