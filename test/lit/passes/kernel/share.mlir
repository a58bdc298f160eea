// RUN: mini-opt %s -p kernel-share --split-input-file --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-share{share=false}' --split-input-file | filecheck %s --check-prefix=OFF

/// The exponentials of a softmax are multiplied with the reciprocal of their sum, whether the maximum
/// has a pass of its own or comes with the sum.
// OFF-NOT:     inverse
// CHECK-LABEL: kernel.func @softmax
// CHECK:         %[[S:.*]] = kernel.reduce d1 : 64 [add]
// CHECK:         %[[ONE:.*]] = scalar.constant 1.0 : f32
// CHECK-NEXT:    %inverse = scalar.div %[[ONE]], %[[S]] : f32
// CHECK-NEXT:    kernel.parallel d1 : 64 {
// CHECK:           scalar.mul %{{.*}}, %inverse : f32
// CHECK-LABEL: kernel.func @online
// CHECK:         %[[M:.*]], %[[S:.*]] = kernel.reduce d1 : 64 [max_sumexp]
// CHECK:         %inverse = scalar.div %{{.*}}, %[[S]] : f32
kernel.func @softmax(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %m = reduce d1 : 64 [max] -> f32 { %a = load %x[64 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d1 : 64 [add] -> f32 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  %q = scalar.div %e, %s : f32
      store %q, %o[64 * d0 + d1] } } }
kernel.func @online(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %m, %s = reduce d1 : 64 [max_sumexp] -> f32, f32 { %a = load %x[64 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  %q = scalar.div %e, %s : f32
      store %q, %o[64 * d0 + d1] } } }

// -----

/// Negative twins: exponentials of the values themselves, whose sum may be next to nothing; the maximum
/// of another row; a sum of other terms; a term that is no exponential.
// CHECK-LABEL: kernel.func @plain
// CHECK-NOT:     inverse
// CHECK-DAG:   // remark: [kernel-share] refused plain: a sum that may be far below 1 divides as it is
// CHECK-DAG:   // remark: [kernel-share] refused other: a sum that may be far below 1 divides as it is
// CHECK-DAG:   // remark: [kernel-share] refused terms: a sum that may be far below 1 divides as it is
kernel.func @plain(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %s = reduce d1 : 64 [add] -> f32 { %a = load %x[64 * d0 + d1] : f32  %e = scalar.exp %a : f32  yield %e : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %e = scalar.exp %a : f32  %q = scalar.div %e, %s : f32
      store %q, %o[64 * d0 + d1] } } }
kernel.func @other(read %x : !kernel.buf<f32[4096]>, read %y : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %m = reduce d1 : 64 [max] -> f32 { %a = load %y[64 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d1 : 64 [add] -> f32 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  %q = scalar.div %e, %s : f32
      store %q, %o[64 * d0 + d1] } } }
kernel.func @terms(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %m = reduce d1 : 64 [max] -> f32 { %a = load %x[64 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d1 : 64 [add] -> f32 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  %f = scalar.mul %e, %a : f32  yield %f : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  %q = scalar.div %e, %s : f32
      store %q, %o[64 * d0 + d1] } } }
kernel.func @weights(read %x : !kernel.buf<f32[4096]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %s = reduce d1 : 64 [add] -> f32 { %a = load %x[64 * d0 + d1] : f32  yield %a : f32 }
    parallel d1 : 64 { %a = load %x[64 * d0 + d1] : f32  %q = scalar.div %a, %s : f32  store %q, %o[64 * d0 + d1] } } }
