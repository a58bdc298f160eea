// RUN: mini-opt %s -p 'loop-fuse{across=false explain=true}' -t plan | filecheck %s
// RUN: mini-opt %s -p 'loop-fuse{across=false plan-in="Inputs/split.plan"}' -t plan | filecheck %s --check-prefix=SPLIT
// RUN: mini-opt %s -p 'loop-fuse{across=false plan-in="Inputs/apart.plan"}' -t plan | filecheck %s --check-prefix=APART
// RUN: not mini-opt %s -p 'loop-fuse{across=false plan-in="Inputs/illegal.plan"}' 2>&1 | filecheck %s --check-prefix=ILLEGAL

/// The plan lists groups with their ops and prices, the pairs that fused with the bytes that this
/// saves, why other pairs did not, and the peak.

// CHECK:      plan of @f
// CHECK-NEXT:   group relu_sum: floor 16640, unfused 17152, planned 16640
// CHECK-NEXT:     op0: sum m.py:2
// CHECK-NEXT:     op1: relu m.py:3
// CHECK-NEXT:   group sum: floor 16640, unfused 16640, planned 16640
// CHECK-NEXT:     op2: sum m.py:4
// CHECK-NEXT:   fused op0, op1: saves 18012 {256}
// CHECK-NEXT:   refused op0_op1, op2: no shared data {0}
// CHECK-NEXT:   peak: planned 512
// CHECK-NEXT: graph: 2 fused, 0 nests, 0 extern; floor 16896, unfused 33792, planned 33280

/// An edited plan that splits the group is obeyed, and so is a pair kept apart.

// SPLIT:      group sum: floor 16640, unfused 16640, planned 16640
// SPLIT-NEXT:   op0: sum m.py:2
// SPLIT-NEXT: group relu: floor 512, unfused 512, planned 512
// SPLIT-NEXT:   op1: relu m.py:3

// APART:      group sum:
// APART-NEXT:   op0: sum m.py:2
// APART-NEXT: group relu:

/// Negative twin: a group that is not legal is refused, with its line and the reason.

// ILLEGAL: plan, line 3: cannot fuse op0 with op2: no shared data
func.func @f(%x: !aten.t<f32[64, 64]>) -> (!aten.t<f32[64]>, !aten.t<f32[64]>) {
  %buf0 = loop.nest (d0: 64) reduce (d1: 64) -> (%o : !aten.t<f32[64]>) origins ["sum m.py:2"] {
    %v = loop.load %x[d0, d1] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[d0]
  }
  %buf1 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) origins ["relu m.py:3"] {
    %v = loop.load %buf0[d0] : f32
    %s = scalar.relu %v : f32
    loop.store %s, %o[d0]
  }
  %buf2 = loop.nest (d0: 64) reduce (d1: 64) -> (%o : !aten.t<f32[64]>) origins ["sum m.py:4"] {
    %v = loop.load %x[d1, d0] : f32
    %s = loop.reduce add %v : f32 -> f32
    loop.store %s, %o[d0]
  }
  func.return %buf1, %buf2 : !aten.t<f32[64]>, !aten.t<f32[64]>
}
