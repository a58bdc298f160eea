// RUN: mini-opt %s -p kernel-tile --split-input-file | filecheck %s

/// What a row is told once decides nothing, wide as it is: rows of a table go along the row.
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.parallel d0 : 4096 {
// CHECK-NEXT:      kernel.parallel d1 : 512 {
// CHECK-NOT:     kernel.transpose
kernel.func @rows(read %i : !kernel.buf<i64[4096]>, read %w : !kernel.buf<bf16[10240000]>, write %o : !kernel.buf<bf16[2097152]>) [] config {target = "cpp"} {
  parallel d0 : 4096 {
    parallel d1 : 512 {
      %k = load %i[d0] : i64
      %v = load %w[512 * %k + d1] : bf16
      store %v, %o[512 * d0 + d1] } } }

// -----

/// Negative twin: two accesses of both loops that disagree are tiled.
// CHECK-LABEL: kernel.func @across
// CHECK:         kernel.transpose
kernel.func @across(read %i : !kernel.buf<i64[4096]>, read %w : !kernel.buf<i64[2097152]>, write %o : !kernel.buf<i64[2097152]>) [] config {target = "cpp"} {
  parallel d0 : 4096 {
    parallel d1 : 512 {
      %k = load %i[d0] : i64
      %v = load %w[d0 + 4096 * d1] : i64
      %s = scalar.add %k, %v : i64
      store %s, %o[512 * d0 + d1] } } }

// -----

/// Where all accesses are of two bytes a tile's row is a whole line: twice the side.
// CHECK-LABEL: kernel.func @narrow
// CHECK:         kernel.local reg : !kernel.buf<bf16[1024]>
// CHECK:         kernel.transpose %t[32, 32]
kernel.func @narrow(read %x : !kernel.buf<bf16[8192]>, write %o : !kernel.buf<bf16[8192]>) [] config {target = "cpp"} {
  parallel d0 : 64 { parallel d1 : 128 {
    %v = load %x[d0 + 64 * d1] : bf16  store %v, %o[128 * d0 + d1] } } }

// -----

/// Negative twins: a loop too short for that, and an f32 result.
// CHECK-LABEL: kernel.func @short
// CHECK:         kernel.transpose %t[16, 16]
// CHECK-LABEL: kernel.func @mixed
// CHECK:         kernel.transpose %t[16, 16]
kernel.func @short(read %x : !kernel.buf<bf16[3072]>, write %o : !kernel.buf<bf16[3072]>) [] config {target = "cpp"} {
  parallel d0 : 24 { parallel d1 : 128 {
    %v = load %x[d0 + 24 * d1] : bf16  store %v, %o[128 * d0 + d1] } } }
kernel.func @mixed(read %x : !kernel.buf<bf16[8192]>, write %o : !kernel.buf<f32[8192]>) [] config {target = "cpp"} {
  parallel d0 : 64 { parallel d1 : 128 {
    %v = load %x[d0 + 64 * d1] : bf16  %w = scalar.cast %v : bf16 to f32  store %w, %o[128 * d0 + d1] } } }
