// RUN: mini-opt %s --split-input-file -p 'loop-fuse{preset=seed}' --print-remarks --logs fusion | filecheck %s

/// `epilogue`: the consumer of a row sum shares the row loop; buf0 does not reach memory.

// CHECK:       // ===== attempting fusion (1/10): 2 nodes =====
// CHECK-NEXT:  //   SchedulerNode(name='op0'), Reduction(['[1024]', '[1024]', 'origins=OrderedSet([sum, add, sin])'])
// CHECK-NEXT:  //   SchedulerNode(name='op1'), Pointwise(['[1024]', 'origins=OrderedSet([mul, relu])'])
// CHECK-NEXT:  // op0 and op1 has 4096 shared data
// CHECK-NEXT:  // found 1 possible fusions
// CHECK-NEXT:  // fusing op0 with op1
// CHECK-NEXT:  // completed fusion round (1/10): fused 2 nodes into 1 nodes
// CHECK-LABEL: @epilogue
// CHECK-NEXT:  %buf1 = loop.group "add_mul_relu_sin_sum" -> !aten.t<f32[1024]> bytes <floor 4198400, unfused 4206592, planned 4198400> {
// CHECK-NEXT:    loop.nest (d0: 1024) reduce (d1: 1024)
// CHECK:         loop.nest (d0: 1024) ->
// CHECK:         loop.yield %buf1_1
// CHECK:       // remark: [loop-fuse] accepted op0, op1 {bytes = 4096}
func.func @epilogue(%arg0_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024]> {
  %buf0 = loop.nest (d0: 1024) reduce (d1: 1024) -> (%o : !aten.t<f32[1024]>) origins ["sin", "add", "sum"] {
    %x = loop.load %arg0_1[d0, d1] : f32
    %s = scalar.sin %x : f32
    %one = scalar.constant 1.0 : f32
    %a = scalar.add %s, %one : f32
    %t = loop.reduce add %a : f32 -> f32
    loop.store %t, %o[d0]
  }
  %buf1 = loop.nest (d0: 1024) -> (%o : !aten.t<f32[1024]>) origins ["relu", "mul"] {
    %x = loop.load %buf0[d0] : f32
    %p = scalar.relu %x : f32
    %two = scalar.constant 2.0 : f32
    %m = scalar.mul %p, %two : f32
    loop.store %m, %o[d0]
  }
  func.return %buf1 : !aten.t<f32[1024]>
}

// -----

/// Negative twin, `mismatch`: one buffer through two indices is no shared data.

// CHECK:       // op0 and op1 has 0 shared data
// CHECK-NEXT:  // cannot fuse op0 with op1: no shared data
// CHECK-NEXT:  // found 0 possible fusions
// CHECK-LABEL: @mismatch
// CHECK-COUNT-2: loop.group
// CHECK:       // remark: [loop-fuse] refused op0, op1: no shared data {bytes = 0}
func.func @mismatch(%arg0_1: !aten.t<f32[1024, 1024]>) -> (!aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>) {
  %buf0 = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["sin"] {
    %x = loop.load %arg0_1[d0, d1] : f32
    %s = scalar.sin %x : f32
    loop.store %s, %o[d0, d1]
  }
  %buf1 = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["cos", "clone"] {
    %x = loop.load %arg0_1[d1, d0] : f32
    %s = scalar.cos %x : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %buf0, %buf1 : !aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>
}
