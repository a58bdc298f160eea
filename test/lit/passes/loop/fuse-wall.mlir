// RUN: mini-opt %s -p 'loop-inline,loop-fuse{preset=seed}' --logs fusion,ir_pre_fusion,ir_post_fusion | filecheck %s
// RUN: mini-opt %s -p 'loop-inline,loop-fuse{preset=most}' | filecheck %s --check-prefix=MOST

/// `wall`: the sum is complete only after a million steps and each step of the other loop needs it.

// CHECK:       // op0: SchedulerNode(name='op0'), Reduction(['[]', '[1024, 1024]', 'origins=OrderedSet([sum, sin])'])
// CHECK-NEXT:  // op0.writes = [MemoryDep('buf0', 0, {})]
// CHECK-NEXT:  // op0.unmet_dependencies = []
// CHECK-NEXT:  // op0.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 1048576})]
// CHECK-NEXT:  // op0.group.device = cpu
// CHECK-NEXT:  // op0.group.iteration = ((), (1048576,))
// CHECK-NEXT:  // op1: SchedulerNode(name='op1'), Pointwise(['[1024, 1024]', 'origins=OrderedSet([relu, add, sin])'])
// CHECK-NEXT:  // op1.writes = [MemoryDep('buf1', c0, {c0: 1048576})]
// CHECK-NEXT:  // op1.unmet_dependencies = [MemoryDep('buf0', 0, {})]
// CHECK-NEXT:  // op1.met_dependencies = [MemoryDep('arg0_1', c0, {c0: 1048576})]
// CHECK-NEXT:  // op1.group.device = cpu
// CHECK-NEXT:  // op1.group.iteration = ((1048576,), ())
// CHECK-NEXT:  // ===== attempting fusion (1/10): 2 nodes =====
// CHECK:       // op0 and op1 has 4194308 shared data
// CHECK-NEXT:  // cannot fuse op0 with op1: op0 has its value only after a loop of 1048576 steps and op1 needs it at each of its 1048576: they share no loop
// CHECK-NEXT:  // found 0 possible fusions
// CHECK-NEXT:  // completed fusion round (1/10): fused 2 nodes into 2 nodes
// CHECK:       %buf0 = loop.group "sin_sum" -> !aten.t<f32[]> bytes <floor 4194308, unfused 12582916, planned 4194308>
// CHECK:       %buf1 = loop.group "add_relu_sin" -> !aten.t<f32[1024, 1024]> bytes <floor 8388612, unfused 16777220, planned 8388612>
// CHECK:       origins ["~sin", "add", "relu"]

/// Where no price is asked, one worker does the sum and then the rest.
// MOST-COUNT-1: loop.group
// MOST-NOT:     loop.group
func.func @forward(%arg0_1: !aten.t<f32[1024, 1024]>) -> !aten.t<f32[1024, 1024]> {
  %sin = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["sin"] {
    %v = loop.load %arg0_1[d0, d1] : f32
    %s = scalar.sin %v : f32
    loop.store %s, %o[d0, d1]
  }
  %sum = loop.nest () reduce (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[]>) origins ["sum"] {
    %v = loop.load %sin[d0, d1] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[]
  }
  %add = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["add"] {
    %v = loop.load %sin[d0, d1] : f32
    %w = loop.load %sum[] : f32
    %s = scalar.add %v, %w : f32
    loop.store %s, %o[d0, d1]
  }
  %relu = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["relu"] {
    %v = loop.load %add[d0, d1] : f32
    %s = scalar.relu %v : f32
    loop.store %s, %o[d0, d1]
  }
  func.return %relu : !aten.t<f32[1024, 1024]>
}
