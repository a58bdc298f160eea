// RUN: mini-opt %s --split-input-file -p kernel-vectorize | filecheck %s
// RUN: mini-opt %s --split-input-file -p 'kernel-vectorize{shuffles=false}' | filecheck %s --check-prefix=OFF
// RUN: mini-opt %s --split-input-file -p kernel-vectorize -t cpp | filecheck %s --check-prefix=CPP

/// Every other element (a pooling) and every element twice (an upsampling): two loads or one, and a shuffle.
// CHECK-LABEL: kernel.func @even
// CHECK:         kernel.parallel d1 : 28 <lanes 16, tail mask> {
// CHECK-NEXT:      kernel.load %x[56 * d0 + 2 * d1] {pick} : f32
// CHECK-NEXT:      kernel.load %y[14 * d0 + (d1 floordiv 2)] {pick} : f32
// OFF-LABEL:   kernel.func @even
// OFF-NOT:       pick
// CPP:           ld_pick<2, 1, 0>(L, x + (i0 + 2 * d1))
// CPP:           ld_pick<1, 2, 0>(L, y + (i1 + quo(d1, 2)))
kernel.func @even(read %x : !kernel.buf<f32[5600]>, read %y : !kernel.buf<f32[1400]>, write %o : !kernel.buf<f32[2800]>) [] config {target = "cpp"} {
  parallel d0 : 100 {
    parallel d1 : 28 {
      %a = load %x[56 * d0 + 2 * d1] : f32
      %b = load %y[14 * d0 + (d1 floordiv 2)] : f32
      %c = scalar.add %a, %b : f32
      store %c, %o[28 * d0 + d1] } } }

// -----

/// Of bf16, the shuffle widens too; not where the elements themselves are stored.
// CHECK-LABEL: kernel.func @halves
// CPP-LABEL:   halves_body(
// CPP:           ld_words<2, 1, 0>(L, x + (i0 + 2 * d1))
// CPP:           ld_pick<1, 2, 0>(L, y + (i1 + quo(d1, 2)))
// OFF-LABEL:   kernel.func @halves
kernel.func @halves(read %x : !kernel.buf<bf16[5600]>, read %y : !kernel.buf<bf16[1400]>, write %o : !kernel.buf<f32[2800]>, write %p : !kernel.buf<bf16[2800]>) [] config {target = "cpp"} {
  parallel d0 : 100 {
    parallel d1 : 28 {
      %a = load %x[56 * d0 + 2 * d1] : bf16
      %b = scalar.cast %a : bf16 to f32
      %c = load %y[14 * d0 + (d1 floordiv 2)] : bf16
      store %b, %o[28 * d0 + d1]
      store %c, %p[28 * d0 + d1] } } }

// -----

/// Numbers that repeat in every vector are constants.
// CHECK-LABEL: kernel.func @weights
// CPP:           cycle<i64, 1, 3>(L, 2 * rem(d0, 2) + 1)
kernel.func @weights(write %o : !kernel.buf<i64[64]>) [] config {target = "cpp"} {
  parallel d0 : 64 {
    %i = scalar.index ((2 * d0 + 1) mod 4) : i64
    store %i, %o[d0] } }

// -----

/// Negative twins: elements too far apart, lanes that lie otherwise in each vector, data operands.
// CHECK-LABEL: kernel.func @far
// CHECK-NOT:     pick
// OFF-LABEL:   kernel.func @far
kernel.func @far(read %x : !kernel.buf<f32[9000]>, read %i : !kernel.buf<i64[1000]>, write %o : !kernel.buf<f32[1000]>) [] config {target = "cpp"} {
  parallel d0 : 1000 {
    %a = load %x[9 * d0] : f32
    %b = load %x[d0 floordiv 3] : f32
    %j = load %i[d0] : i64
    %k = scalar.bound %j to 9000
    %c = load %x[%k] : f32
    %d = scalar.add %a, %b : f32
    %e = scalar.add %d, %c : f32
    store %e, %o[d0] } }
