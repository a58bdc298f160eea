// RUN: mini-opt %s -t cpp | filecheck %s

/// A threaded loop inside parallel ones: every thread runs the outer loop and its share inside.
// CHECK-LABEL: // inside
// CHECK:       #pragma omp parallel num_threads(2)
// CHECK:       for (i64 d0 = 0; d0 < 3; ++d0) {
// CHECK:         const span w0 = share(524288, 16, tid, nt);
// CHECK-NEXT:    lane_loop<16, 1, 3>(w0.lo, w0.hi, [&](auto L, i64 d1) HOT {
kernel.func @inside(read %x : !kernel.buf<f32[1572864]>, write %o : !kernel.buf<f32[1572864]>) [] config {target = "cpp", threads = 2} {
  kernel.parallel d0 : 3 {
    kernel.parallel d1 : 524288 <run threads, lanes 16, tail none> {
      %v = kernel.load %x[524288 * d0 + d1] : f32
      kernel.store %v, %o[524288 * d0 + d1]
    }
  }
}

/// Without the word the loops are plain.
// CHECK-LABEL: // plain
// CHECK-NOT:   omp parallel
kernel.func @plain(read %x : !kernel.buf<f32[48]>, write %o : !kernel.buf<f32[48]>) [] config {target = "cpp"} {
  kernel.parallel d0 : 3 {
    kernel.parallel d1 : 16 <lanes 16, tail none> {
      %v = kernel.load %x[16 * d0 + d1] : f32
      kernel.store %v, %o[16 * d0 + d1]
    }
  }
}
