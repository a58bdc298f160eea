// RUN: mini-opt %s --split-input-file -p loop-inline --print-remarks | filecheck %s

/// A reader that needs what another reader makes can not be one kernel with the producer: stored, the
/// product would be a kernel of its own, and both would read it.

// CHECK-LABEL: @needs
// CHECK-COUNT-2: loop.nest
// CHECK-NOT:   loop.nest
// CHECK:       remark: [loop-inline] accepted mul: computed in 2 places
func.func @needs(%x: !aten.t<bf16[8192, 1024]>, %y: !aten.t<bf16[8192, 1024]>) -> !aten.t<bf16[8192, 1024]> {
  %mul = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["mul"] {
    %v = loop.load %x[d0, d1] : bf16
    %w = loop.load %y[d0, d1] : bf16
    %s = scalar.mul %v, %w : bf16
    loop.store %s, %o[d0, d1] }
  %sum = loop.nest (d0: 1024) reduce (d1: 8192) -> (%o : !aten.t<bf16[1024]>) origins ["sum"] {
    %v = loop.load %mul[d1, d0] : bf16
    %s = loop.reduce max %v : bf16 -> bf16
    loop.store %s, %o[d0] }
  %add = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["add"] {
    %v = loop.load %mul[d0, d1] : bf16
    %w = loop.load %sum[d1] : bf16
    %s = scalar.add %v, %w : bf16
    loop.store %s, %o[d0, d1] }
  func.return %add : !aten.t<bf16[8192, 1024]>
}

// -----

/// Negative twin: a reader that does not need it takes the product along as it stores it.

// CHECK-LABEL: @apart
// CHECK-COUNT-3: loop.nest
// CHECK:       remark: [loop-inline] refused mul: storing moves no more bytes than computing it again
func.func @apart(%x: !aten.t<bf16[8192, 1024]>, %y: !aten.t<bf16[8192, 1024]>) -> (!aten.t<bf16[1024]>, !aten.t<bf16[8192, 1024]>) {
  %mul = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["mul"] {
    %v = loop.load %x[d0, d1] : bf16
    %w = loop.load %y[d0, d1] : bf16
    %s = scalar.mul %v, %w : bf16
    loop.store %s, %o[d0, d1] }
  %sum = loop.nest (d0: 1024) reduce (d1: 8192) -> (%o : !aten.t<bf16[1024]>) origins ["sum"] {
    %v = loop.load %mul[d1, d0] : bf16
    %s = loop.reduce max %v : bf16 -> bf16
    loop.store %s, %o[d0] }
  %neg = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["neg"] {
    %v = loop.load %mul[d0, d1] : bf16
    %s = scalar.neg %v : bf16
    loop.store %s, %o[d0, d1] }
  func.return %sum, %neg : !aten.t<bf16[1024]>, !aten.t<bf16[8192, 1024]>
}

// -----

/// Negative twin: what is costly is stored, as if the two could be one kernel.

// CHECK-LABEL: @costly
// CHECK-COUNT-3: loop.nest
// CHECK:       remark: [loop-inline] refused silu: storing moves no more bytes than computing it again
func.func @costly(%x: !aten.t<bf16[8192, 1024]>, %y: !aten.t<bf16[8192, 1024]>) -> !aten.t<bf16[8192, 1024]> {
  %silu = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["silu"] {
    %v = loop.load %x[d0, d1] : bf16
    %w = loop.load %y[d0, d1] : bf16
    %f = scalar.cast %v : bf16 to f32
    %g = scalar.sigmoid %f : f32
    %h = scalar.cast %g : f32 to bf16
    %s = scalar.mul %h, %w : bf16
    loop.store %s, %o[d0, d1] }
  %sum = loop.nest (d0: 1024) reduce (d1: 8192) -> (%o : !aten.t<bf16[1024]>) origins ["sum"] {
    %v = loop.load %silu[d1, d0] : bf16
    %s = loop.reduce max %v : bf16 -> bf16
    loop.store %s, %o[d0] }
  %add = loop.nest (d0: 8192, d1: 1024) -> (%o : !aten.t<bf16[8192, 1024]>) origins ["add"] {
    %v = loop.load %silu[d0, d1] : bf16
    %w = loop.load %sum[d1] : bf16
    %s = scalar.add %v, %w : bf16
    loop.store %s, %o[d0, d1] }
  func.return %add : !aten.t<bf16[8192, 1024]>
}
