// RUN: mini-opt %s -p kernel-prefetch --split-input-file | filecheck %s
// RUN: mini-opt %s -p 'kernel-prefetch{prefetch=0}' --split-input-file | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s -p kernel-prefetch --split-input-file -t cpp | filecheck %s --check-prefix=CPP

/// A row read by two stages is asked for by the first, 4 KiB ahead, and so is the row that the second
/// writes; weights, which all rows share and which stay in the cache, are not.
// OFF-NOT:     ahead
// CHECK-LABEL: kernel.func @rows
// CHECK:         kernel.load %x[768 * d0 + d1] {ahead = #loop.expr<1024>} : f32
// CHECK:         kernel.load %x[768 * d0 + d2] : f32
// CHECK:         kernel.load %w[d2] : f32
// CHECK:         kernel.store %{{.*}}, %o[768 * d0 + d2] {ahead = #loop.expr<1024>}
// CPP:           fetch<0>(L, x + (i0 + d1) + 1024);
// CPP:           fetch<1>(L, o + (i0 + d2) + 1024);
kernel.func @rows(read %x : !kernel.buf<f32[1572864]>, read %w : !kernel.buf<f32[768]>, write %o : !kernel.buf<f32[1572864]>) [] config {target = "cpp"} {
  parallel d0 : 2048 {
    %s = reduce d1 : 768 <lanes 16, unroll 4, tail none> [add] -> f32 { %a = load %x[768 * d0 + d1] : f32  yield %a : f32 }
    parallel d2 : 768 <lanes 16, unroll 4, tail none> {
      %b = load %x[768 * d0 + d2] : f32  %w2 = load %w[d2] : f32  %c = scalar.mul %b, %w2 : f32  %e = scalar.mul %c, %s : f32
      store %e, %o[768 * d0 + d2] } } }

// -----

/// Short rows that lie apart: 16 rows of 256 bytes further. Planes that lie apart: the whole next plane.
/// Rows walked eight at once: the next eight rows.
// CHECK-LABEL: kernel.func @apart
// CHECK:         kernel.load %x[64 * d0 + 512 * d1 + d2] {ahead = #loop.expr<8192>} : f32
// CHECK:         kernel.load %x[3136 * d3 + 200704 * d4 + d5] {ahead = #loop.expr<200704>} : f32
// CHECK:         kernel.load %x[8192 * d6 + d7 + 1024 * d8] {ahead = #loop.expr<8192>} : f32
kernel.func @apart(read %x : !kernel.buf<f32[1605632]>, write %o : !kernel.buf<f32[64]>, write %p : !kernel.buf<f32[64]>, write %q : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  parallel d0 : 8 {
    %s = reduce d1 : 2048 [add] -> f32 { %t = reduce d2 : 64 <lanes 16, unroll 4, tail none> [add] -> f32 { %a = load %x[64 * d0 + 512 * d1 + d2] : f32  yield %a : f32 }  yield %t : f32 }
    store %s, %o[d0] }
  parallel d3 : 64 {
    %s = reduce d4 : 8 [add] -> f32 { %t = reduce d5 : 3136 <lanes 16, unroll 4, tail none> [add] -> f32 { %a = load %x[3136 * d3 + 200704 * d4 + d5] : f32  yield %a : f32 }  yield %t : f32 }
    store %s, %p[d3] }
  %acc = local stack = 0.0 : f32 : !kernel.buf<f32[512]>
  for d6 : 128 { parallel d7 : 512 <lanes 16, tail none> { %s = reduce d8 : 8 [add] -> f32 { %a = load %x[8192 * d6 + 1024 * d8 + d7] : f32  yield %a : f32 }
      store add %s, %acc[d7] } } }

// -----

/// Negative twins: a buffer that stays in a near cache, a gather, a step of two, stores past the caches,
/// lanes of a quarter line, a row that a later stage reads back.
// CHECK-LABEL: kernel.func @near
// CHECK-NOT:     ahead
kernel.func @near(read %x : !kernel.buf<f32[16384]>, write %o : !kernel.buf<f32[16384]>) [] config {target = "cpp"} {
  parallel d0 : 16384 <lanes 16, unroll 4, tail none> { %a = load %x[d0] : f32  store %a, %o[d0] } }
kernel.func @gather(read %x : !kernel.buf<f32[1048576]>, read %i : !kernel.buf<i64[64]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  parallel d0 : 4096 <lanes 16, tail none> { %j = load %i[d0 floordiv 64] : i64  %k = scalar.bound %j to 65536  %a = load %x[16 * %k + d0] : f32  store %a, %o[d0] } }
kernel.func @steps(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[524288]>) [] config {target = "cpp"} {
  parallel d0 : 524288 <lanes 16, tail none> { %a = load %x[2 * d0] : f32  store %a, %o[d0] {nt} } }
kernel.func @bytes(read %x : !kernel.buf<u8[1048576]>, write %o : !kernel.buf<u8[1048576]>) [] config {target = "cpp"} {
  parallel d0 : 1048576 <lanes 16, tail none> { %a = load %x[d0] : ui8  store %a, %o[d0] } }
kernel.func @kept(read %w : !kernel.buf<f32[768]>, write %o : !kernel.buf<f32[1572864]>) [] config {target = "cpp"} {
  parallel d0 : 2048 {
    parallel d1 : 768 <lanes 16, tail none> { %a = load %w[d1] : f32  store %a, %o[768 * d0 + d1] }
    %s = reduce d2 : 768 <lanes 16, tail none> [add] -> f32 { %b = load %w[d2] : f32  yield %b : f32 }
    parallel d3 : 768 <lanes 16, tail none> { %c = load %o[768 * d0 + d3] : f32  %e = scalar.mul %c, %s : f32  store %e, %o[768 * d0 + d3] } } }
