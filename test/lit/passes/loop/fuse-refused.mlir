// RUN: mini-opt %s --split-input-file -p loop-fuse --print-remarks | filecheck %s

/// Each pair here shares data and would save bytes; each is refused, with its reason.

/// A cycle: the product stands between, it needs the one and the other needs it.
// CHECK-LABEL: @cycle
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op2: a node between them depends on one and is needed by the other: a cycle
func.func @cycle(%x: !aten.t<f32[64, 64]>) -> (!aten.t<f32[64, 64]>, !aten.t<f32[64, 64]>) {
  %buf0 = loop.nest (d0: 64, d1: 64) -> (%o : !aten.t<f32[64, 64]>) {
    %v = load %x[d0, d1] : f32  %s = scalar.sin %v : f32  store %s, %o[d0, d1] }
  %buf1 = loop.extern "aten.mm.default"(%buf0, %buf0) args [#loop.arg<0>, #loop.arg<1>] : (!aten.t<f32[64, 64]>, !aten.t<f32[64, 64]>) -> !aten.t<f32[64, 64]>
  %buf2 = loop.nest (d0: 64, d1: 64) -> (%o : !aten.t<f32[64, 64]>) {
    %v = load %buf1[d0, d1] : f32  %w = load %buf0[d0, d1] : f32
    %s = scalar.add %v, %w : f32  store %s, %o[d0, d1] }
  func.return %buf0, %buf2 : !aten.t<f32[64, 64]>, !aten.t<f32[64, 64]> }

// -----

/// A reader of the old value has to be done before an update starts.
// CHECK-LABEL: @update
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op1: op1 updates x, which op0 makes or reads
func.func @update(%x: !aten.t<f32[64]>, %y: !aten.t<f32[64]>) -> !aten.t<f32[64]> {
  %buf0 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) {
    %v = load %x[d0] : f32  %w = load %y[d0] : f32
    %s = scalar.mul %v, %w : f32  store %s, %o[d0] }
  %buf1 = loop.nest (d0: 64) -> (%o = %x : !aten.t<f32[64]>) {
    %v = load %y[d0] : f32  store %v, %o[d0] }
  loop.commit %buf1 to %x : !aten.t<f32[64]>, !aten.t<f32[64]>
  func.return %buf0 : !aten.t<f32[64]> }

// -----

/// What is added up at places that are data is complete after the whole loop only: an atomic or ordered sum.
// CHECK-LABEL: @scattered
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op1: op0 scatters into buf0
func.func @scattered(%x: !aten.t<f32[64]>, %i: !aten.t<i64[64]>, %z: !aten.t<f32[64]>) -> !aten.t<f32[64]> {
  %buf0 = loop.nest (d0: 64) -> (%o = %z : !aten.t<f32[64]>) {
    %v = load %x[d0] : f32  %n = load %i[d0] : i64
    %t = scalar.bound %n to 64 wrap
    store add %v, %o[%t] }
  %buf1 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) {
    %v = load %buf0[d0] : f32  %w = load %x[d0] : f32
    %s = scalar.mul %v, %w : f32  store %s, %o[d0] }
  func.return %buf1 : !aten.t<f32[64]> }

// -----

/// Kernels run on one device.
// CHECK-LABEL: @devices
// CHECK-COUNT-2: loop.group
// CHECK: refused op0, op1: different devices, cpu and cuda
func.func @devices(%x: !aten.t<f32[64]>) -> (!aten.t<f32[64]>, !aten.t<f32[64]@cuda>) {
  %buf0 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]>) {
    %v = load %x[d0] : f32  %s = scalar.sin %v : f32  store %s, %o[d0] }
  %buf1 = loop.nest (d0: 64) -> (%o : !aten.t<f32[64]@cuda>) {
    %v = load %x[d0] : f32  %s = scalar.cos %v : f32  store %s, %o[d0] }
  func.return %buf0, %buf1 : !aten.t<f32[64]>, !aten.t<f32[64]@cuda> }
