// RUN: mini-opt %s -p 'kernel-split{programs=256}' --split-input-file --print-remarks | filecheck %s

/// A sum over everything: 256 programs sum parts, one sums the parts. Each has a ledger of its own.
// CHECK-LABEL: kernel.func @total_parts(read %x : !kernel.buf<f32[1048576]>, write %ws : !kernel.buf<f32[256]>)
// CHECK-SAME:    bytes <floor 4194304, unfused 8388608, planned 4195328>
// CHECK-NEXT:    kernel.parallel d1 : 256 {
// CHECK-NEXT:      %t = kernel.reduce d0 : 4096 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[d0 + 4096 * d1] : f32
// CHECK:           kernel.store %t, %ws[d1]
// CHECK-LABEL: kernel.func @total(write %o : !kernel.buf<f32[1]>, read %ws : !kernel.buf<f32[256]>)
// CHECK-SAME:    bytes <floor 4, unfused 4, planned 1028>
// CHECK-NEXT:    %t = kernel.reduce d1 : 256 [add] -> f32 {
// CHECK-NEXT:      {{%.*}} = kernel.load %ws[d1] : f32
// CHECK:         kernel.store %t, %o[0]
// CHECK-LABEL: func.func @call
// CHECK:         %ws = kernel.alloc : !aten.t<f32[256]@cuda>
// CHECK-NEXT:    kernel.launch @total_parts(%x, %ws)[]
// CHECK-NEXT:    kernel.launch @total(%o, %ws)[]
kernel.func @total(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} bytes <floor 4194308, unfused 8388612, planned 4194308> {
  %t = reduce d0 : 1048576 [add] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %t, %o[0] }
func.func @call(%x: !aten.t<f32[1048576]@cuda>) -> !aten.t<f32[]@cuda> {
  %o = kernel.alloc : !aten.t<f32[]@cuda>
  kernel.launch @total(%x, %o)[]
  func.return %o : !aten.t<f32[]@cuda> }

// -----

/// Many rows fill the machine by themselves.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.reduce d1 : 4096
// CHECK:       // remark: [kernel-split] refused rows: enough programs, or a short reduction
kernel.func @rows(read %x : !kernel.buf<f32[67108864]>, write %o : !kernel.buf<f32[16384]>) [] config {target = "triton"} {
  parallel d0 : 16384 {
    %t = reduce d1 : 4096 [add] -> f32 { %v = load %x[4096 * d0 + d1] : f32  yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// Means and squares are joined by their formula: two sums, the second about the whole mean.
// CHECK-LABEL: kernel.func @moments_parts
// CHECK:         kernel.reduce d0 : 4096 [welford]
// CHECK-LABEL: kernel.func @moments(
// CHECK-NEXT:    {{%.*}}, {{%.*}}, {{%.*}} = kernel.reduce d1 : 256 [add, add, add]
// CHECK:         %m = scalar.div
kernel.func @moments(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %m, %s, %n = reduce d0 : 1048576 [welford] -> f32, f32, f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %m, %o[0] }

// -----

/// Columns count in blocks of neighbours; parts begin where the index begins anew.
// CHECK-LABEL: kernel.func @channels_parts
// CHECK:         kernel.parallel d2 : 4 {
// CHECK-NEXT:      kernel.parallel d0 : 64 {
// CHECK:             kernel.load %x[3136 * d0 + d1 + 200704 * d2] : f32
// CHECK-LABEL: kernel.func @columns_parts
// CHECK:         kernel.parallel d2 : 128 {
kernel.func @channels(read %x : !kernel.buf<f32[802816]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %t = reduce d1 : 12544 [add] -> f32 {
      %v = load %x[3136 * d0 + 200704 * (d1 floordiv 3136) + (d1 mod 3136)] : f32  yield %v : f32 }
    store %t, %o[d0] } }
kernel.func @columns(read %x : !kernel.buf<f32[2097152]>, write %o : !kernel.buf<f32[128]>) [] config {target = "triton"} {
  parallel d0 : 128 {
    %t = reduce d1 : 16384 [add] -> f32 { %v = load %x[128 * d1 + d0] : f32  yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// Two stages over the same rows stay in one kernel.
// CHECK:       // remark: [kernel-split] refused two: several stages over the same rows
kernel.func @two(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "triton"} {
  %t = reduce d0 : 1048576 [add] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  parallel d0 : 1048576 { %v = load %x[d0] : f32  %p = scalar.mul %v, %t : f32  store %p, %o[d0] } }

// -----

/// A single result of a long row: parts of 16384 elements, more than fill the machine.
// CHECK-LABEL: kernel.func @whole_parts
// CHECK-NEXT:    kernel.parallel d1 : 2048 {
kernel.func @whole(read %x : !kernel.buf<f32[33554432]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %t = reduce d0 : 33554432 [add] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %t, %o[0] }
func.func @call(%x: !aten.t<f32[33554432]@cuda>) -> !aten.t<f32[]@cuda> {
  %o = kernel.alloc : !aten.t<f32[]@cuda>
  kernel.launch @whole(%x, %o)[]
  func.return %o : !aten.t<f32[]@cuda> }
