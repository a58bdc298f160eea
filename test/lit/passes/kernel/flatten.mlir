// RUN: mini-opt %s -p kernel-flatten --split-input-file --print-remarks | filecheck %s

/// Two loops of one sum become one; the digits of a number become the number.
// CHECK-LABEL: kernel.func @nested
// CHECK:         %s = kernel.reduce d1 : 401408 [add] -> f32 {
// CHECK-NEXT:      %v = kernel.load %x[3136 * d0 + 200704 * (d1 floordiv 3136) + (d1 mod 3136)] : f32
// CHECK-NEXT:      kernel.yield %v : f32
kernel.func @nested(read %x : !kernel.buf<f32[25690112]>, write %o : !kernel.buf<f32[64]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %s = reduce d1 : 128 [add] -> f32 {
      %t = reduce d2 : 3136 [add] -> f32 {
        %v = load %x[3136 * d0 + 200704 * d1 + 56 * (d2 floordiv 56) + (d2 mod 56)] : f32  yield %v : f32 }
      yield %t : f32 }
    store %s, %o[d0] } }

// -----

/// Parallel loops over as many elements as a reduction beside them: stages of one row.
// CHECK-LABEL: kernel.func @stages
// CHECK:         %s = kernel.reduce d1 : 96 [add] -> f32 {
// CHECK:         kernel.parallel d1 : 96 {
// CHECK-NEXT:      %a = kernel.load %x[96 * d0 + d1] : f32
// CHECK-NEXT:      %w = kernel.load %g[(d1 floordiv 32)] : f32
kernel.func @stages(read %x : !kernel.buf<f32[960]>, read %g : !kernel.buf<f32[3]>, write %o : !kernel.buf<f32[960]>) [] config {target = "triton"} {
  parallel d0 : 10 {
    %s = reduce d1 : 96 [add] -> f32 { %v = load %x[96 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 3 { parallel d2 : 32 {
      %a = load %x[96 * d0 + 32 * d1 + d2] : f32  %w = load %g[d1] : f32  %b = scalar.mul %a, %w : f32
      %c = scalar.sub %b, %s : f32  store %c, %o[96 * d0 + 32 * d1 + d2] } } } }

// -----

/// A channel, a row and a column of an image make up the place in memory.
// CHECK-LABEL: kernel.func @image
// CHECK:           kernel.load %x[25088 * d0 + d1] : f32
kernel.func @image(read %x : !kernel.buf<f32[250880]>, write %o : !kernel.buf<f32[10]>) [] config {target = "triton"} {
  parallel d0 : 10 {
    %s = reduce d1 : 25088 [add] -> f32 {
      %v = load %x[25088 * d0 + 3136 * (d1 floordiv 3136) + 56 * ((d1 mod 3136) floordiv 56) + (d1 mod 56)] : f32  yield %v : f32 }
    store %s, %o[d0] } }

// -----

/// What happens once in a turn of the outer loop, and a maximum of sums, stay as they are; so do
/// digits of other numbers.
// CHECK-LABEL: kernel.func @apart
// CHECK:         kernel.reduce d0 : 8 [max] -> f32 {
// CHECK-NEXT:      %t = kernel.reduce d1 : 16 [add] -> f32 {
// CHECK-NEXT:        %v = kernel.load %x[16 * d0 + (d1 mod 4) + 8 * (((d1 floordiv 4)) mod 2)] : f32
// CHECK:       // remark: [kernel-flatten] refused apart: the two reductions combine in different ways
kernel.func @apart(read %x : !kernel.buf<f32[256]>, write %o : !kernel.buf<f32[1]>) [] config {target = "triton"} {
  %m = reduce d0 : 8 [max] -> f32 {
    %t = reduce d1 : 16 [add] -> f32 { %v = load %x[16 * d0 + (d1 mod 4) + 8 * ((d1 floordiv 4) mod 2)] : f32  yield %v : f32 }
    yield %t : f32 }
  store %m, %o[0] }
