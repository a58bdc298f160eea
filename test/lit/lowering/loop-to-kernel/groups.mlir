// RUN: mini-opt %s -p loop-to-kernel --split-input-file | filecheck %s

/// Two nests of one group: one kernel, the value between them never in memory.
// CHECK-LABEL: kernel.func @cpp_fused_add_relu_sum_0(read %x : !kernel.buf<f32[512]>, write %b : !kernel.buf<f32[64]>)
// CHECK-SAME:    origins ["sum", "relu"]
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK-NEXT:      %0 = kernel.reduce d1 : 8 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[8 * d0 + d1] : f32
// CHECK-NEXT:        kernel.yield %v : f32
// CHECK:           %r = scalar.relu %0 : f32
// CHECK-NEXT:      kernel.store %r, %b[d0]
// CHECK-LABEL: func.func @call
// CHECK-NEXT:    kernel.check %x : !aten.t<f32[64, 8]>
// CHECK-NEXT:    %b = kernel.alloc : !aten.t<f32[64]>
// CHECK-NEXT:    kernel.launch @cpp_fused_add_relu_sum_0(%x, %b)[]
// CHECK-NEXT:    func.return %b
func.func @f(%x: !aten.t<f32[64, 8]>) -> !aten.t<f32[64]> {
  %g = loop.group "add_relu_sum" -> !aten.t<f32[64]> {
    %a = nest (d0: 64) reduce (d1: 8) -> (%o : !aten.t<f32[64]>) origins ["sum"] {
      %v = load %x[d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0] }
    %b = nest (d0: 64) -> (%o : !aten.t<f32[64]>) origins ["relu"] {
      %v = load %a[d0] : f32
      %r = scalar.relu %v : f32
      store %r, %o[d0] }
    yield %b }
  func.return %g : !aten.t<f32[64]> }

// -----

/// Domains that agree as products share loops; neighbours that every access walks as one collapse.
// CHECK-LABEL: kernel.func @cpp_fused_both_0
// CHECK-NEXT:    kernel.parallel d0 : 4096 {
// CHECK-NEXT:      %v = kernel.load %x[d0] : f32
// CHECK:           kernel.store {{%.*}}, %a[d0]
// CHECK:           kernel.store {{%.*}}, %b[d0]
// CHECK-NOT:     kernel.parallel
func.func @g(%x: !aten.t<f32[64, 64]>) -> (!aten.t<f32[64, 64]>, !aten.t<f32[4096]>) {
  %g, %h = loop.group "both" -> !aten.t<f32[64, 64]>, !aten.t<f32[4096]> {
    %a = nest (d0: 64, d1: 64) -> (%o : !aten.t<f32[64, 64]>) {
      %v = load %x[d0, d1] : f32
      %s = scalar.sin %v : f32
      store %s, %o[d0, d1] }
    %b = nest (d0: 4096) -> (%o : !aten.t<f32[4096]>) {
      %v = load %x[d0 floordiv 64, d0 mod 64] : f32
      %s = scalar.cos %v : f32
      store %s, %o[d0] }
    yield %a, %b }
  func.return %g, %h : !aten.t<f32[64, 64]>, !aten.t<f32[4096]> }

// -----

/// Two elements of a mirrored row fall on one: an index that is no line in `d0` makes no order safe.
// CHECK-LABEL: kernel.func @cpp_fused_mirror_0
// CHECK-NEXT:    kernel.for d0 : 5 {
// CHECK:           kernel.store add
func.func @m(%x: !aten.t<f32[5]>, %w: !aten.t<f32[3]>) -> !aten.t<f32[3]> {
  %g = loop.group "mirror" -> !aten.t<f32[3]> {
    %a = nest (d0: 5) -> (%o = %w : !aten.t<f32[3]>) {
      %v = load %x[d0] : f32
      store add %v, %o[min(max(d0 - 1, 0), 2)] }
    yield %a }
  func.return %g : !aten.t<f32[3]> }

// -----

/// An accumulating scatter runs in order along what may collide, in parallel along what cannot.
// CHECK-LABEL: kernel.func @cpp_fused_scatter_0
// CHECK-SAME:    update %{{.*}} : !kernel.buf<f32[64 * s1]>
// CHECK-NEXT:    kernel.for d0 : s0 {
// CHECK-NEXT:      kernel.parallel d1 : 64 {
// CHECK:             kernel.store add
/// The operand is an argument that is not committed: the result starts as a copy of it.
// CHECK-LABEL: func.func @call
// CHECK:         kernel.alloc : !aten.t<f32[s1, 64]>
// CHECK-NEXT:    kernel.extern "aten.copy_.default"
func.func @h(%i: !aten.t<i64[s0]>, %x: !aten.t<f32[s0, 64]>, %w: !aten.t<f32[s1, 64]>) -> !aten.t<f32[s1, 64]> {
  %g = loop.group "scatter" -> !aten.t<f32[s1, 64]> {
    %a = nest (d0: s0, d1: 64) -> (%o = %w : !aten.t<f32[s1, 64]>) {
      %k = load %i[d0] : i64
      %j = scalar.bound %k to s1 wrap
      %v = load %x[d0, d1] : f32
      store add %v, %o[%j, d1] }
    yield %a }
  func.return %g : !aten.t<f32[s1, 64]> }

