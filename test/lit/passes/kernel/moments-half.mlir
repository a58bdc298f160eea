// RUN: mini-opt %s -p kernel-moments --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-moments{twice=0}" --split-input-file | filecheck %s --check-prefix ONCE

/// A row of bf16 is walked twice in f32: its mean, then the squares of what is left.
// CHECK-LABEL: kernel.func @row
// CHECK:         = kernel.reduce d1 : 768 [add] -> f32 {
// CHECK:         %m = scalar.div
// CHECK-NEXT:    %v = kernel.reduce d1 : 768 [add] -> f32 {
// CHECK:           scalar.sub %{{.*}}, %m : f32
// CHECK:           scalar.mul
// ONCE-LABEL:  kernel.func @row
// ONCE:          kernel.reduce d1 : 768 [add, add] -> f64, f64 {
kernel.func @row(read %x : !kernel.buf<bf16[6144]>, write %o : !kernel.buf<f32[8]>, write %p : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 {
      %a = load %x[768 * d0 + d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      yield %b : f32 }
    store %m, %o[d0]
    store %v, %p[d0] } }

// -----

/// Pieces of a channel are walked in order, each time.
// CHECK-LABEL: kernel.func @channel
// CHECK:         kernel.reduce d1 : 8 [add] -> f32 {
// CHECK-NEXT:      kernel.reduce d2 : 49 [add] -> f32 {
// CHECK:         scalar.div
// CHECK:         kernel.reduce d1 : 8 [add] -> f32 {
kernel.func @channel(read %x : !kernel.buf<bf16[6272]>, write %o : !kernel.buf<f32[16]>) [] config {target = "cpp"} {
  parallel d0 : 16 {
    %m, %v, %n = reduce d1 : 392 [welford] -> f32, f32, f32 {
      %a = load %x[49 * d0 + 784 * (d1 floordiv 49) + (d1 mod 49)] : bf16
      %b = scalar.cast %a : bf16 to f32
      yield %b : f32 }
    store %v, %o[d0] } }

// -----

/// Columns, rows that no cache holds, rows with parts in f32 and dear values are walked once.
// CHECK-LABEL: kernel.func @column
// CHECK:         [add, add] -> f64, f64
// CHECK-LABEL: kernel.func @long
// CHECK:         [add, add] -> f64, f64
// CHECK-LABEL: kernel.func @mixed
// CHECK:         [add, add] -> f64, f64
// CHECK-LABEL: kernel.func @dear
// CHECK:         [add, add] -> f64, f64
kernel.func @column(read %x : !kernel.buf<bf16[6144]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 {
      %a = load %x[d0 + 8 * d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      yield %b : f32 }
    store %v, %o[d0] } }
kernel.func @long(read %x : !kernel.buf<bf16[2097152]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 262144 [welford] -> f32, f32, f32 {
      %a = load %x[262144 * d0 + d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      yield %b : f32 }
    store %v, %o[d0] } }
kernel.func @mixed(read %x : !kernel.buf<bf16[6144]>, read %y : !kernel.buf<f32[768]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 {
      %a = load %x[768 * d0 + d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      %w = load %y[d1] : f32
      %c = scalar.add %b, %w : f32
      yield %c : f32 }
    store %v, %o[d0] } }
kernel.func @dear(read %x : !kernel.buf<bf16[6144]>, write %o : !kernel.buf<f32[8]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %m, %v, %n = reduce d1 : 768 [welford] -> f32, f32, f32 {
      %a = load %x[768 * d0 + d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      %c = scalar.tanh %b : f32
      yield %c : f32 }
    store %v, %o[d0] } }
