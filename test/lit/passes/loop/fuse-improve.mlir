// RUN: mini-opt %s --split-input-file -p loop-fuse --print-remarks --logs fusion | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{improve=false}' --print-remarks | filecheck %s --check-prefix=GREEDY

/// Greedy fuses op0 with op2, which share most; op0 with op1 and op3, whose matrix then stays out of
/// memory, saves more. op0 is taken out of its group, and another round lets op2 join them all.

// CHECK:       // regrouping op0_op2, op1_op3 as op0_op1_op3, op2 saves 7992000 bytes
// CHECK:       // improved 1 choices: 7992000 bytes less
// CHECK-LABEL: func.func @moved
// CHECK:         loop.group "op0_op1_op2_op3"
// CHECK:       // remark: [loop-fuse] accepted regrouped op0_op2, op1_op3 as op0_op1_op3, op2 {bytes = 7992000}
// GREEDY-LABEL: func.func @moved
// GREEDY:         loop.group "op0_op2"
// GREEDY:         loop.group "op1_op3"
// GREEDY-NOT:   regrouped
func.func @moved(%x: !aten.t<f32[1000, 2000]>, %y: !aten.t<f32[1000, 2000]>, %c: !aten.t<f32[1, 2000]>) -> (!aten.t<f32[2000, 1000]>, !aten.t<f32[1, 2000]>) {
  %v0 = loop.nest (d0: 1000) reduce (d1: 2000) -> (%o : !aten.t<f32[1000, 1]>) origins ["op0"] {
    %a = load %c[0, d1] : f32
    %b = load %y[d0, d1] : f32
    %e = scalar.add %a, %b : f32
    %t = reduce add %e : f32 -> f32
    store %t, %o[d0, 0] }
  %v1 = loop.nest (d0: 1000, d1: 2000) -> (%o : !aten.t<f32[1000, 2000]>) origins ["op1"] {
    %a = load %v0[d0, 0] : f32
    %b = load %x[d0, d1] : f32
    %e = scalar.add %a, %b : f32
    store %e, %o[d0, d1] }
  %v2 = loop.nest (d0: 2000, d1: 1000) -> (%o : !aten.t<f32[2000, 1000]>) origins ["op2"] {
    %a = load %v0[d1, 0] : f32
    %b = load %c[0, d0] : f32
    %e = scalar.maximum %a, %b : f32
    store %e, %o[d0, d1] }
  %v3 = loop.nest (d0: 2000) reduce (d1: 1000) -> (%o : !aten.t<f32[1, 2000]>) origins ["op3"] {
    %a = load %v1[d1, d0] : f32
    %b = load %y[d1, d0] : f32
    %e = scalar.sub %a, %b : f32
    %t = reduce add %e : f32 -> f32
    store %t, %o[0, d0] }
  func.return %v2, %v3 : !aten.t<f32[2000, 1000]>, !aten.t<f32[1, 2000]> }

// -----

/// Negative twin: op3 sums rows, so that the rounds find the best plan and nothing moves.

// CHECK-NOT:   regrouping
// CHECK-LABEL: func.func @stays
// CHECK-NOT:   regrouped
func.func @stays(%x: !aten.t<f32[1000, 2000]>, %y: !aten.t<f32[1000, 2000]>, %c: !aten.t<f32[1, 2000]>) -> (!aten.t<f32[2000, 1000]>, !aten.t<f32[1000, 1]>) {
  %v0 = loop.nest (d0: 1000) reduce (d1: 2000) -> (%o : !aten.t<f32[1000, 1]>) origins ["op0"] {
    %a = load %c[0, d1] : f32
    %b = load %y[d0, d1] : f32
    %e = scalar.add %a, %b : f32
    %t = reduce add %e : f32 -> f32
    store %t, %o[d0, 0] }
  %v1 = loop.nest (d0: 1000, d1: 2000) -> (%o : !aten.t<f32[1000, 2000]>) origins ["op1"] {
    %a = load %v0[d0, 0] : f32
    %b = load %x[d0, d1] : f32
    %e = scalar.add %a, %b : f32
    store %e, %o[d0, d1] }
  %v2 = loop.nest (d0: 2000, d1: 1000) -> (%o : !aten.t<f32[2000, 1000]>) origins ["op2"] {
    %a = load %v0[d1, 0] : f32
    %b = load %c[0, d0] : f32
    %e = scalar.maximum %a, %b : f32
    store %e, %o[d0, d1] }
  %v3 = loop.nest (d0: 1000) reduce (d1: 2000) -> (%o : !aten.t<f32[1000, 1]>) origins ["op3"] {
    %a = load %v1[d0, d1] : f32
    %b = load %x[d0, d1] : f32
    %e = scalar.sub %a, %b : f32
    %t = reduce add %e : f32 -> f32
    store %t, %o[d0, 0] }
  func.return %v2, %v3 : !aten.t<f32[2000, 1000]>, !aten.t<f32[1000, 1]> }
