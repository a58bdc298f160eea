// RUN: mini-opt %s -p 'loop-fuse' --split-input-file --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'loop-fuse{across=false}' --split-input-file | filecheck %s --check-prefix=OFF

/// Sums of columns and of rows read the same data once: the columns gather over the loop of rows.
// CHECK-LABEL: func.func @both
// CHECK:         loop.group "col_row" -> {{.*}} bytes <floor 12602368, unfused 25185280, planned 12602368> across [0] {
// CHECK-NEXT:      loop.nest (d0: 768) reduce (d1: 4096)
// CHECK:           loop.nest (d0: 4096) reduce (d1: 768)
// CHECK:       // remark: [loop-fuse] accepted op0, op1
// OFF-LABEL:   func.func @both
// OFF-NOT:       across
// OFF:           loop.group "col"
// OFF:           loop.group "row"
func.func @both(%x: !aten.t<f32[4096, 768]>) -> (!aten.t<f32[768]>, !aten.t<f32[4096]>) {
  %c = loop.nest (d0: 768) reduce (d1: 4096) -> (%o : !aten.t<f32[768]>) origins ["col"] {
    %v = load %x[d1, d0] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  %r = loop.nest (d0: 4096) reduce (d1: 768) -> (%o : !aten.t<f32[4096]>) origins ["row"] {
    %v = load %x[d0, d1] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  func.return %c, %r : !aten.t<f32[768]>, !aten.t<f32[4096]> }

// -----

/// Columns without a known number have no array to gather in.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     across
// CHECK:         loop.group "col"
// CHECK:         loop.group "row"
func.func @unknown(%x: !aten.t<f32[4096, s0]>) -> (!aten.t<f32[s0]>, !aten.t<f32[4096]>) attributes {symbols = #aten.symbols<s0 = [hint 768, min 2]>} {
  %c = loop.nest (d0: s0) reduce (d1: 4096) -> (%o : !aten.t<f32[s0]>) origins ["col"] {
    %v = load %x[d1, d0] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  %r = loop.nest (d0: 4096) reduce (d1: s0) -> (%o : !aten.t<f32[4096]>) origins ["row"] {
    %v = load %x[d0, d1] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  func.return %c, %r : !aten.t<f32[s0]>, !aten.t<f32[4096]> }

// -----

/// A row that needs the sum of its column waits for all rows: no group.
// CHECK-LABEL: func.func @waits
// CHECK-NOT:     across
// CHECK:       // remark: [loop-fuse] refused op0, op1
func.func @waits(%x: !aten.t<f32[4096, 768]>) -> !aten.t<f32[4096]> {
  %c = loop.nest (d0: 768) reduce (d1: 4096) -> (%o : !aten.t<f32[768]>) origins ["col"] {
    %v = load %x[d1, d0] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  %r = loop.nest (d0: 4096) reduce (d1: 768) -> (%o : !aten.t<f32[4096]>) origins ["row"] {
    %v = load %x[d0, d1] : f32
    %w = load %c[d1] : f32
    %y = scalar.mul %v, %w : f32
    %t = reduce add %y : f32 -> f32
    store %t, %o[d0] }
  func.return %r : !aten.t<f32[4096]> }

// -----

/// Rows of two loops, columns summed over one that is both: it is split, and gathers over the two.
// CHECK-LABEL: func.func @split
// CHECK:         loop.group "col_row" -> {{.*}} across [1] {
// CHECK:           loop.nest (d0: 64) reduce (d1: 32, d2: 128)
// CHECK-NEXT:        loop.load {{%.*}}[d1, d2, d0]
func.func @split(%x: !aten.t<f32[32, 128, 64]>) -> (!aten.t<f32[32, 128, 64]>, !aten.t<f32[64]>) {
  %r = loop.nest (d0: 32, d1: 128, d2: 64) -> (%o : !aten.t<f32[32, 128, 64]>) origins ["row"] {
    %v = load %x[d0, d1, d2] : f32
    %w = scalar.sin %v : f32
    store %w, %o[d0, d1, d2] }
  %c = loop.nest (d0: 64) reduce (d1: 4096) -> (%o : !aten.t<f32[64]>) origins ["col"] {
    %v = load %r[d1 floordiv 128, d1 mod 128, d0] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  func.return %r, %c : !aten.t<f32[32, 128, 64]>, !aten.t<f32[64]> }

// -----

/// Negative twin: what is summed are not whole columns.
// CHECK-LABEL: func.func @shifted
// CHECK-NOT:     across
// CHECK:         loop.group "row"
// CHECK:         loop.group "col"
func.func @shifted(%x: !aten.t<f32[32, 128, 64]>) -> (!aten.t<f32[32, 128, 64]>, !aten.t<f32[64]>) {
  %r = loop.nest (d0: 32, d1: 128, d2: 64) -> (%o : !aten.t<f32[32, 128, 64]>) origins ["row"] {
    %v = load %x[d0, d1, d2] : f32
    %w = scalar.sin %v : f32
    store %w, %o[d0, d1, d2] }
  %c = loop.nest (d0: 64) reduce (d1: 2048) -> (%o : !aten.t<f32[64]>) origins ["col"] {
    %v = load %r[d1 floordiv 128 + 16, d1 mod 128, d0] : f32
    %t = reduce add %v : f32 -> f32
    store %t, %o[d0] }
  func.return %r, %c : !aten.t<f32[32, 128, 64]>, !aten.t<f32[64]> }
