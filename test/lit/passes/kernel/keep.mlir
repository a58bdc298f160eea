// RUN: mini-opt %s -p kernel-keep --split-input-file --print-remarks | filecheck %s
// RUN: mini-opt %s -p "kernel-keep{room=1024}" --split-input-file --print-remarks | filecheck %s --check-prefix SMALL

/// The exponentials of a softmax wait in the output row for their sum.
// CHECK-LABEL: kernel.func @softmax
// CHECK:           %s = kernel.reduce d1 : 1024 [add] -> f32 {
// CHECK:             %e = scalar.exp %c : f32
// CHECK-NEXT:        kernel.store %e, %o[1024 * d0 + d1]
// CHECK-NEXT:        kernel.yield %e : f32
// CHECK:           kernel.parallel d2 : 1024 {
// CHECK-NEXT:        %e_1 = kernel.load %o[1024 * d0 + d2] : f32
// CHECK-NEXT:        %q = scalar.div %e_1, %s : f32
// CHECK-NEXT:        kernel.store %q, %o[1024 * d0 + d2]
kernel.func @softmax(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %m = reduce d1 : 1024 [max] -> f32 {
      %v = load %x[1024 * d0 + d1] : f32
      yield %v : f32 }
    %s = reduce d1 : 1024 [add] -> f32 {
      %v = load %x[1024 * d0 + d1] : f32
      %c = scalar.sub %v, %m : f32
      %e = scalar.exp %c : f32
      yield %e : f32 }
    parallel d2 : 1024 {
      %v = load %x[1024 * d0 + d2] : f32
      %c = scalar.sub %v, %m : f32
      %e = scalar.exp %c : f32
      %q = scalar.div %e, %s : f32
      store %q, %o[1024 * d0 + d2] } } }

// -----

/// A cheap value is computed again.
// CHECK-LABEL: kernel.func @cheap
// CHECK-NOT:     kernel.load %o
kernel.func @cheap(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %s = reduce d1 : 1024 [add] -> f32 {
      %v = load %x[1024 * d0 + d1] : f32
      %c = scalar.neg %v : f32
      yield %c : f32 }
    parallel d1 : 1024 {
      %v = load %x[1024 * d0 + d1] : f32
      %c = scalar.neg %v : f32
      %q = scalar.div %c, %s : f32
      store %q, %o[1024 * d0 + d1] } } }

// -----

/// An output of another type, or one that the kernel also reads, holds nothing in between: the values
/// wait in a row of the kernel's own, if there is room for it.
// CHECK-LABEL: kernel.func @half
// CHECK-NOT:     kernel.load %o
// CHECK:         %row = kernel.local stack : !kernel.buf<f32[1024]>
// CHECK:           kernel.store %e, %row[d1]
// CHECK:           %e_1 = kernel.load %row[d2] : f32
// SMALL-LABEL: kernel.func @half
// SMALL-NOT:     kernel.local
// SMALL:       // remark: [kernel-keep] refused half: no output of its type could hold a value
kernel.func @half(update %x : !kernel.buf<f32[65536]>, read %y : !kernel.buf<f32[65536]>, write %o : !kernel.buf<bf16[65536]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %s = reduce d1 : 1024 [add] -> f32 {
      %v = load %y[1024 * d0 + d1] : f32
      %e = scalar.exp %v : f32
      yield %e : f32 }
    parallel d2 : 1024 {
      %v = load %y[1024 * d0 + d2] : f32
      %e = scalar.exp %v : f32
      %q = scalar.div %e, %s : f32
      %h = scalar.cast %q : f32 to bf16
      store %h, %o[1024 * d0 + d2]
      store add %q, %x[1024 * d0 + d2] } } }
