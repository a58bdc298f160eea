// RUN: mini-opt %s --split-input-file -p 'loop-fuse{across=false}' | filecheck %s

/// Columns of a line go to one program of a grid: 256 of them are too few programs for a GPU, and the
/// sum alone can be cut in parts. So what follows it does not join its loops.

// CHECK-LABEL: @columns
// CHECK: loop.group "sum" ->
// CHECK: loop.group "sub" ->
func.func @columns(%x: !aten.t<bf16[100352, 256]@cuda>) -> !aten.t<bf16[100352, 256]@cuda> {
  %s = loop.nest (d0: 256) reduce (d1: 100352) -> (%o : !aten.t<f32[256]@cuda>) origins ["sum"] {
    %0 = loop.load %x[d1, d0] : bf16
    %1 = scalar.cast %0 : bf16 to f32
    %2 = loop.reduce add %1 : f32 -> f32
    loop.store %2, %o[d0]
  }
  %y = loop.nest (d0: 100352, d1: 256) -> (%o : !aten.t<bf16[100352, 256]@cuda>) origins ["sub"] {
    %0 = loop.load %x[d0, d1] : bf16
    %1 = scalar.cast %0 : bf16 to f32
    %2 = loop.load %s[d1] : f32
    %3 = scalar.sub %1, %2 : f32
    %4 = scalar.cast %3 : f32 to bf16
    loop.store %4, %o[d0, d1]
  }
  func.return %y : !aten.t<bf16[100352, 256]@cuda>
}

// -----

/// Negative twin: rows, of which each is a program.

// CHECK-LABEL: @rows
// CHECK: loop.group "sub_sum"
func.func @rows(%x: !aten.t<bf16[1024, 25088]@cuda>) -> !aten.t<bf16[1024, 25088]@cuda> {
  %s = loop.nest (d0: 1024) reduce (d1: 25088) -> (%o : !aten.t<f32[1024]@cuda>) origins ["sum"] {
    %0 = loop.load %x[d0, d1] : bf16
    %1 = scalar.cast %0 : bf16 to f32
    %2 = loop.reduce add %1 : f32 -> f32
    loop.store %2, %o[d0]
  }
  %y = loop.nest (d0: 1024, d1: 25088) -> (%o : !aten.t<bf16[1024, 25088]@cuda>) origins ["sub"] {
    %0 = loop.load %x[d0, d1] : bf16
    %1 = scalar.cast %0 : bf16 to f32
    %2 = loop.load %s[d0] : f32
    %3 = scalar.sub %1, %2 : f32
    %4 = scalar.cast %3 : f32 to bf16
    loop.store %4, %o[d0, d1]
  }
  func.return %y : !aten.t<bf16[1024, 25088]@cuda>
}