// -----

/// A number that lives on the CPU is brought to the kernel's device, as eager lets it in.
// CHECK-LABEL: func.func @call
// CHECK:         [[COPY:%.*]] = kernel.extern "aten._to_copy.default"(%k) args [#loop.arg<0>] kwargs {device = #aten.device<"cuda">}
// CHECK:         kernel.launch @cpp_fused_mul_0(%x, [[COPY]], %a)[]
func.func @scalar(%x: !aten.t<f32[8]@cuda>, %k: !aten.t<f32[]>) -> !aten.t<f32[8]@cuda> {
  %g = loop.group "mul" -> !aten.t<f32[8]@cuda> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]@cuda>) {
      %v = load %x[d0] : f32
      %w = load %k[] : f32
      %m = scalar.mul %v, %w : f32
      store %m, %o[d0] }
    yield %a }
  func.return %g : !aten.t<f32[8]@cuda> }

// -----

/// A group that reads the old value through a view must not write over it: the update is a copy.
// CHECK-LABEL: func.func @call
// CHECK:         kernel.extern "aten.copy_.default"
// CHECK:         kernel.launch
func.func @aliased(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %w = loop.view %x offset 0 : !aten.t<f32[8]> to !aten.t<f32[4]>
  %g = loop.group "update" -> !aten.t<f32[8]> {
    %a = nest (d0: 4) -> (%o = %x : !aten.t<f32[8]>) {
      %v = load %w[d0] : f32
      store %v, %o[d0 + 4] }
    yield %a }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return %g : !aten.t<f32[8]> }

// -----

/// A mutated argument: the new value is written over the old one, element by element.
// CHECK-LABEL: kernel.func @cpp_fused_add_0(update %a : !kernel.buf<f32[8]>)
// CHECK:         kernel.load %a[d0]
// CHECK:         kernel.store {{%.*}}, %a[d0]
// CHECK-LABEL: func.func @call
// CHECK-NEXT:    kernel.check %x
// CHECK-NEXT:    kernel.launch @cpp_fused_add_0(%x)[]
// CHECK-NEXT:    func.return
func.func @mutated(%x: !aten.t<f32[8]>) {
  %g = loop.group "add" -> !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0] : f32
      %w = scalar.add %v, %v : f32
      store %w, %o[d0] }
    yield %a }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return }

// -----

/// Negative twin: an element that is read elsewhere too needs the old value kept.
// CHECK-LABEL: func.func @call
// CHECK:         %a = kernel.alloc
// CHECK:         kernel.extern "aten.copy_.default"(%x, %a)
func.func @flipped(%x: !aten.t<f32[8]>) {
  %g = loop.group "flip" -> !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[-d0 + 7] : f32
      store %v, %o[d0] }
    yield %a }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return }

// -----

/// Negative twin: a result that is returned too must not share the argument's memory.
// CHECK-LABEL: func.func @call
// CHECK:         %a = kernel.alloc
// CHECK:         kernel.extern "aten.copy_.default"(%x, %a)
// CHECK:         func.return %a
func.func @returned(%x: !aten.t<f32[8]>) -> !aten.t<f32[8]> {
  %g = loop.group "add" -> !aten.t<f32[8]> {
    %a = nest (d0: 8) -> (%o : !aten.t<f32[8]>) {
      %v = load %x[d0] : f32
      %w = scalar.add %v, %v : f32
      store %w, %o[d0] }
    yield %a }
  loop.commit %g to %x : !aten.t<f32[8]>, !aten.t<f32[8]>
  func.return %g : !aten.t<f32[8]> }

// -----

/// Extents that are sums divide too: (s0 + 2) * 2 rows, then s0 columns.
// CHECK-LABEL: kernel.func @cpp_fused_shifted_0
// CHECK:         kernel.parallel d0 : 2 * s0 + 4 {
// CHECK:           kernel.reduce d1 : s0 [add] -> f32 {
// CHECK:           kernel.parallel d1 : s0 {
func.func @sums(%s: !aten.int<s0>, %x: !aten.t<f32[s0, s0 + 2, 2]>) -> !aten.t<f32[s0, s0 + 2, 2]> {
  %g = loop.group "shifted" -> !aten.t<f32[s0, s0 + 2, 2]> {
    %a = nest (d0: s0 + 2, d1: 2) reduce (d2: s0) -> (%o : !aten.t<f32[s0 + 2, 2]>) {
      %v = load %x[d2, d0, d1] : f32
      %t = reduce add %v : f32 -> f32
      store %t, %o[d0, d1] }
    %b = nest (d0: s0 + 2, d1: 2, d2: s0) -> (%o : !aten.t<f32[s0, s0 + 2, 2]>) {
      %v = load %x[d2, d0, d1] : f32
      %m = load %a[d0, d1] : f32
      %r = scalar.sub %v, %m : f32
      store %r, %o[d2, d0, d1] }
    yield %b }
  func.return %g : !aten.t<f32[s0, s0 + 2, 2]> }
