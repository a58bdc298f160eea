// RUN: mini-opt %s -p 'kernel-collapse,kernel-blocks' --print-remarks | filecheck %s
// RUN: mini-opt %s -p 'kernel-collapse{collapse=false}' | filecheck %s --check-prefix=OFF

/// A pooling by two: one loop, and one element a thread, so that what threads load lies together.
// CHECK-LABEL: kernel.func @pool
// CHECK-SAME:    vector = 1, warps = 8
// CHECK:         kernel.parallel d0 : 6272 <run grid, lanes 512, tail mask> {
// CHECK-NEXT:      %a = kernel.load %x[60 * (d0 floordiv 28) + 2 * (d0 mod 28)]
// CHECK:           kernel.store %{{.*}}, %o[d0]
// OFF-LABEL:   kernel.func @pool
// OFF:           kernel.parallel d1 : 28
kernel.func @pool(read %x : !kernel.buf<f32[26880]>, write %o : !kernel.buf<f32[6272]>) [] config {target = "triton"} {
  parallel d0 : 224 { parallel d1 : 28 {
    %a = load %x[60 * d0 + 2 * d1] : f32  %b = load %x[60 * d0 + 2 * d1 + 1] : f32
    %s = scalar.add %a, %b : f32  store %s, %o[28 * d0 + d1] } } }

/// Neighbours share the one load of an upsampling to the nearest: no vector is lost. With two loads
/// (`double` below) each would need divisions of its own.
// CHECK-LABEL: kernel.func @nearest
// CHECK:         kernel.parallel d0 : 12544 <run grid, lanes 1024, tail mask> {
// CHECK-NEXT:      %a = kernel.load %x[(d0 floordiv 2)]
// OFF-LABEL:   kernel.func @nearest
// OFF:           kernel.parallel d1 : 56
kernel.func @nearest(read %x : !kernel.buf<f32[6272]>, write %o : !kernel.buf<f32[12544]>) [] config {target = "triton"} {
  parallel d0 : 224 { parallel d1 : 56 {
    %a = load %x[28 * d0 + (d1 floordiv 2)] : f32
    %s = scalar.neg %a : f32  store %s, %o[56 * d0 + d1] } } }

/// Loads in order keep their vectors; so do upsamplings, whose threads read what lies together; a
/// store that leaves gaps would need the digits too.
// CHECK-LABEL: kernel.func @order
// CHECK:         kernel.parallel d1 : 28
// CHECK-LABEL: kernel.func @double
// CHECK:         kernel.parallel d1 : 56
// CHECK-LABEL: kernel.func @gaps
// CHECK:         kernel.parallel d1 : 28
// CHECK-DAG:   // remark: [kernel-collapse] refused order: fewer than two loads lie apart
// CHECK-DAG:   // remark: [kernel-collapse] refused double: fewer than two loads lie apart
// CHECK-DAG:   // remark: [kernel-collapse] refused gaps: a store is not in order along all loops
kernel.func @order(read %x : !kernel.buf<f32[12544]>, write %o : !kernel.buf<f32[6272]>) [] config {target = "triton"} {
  parallel d0 : 224 { parallel d1 : 28 {
    %a = load %x[56 * d0 + d1] : f32  %b = load %x[56 * d0 + d1 + 28] : f32
    %s = scalar.add %a, %b : f32  store %s, %o[28 * d0 + d1] } } }
kernel.func @double(read %x : !kernel.buf<f32[6272]>, write %o : !kernel.buf<f32[12544]>) [] config {target = "triton"} {
  parallel d0 : 224 { parallel d1 : 56 {
    %a = load %x[28 * d0 + (d1 floordiv 2)] : f32  %b = load %x[28 * d0 + ((d1 + 1) floordiv 2)] : f32
    %s = scalar.add %a, %b : f32  store %s, %o[56 * d0 + d1] } } }
kernel.func @gaps(read %x : !kernel.buf<f32[25088]>, write %o : !kernel.buf<f32[12544]>) [] config {target = "triton"} {
  parallel d0 : 224 { parallel d1 : 28 {
    %a = load %x[56 * d0 + 2 * d1] : f32  %b = load %x[56 * d0 + 2 * d1 + 1] : f32
    %s = scalar.add %a, %b : f32  store %s, %o[56 * d0 + d1] } } }
