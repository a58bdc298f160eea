// RUN: mini-opt %s -p 'kernel-threads{threads=2}' --split-input-file --print-remarks | filecheck %s

/// A million elements pay for threads; 1024 do not.
// CHECK-LABEL: kernel.func @long
// CHECK-SAME:    threads = 2
// CHECK:         kernel.parallel d0 : 1048576 <run threads> {
// CHECK-LABEL: kernel.func @short
// CHECK-NOT:     threads
// CHECK:         kernel.parallel d0 : 1024 {
kernel.func @long(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  parallel d0 : 1048576 { %v = load %x[d0] : f32  store %v, %o[d0] } }
/// Nor do 50000: starting and joining threads costs a microsecond or two, half of what they would take.
// CHECK:       // remark: [kernel-threads] refused middle: work 100000 does not pay
// CHECK:       // remark: [kernel-threads] refused short: work 2048 does not pay
kernel.func @middle(read %x : !kernel.buf<f32[50000]>, write %o : !kernel.buf<f32[50000]>) [] config {target = "cpp"} {
  parallel d0 : 50000 { %v = load %x[d0] : f32  store %v, %o[d0] } }
kernel.func @short(read %x : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  parallel d0 : 1024 { %v = load %x[d0] : f32  store %v, %o[d0] } }

// -----

/// Sizes known at run time: the decision becomes a condition.
// CHECK-LABEL: kernel.func @dynamic
// CHECK:         kernel.parallel d0 : s0 <run threads, when (2 * s0 - 131072)> {
kernel.func @dynamic(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[s0]>) [s0] config {target = "cpp"} {
  parallel d0 : s0 { %v = load %x[d0] : f32  store %v, %o[d0] } }

// -----

/// A whole reduction runs in threads too; an ordered loop does not.
// CHECK-LABEL: kernel.func @total
// CHECK:         kernel.reduce d0 : 1048576 <run threads> [add]
// CHECK-LABEL: kernel.func @ordered
// CHECK:         kernel.for d0 : 1048576 {
// CHECK:       // remark: [kernel-threads] refused ordered: no loop whose iterations are independent
kernel.func @total(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  %t = reduce d0 : 1048576 [add] -> f32 { %v = load %x[d0] : f32  yield %v : f32 }
  store %t, %o[0] }
kernel.func @ordered(read %x : !kernel.buf<f32[1048576]>, update %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  for d0 : 1048576 { %v = load %x[d0] : f32  store add %v, %o[0] } }

// -----

/// Two iterations are equal work for two threads; three are not, so the loop inside is shared out.
// CHECK-LABEL: kernel.func @two
// CHECK-NEXT:    kernel.parallel d0 : 2 <run threads> {
// CHECK-LABEL: kernel.func @three
// CHECK-NEXT:    kernel.parallel d0 : 3 {
// CHECK-NEXT:      kernel.parallel d1 : 524288 <run threads> {
kernel.func @two(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  parallel d0 : 2 { parallel d1 : 524288 { %v = load %x[524288 * d0 + d1] : f32  store %v, %o[d0 + 2 * d1] } } }
kernel.func @three(read %x : !kernel.buf<f32[1572864]>, write %o : !kernel.buf<f32[1572864]>) [] config {target = "cpp"} {
  parallel d0 : 3 { parallel d1 : 524288 { %v = load %x[524288 * d0 + d1] : f32  store %v, %o[d0 + 3 * d1] } } }

// -----

/// The work of a row is priced over its length, with all that is done to an element; where no size
/// pays, there are no threads.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : s0 <run threads, when (s0 + {{[0-9]+}} * s1 * s0 - 131072)> {
// CHECK-LABEL: kernel.func @few
// CHECK:         kernel.parallel d0 : s2 {
// CHECK:       // remark: [kernel-threads] refused few: work of at most 18 does not pay
kernel.func @rows(read %x : !kernel.buf<f32[s0 * s1]>, write %o : !kernel.buf<f32[s0]>) [s0, s1] config {target = "cpp"} {
  parallel d0 : s0 {
    %t = reduce d1 : s1 [add] -> f32 { %v = load %x[s1 * d0 + d1] : f32  %e = scalar.exp %v : f32  yield %e : f32 }
    store %t, %o[d0] } }
kernel.func @few(read %x : !kernel.buf<f32[s2]>, write %o : !kernel.buf<f32[s2]>) [s2] config {target = "cpp"} {
  parallel d0 : s2 { %v = load %x[d0] : f32  store %v, %o[d0] } }
func.func @call(%a: !aten.int<s0>, %b: !aten.int<s1>, %c: !aten.int<s2>) attributes {symbols = #aten.symbols<s0 = [min 2], s1 = [min 2], s2 = [min 2, max 9]>} {
  func.return
}

// -----

/// An array of the whole kernel is each thread's own: what reads it runs in the thread that fills it.
// CHECK-LABEL: kernel.func @kept
// CHECK:         kernel.local
// CHECK-NOT:     run threads
// CHECK:       // remark: [kernel-threads] refused kept: each thread would have an array `t` of its own, filled by the first
kernel.func @kept(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  %t = local stack = 0.0 : f32 : !kernel.buf<f32[4]>
  for d1 : 4 { %v = load %x[d1] : f32  store add %v, %t[d1] }
  parallel d0 : 1048576 { %v = load %t[d0 mod 4] : f32  store %v, %o[d0] } }

// -----

/// Loops side by side start threads once for their sum; a tiny one among them stays with one thread.
// CHECK-LABEL: kernel.func @packed
// CHECK:         kernel.parallel d0 : 60000 <run threads> {
// CHECK:         kernel.parallel d0 : 40000 <run threads> {
// CHECK:         kernel.parallel d0 : 10 {
kernel.func @packed(read %x : !kernel.buf<f32[60000]>, write %o : !kernel.buf<f32[60000]>, write %p : !kernel.buf<f32[40000]>, write %q : !kernel.buf<f32[10]>) [] config {target = "cpp"} {
  parallel d0 : 60000 { %v = load %x[d0] : f32  store %v, %o[d0] }
  parallel d0 : 40000 { %v = load %x[d0] : f32  store %v, %p[d0] }
  parallel d0 : 10 { %v = load %x[d0] : f32  store %v, %q[d0] } }

// -----

/// A stage of one thread that stores too cannot hand its value to the others: all is sequential.
// CHECK-LABEL: kernel.func @stores_and_yields
// CHECK-NOT:     run threads
// CHECK:       // remark: [kernel-threads] refused stores_and_yields: a stage of one thread stores and yields: the others need what it yields
kernel.func @stores_and_yields(read %x : !kernel.buf<f32[9]>, write %y : !kernel.buf<f32[9]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  %m = reduce d1 : 9 [max] -> f32 { %v = load %x[d1] : f32  store %v, %y[d1]  yield %v : f32 }
  parallel d0 : 1048576 { store %m, %o[d0] } }
