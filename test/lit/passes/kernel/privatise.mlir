// RUN: mini-opt %s -p 'kernel-privatise{threads=2}' --split-input-file --print-remarks | filecheck %s

/// Rows are read in order, eight at once, by two threads; the partial sums are joined in order.
// CHECK-LABEL: kernel.func @narrow(read %x : {{.*}}, write %o : {{.*}}, update %ws : !kernel.buf<f32[1536]>)
// CHECK-NEXT:    kernel.parallel d2 : 2 {
// CHECK-NEXT:      %acc = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
// CHECK-NEXT:      kernel.for d3 : 4 {
// CHECK-NEXT:        %acc_1 = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
// CHECK-NEXT:        kernel.for d4 : 64 {
// CHECK-NEXT:          kernel.parallel d0 : 768 {
// CHECK-NEXT:            %0 = kernel.reduce d5 : 8 [add] -> f32 {
// CHECK-NEXT:              kernel.load %x[d0 + 1572864 * d2 + 393216 * d3 + 6144 * d4 + 768 * d5] : f32
// CHECK:                 kernel.store add %0, %acc_1[d0]
// CHECK:             %1 = kernel.load %acc_1[d0] : f32
// CHECK-NEXT:        kernel.store add %1, %acc[d0]
// CHECK:           kernel.store %2, %ws[d0 + 768 * d2]
// CHECK:         kernel.barrier
// CHECK-NEXT:    kernel.parallel d0 : 768 {
// CHECK-NEXT:      kernel.reduce d6 : 2 [add] -> f32 {
// CHECK-NEXT:        kernel.load %ws[d0 + 768 * d6] : f32
// CHECK:         %ws = kernel.alloc : !aten.t<f32[1536]>
// CHECK-NEXT:    kernel.launch @narrow(%x, %o, %ws)[]
kernel.func @narrow(read %x : !kernel.buf<f32[3145728]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  parallel d0 : 768 {
    %t = reduce d1 : 4096 [add] -> f32 {
      %v = load %x[768 * d1 + d0] : f32
      yield %v : f32 }
    store %t, %o[d0] } }
func.func @call(%x: !aten.t<f32[4096, 768]>) -> !aten.t<f32[768]> {
  %o = kernel.alloc : !aten.t<f32[768]>
  kernel.launch @narrow(%x, %o)[]
  func.return %o : !aten.t<f32[768]> }

// -----

/// A wide matrix is cut in blocks of columns, one or more a thread; odd rows come last, one by one.
// CHECK-LABEL: kernel.func @wide(read %x : {{.*}}, write %o : {{.*}}) []
// CHECK-NEXT:    kernel.parallel d2 : 2 {
// CHECK-NEXT:      %acc = kernel.local stack = -inf : f32 : !kernel.buf<f32[2560]>
// CHECK-NEXT:      kernel.for d3 : 8 {
// CHECK-NEXT:        kernel.parallel d0 : min(-2560 * d2 + 5000, 2560) {
// CHECK-NEXT:          kernel.reduce d4 : 8 [max] -> f32 {
// CHECK-NEXT:            kernel.load %x[d0 + 2560 * d2 + 40000 * d3 + 5000 * d4] : f32
// CHECK:               kernel.store max
// CHECK:           kernel.for d5 : 3 {
// CHECK-NEXT:        kernel.parallel d0
// CHECK-NEXT:          kernel.load %x[d0 + 2560 * d2 + 5000 * d5 + 320000] : f32
// CHECK:           kernel.parallel d0
// CHECK-NEXT:        kernel.load %acc[d0] : f32
// CHECK-NEXT:        kernel.store {{.*}}, %o[d0 + 2560 * d2]
kernel.func @wide(read %x : !kernel.buf<f32[335000]>, write %o : !kernel.buf<f32[5000]>) [] config {target = "cpp"} {
  parallel d0 : 5000 {
    %t = reduce d1 : 67 [max] -> f32 {
      %v = load %x[5000 * d1 + d0] : f32
      yield %v : f32 }
    store %t, %o[d0] } }

// -----

/// Rows that lie in order are left alone.
// CHECK-LABEL: kernel.func @rows
// CHECK-NEXT:    kernel.parallel d0 : 4096 {
// CHECK-NEXT:      kernel.reduce d1 : 768
// CHECK:       // remark: [kernel-privatise] refused rows: its reductions read memory in order
kernel.func @rows(read %x : !kernel.buf<f32[3145728]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 {
    %t = reduce d1 : 768 [add] -> f32 {
      %v = load %x[768 * d0 + d1] : f32
      yield %v : f32 }
    store %t, %o[d0] } }
