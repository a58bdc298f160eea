// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s

/// Pointwise: blocks of 1024 elements.
// CHECK-LABEL: kernel.func @flat
// CHECK-SAME:    warps = 4
// CHECK:         kernel.parallel d0 : 1048576 <run grid, lanes 1024, tail none> {
kernel.func @flat(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "triton"} {
  parallel d0 : 1048576 { %v = load %x[d0] : f32  store %v, %o[d0] } }

// -----

/// Accesses that disagree on the fast variable: a square block.
// CHECK-LABEL: kernel.func @transpose
// CHECK:         kernel.parallel d0 : 1000 <run grid, lanes 32, tail mask> {
// CHECK-NEXT:      kernel.parallel d1 : 1024 <run grid, lanes 32, tail none> {
kernel.func @transpose(read %x : !kernel.buf<f32[1024000]>, write %o : !kernel.buf<f32[1024000]>) [] config {target = "triton"} {
  parallel d0 : 1000 { parallel d1 : 1024 { %v = load %x[1024 * d0 + d1] : f32  store %v, %o[d0 + 1000 * d1] } } }

// -----

/// A tile covers its row; short rows share a program.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 64 <run grid, lanes 8, tail none> {
// CHECK-NEXT:      kernel.tile d1 : 100 <lanes 128, tail mask> {
kernel.func @rows(read %x : !kernel.buf<f32[6400]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { tile d1 : 100 {
    %a = load %x[100 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32  store %m, %o[d0] } } }

// -----

/// Columns: neighbours in memory are neighbours in the block. A C++ kernel is left alone.
// CHECK-LABEL: kernel.func @columns
// CHECK:         kernel.parallel d0 : 768 <run grid, lanes 32, tail none> {
// CHECK-NEXT:      %t = kernel.reduce d1 : 4096 <lanes 32, tail none> [add]
// CHECK-LABEL: kernel.func @other
// CHECK:         kernel.parallel d0 : 64 {
kernel.func @columns(read %x : !kernel.buf<f32[3145728]>, write %o : !kernel.buf<f32[768]>) [] config {target = "triton"} {
  parallel d0 : 768 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %x[768 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @other(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  store %v, %o[d0] } }
