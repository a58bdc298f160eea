// RUN: mini-opt %s -p kernel-abreast --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-abreast{abreast=1}" --split-input-file | filecheck %s --check-prefix OFF
// RUN: mini-opt %s -p kernel-abreast --split-input-file -t cpp | filecheck %s --check-prefix CPP

/// Four short rows at once, one stage of all of them after the other.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 1024 <run threads> {
// CHECK-NEXT:      %m = kernel.reduce d1 : 64
// CHECK-NEXT:        kernel.load %x[256 * d0 + d1]
// CHECK:           %m_1 = kernel.reduce d1 : 64
// CHECK-NEXT:        kernel.load %x[256 * d0 + d1 + 64]
// CHECK:           kernel.reduce d1 : 64
// CHECK:           kernel.reduce d1 : 64
// CHECK:           kernel.parallel d1 : 64
// CHECK:             kernel.store %{{.*}}, %o[256 * d0 + d1]
// CHECK:           kernel.parallel d1 : 64
// CHECK:             kernel.store %{{.*}}, %o[256 * d0 + d1 + 64]
// OFF-LABEL:   kernel.func @rows
// OFF:           kernel.parallel d0 : 4096 <run threads> {
// CPP:         const auto total_3 = acc_3.total();
kernel.func @rows(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[262144]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 4096 <run threads> {
    %m = reduce d1 : 64 <lanes 16> [max] -> f32 {
      %v = load %x[64 * d0 + d1] : f32
      yield %v : f32 }
    parallel d1 : 64 <lanes 16> {
      %w = load %x[64 * d0 + d1] : f32
      %s = scalar.sub %w, %m : f32
      store %s, %o[64 * d0 + d1] } } }

// -----

/// Not: an odd number of rows, long rows, few of them, one stage only.
// CHECK-LABEL: kernel.func @odd
// CHECK:         kernel.parallel d0 : 4097 {
// CHECK-LABEL: kernel.func @long
// CHECK:         kernel.parallel d0 : 4096 {
// CHECK-LABEL: kernel.func @few
// CHECK:         kernel.parallel d0 : 32 {
// CHECK-LABEL: kernel.func @one
// CHECK:         kernel.parallel d0 : 4096 {
kernel.func @odd(read %x : !kernel.buf<f32[262208]>, write %o : !kernel.buf<f32[262208]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 4097 {
    %m = reduce d1 : 64 <lanes 16> [max] -> f32 { %v = load %x[64 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 64 <lanes 16> { %w = load %x[64 * d0 + d1] : f32  %s = scalar.sub %w, %m : f32  store %s, %o[64 * d0 + d1] } } }
kernel.func @long(read %x : !kernel.buf<f32[8388608]>, write %o : !kernel.buf<f32[8388608]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 4096 {
    %m = reduce d1 : 2048 <lanes 16> [max] -> f32 { %v = load %x[2048 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 2048 <lanes 16> { %w = load %x[2048 * d0 + d1] : f32  %s = scalar.sub %w, %m : f32  store %s, %o[2048 * d0 + d1] } } }
kernel.func @few(read %x : !kernel.buf<f32[2048]>, write %o : !kernel.buf<f32[2048]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 32 {
    %m = reduce d1 : 64 <lanes 16> [max] -> f32 { %v = load %x[64 * d0 + d1] : f32  yield %v : f32 }
    parallel d1 : 64 <lanes 16> { %w = load %x[64 * d0 + d1] : f32  %s = scalar.sub %w, %m : f32  store %s, %o[64 * d0 + d1] } } }
kernel.func @one(read %x : !kernel.buf<f32[262144]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 4096 {
    %m = reduce d1 : 64 <lanes 16> [max] -> f32 { %v = load %x[64 * d0 + d1] : f32  yield %v : f32 }
    store %m, %o[d0] } }
