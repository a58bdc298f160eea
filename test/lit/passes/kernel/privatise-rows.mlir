// RUN: mini-opt %s -p 'kernel-privatise{threads=2}' --split-input-file --print-remarks | filecheck %s

/// A row loop that also gathers column sums: each thread gathers in an array of its own.
// CHECK-LABEL: kernel.func @both(read %x : {{.*}}, update %ws : !kernel.buf<f32[1536]>)
// CHECK-NEXT:    kernel.parallel d2 : 2 {
// CHECK-NEXT:      %acc = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
// CHECK-NEXT:      kernel.for d3 : 32 {
// CHECK-NEXT:        %acc_1 = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
// CHECK-NEXT:        kernel.for d0 : 64 {
// CHECK-NEXT:          %t = kernel.reduce d1 : 768 [add] -> f32 {
// CHECK-NEXT:            %v = kernel.load %x[768 * d0 + d1 + 1572864 * d2 + 49152 * d3] : f32
// CHECK-NEXT:            kernel.store add %v, %acc_1[d1]
// CHECK:               kernel.store %t, %r[d0 + 2048 * d2 + 64 * d3]
// CHECK:             kernel.load %acc_1[d4] : f32
// CHECK-NEXT:        kernel.store add {{.*}}, %acc[d4]
// CHECK:           kernel.store {{.*}}, %ws[768 * d2 + d5]
// CHECK:         kernel.barrier
// CHECK-NEXT:    kernel.parallel d0 : 768 {
// CHECK-NEXT:      %s = kernel.reduce d6 : 2 [add] -> f32 {
// CHECK-NEXT:        kernel.load %ws[d0 + 768 * d6] : f32
kernel.func @both(read %x : !kernel.buf<f32[3145728]>, write %r : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  %acc = local stack = 0.0 : f32 : !kernel.buf<f32[768]>
  for d0 : 4096 {
    %t = reduce d1 : 768 [add] -> f32 {
      %v = load %x[768 * d0 + d1] : f32
      store add %v, %acc[d1]
      yield %v : f32 }
    store %t, %r[d0] }
  parallel d0 : 768 {
    %s = load %acc[d0] : f32
    store %s, %o[d0] } }

// -----

/// Rows that read what they gather stay in order.
// CHECK-LABEL: kernel.func @running
// CHECK-NEXT:    %acc = kernel.local
// CHECK-NEXT:    kernel.for d0 : 4096 {
// CHECK:       // remark: [kernel-privatise] refused running: its rows read what they gather
kernel.func @running(read %x : !kernel.buf<f32[3145728]>, write %r : !kernel.buf<f32[3145728]>) [] config {target = "cpp"} {
  %acc = local stack = 0.0 : f32 : !kernel.buf<f32[768]>
  for d0 : 4096 {
    parallel d1 : 768 {
      %v = load %x[768 * d0 + d1] : f32
      store add %v, %acc[d1]
      %w = load %acc[d1] : f32
      store %w, %r[768 * d0 + d1] } } }

// -----

/// So do rows that write one element twice.
// CHECK-LABEL: kernel.func @twice
// CHECK:         kernel.for d0 : 4096 {
// CHECK:       // remark: [kernel-privatise] refused twice: its rows write one element twice
kernel.func @twice(read %x : !kernel.buf<f32[3145728]>, update %r : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  for d0 : 4096 {
    parallel d1 : 768 {
      %v = load %x[768 * d0 + d1] : f32
      store add %v, %r[d1] } } }
