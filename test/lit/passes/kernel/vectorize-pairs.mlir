// RUN: mini-opt %s -p 'kernel-vectorize{isa=avx512}' --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-vectorize{isa=avx512 pairs=1}' --split-input-file | filecheck %s --check-prefix=ONE

/// A chain of costly functions: two registers side by side, whose steps do not wait for each other.
// CHECK-LABEL: kernel.func @chain
// CHECK:         kernel.parallel d0 : 65536 <lanes 32, tail none> {
// ONE-LABEL:   kernel.func @chain
// ONE:           kernel.parallel d0 : 65536 <lanes 16, tail none> {
kernel.func @chain(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 65536 {
    %v = load %x[d0] : f32
    %t = scalar.tanh %v : f32
    %e = scalar.exp %t : f32
    store %e, %o[d0] } }

// -----

/// Negative twins: a light body waits for memory, two functions beside each other wait for neither,
/// and of a short row too many lanes would idle.
// CHECK-LABEL: kernel.func @light
// CHECK:         kernel.parallel d0 : 65536 <lanes 16, unroll 4, tail none> {
// CHECK-LABEL: kernel.func @beside
// CHECK:         kernel.parallel d0 : 65536 <lanes 16, unroll 4, tail none> {
// CHECK-LABEL: kernel.func @short
// CHECK:           kernel.parallel d1 : 40 <lanes 16, tail {{scalar|mask}}> {
// ONE-LABEL:   kernel.func @light
kernel.func @light(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 65536 { %v = load %x[d0] : f32  %e = scalar.exp %v : f32  store %e, %o[d0] } }
kernel.func @beside(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 65536 {
    %v = load %x[d0] : f32
    %s = scalar.sin %v : f32
    %c = scalar.cos %v : f32
    %a = scalar.add %s, %c : f32
    store %a, %o[d0] } }
kernel.func @short(read %x : !kernel.buf<f32[1600]>, write %o : !kernel.buf<f32[1600]>) [] config {target = "cpp"} {
  parallel d0 : 40 { parallel d1 : 40 {
    %v = load %x[40 * d0 + d1] : f32
    %t = scalar.tanh %v : f32
    %e = scalar.exp %t : f32
    store %e, %o[40 * d0 + d1] } } }

// -----

/// Elements of two bytes are stored a whole register at a time; a float beside them has lanes enough.
// CHECK-LABEL: kernel.func @narrow
// CHECK:         kernel.parallel d0 : 65536 <lanes 32, unroll 2, tail none> {
// ONE-LABEL:   kernel.func @narrow
// ONE:           kernel.parallel d0 : 65536 <lanes 16, unroll 4, tail none> {
// CHECK-LABEL: kernel.func @widening
// CHECK:         kernel.parallel d0 : 65536 <lanes 16, unroll 4, tail none> {
kernel.func @narrow(read %x : !kernel.buf<f32[65536]>, write %o : !kernel.buf<bf16[65536]>) [] config {target = "cpp"} {
  parallel d0 : 65536 { %v = load %x[d0] : f32  %e = scalar.cast %v : f32 to bf16  store %e, %o[d0] } }
kernel.func @widening(read %x : !kernel.buf<bf16[65536]>, write %o : !kernel.buf<f32[65536]>) [] config {target = "cpp"} {
  parallel d0 : 65536 { %v = load %x[d0] : bf16  %e = scalar.cast %v : bf16 to f32  store %e, %o[d0] } }

// -----

/// A short loop takes pairs where that makes no more registers: two of 32 lanes for four of 16.
/// Negative twin: 40 iterations are three registers of 16 lanes, and would be four in pairs.
// CHECK-LABEL: kernel.func @short
// CHECK:         kernel.parallel d0 : 54 <lanes 32
// CHECK-LABEL: kernel.func @shorter
// CHECK:         kernel.parallel d0 : 40 <lanes 16
kernel.func @short(read %x : !kernel.buf<bf16[54]>, write %o : !kernel.buf<bf16[54]>) [] config {target = "cpp"} {
  parallel d0 : 54 {
    %v = load %x[d0] : bf16  %w = scalar.cast %v : bf16 to f32  %s = scalar.mul %w, %w : f32
    %r = scalar.cast %s : f32 to bf16  store %r, %o[d0] } }
kernel.func @shorter(read %x : !kernel.buf<bf16[40]>, write %o : !kernel.buf<bf16[40]>) [] config {target = "cpp"} {
  parallel d0 : 40 {
    %v = load %x[d0] : bf16  %w = scalar.cast %v : bf16 to f32  %s = scalar.mul %w, %w : f32
    %r = scalar.cast %s : f32 to bf16  store %r, %o[d0] } }
