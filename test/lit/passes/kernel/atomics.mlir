// RUN: mini-opt %s -p kernel-atomics --split-input-file --print-remarks | filecheck %s

/// An accumulating scatter runs in any order when each addition is atomic.
// CHECK-LABEL: kernel.func @scatter
// CHECK:         kernel.parallel d0 : 64 {
// CHECK:           kernel.store add %v, %o[%j] {by = "atomic"}
kernel.func @scatter(read %i : !kernel.buf<i64[64]>, read %x : !kernel.buf<f32[64]>, update %o : !kernel.buf<f32[8]>) [] config {target = "triton"} {
  for d0 : 64 { %k = load %i[d0] : i64  %j = scalar.bound %k to 8  %v = load %x[d0] : f32  store add %v, %o[%j] } }

// -----

/// A product has no atomic and keeps its order.
// CHECK-LABEL: kernel.func @product
// CHECK:         kernel.for d0 : 64 {
// CHECK:       // remark: [kernel-atomics] refused product: `store mul` depends on the order of iterations
kernel.func @product(read %i : !kernel.buf<i64[64]>, read %x : !kernel.buf<f32[64]>, update %o : !kernel.buf<f32[8]>) [] config {target = "triton"} {
  for d0 : 64 { %k = load %i[d0] : i64  %j = scalar.bound %k to 8  %v = load %x[d0] : f32  store mul %v, %o[%j] } }

// -----

/// No atomic for bytes either.
// CHECK:       // remark: [kernel-atomics] refused bytes: no atomic add on u8
kernel.func @bytes(read %i : !kernel.buf<i64[64]>, read %x : !kernel.buf<u8[64]>, update %o : !kernel.buf<u8[8]>) [] config {target = "triton"} {
  for d0 : 64 { %k = load %i[d0] : i64  %j = scalar.bound %k to 8  %v = load %x[d0] : ui8  store add %v, %o[%j] } }
