// RUN: mini-opt %s --split-input-file -t cpp | filecheck %s

/// A small pointwise loop: one vector loop, four vectors in flight, no OpenMP pragma.
// CHECK-LABEL: // cpp_fused_add_mul_relu_0
// CHECK-NEXT: //   add m.py:3
// CHECK-NEXT: //   relu m.py:3
// CHECK-NEXT: //   bytes: floor 12288, unfused 20480, planned 12288
// CHECK-NEXT: static int cpp_fused_add_mul_relu_0_body(const f32 *__restrict x, const f32 *__restrict y, f32 *__restrict o) {
// CHECK-NEXT:   lane_loop<16, 4, 3>(0, 1024, [&](auto L, i64 d0) HOT {
// CHECK-NEXT:     const auto a = ld(L, x + d0);
// CHECK-NEXT:     const auto b = ld(L, y + d0);
// CHECK-NEXT:     const auto s = a + b;
// CHECK-NEXT:     const auto r = m_relu(s);
// CHECK-NEXT:     const auto m = r * L(2.0f);
// CHECK-NEXT:     st(L, o + d0, m);
// CHECK-NEXT:   });
// CHECK-NEXT:   return 0;
// CHECK-NEXT: }
// CHECK-NEXT: extern "C" int cpp_fused_add_mul_relu_0(void *const *ptrs, const i64 *sizes) {
kernel.func @cpp_fused_add_mul_relu_0(read %x : !kernel.buf<f32[1024]>, read %y : !kernel.buf<f32[1024]>, write %o : !kernel.buf<f32[1024]>) [] config {target = "cpp", threads = 2} origins ["add m.py:3", "relu m.py:3"] bytes <floor 12288, unfused 20480, planned 12288> {
  kernel.parallel d0 : 1024 <lanes 16, unroll 4, tail none> {
    %a = kernel.load %x[d0] : f32
    %b = kernel.load %y[d0] : f32
    %s = scalar.add %a, %b : f32
    %r = scalar.relu %s : f32
    %two = scalar.constant 2.0 : f32
    %m = scalar.mul %r, %two : f32
    kernel.store %m, %o[d0]
  }
}

// -----

/// The word `run threads` makes a parallel region; `when` becomes its `if`, and decides the share.
// CHECK-LABEL: // copy
// CHECK:       #pragma omp parallel num_threads(2) if (s0 - 32768 > 0)
// CHECK:       const span w0 = share(s0, 64, tid, (s0 - 32768) > 0 ? nt : 1);
// CHECK-NEXT:  lane_loop<16, 4, 1>(w0.lo, w0.hi, [&](auto L, i64 d0) HOT {
kernel.func @copy(read %x : !kernel.buf<f32[s0]>, write %o : !kernel.buf<f32[s0]>) [s0] config {target = "cpp", threads = 2} {
  kernel.parallel d0 : s0 <run threads, lanes 16, unroll 4, tail mask, when (s0 - 32768)> {
    %a = kernel.load %x[d0] : f32
    kernel.store %a, %o[d0]
  }
}

// -----

/// Two stages share one region; each thread's state is merged in thread order by all threads, so the
/// barrier after the reduction is not printed twice.
// CHECK-LABEL: // wall
// CHECK:       r_add<f32> part[2];
// CHECK-NEXT:  #pragma omp parallel num_threads(2)
// CHECK:       part[tid] = total;
// CHECK-NEXT:  #pragma omp barrier
// CHECK-NEXT:  auto total_1 = part[0];
// CHECK-NEXT:  for (int t = 1; t < nt; ++t) total_1.merge(part[t]);
// CHECK-NEXT:  const f32 s = total_1.s;
// CHECK-NEXT:  {
// CHECK-NEXT:    const span w1 = share(1048576, 64, tid, nt);
// CHECK-NOT:   #pragma
kernel.func @wall(read %x : !kernel.buf<f32[1048576]>, write %o : !kernel.buf<f32[1048576]>) [] config {target = "cpp", threads = 2} {
  %s = kernel.reduce d0 : 1048576 <run threads, lanes 16, unroll 4, tail none> [add] -> f32 {
    %a = kernel.load %x[d0] : f32
    kernel.yield %a : f32
  }
  kernel.barrier
  kernel.parallel d0 : 1048576 <run threads, lanes 16, unroll 4, tail none> {
    %a = kernel.load %x[d0] : f32
    %c = scalar.add %a, %s : f32
    kernel.store %c, %o[d0]
  }
}
