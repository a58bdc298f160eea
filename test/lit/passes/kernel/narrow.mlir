// RUN: mini-opt %s -p kernel-narrow --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-narrow{narrow=false}' | filecheck %s --check-prefix=OFF

/// Between 0 and 255: the way through i32 gives the same byte.
// CHECK-LABEL: kernel.func @bytes
// CHECK:         %[[I:.*]] = scalar.cast %b : f32 to i32
// CHECK-NEXT:    scalar.cast %[[I]] : i32 to ui8
// OFF-LABEL:   kernel.func @bytes
// OFF:           scalar.cast %b : f32 to ui8
kernel.func @bytes(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<u8[64]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %v = load %x[d0] : f32  %z = scalar.constant 0.0 : f32  %t = scalar.constant 255.0 : f32
    %a = scalar.maximum %z, %v : f32  %b = scalar.minimum %t, %a : f32
    %u = scalar.cast %b : f32 to ui8  store %u, %o[d0] } }

/// Bounded on one side only; signed types need no detour.
// CHECK-LABEL: kernel.func @open
// CHECK:         scalar.cast %a : f32 to ui8
// CHECK-LABEL: kernel.func @signed
// CHECK:         scalar.cast %v : f32 to i8
// CHECK:       // remark: [kernel-narrow] refused open: a float that becomes u8 may be large
kernel.func @open(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<u8[64]>) [] config {target = "triton"} {
  parallel d0 : 64 {
    %v = load %x[d0] : f32  %z = scalar.constant 0.0 : f32  %a = scalar.maximum %z, %v : f32
    %u = scalar.cast %a : f32 to ui8  store %u, %o[d0] } }
kernel.func @signed(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<i8[64]>) [] config {target = "triton"} {
  parallel d0 : 64 { %v = load %x[d0] : f32  %u = scalar.cast %v : f32 to i8  store %u, %o[d0] } }
