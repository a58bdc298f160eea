// RUN: mini-opt %s -p kernel-jam --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-jam{jam=0}' --split-input-file | filecheck %s --check-prefix=OFF

/// Four rows by one matrix: each of its elements is loaded once for four sums; what follows a sum
/// follows each of them.
// OFF:         kernel.parallel d1 : 4
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 2048 {
// CHECK-NEXT:      %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = kernel.reduce d2 : 512 [add, add, add, add]
// CHECK-NEXT:        kernel.load %w[512 * d0 + d2] : f32
// CHECK-NEXT:        kernel.load %x[d2] : f32
// CHECK-NOT:         kernel.load %w
// CHECK:             kernel.load %x[d2 + 1536] : f32
// CHECK:           kernel.store %{{.*}}, %o[d0]
// CHECK:           kernel.store %{{.*}}, %o[d0 + 6144]
kernel.func @rows(read %x : !kernel.buf<f32[2048]>, read %w : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[8192]>) [] config {target = "cpp"} {
  parallel d0 : 2048 {
    parallel d1 : 4 {
      %s = reduce d2 : 512 [add] -> f32 { %a = load %w[512 * d0 + d2] : f32  %b = load %x[512 * d1 + d2] : f32  %p = scalar.mul %a, %b : f32  yield %p : f32 }
      %r = scalar.relu %s : f32  store %r, %o[d0 + 2048 * d1] } } }

// -----

/// Negative twins: nothing is shared, too many rows, a sum that stores on its way, positions of extremes.
// CHECK-LABEL: kernel.func @apart
// CHECK:         kernel.parallel d1 : 4
// CHECK-LABEL: kernel.func @many
// CHECK:         kernel.parallel d1 : 9
// CHECK-LABEL: kernel.func @stores
// CHECK:         kernel.parallel d1 : 4
// CHECK-LABEL: kernel.func @places
// CHECK:         kernel.parallel d1 : 4
kernel.func @apart(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 2 { parallel d1 : 4 { %s = reduce d2 : 512 [add] -> f32 { %b = load %x[2048 * d0 + 512 * d1 + d2] : f32  yield %b : f32 }  store %s, %o[4 * d0 + d1] } } }
kernel.func @many(read %x : !kernel.buf<f32[4608]>, read %w : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[18]>) [] config {target = "cpp"} {
  parallel d0 : 2 { parallel d1 : 9 { %s = reduce d2 : 512 [add] -> f32 { %a = load %w[512 * d0 + d2] : f32  %b = load %x[512 * d1 + d2] : f32  %p = scalar.mul %a, %b : f32  yield %p : f32 }  store %s, %o[9 * d0 + d1] } } }
kernel.func @stores(read %x : !kernel.buf<f32[2048]>, read %w : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[8]>, write %q : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 2 { parallel d1 : 4 { %s = reduce d2 : 512 [add] -> f32 { %a = load %w[512 * d0 + d2] : f32  %b = load %x[512 * d1 + d2] : f32  %p = scalar.mul %a, %b : f32  store %p, %q[2048 * d0 + 512 * d1 + d2]  yield %p : f32 }  store %s, %o[4 * d0 + d1] } } }
kernel.func @places(read %x : !kernel.buf<f32[2048]>, read %w : !kernel.buf<f32[1024]>, write %o : !kernel.buf<i64[8]>) [] config {target = "cpp"} {
  parallel d0 : 2 { parallel d1 : 4 { %s, %i = reduce d2 : 512 [argmax] -> f32, i64 { %a = load %w[512 * d0 + d2] : f32  %b = load %x[512 * d1 + d2] : f32  %p = scalar.mul %a, %b : f32  %k = scalar.index d2 : i64  yield %p, %k : f32, i64 }  store %i, %o[4 * d0 + d1] } } }
