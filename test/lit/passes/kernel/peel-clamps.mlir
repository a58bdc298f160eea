// RUN: mini-opt %s --split-input-file -p kernel-peel --print-remarks | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'kernel-peel{clamps=false}' | filecheck %s --check-prefix=OFF

/// The columns of an interpolation are cut where their clamped neighbours reach the borders.
// CHECK-LABEL: kernel.func @columns
// CHECK:         kernel.parallel d0 : 8 {
// CHECK-NEXT:      kernel.parallel d1 : 1 {
// CHECK:           kernel.parallel d1 : 54 {
// CHECK-NEXT:        kernel.load %x[28 * d0 + (d1 floordiv 2)] : f32
// CHECK-NEXT:        kernel.load %x[28 * d0 + (d1 floordiv 2) + 1] : f32
// CHECK:           kernel.parallel d1 : 1 {
// CHECK-NEXT:        kernel.load %x[28 * d0 + 27] : f32
// OFF-LABEL:   kernel.func @columns
// OFF-COUNT-2:   kernel.parallel
// OFF-NOT:       kernel.parallel
kernel.func @columns(read %x : !kernel.buf<f32[224]>, write %o : !kernel.buf<f32[448]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    parallel d1 : 56 {
      %a = load %x[28 * d0 + (max(0, 2 * d1 - 1) floordiv 4)] : f32
      %b = load %x[28 * d0 + min((max(0, 2 * d1 - 1) floordiv 4) + 1, 27)] : f32
      %c = scalar.add %a, %b : f32
      store %c, %o[56 * d0 + d1] } } }

// -----

/// Negative twins: a clamp of the row, a loop too short to be cut, a clamp that depends on a size.
// CHECK-LABEL: kernel.func @rows
// CHECK-COUNT-2: kernel.parallel
// CHECK-LABEL: kernel.func @short
// CHECK-COUNT-1: kernel.parallel
// CHECK-LABEL: kernel.func @sized
// CHECK-COUNT-1: kernel.parallel
// CHECK:       // remark: [kernel-peel] refused short: d0 is too short to be cut in 2
// OFF-LABEL:   kernel.func @rows
kernel.func @rows(read %x : !kernel.buf<f32[224]>, write %o : !kernel.buf<f32[448]>) [] config {target = "cpp"} {
  parallel d0 : 16 {
    parallel d1 : 28 {
      %a = load %x[28 * min(d0, 7) + d1] : f32
      store %a, %o[28 * d0 + d1] } } }
kernel.func @short(read %x : !kernel.buf<f32[16]>, write %o : !kernel.buf<f32[16]>) [] config {target = "cpp"} {
  parallel d0 : 16 {
    %a = load %x[min(d0, 7)] : f32
    store %a, %o[d0] } }
kernel.func @sized(read %x : !kernel.buf<f32[1000]>, write %o : !kernel.buf<f32[1000]>) [s0] config {target = "cpp"} {
  parallel d0 : 1000 {
    %a = load %x[min(d0, s0)] : f32
    store %a, %o[d0] } }
