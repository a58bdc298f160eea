// RUN: mini-opt %s -p 'kernel-privatise{threads=1}' --split-input-file --print-remarks | filecheck %s

/// What a column computes from its reduction is kept, and the rows are walked again.
// CHECK-LABEL: kernel.func @stages
// CHECK-NEXT:    %acc = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[256]>
// CHECK-NEXT:    kernel.for d2 : 16 {
// CHECK:         %r_c = kernel.local stack : !kernel.buf<f32[256]>
// CHECK-NEXT:    kernel.parallel d0 : 256 {
// CHECK-NEXT:      %t = kernel.load %acc[d0] : f32
// CHECK-NEXT:      %r = scalar.rsqrt %t : f32
// CHECK-NEXT:      kernel.store %r, %r_c[d0]
// CHECK:         kernel.parallel d1 : 128 {
// CHECK-NEXT:      kernel.parallel d0 : 256 {
// CHECK-NEXT:        %v_1 = kernel.load %x[d0 + 256 * d1] : f32
// CHECK-NEXT:        %r_1 = kernel.load %r_c[d0] : f32
// CHECK-NEXT:        scalar.mul %v_1, %r_1 : f32
kernel.func @stages(read %x : !kernel.buf<f32[32768]>, write %o : !kernel.buf<f32[32768]>) [] config {target = "cpp"} {
  parallel d0 : 256 {
    %t = reduce d1 : 128 [add] -> f32 {
      %v = load %x[256 * d1 + d0] : f32
      yield %v : f32 }
    %r = scalar.rsqrt %t : f32
    parallel d1 : 128 {
      %v = load %x[256 * d1 + d0] : f32
      %y = scalar.mul %v, %r : f32
      store %y, %o[256 * d1 + d0] } } }

// -----

/// Few bytes stay in cache.
// CHECK-LABEL: kernel.func @small
// CHECK-NEXT:    kernel.parallel d0 : 64 {
// CHECK:       // remark: [kernel-privatise] refused small: its 16384 bytes stay in cache
kernel.func @small(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %t = reduce d1 : 64 [add] -> f32 {
      %v = load %x[64 * d1 + d0] : f32
      yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// An argmax has no accumulator in memory.
// CHECK-LABEL: kernel.func @place
// CHECK-NEXT:    kernel.parallel d0 : 256 {
// CHECK:       // remark: [kernel-privatise] refused place: [argmax] has no accumulator in memory
kernel.func @place(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<i64[256]>) [] config {target = "cpp"} {
  parallel d0 : 256 {
    %t, %i = reduce d1 : 256 [argmax] -> f32, i64 {
      %v = load %x[256 * d1 + d0] : f32
      %n = scalar.index d1 : i64
      yield %v, %n : f32, i64 }
    store %i, %o[d0] } }
