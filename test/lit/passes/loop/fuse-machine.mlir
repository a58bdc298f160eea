// RUN: mini-opt %s -p 'loop-fuse{machine=cpu}' | filecheck %s
// RUN: mini-opt %s -p 'loop-fuse{machine=%S/Inputs/tight.toml}' | filecheck %s --check-prefix=TIGHT
// RUN: not mini-opt %s -p 'loop-fuse{machine=%S/Inputs/wrong.toml}' 2>&1 | filecheck %s --check-prefix=WRONG

/// Figures of a machine come by name or from a file: without room for a local array of 3 KB the sums
/// of the columns are a kernel of their own.
// CHECK:         loop.group "col_row" {{.*}} across [0]
// TIGHT-NOT:     across
// TIGHT:         loop.group "col"
// TIGHT:         loop.group "row"
// WRONG:         wrong.toml': field 'cache' is of type int, not negative, not 'large'
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

