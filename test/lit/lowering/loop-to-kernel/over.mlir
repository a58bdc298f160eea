// RUN: mini-opt %s -p loop-to-kernel --split-input-file | filecheck %s

/// A new value of a mutated argument may be read in its own kernel: it is written over the old one
/// all the same, as in an optimiser whose step uses the moment that it has just updated.
// CHECK-LABEL: kernel.func @cpp_fused_add_0(update %a : !kernel.buf<f32[8]>, write %b
// CHECK:         kernel.load %a[d0]
// CHECK:         kernel.store [[V:%.*]], %a[d0]
// CHECK-LABEL: func.func @call
// CHECK-NOT:     kernel.extern
// CHECK:         kernel.launch @cpp_fused_add_0(%x, %b)[]
func.func @read_again(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %g, %h = loop.group "add" -> !aten.t<f32[8]>, !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0] : f32
      %w = scalar.add %v, %v : f32
      store %w, %o[d0] }
    %b = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %a[d0] : f32
      %w = scalar.sin %v : f32
      store %w, %o[d0] }
    yield %a, %b }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return %h : !aten.t<f32[8]> }

// -----

/// Negative twin: another nest of the kernel still reads the old value.
// CHECK-LABEL: func.func @call
// CHECK:         %a = kernel.alloc
// CHECK:         kernel.extern "aten.copy_.default"(%x, %a)
func.func @old_value(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %g, %h = loop.group "add" -> !aten.t<f32[8]>, !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0] : f32
      %w = scalar.add %v, %v : f32
      store %w, %o[d0] }
    %b = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %a[d0] : f32
      %u = load %x[d0] : f32
      %w = scalar.mul %v, %u : f32
      store %w, %o[d0] }
    yield %a, %b }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return %h : !aten.t<f32[8]> }

// -----

/// Negative twin: the new value is read in another order, where it is computed from the old one.
// CHECK-LABEL: func.func @call
// CHECK:         %a = kernel.alloc
// CHECK:         kernel.extern "aten.copy_.default"(%x, %a)
func.func @other_order(%x: !aten.t<f32[5, 5]>) -> !aten.t<f32[]> {
  %g, %h = loop.group "neg_sum" -> !aten.t<f32[5, 5]>, !aten.t<f32[]> {
    %a = nest (d0: 5, d1: 5) -> (%o : !aten.t<f32[5, 5]>) {
      %v = load %x[d0, d1] : f32
      %w = scalar.neg %v : f32
      store %w, %o[d0, d1] }
    %b = nest () reduce (d0: 5, d1: 5) -> (%o : !aten.t<f32[]>) {
      %v = load %a[d1, d0] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[] }
    yield %a, %b }
  loop.commit %g to %x : !aten.t<f32[5, 5]>, !aten.t<f32[5, 5]>
  func.return %h : !aten.t<f32[]> }
