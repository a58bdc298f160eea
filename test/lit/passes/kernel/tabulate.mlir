// RUN: mini-opt %s -p kernel-tabulate --split-input-file | filecheck %s
// RUN: mini-opt %s -p "kernel-tabulate{tables=0}" --split-input-file | filecheck %s --check-prefix OFF
// RUN: mini-opt %s -p kernel-tabulate --split-input-file -t cpp | filecheck %s --check-prefix CPP

/// A costly function of one bf16 is read from a table of its 65536 values; what is rounded to bf16 on
/// the way starts another. A function of a byte is permuted in registers, a full one at a time.
// CHECK-LABEL: kernel.func @halves
// CHECK:         %v = kernel.load %x[d0] : bf16
// CHECK-NEXT:    %s = scalar.lookup %v -> f32 {
// CHECK:           scalar.sigmoid
// CHECK:           scalar.yield
// CHECK:         %w = kernel.load %y[d0] : bf16
// CHECK:         %m = scalar.mul %s, %b : f32
// CHECK:         %h = scalar.cast %m : f32 to bf16
// CHECK-NEXT:    %r = scalar.lookup %h -> bf16 {
// CHECK:           scalar.tanh
// CHECK:         kernel.store %r, %o[d0]
// OFF-LABEL:   kernel.func @halves
// OFF-NOT:       lookup
// CPP:         alignas(64) static f32 halves_table0[65536 + 64 / sizeof(f32)];
// CPP-NEXT:    __attribute__((constructor)) static void fill_halves_table0() {
// CPP-NEXT:      lane_loop<32, 1, 3>(0, 65536, [&](auto L, i64 d0) HOT {
// CPP-NEXT:        const auto v = ramp<u16>(L, d0, 1);
// CPP:             m_sigmoid(
// CPP:         lookup(L, halves_table0, v)
// CPP:         lookup(L, halves_table1,
kernel.func @halves(read %x : !kernel.buf<bf16[1048576]>, read %y : !kernel.buf<bf16[1048576]>, write %o : !kernel.buf<bf16[1048576]>) [] config {target = "cpp", isa = "avx512", math = "bf16"} {
  parallel d0 : 1048576 <lanes 32> {
    %v = load %x[d0] : bf16
    %a = scalar.cast %v : bf16 to f32
    %s = scalar.sigmoid %a : f32
    %w = load %y[d0] : bf16
    %b = scalar.cast %w : bf16 to f32
    %m = scalar.mul %s, %b : f32
    %h = scalar.cast %m : f32 to bf16
    %c = scalar.cast %h : bf16 to f32
    %t = scalar.tanh %c : f32
    %u = scalar.mul %t, %c : f32
    %z = scalar.mul %u, %c : f32
    %r = scalar.cast %z : f32 to bf16
    store %r, %o[d0] } }

// -----

// CHECK-LABEL: kernel.func @bytes
// CHECK:         <lanes 64,
// CHECK:         scalar.lookup %v -> ui8 {
// OFF-LABEL:   kernel.func @bytes
// OFF:           <lanes 16, unroll 4,
// CPP:         static u8 bytes_table0[256 +
kernel.func @bytes(read %x : !kernel.buf<u8[65536]>, write %o : !kernel.buf<u8[65536]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 65536 <lanes 16, unroll 4> {
    %v = load %x[d0] : ui8
    %a = scalar.cast %v : ui8 to f32
    %q = scalar.sqrt %a : f32
    %r = scalar.cast %q : f32 to ui8
    store %r, %o[d0] } }

// -----

/// Not: few values, too cheap a function, one of two values, one of 32 bits.
// CHECK-LABEL: kernel.func @few
// CHECK-NOT:     lookup
// CHECK-LABEL: kernel.func @others
// CHECK-NOT:     lookup
kernel.func @few(read %x : !kernel.buf<bf16[1024]>, write %o : !kernel.buf<bf16[1024]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 1024 <lanes 32> {
    %v = load %x[d0] : bf16
    %a = scalar.cast %v : bf16 to f32
    %s = scalar.sigmoid %a : f32
    %r = scalar.cast %s : f32 to bf16
    store %r, %o[d0] } }
kernel.func @others(read %x : !kernel.buf<bf16[1048576]>, read %y : !kernel.buf<bf16[1048576]>, read %z : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp", isa = "avx512"} {
  parallel d0 : 1048576 <lanes 32> {
    %v = load %x[d0] : bf16
    %a = scalar.cast %v : bf16 to f32
    %e = scalar.exp %a : f32
    %w = load %y[d0] : bf16
    %b = scalar.cast %w : bf16 to f32
    %d = scalar.add %a, %b : f32
    %s = scalar.sigmoid %d : f32
    %f = load %z[d0] : f32
    %g = scalar.sigmoid %f : f32
    %p = scalar.add %e, %s : f32
    %r = scalar.add %p, %g : f32
    store %r, %o[d0] } }
