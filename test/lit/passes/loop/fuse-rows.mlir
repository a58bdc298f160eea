// RUN: mini-opt %s --split-input-file -p 'loop-fuse{across=false}' --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{preset=seed}' | filecheck %s

/// Softmax over rows: two reductions and the quotient in one group, each row read from memory once.

// CHECK-LABEL: @softmax
// CHECK-NEXT:  loop.group "softmax" -> !aten.t<f32[64, 1024]> bytes <floor 524288, unfused 1049856, planned 524288> {
// CHECK-COUNT-3: loop.nest
// CHECK:         loop.yield %buf2_1
// CHECK-NOT:   loop.group
func.func @softmax(%x: !aten.t<f32[64, 1024]>) -> !aten.t<f32[64, 1024]> {
  %buf0 = loop.nest (d0: 64) reduce (d1: 1024) -> (%o : !aten.t<f32[64, 1]>) origins ["softmax"] {
    %v = loop.load %x[d0, d1] : f32
    %m = loop.reduce max %v : f32 -> f32
    loop.store %m, %o[d0, 0]
  }
  %buf1 = loop.nest (d0: 64) reduce (d1: 1024) -> (%o : !aten.t<f32[64, 1]>) origins ["softmax"] {
    %v = loop.load %x[d0, d1] : f32
    %m = loop.load %buf0[d0, 0] : f32
    %c = scalar.sub %v, %m : f32
    %e = scalar.exp %c : f32
    %s = loop.reduce add %e : f32 -> f32
    loop.store %s, %o[d0, 0]
  }
  %buf2 = loop.nest (d0: 64, d1: 1024) -> (%o : !aten.t<f32[64, 1024]>) origins ["softmax"] {
    %v = loop.load %x[d0, d1] : f32
    %m = loop.load %buf0[d0, 0] : f32
    %c = scalar.sub %v, %m : f32
    %e = scalar.exp %c : f32
    %s = loop.load %buf1[d0, 0] : f32
    %q = scalar.div %e, %s : f32
    loop.store %q, %o[d0, d1]
  }
  func.return %buf2 : !aten.t<f32[64, 1024]>
}

// -----

/// Negative twin: a column sum and a row sum of one tensor walk it in different orders.

// CHECK-LABEL: @rows_and_columns
// CHECK-COUNT-2: loop.group
func.func @rows_and_columns(%x: !aten.t<f32[64, 1024]>) -> (!aten.t<f32[64]>, !aten.t<f32[1024]>) {
  %buf0 = loop.nest (d0: 64) reduce (d1: 1024) -> (%o : !aten.t<f32[64]>) origins ["sum"] {
    %v = loop.load %x[d0, d1] : f32
    %m = loop.reduce add %v : f32 -> f32
    loop.store %m, %o[d0]
  }
  %buf1 = loop.nest (d0: 1024) reduce (d1: 64) -> (%o : !aten.t<f32[1024]>) origins ["sum"] {
    %v = loop.load %x[d1, d0] : f32
    %m = loop.reduce add %v : f32 -> f32
    loop.store %m, %o[d0]
  }
  func.return %buf0, %buf1 : !aten.t<f32[64]>, !aten.t<f32[1024]>
}
