// RUN: mini-opt %s -p kernel-onehot --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-onehot{onehot=false}" --split-input-file | filecheck %s --check-prefix OFF
// RUN: mini-opt %s -p "kernel-onehot{target=triton}" --split-input-file | filecheck %s --check-prefix GPU

/// A sum over a row that is zero but at a target: the value there, if the target lies in the row.
// CHECK-LABEL: kernel.func @target
// CHECK-NOT:     kernel.reduce
// CHECK:         %h = scalar.select %c, %a, %z : f32
// CHECK-NEXT:    %s = scalar.mul %h, %u : f32
// CHECK-NEXT:    kernel.store %s, %o[d0]
// OFF-LABEL:   kernel.func @target
// OFF:           kernel.reduce d1 : 20000 [add]
kernel.func @target(read %t : !kernel.buf<i64[128]>, read %g : !kernel.buf<f32[128]>, write %o : !kernel.buf<f32[128]>) [] config {target = "cpp"} {
  parallel d0 : 128 {
    %k = load %t[d0] : i64
    %u = load %g[d0] : f32
    %s = reduce d1 : 20000 [add] -> f32 {
      %j = scalar.index d1 : i64
      %c = scalar.eq %k, %j : i64
      %a = scalar.constant -1.0 : f32
      %z = scalar.constant 0.0 : f32
      %h = scalar.select %c, %a, %z : f32
      %v = scalar.mul %h, %u : f32
      yield %v : f32 }
    store %s, %o[d0] } }

// -----

/// Rows that are not zero elsewhere, that read along the row, or whose extreme is wanted.
// CHECK-LABEL: kernel.func @elsewhere
// CHECK:         kernel.reduce d1 : 20000 [add]
// CHECK-LABEL: kernel.func @read
// CHECK:         kernel.reduce d1 : 20000 [add]
// CHECK-LABEL: kernel.func @extreme
// CHECK:         kernel.reduce d1 : 20000 [max]
kernel.func @elsewhere(read %t : !kernel.buf<i64[128]>, write %o : !kernel.buf<f32[128]>) [] config {target = "cpp"} {
  parallel d0 : 128 {
    %k = load %t[d0] : i64
    %s = reduce d1 : 20000 [add] -> f32 {
      %j = scalar.index d1 : i64
      %c = scalar.eq %k, %j : i64
      %a = scalar.constant -1.0 : f32
      %z = scalar.constant 2.0 : f32
      %h = scalar.select %c, %a, %z : f32
      yield %h : f32 }
    store %s, %o[d0] } }
kernel.func @read(read %t : !kernel.buf<i64[128]>, read %x : !kernel.buf<f32[20000]>, write %o : !kernel.buf<f32[128]>) [] config {target = "cpp"} {
  parallel d0 : 128 {
    %k = load %t[d0] : i64
    %s = reduce d1 : 20000 [add] -> f32 {
      %j = scalar.index d1 : i64
      %c = scalar.eq %k, %j : i64
      %a = load %x[d1] : f32
      %z = scalar.constant 0.0 : f32
      %h = scalar.select %c, %a, %z : f32
      yield %h : f32 }
    store %s, %o[d0] } }
kernel.func @extreme(read %t : !kernel.buf<i64[128]>, write %o : !kernel.buf<f32[128]>) [] config {target = "cpp"} {
  parallel d0 : 128 {
    %k = load %t[d0] : i64
    %s = reduce d1 : 20000 [max] -> f32 {
      %j = scalar.index d1 : i64
      %c = scalar.eq %k, %j : i64
      %a = scalar.constant -1.0 : f32
      %z = scalar.constant 0.0 : f32
      %h = scalar.select %c, %a, %z : f32
      yield %h : f32 }
    store %s, %o[d0] } }

// -----

/// Kernels of the other target wait for their own pipeline.
// CHECK-LABEL: kernel.func @gpu
// CHECK:         kernel.reduce d1 : 20000 [add]
// GPU-LABEL:   kernel.func @gpu
// GPU-NOT:       kernel.reduce
// GPU:           kernel.store
kernel.func @gpu(read %t : !kernel.buf<i64[128]>, write %o : !kernel.buf<f32[128]>) [] config {target = "triton"} {
  parallel d0 : 128 {
    %k = load %t[d0] : i64
    %s = reduce d1 : 20000 [add] -> f32 {
      %j = scalar.index d1 : i64  %c = scalar.eq %k, %j : i64
      %a = scalar.constant -1.0 : f32  %z = scalar.constant 0.0 : f32
      %h = scalar.select %c, %a, %z : f32
      yield %h : f32 }
    store %s, %o[d0] } }
