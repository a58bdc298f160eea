// RUN: mini-opt %s -p kernel-blocks --split-input-file | filecheck %s

/// Pointwise: blocks of 1024 elements.
// CHECK-LABEL: kernel.func @flat
// CHECK-SAME:    warps = 4
// CHECK:         kernel.parallel d0 : 1048576 <run grid, lanes 1024, tail none> {
kernel.func @flat(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "triton"} {
  parallel d0 : 1048576 { %v = load %x[d0] : f32  store %v, %o[d0] } }

// -----

/// Half as many bytes an element: twice as many elements. Little is dead in a block.
// CHECK-LABEL: kernel.func @narrow
// CHECK:         kernel.parallel d0 : 1048576 <run grid, lanes 2048, tail none> {
// CHECK-LABEL: kernel.func @uneven
// CHECK:         kernel.parallel d0 : 640 <run grid, lanes 4, tail none> {
// CHECK-NEXT:      kernel.parallel d1 : 3136 <run grid, lanes 256, tail mask> {
kernel.func @narrow(read %x : !kernel.buf<bf16[1048576]>, write %o : !kernel.buf<bf16[1048576]>) [] config {target = "triton"} {
  parallel d0 : 1048576 { %v = load %x[d0] : bf16  store %v, %o[d0] } }
kernel.func @uneven(read %x : !kernel.buf<f32[2007040]>, read %w : !kernel.buf<f32[640]>, write %o : !kernel.buf<f32[2007040]>) [] config {target = "triton"} {
  parallel d0 : 640 { parallel d1 : 3136 {
    %v = load %x[3136 * d0 + d1] : f32  %s = load %w[d0] : f32  %p = scalar.mul %v, %s : f32  store %p, %o[3136 * d0 + d1] } } }

// -----

/// Accesses that disagree on the fast variable: a square block, smaller where it would be alone.
// CHECK-LABEL: kernel.func @transpose
// CHECK-SAME:    warps = 4
// CHECK:         kernel.parallel d0 : 1000 <run grid, lanes 64, tail mask> {
// CHECK-NEXT:      kernel.parallel d1 : 1024 <run grid, lanes 32, tail none> {
// CHECK-LABEL: kernel.func @large
// CHECK-SAME:    warps = 8
// CHECK:         kernel.parallel d0 : 8192 <run grid, lanes 64, tail none> {
// CHECK-NEXT:      kernel.parallel d1 : 1024 <run grid, lanes 64, tail none> {
kernel.func @transpose(read %x : !kernel.buf<f32[1024000]>, write %o : !kernel.buf<f32[1024000]>) [] config {target = "triton"} {
  parallel d0 : 1000 { parallel d1 : 1024 { %v = load %x[1024 * d0 + d1] : f32  store %v, %o[d0 + 1000 * d1] } } }
kernel.func @large(read %x : !kernel.buf<f32[8388608]>, write %o : !kernel.buf<f32[8388608]>) [] config {target = "triton"} {
  parallel d0 : 8192 { parallel d1 : 1024 { %v = load %x[1024 * d0 + d1] : f32  store %v, %o[d0 + 8192 * d1] } } }

// -----

/// A tile covers its row; short rows share a program.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 64 <run grid, lanes 8, tail none> {
// CHECK-NEXT:      kernel.tile d1 : 100 <lanes 128, tail mask> {
kernel.func @rows(read %x : !kernel.buf<f32[6400]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { tile d1 : 100 {
    %a = load %x[100 * d0 + d1] : f32  %m = fold max %a over d1 : f32 -> f32  store %m, %o[d0] } } }

// -----

/// Columns: neighbours in memory are neighbours in the block; few columns take narrow blocks, so
/// that all of the machine works. A C++ kernel is left alone.
// CHECK-LABEL: kernel.func @columns
// CHECK:         kernel.parallel d0 : 16384 <run grid, lanes 64, tail none> {
// CHECK-NEXT:      %t = kernel.reduce d1 : 4096 <lanes 32, unroll 4, tail none> [add]
// CHECK-LABEL: kernel.func @few
// CHECK:         kernel.parallel d0 : 768 <run grid, lanes 8, tail none> {
// CHECK-NEXT:      %t = kernel.reduce d1 : 4096 <lanes 256, unroll 4, tail none> [add]
// CHECK-LABEL: kernel.func @other
// CHECK:         kernel.parallel d0 : 64 {
kernel.func @columns(read %x : !kernel.buf<f32[67108864]>, write %o : !kernel.buf<f32[16384]>) [] config {target = "triton"} {
  parallel d0 : 16384 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %x[16384 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @few(read %x : !kernel.buf<f32[3145728]>, write %o : !kernel.buf<f32[768]>) [] config {target = "triton"} {
  parallel d0 : 768 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %x[768 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @other(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  store %v, %o[d0] } }
