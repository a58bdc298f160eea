// RUN: mini-opt %s --split-input-file -p kernel-online --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'kernel-online{preset=seed}' | filecheck %s --check-prefix=SEED
// RUN: mini-opt %s --split-input-file -p 'kernel-online{online=never}' | filecheck %s --check-prefix=SEED

/// A row of 2 MB does not stay near: its maximum and its sum of exponentials take one pass.
// CHECK-LABEL: kernel.func @long
// CHECK-SAME:    planned 4000008>
// CHECK:         %m, %s = kernel.reduce d1 : 500000 [max_sumexp] -> f32, f32 {
// CHECK-NEXT:      %a = kernel.load
// CHECK-NEXT:      kernel.yield %a
// CHECK-NOT:     kernel.reduce
// CHECK:         kernel.store %s
// CHECK:       // remark: [kernel-online] accepted long: one pass over the row {bytes = 1000000}
// SEED-LABEL:  kernel.func @long
// SEED-COUNT-2:  kernel.reduce
kernel.func @long(read %x : !kernel.buf<f32[1000000]>, write %o : !kernel.buf<f32[2]>) [] config {target = "cpp"} bytes <floor 4000008, unfused 8000016, planned 8000008> {
  parallel d0 : 2 {
    %m = reduce d1 : 500000 [max] -> f32 { %a = load %x[500000 * d0 + d1] : f32  yield %a : f32 }
    %s = reduce d1 : 500000 [add] -> f32 {
      %a = load %x[500000 * d0 + d1] : f32
      %c = scalar.sub %a, %m : f32
      %e = scalar.exp %c : f32
      yield %e : f32 }
    store %s, %o[d0] } }

// -----

/// logsumexp subtracts 0 for an infinite maximum; the sum is inf or 0 then.
// CHECK-LABEL: kernel.func @safe
// CHECK:         %m, %s = kernel.reduce d0 : 500000 [max_sumexp] -> f32, f32 {
// CHECK:         %[[EQ:.*]] = scalar.eq
// CHECK:         %[[GT:.*]] = scalar.gt %m
// CHECK:         %[[ALT:.*]] = scalar.select %[[GT]]
// CHECK:         %[[SUM:.*]] = scalar.select %{{.*}}, %[[ALT]], %s : f32
// CHECK:         kernel.store %[[SUM]]
// SEED-LABEL:  kernel.func @safe
kernel.func @safe(read %x : !kernel.buf<f32[500000]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %m = reduce d0 : 500000 [max] -> f32 { %a = load %x[d0] : f32  yield %a : f32 }
  %b = scalar.abs %m : f32
  %i = scalar.constant inf : f32
  %t = scalar.eq %b, %i : f32
  %z = scalar.constant 0.0 : f32
  %n = scalar.select %t, %z, %m : f32
  %s = reduce d0 : 500000 [add] -> f32 { %a = load %x[d0] : f32  %c = scalar.sub %a, %n : f32  %e = scalar.exp %c : f32  yield %e : f32 }
  store %s, %o[0] }

// -----

/// Negative twins: a row that stays near; a sum over other data than the maximum.
// CHECK-LABEL: kernel.func @short
// CHECK-COUNT-2: kernel.reduce
// CHECK-LABEL: kernel.func @others
// CHECK-COUNT-2: kernel.reduce
// CHECK:       // remark: [kernel-online] refused short: the row stays near {bytes = 0}
// SEED-LABEL:  kernel.func @short
kernel.func @short(read %x : !kernel.buf<f32[1000]>, write %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  %m = reduce d0 : 1000 [max] -> f32 { %a = load %x[d0] : f32  yield %a : f32 }
  %s = reduce d0 : 1000 [add] -> f32 { %a = load %x[d0] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
  store %s, %o[0] }
kernel.func @others(read %x : !kernel.buf<f32[500000]>, read %y : !kernel.buf<f32[500000]>, write %o : !kernel.buf<f32[1]>) [] config {target = "cpp"} {
  %m = reduce d0 : 500000 [max] -> f32 { %a = load %x[d0] : f32  yield %a : f32 }
  %s = reduce d0 : 500000 [add] -> f32 { %a = load %y[d0] : f32  %c = scalar.sub %a, %m : f32  %e = scalar.exp %c : f32  yield %e : f32 }
  store %s, %o[0] }
