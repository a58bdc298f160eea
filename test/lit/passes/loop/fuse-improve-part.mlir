// RUN: mini-opt %s --split-input-file -p loop-fuse --print-remarks --logs fusion | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'loop-fuse{improve=false}' --print-remarks | filecheck %s --check-prefix=GREEDY

/// op2 shares too little with the group of op0 and op1, but iterates like op1: it goes in first.

// CHECK:       // regrouping op0_op1, op2 as op0_op1_op2
// CHECK-LABEL: func.func @part
// CHECK:         loop.group "op0_op1_op2"
// GREEDY-LABEL: func.func @part
// GREEDY:         loop.group "op0_op1"
// GREEDY:         loop.group "op2"
func.func @part(%x: !aten.t<f32[1000, 2000]>, %r: !aten.t<f32[1000, 1]>, %c: !aten.t<f32[1, 2000]>) -> (!aten.t<f32[1000, 1]>, !aten.t<f32[1000, 2000]>, !aten.t<f32[1000, 2000]>) {
  %v0 = loop.nest (d0: 1000) reduce (d1: 2000) -> (%o : !aten.t<f32[1000, 1]>) origins ["op0"] {
    %a = load %x[d0, d1] : f32
    %t = reduce add %a : f32 -> f32
    store %t, %o[d0, 0] }
  %v1 = loop.nest (d0: 1000, d1: 2000) -> (%o : !aten.t<f32[1000, 2000]>) origins ["op1"] {
    %a = load %x[d0, d1] : f32
    %b = load %c[0, d1] : f32
    %e = scalar.mul %a, %b : f32
    store %e, %o[d0, d1] }
  %v2 = loop.nest (d0: 1000, d1: 2000) -> (%o : !aten.t<f32[1000, 2000]>) origins ["op2"] {
    %a = load %c[0, d1] : f32
    %b = load %r[d0, 0] : f32
    %e = scalar.maximum %a, %b : f32
    store %e, %o[d0, d1] }
  func.return %v0, %v1, %v2 : !aten.t<f32[1000, 1]>, !aten.t<f32[1000, 2000]>, !aten.t<f32[1000, 2000]> }

// -----

/// Negative twin: op2 walks other columns than op1, so that it fits no part of the group.

// CHECK-NOT:   regrouping
// CHECK-LABEL: func.func @no_part
// CHECK:         loop.group "op0_op1"
// CHECK:         loop.group "op2"
// CHECK-NOT:   regrouped
func.func @no_part(%x: !aten.t<f32[1000, 2000]>, %r: !aten.t<f32[1000, 1]>, %c: !aten.t<f32[1, 2000]>) -> (!aten.t<f32[1000, 1]>, !aten.t<f32[1000, 2000]>, !aten.t<f32[500, 1000]>) {
  %v0 = loop.nest (d0: 1000) reduce (d1: 2000) -> (%o : !aten.t<f32[1000, 1]>) origins ["op0"] {
    %a = load %x[d0, d1] : f32
    %t = reduce add %a : f32 -> f32
    store %t, %o[d0, 0] }
  %v1 = loop.nest (d0: 1000, d1: 2000) -> (%o : !aten.t<f32[1000, 2000]>) origins ["op1"] {
    %a = load %x[d0, d1] : f32
    %b = load %c[0, d1] : f32
    %e = scalar.mul %a, %b : f32
    store %e, %o[d0, d1] }
  %v2 = loop.nest (d0: 500, d1: 1000) -> (%o : !aten.t<f32[500, 1000]>) origins ["op2"] {
    %a = load %c[0, 2 * d1] : f32
    %b = load %r[d0, 0] : f32
    %e = scalar.maximum %a, %b : f32
    store %e, %o[d0, d1] }
  func.return %v0, %v1, %v2 : !aten.t<f32[1000, 1]>, !aten.t<f32[1000, 2000]>, !aten.t<f32[500, 1000]> }
