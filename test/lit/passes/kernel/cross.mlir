// RUN: mini-opt %s -p kernel-cross --split-input-file --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-cross,kernel-blocks' --split-input-file | filecheck %s --check-prefix=BLOCK

/// What rows make is summed over columns while it is at hand: no second reading, one row of partial
/// sums for each part. Blocks: all columns, some rows at once.
// CHECK-LABEL: kernel.func @columns_parts(write %d : {{.*}}, write %ws : {{.*}}, read %g : {{.*}})
// CHECK-NEXT:    kernel.parallel d2 : 64 {
// CHECK-NEXT:      kernel.tile d0 : 96 {
// CHECK-NEXT:        %t = kernel.reduce d1 : 16 [add] -> f32 {
// CHECK-NEXT:          [[V:%.*]] = kernel.load %g[d0 + 96 * d1 + 1536 * d2] : f32
// CHECK-NEXT:          [[S:%.*]] = kernel.fold add [[V]] over d0 : f32 -> f32
// CHECK-NEXT:          [[P:%.*]] = scalar.mul [[V]], [[S]] : f32
// CHECK-NEXT:          kernel.store [[P]], %d[d0 + 96 * d1 + 1536 * d2]
// CHECK-NEXT:          kernel.yield [[P]] : f32
// CHECK:             kernel.store %t, %ws[d0 + 96 * d2]
// CHECK-LABEL: kernel.func @columns(
// CHECK:           kernel.reduce d2 : 64 [add]
// CHECK:         kernel.launch @columns_parts(%d, %ws, %g)[]
// CHECK-NEXT:    kernel.launch @columns(%o, %ws)[]
// CHECK:       // remark: [kernel-cross] accepted rows, columns: the rows are read once
// BLOCK-LABEL: kernel.func @columns_parts
// BLOCK:         kernel.tile d0 : 96 <lanes 128, tail mask> {
// BLOCK-NEXT:      kernel.reduce d1 : 16 <lanes 16, tail none> [add]
kernel.func @rows(read %g : !kernel.buf<f32[98304]>, write %d : !kernel.buf<f32[98304]>) [] config {target = "triton"} {
  parallel d0 : 1024 {
    %s = reduce d1 : 96 [add] -> f32 { %v = load %g[96 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 96 { %v = load %g[96 * d0 + d1] : f32  %p = scalar.mul %v, %s : f32  store %p, %d[96 * d0 + d1] } } }
kernel.func @columns(read %d : !kernel.buf<f32[98304]>, write %o : !kernel.buf<f32[96]>) [] config {target = "triton"} {
  parallel d0 : 96 {
    %t = reduce d1 : 1024 [add] -> f32 { %v = load %d[96 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
func.func @call(%g: !aten.t<f32[1024, 96]@cuda>) -> (!aten.t<f32[1024, 96]@cuda>, !aten.t<f32[96]@cuda>) {
  %d = kernel.alloc : !aten.t<f32[1024, 96]@cuda>
  %o = kernel.alloc : !aten.t<f32[96]@cuda>
  kernel.launch @rows(%g, %d)[]
  kernel.launch @columns(%d, %o)[]
  func.return %d, %o : !aten.t<f32[1024, 96]@cuda>, !aten.t<f32[96]@cuda> }

// -----

/// Rows that need the sums wait for them.
// CHECK-LABEL: kernel.func @rows
// CHECK-LABEL: kernel.func @columns(
// CHECK:       // remark: [kernel-cross] refused rows, columns: the rows need the sums of the columns
kernel.func @rows(read %g : !kernel.buf<f32[98304]>, read %o : !kernel.buf<f32[96]>, write %d : !kernel.buf<f32[98304]>) [] config {target = "triton"} {
  parallel d0 : 1024 { parallel d1 : 96 {
    %v = load %g[96 * d0 + d1] : f32  %s = load %o[d1] : f32  %p = scalar.sub %v, %s : f32  store %p, %d[96 * d0 + d1] } } }
kernel.func @columns(read %g : !kernel.buf<f32[98304]>, write %o : !kernel.buf<f32[96]>) [] config {target = "triton"} {
  parallel d0 : 96 {
    %t = reduce d1 : 1024 [add] -> f32 { %v = load %g[96 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
func.func @call(%g: !aten.t<f32[1024, 96]@cuda>) -> !aten.t<f32[1024, 96]@cuda> {
  %d = kernel.alloc : !aten.t<f32[1024, 96]@cuda>
  %o = kernel.alloc : !aten.t<f32[96]@cuda>
  kernel.launch @columns(%g, %o)[]
  kernel.launch @rows(%g, %o, %d)[]
  func.return %d : !aten.t<f32[1024, 96]@cuda> }
