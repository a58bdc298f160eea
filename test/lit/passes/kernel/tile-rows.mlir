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
