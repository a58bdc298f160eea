// RUN: mini-opt %s -p 'kernel-cross{min-rows=64},kernel-blocks' --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-cross{min-rows=64},kernel-blocks{shared=8192}' --split-input-file | filecheck %s --check-prefix=SMALL

/// What the rows have loaded the sums do not load again; loads of later rows are under way, as many
/// as shared memory holds.
// SMALL-LABEL: kernel.func @columns_parts
// SMALL:           kernel.reduce d1 : 64 <lanes 16, tail none> [add]
// CHECK-LABEL: kernel.func @columns_parts
// CHECK:           kernel.reduce d1 : 64 <lanes 16, tail none, ahead 2> [add]
// CHECK-NEXT:        [[V:%.*]] = kernel.load %g[
// CHECK-NOT:         kernel.load %g[
// CHECK:             kernel.yield [[V]] : f32
kernel.func @rows(read %g : !kernel.buf<f32[393216]>, write %d : !kernel.buf<f32[393216]>) [] config {target = "triton"} {
  parallel d0 : 4096 {
    %s = reduce d1 : 96 [add] -> f32 { %v = load %g[96 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 96 { %v = load %g[96 * d0 + d1] : f32  %e = scalar.exp %v : f32  %f = scalar.exp %e : f32  %p = scalar.mul %f, %s : f32  store %p, %d[96 * d0 + d1] } } }
kernel.func @columns(read %g : !kernel.buf<f32[393216]>, write %o : !kernel.buf<f32[96]>) [] config {target = "triton"} {
  parallel d0 : 96 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %g[96 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
func.func @call(%g: !aten.t<f32[4096, 96]@cuda>) -> (!aten.t<f32[4096, 96]@cuda>, !aten.t<f32[96]@cuda>) {
  %d = kernel.alloc : !aten.t<f32[4096, 96]@cuda>
  %o = kernel.alloc : !aten.t<f32[96]@cuda>
  kernel.launch @rows(%g, %d)[]
  kernel.launch @columns(%g, %o)[]
  func.return %d, %o : !aten.t<f32[4096, 96]@cuda>, !aten.t<f32[96]@cuda> }

// -----

/// Another place is another load.
// CHECK-LABEL: kernel.func @columns_parts
// CHECK:           kernel.load %g[
// CHECK:           kernel.load %g[
kernel.func @rows(read %g : !kernel.buf<f32[786432]>, write %d : !kernel.buf<f32[393216]>) [] config {target = "triton"} {
  parallel d0 : 4096 {
    %s = reduce d1 : 96 [add] -> f32 { %v = load %g[96 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 96 { %v = load %g[96 * d0 + d1] : f32  %p = scalar.mul %v, %s : f32  store %p, %d[96 * d0 + d1] } } }
kernel.func @columns(read %g : !kernel.buf<f32[786432]>, write %o : !kernel.buf<f32[96]>) [] config {target = "triton"} {
  parallel d0 : 96 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %g[96 * d1 + d0 + 393216] : f32  yield %v : f32 }
    store %t, %o[d0] } }
func.func @call(%g: !aten.t<f32[8192, 96]@cuda>) -> (!aten.t<f32[4096, 96]@cuda>, !aten.t<f32[96]@cuda>) {
  %d = kernel.alloc : !aten.t<f32[4096, 96]@cuda>
  %o = kernel.alloc : !aten.t<f32[96]@cuda>
  kernel.launch @rows(%g, %d)[]
  kernel.launch @columns(%g, %o)[]
  func.return %d, %o : !aten.t<f32[4096, 96]@cuda>, !aten.t<f32[96]@cuda> }
