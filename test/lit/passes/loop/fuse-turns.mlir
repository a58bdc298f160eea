// RUN: mini-opt %s --split-input-file -p loop-fuse --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{preset=seed}' --print-remarks | filecheck %s --check-prefix=SEED
// RUN: mini-opt %s --split-input-file -p 'loop-fuse,loop-to-kernel,kernel-tile' | filecheck %s --check-prefix=TILE

/// Two nests read one tensor in different orders: the second one takes the first one's order and
/// stores across, so that the tensor is read once; on a CPU the store goes through a tile.

// CHECK-LABEL: func.func @turned
// CHECK:         loop.group "op0_op1" {{.*}} bytes <floor 12582912, unfused 16777216, planned 12582912> {
// CHECK:           loop.nest (d0: 1024, d1: 1024)
// CHECK:           loop.nest (d0: 1024, d1: 1024)
// CHECK-NEXT:        loop.load %x[d0, d1]
// CHECK:             loop.store %{{.*}}, %{{.*}}[d1, d0]
// CHECK:       // remark: [loop-fuse] accepted op0, op1
// SEED-LABEL:  func.func @turned
// SEED-COUNT-2:  loop.group
// SEED:        // remark: [loop-fuse] refused op0, op1: no shared data {bytes = 0}
// TILE-LABEL:  kernel.func @cpp_fused_op0_op1_0
// TILE:          kernel.transpose %{{.*}}[16, 16]
func.func @turned(%x: !aten.t<f32[1024, 1024]>) -> (!aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]>) {
  %a = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["op0"] {
    %v = load %x[d0, d1] : f32
    %s = scalar.sin %v : f32
    store %s, %o[d0, d1] }
  %b = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["op1"] {
    %v = load %x[d1, d0] : f32
    %s = scalar.cos %v : f32
    store %s, %o[d0, d1] }
  func.return %a, %b : !aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 1024]> }

// -----

/// Negative twin: the second one reads a part of the tensor only, so no order serves both.

// CHECK-LABEL: func.func @part
// CHECK-COUNT-2: loop.group
// CHECK:       // remark: [loop-fuse] refused op0, op1: no shared data {bytes = 0}
// SEED-LABEL:  func.func @part
func.func @part(%x: !aten.t<f32[1024, 1024]>) -> (!aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 512]>) {
  %a = loop.nest (d0: 1024, d1: 1024) -> (%o : !aten.t<f32[1024, 1024]>) origins ["op0"] {
    %v = load %x[d0, d1] : f32
    store %v, %o[d0, d1] }
  %b = loop.nest (d0: 1024, d1: 512) -> (%o : !aten.t<f32[1024, 512]>) origins ["op1"] {
    %v = load %x[d1, d0] : f32
    store %v, %o[d0, d1] }
  func.return %a, %b : !aten.t<f32[1024, 1024]>, !aten.t<f32[1024, 512]> }
