// RUN: mini-opt %s -p kernel-peel --split-input-file --print-remarks | filecheck %s

/// The parts of a cat become plain copies.
// CHECK-LABEL: kernel.func @cat
// CHECK-NEXT:    kernel.parallel d0 : 512 {
// CHECK-NEXT:      %a = kernel.load %x[d0] : f32
// CHECK-NEXT:      kernel.store %a, %o[d0]
// CHECK-NEXT:    }
// CHECK-NEXT:    kernel.parallel d0 : 256 {
// CHECK-NEXT:      %b = kernel.load %y[d0] : f32
// CHECK-NEXT:      kernel.store %b, %o[d0 + 512]
// CHECK-NEXT:    }
kernel.func @cat(read %x : !kernel.buf<f32[512]>, read %y : !kernel.buf<f32[256]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  parallel d0 : 768 {
    %c = scalar.within d0 in 0 to 512
    %v = scalar.if %c -> f32 {
      %a = kernel.load %x[d0] : f32
      yield %a : f32
    } else {
      %b = kernel.load %y[d0 - 512] : f32
      yield %b : f32
    }
    store %v, %o[d0] } }

// -----

/// A condition on a multiple of the variable, and a variable that runs backwards.
// CHECK-LABEL: kernel.func @strided
// CHECK-NEXT:    kernel.parallel d0 : 1 {
// CHECK-NEXT:      %z = scalar.constant 0.0 : f32
// CHECK-NEXT:      kernel.store %z, %o[0]
// CHECK:         kernel.parallel d0 : 99 {
// CHECK-NEXT:      %a = kernel.load %x[2 * d0 + 1] : f32
// CHECK-NEXT:      kernel.store %a, %o[d0 + 1]
kernel.func @strided(read %x : !kernel.buf<f32[200]>, write %o : !kernel.buf<f32[100]>) [] config {target = "cpp"} {
  parallel d0 : 100 {
    %c = scalar.within 2 * d0 - 1 in 0 to 200
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 {
      %a = kernel.load %x[2 * d0 - 1] : f32
      yield %a : f32
    } else {
      yield %z : f32
    }
    store %v, %o[d0] } }

// -----

/// A loop of one vector is not cut in three.
// CHECK-LABEL: kernel.func @short
// CHECK-NEXT:    kernel.parallel d0 : 10 {
// CHECK:       // remark: [kernel-peel] refused short: d0 is too short to be cut in 3
kernel.func @short(read %x : !kernel.buf<f32[8]>, write %o : !kernel.buf<f32[10]>) [] config {target = "cpp"} {
  parallel d0 : 10 {
    %c = scalar.within d0 in 1 to 9
    %z = scalar.constant 0.0 : f32
    %v = scalar.if %c -> f32 {
      %a = kernel.load %x[d0 - 1] : f32
      yield %a : f32
    } else {
      yield %z : f32
    }
    store %v, %o[d0] } }
