// RUN: mini-opt %s -p loop-to-kernel --split-input-file | filecheck %s

/// Rows in order; column sums gather in an array; what follows them runs after the rows.
// CHECK-LABEL: kernel.func @cpp_fused_both_0
// CHECK-NEXT:    %acc = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[8]>
// CHECK-NEXT:    kernel.for d0 : 64 {
// CHECK-NEXT:      %0 = kernel.reduce d1 : 8 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[8 * d0 + d1] : f32
// CHECK-NEXT:        kernel.store add %v, %acc[d1]
// CHECK-NEXT:        kernel.yield %v : f32
// CHECK:           kernel.store %0, %r[d0]
// CHECK:         kernel.parallel d0 : 8 {
// CHECK-NEXT:      %t = kernel.load %acc[d0] : f32
// CHECK-NEXT:      %y = scalar.relu %t : f32
// CHECK-NEXT:      kernel.store %y, %c[d0]
func.func @f(%x: !aten.t<f32[64, 8]>) -> (!aten.t<f32[8]>, !aten.t<f32[64]>) {
  %g, %h = loop.group "both" -> !aten.t<f32[8]>, !aten.t<f32[64]> across [0] {
    %c = nest (d0: 8) reduce (d1: 64) -> (%o : !aten.t<f32[8]>) origins ["col"] {
      %v = load %x[d1, d0] : f32
      %t = reduce add %v : f32 -> f32
      %y = scalar.relu %t : f32
      store %y, %o[d0] }
    %r = nest (d0: 64) reduce (d1: 8) -> (%o : !aten.t<f32[64]>) origins ["row"] {
      %v = load %x[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    yield %c, %r }
  func.return %g, %h : !aten.t<f32[8]>, !aten.t<f32[64]> }

// -----

/// Without the word, loops of different extents have nothing to share; equal ones run side by side.
// CHECK-LABEL: kernel.func @cpp_fused_square_0
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK-NEXT:      %0, %1 = kernel.reduce d1 : 64 [add, add] -> f32, f32 {
func.func @g(%x: !aten.t<f32[64, 64]>) -> (!aten.t<f32[64]>, !aten.t<f32[64]>) {
  %g, %h = loop.group "square" -> !aten.t<f32[64]>, !aten.t<f32[64]> {
    %c = nest (d0: 64) reduce (d1: 64) -> (%o : !aten.t<f32[64]>) origins ["col"] {
      %v = load %x[d1, d0] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %r = nest (d0: 64) reduce (d1: 64) -> (%o : !aten.t<f32[64]>) origins ["row"] {
      %v = load %x[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    yield %c, %r }
  func.return %g, %h : !aten.t<f32[64]>, !aten.t<f32[64]> }
