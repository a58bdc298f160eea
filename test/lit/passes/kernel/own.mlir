// RUN: mini-opt %s -p kernel-own --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-own{own=false}' --split-input-file | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s -p kernel-own --split-input-file -t cpp | filecheck %s --check-prefix=CPP
// RUN: mini-opt %s -p kernel-own --split-input-file --print-remarks | filecheck %s --check-prefix=WHY

/// Each thread works on the rows of the result that are its own; it looks at an index once a row.
// OFF-NOT:     owner
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.for d0 : 2048 <run threads> {
// CHECK-NEXT:      kernel.load %i[d0] : i64
// CHECK-NEXT:      scalar.bound
// CHECK-NEXT:      kernel.parallel d1 : 512
// CHECK:             kernel.store add %{{.*}}, %o[d1 + 512 * %j] {by = "owner"}
// CPP:           if (512 * j >= own0.lo && 512 * j < own0.hi)
kernel.func @rows(read %x : !kernel.buf<f32[1048576]>, read %i : !kernel.buf<i64[2048]>, update %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  for d0 : 2048 { parallel d1 : 512 <lanes 16, unroll 4, tail none> {
    %k = load %i[d0] : i64  %j = scalar.bound %k to 2048 wrap  %v = load %x[512 * d0 + d1] : f32
    store add %v, %o[512 * %j + d1] } } }

// -----

/// Negative twins: single elements, little work, rows that overlap, a result that the loop reads.
// CHECK-LABEL: kernel.func @elements
// CHECK-NOT:     owner
// WHY: [kernel-own] refused elements: its rows are short
// WHY: [kernel-own] refused small: work {{[0-9]+}} does not pay
// WHY: [kernel-own] refused windows: its stores do not lie in rows that the data name
// WHY: [kernel-own] refused reads: it reads what it writes
kernel.func @elements(read %x : !kernel.buf<f32[1048576]>, read %i : !kernel.buf<i64[1048576]>, update %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  for d0 : 1048576 { %k = load %i[d0] : i64  %j = scalar.bound %k to 1024  %v = load %x[d0] : f32  store add %v, %o[%j] } }
kernel.func @small(read %x : !kernel.buf<f32[1024]>, read %i : !kernel.buf<i64[4]>, update %o : !kernel.buf<f32[1024]>) [] config {target = "cpp"} {
  for d0 : 4 { parallel d1 : 256 <lanes 16, tail none> { %k = load %i[d0] : i64  %j = scalar.bound %k to 4  %v = load %x[256 * d0 + d1] : f32  store add %v, %o[256 * %j + d1] } } }
kernel.func @windows(read %x : !kernel.buf<f32[1048576]>, read %i : !kernel.buf<i64[2048]>, update %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  for d0 : 2048 { parallel d1 : 512 <lanes 16, tail none> { %k = load %i[d0] : i64  %j = scalar.bound %k to 2046  %v = load %x[512 * d0 + d1] : f32  store add %v, %o[256 * %j + d1] } } }
kernel.func @reads(read %i : !kernel.buf<i64[2048]>, update %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp"} {
  for d0 : 2048 { parallel d1 : 512 <lanes 16, tail none> { %k = load %i[d0] : i64  %j = scalar.bound %k to 2048  %v = load %o[512 * d0 + d1] : f32  store add %v, %o[512 * %j + d1] } } }
