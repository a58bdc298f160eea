// RUN: mini-opt %s -p kernel-persist --split-input-file --print-remarks | filecheck %s

/// Both stages of a row become one tile: the row is loaded once.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 64 {
// CHECK-NEXT:      kernel.tile d1 : 1024 {
// CHECK-NEXT:        %a = kernel.load %x[1024 * d0 + d1] : f32
// CHECK-NEXT:        %m = kernel.fold max %a over d1 : f32 -> f32
// CHECK-NEXT:        %c = scalar.sub %a, %m : f32
// CHECK-NEXT:        kernel.store %c, %o[1024 * d0 + d1]
kernel.func @rows(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %m = reduce d1 : 1024 [max] -> f32 { %a = load %x[1024 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 1024 { %b = load %x[1024 * d0 + d1] : f32  %c = scalar.sub %b, %m : f32  store %c, %o[1024 * d0 + d1] } } }

// -----

/// A long row stays looped.
// CHECK-LABEL: kernel.func @long
// CHECK:         kernel.reduce d1 : 50257
// CHECK:       // remark: [kernel-persist] refused long: a row of 50257 elements exceeds 4096
kernel.func @long(read %x : !kernel.buf<f32[100514]>, write %o : !kernel.buf<f32[2]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 50257 [max] -> f32 { %a = load %x[50257 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }

// -----

/// Elements of a column lie apart: no tile, whose lanes would each fetch a line.
// CHECK-LABEL: kernel.func @column
// CHECK:         kernel.reduce d1 : 1024
// CHECK:       // remark: [kernel-persist] refused column: elements of a row lie apart: blocks of rows are read together
kernel.func @column(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %m = reduce d1 : 1024 [max] -> f32 { %a = load %x[64 * d1 + d0] : f32  yield %a : f32 }
    store %m, %o[d0] } }

// -----

/// A longer row when stages would read it again: of one tensor 32768 elements, of two 16384.
// CHECK-LABEL: kernel.func @again
// CHECK:         kernel.tile d1 : 20000 {
// CHECK:       // remark: [kernel-persist] refused both: a row of 20000 elements exceeds 16384
kernel.func @again(read %x : !kernel.buf<f32[40000]>, write %o : !kernel.buf<f32[40000]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 20000 [max] -> f32 { %a = load %x[20000 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 20000 { %b = load %x[20000 * d0 + d1] : f32  %c = scalar.sub %b, %m : f32  store %c, %o[20000 * d0 + d1] } } }
kernel.func @both(read %x : !kernel.buf<f32[40000]>, read %y : !kernel.buf<f32[40000]>, write %o : !kernel.buf<f32[40000]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 20000 [max] -> f32 { %a = load %x[20000 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 20000 { %b = load %y[20000 * d0 + d1] : f32  %c = scalar.sub %b, %m : f32  store %c, %o[20000 * d0 + d1] } } }

// -----

/// A length known only at run time: both forms, and a launch that chooses.
// CHECK-LABEL: kernel.func @triton_per_open
// CHECK:         kernel.tile d1 : s0 <lanes 1024, tail mask> {
// CHECK-LABEL: kernel.func @triton_red_open
// CHECK:         kernel.reduce d1 : s0
// CHECK:         kernel.launch @triton_per_open(%x, %o)[s1] when (-s1 + 1025) else @triton_red_open
kernel.func @triton_red_open(read %x : !kernel.buf<f32[2 * s0]>, write %o : !kernel.buf<f32[2]>) [s0] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : s0 [max] -> f32 { %a = load %x[s0 * d0 + d1] : f32  yield %a : f32 }
    store %m, %o[d0] } }
func.func @call(%n: !aten.int<s1>, %x: !aten.t<f32[2, s1]>) -> !aten.t<f32[2]> attributes {symbols = #aten.symbols<s1 = [hint 100, min 2]>} {
  %o = kernel.alloc : !aten.t<f32[2]>
  kernel.launch @triton_red_open(%x, %o)[s1]
  func.return %o : !aten.t<f32[2]> }

// -----

/// Reductions alone over a longer row of two bytes an element stay loops; of four bytes they do not, nor
/// where a result is stored along the row.
// CHECK-LABEL: kernel.func @halves
// CHECK:         kernel.reduce d1 : 20000 [max]
// CHECK-LABEL: kernel.func @words
// CHECK:         kernel.tile d1 : 20000
// CHECK-LABEL: kernel.func @stored
// CHECK:         kernel.tile d1 : 20000
// CHECK:       // remark: [kernel-persist] refused halves: a row of 20000 elements of two bytes that reductions alone read
kernel.func @halves(read %x : !kernel.buf<bf16[40000]>, write %o : !kernel.buf<f32[2]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 20000 [max] -> f32 { %a = load %x[20000 * d0 + d1] : bf16  %b = scalar.cast %a : bf16 to f32  yield %b : f32 }
    %s = reduce d1 : 20000 [add] -> f32 { %a = load %x[20000 * d0 + d1] : bf16  %b = scalar.cast %a : bf16 to f32  %c = scalar.sub %b, %m : f32  yield %c : f32 }
    store %s, %o[d0] } }
kernel.func @words(read %x : !kernel.buf<f32[40000]>, write %o : !kernel.buf<f32[2]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 20000 [max] -> f32 { %a = load %x[20000 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d1 : 20000 [add] -> f32 { %a = load %x[20000 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  yield %c : f32 }
    store %s, %o[d0] } }
kernel.func @stored(read %x : !kernel.buf<bf16[40000]>, write %o : !kernel.buf<f32[40000]>) [] config {target = "triton"} {
  parallel d0 : 2 {
    %m = reduce d1 : 20000 [max] -> f32 { %a = load %x[20000 * d0 + d1] : bf16  %b = scalar.cast %a : bf16 to f32  yield %b : f32 }
    parallel d1 : 20000 { %a = load %x[20000 * d0 + d1] : bf16  %b = scalar.cast %a : bf16 to f32  %c = scalar.sub %b, %m : f32  store %c, %o[20000 * d0 + d1] } } }
