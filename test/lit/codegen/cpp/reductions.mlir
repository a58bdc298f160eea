// RUN: mini-opt %s --split-input-file -t cpp | filecheck %s

/// A row sum: four vector states in flight, merged, then the lanes folded to one value.
// CHECK-LABEL: // rowsum
// CHECK:       const i64 i0 = 1000 * d0;
// CHECK-NEXT:  red<r_add<vec<f32, 16>>, r_add<f32>, 4> acc;
// CHECK-NEXT:  lane_loop<16, 4, 1>(0, 1000, [&](auto L, i64 d1, auto &acc) HOT {
// CHECK-NEXT:    const auto v = ld(L, x + (i0 + d1));
// CHECK-NEXT:    take(L, acc, v);
// CHECK-NEXT:  }, acc);
// CHECK-NEXT:  const auto total = acc.total();
// CHECK-NEXT:  const f32 t = total.s;
// CHECK-NEXT:  o[d0] = t;
kernel.func @rowsum(read %x : !kernel.buf<f32[64000]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  kernel.parallel d0 : 64 {
    %t = kernel.reduce d1 : 1000 <lanes 16, unroll 4, tail mask> [add] -> f32 {
      %v = kernel.load %x[1000 * d0 + d1] : f32
      kernel.yield %v : f32
    }
    kernel.store %t, %o[d0]
  }
}

// -----

/// A column sum: the vector runs along the columns, each lane keeps a state of its own; the loop
/// inside makes the two vectors of `unroll 2` one wide one. A long float sum is added in pieces.
// CHECK-LABEL: // colsum
// CHECK:       lane_loop<32, 1, 3>(0, 64, [&](auto L, i64 d1) HOT {
// CHECK-NEXT:    r_add<vec<f32, L.n>> acc;
// CHECK-NEXT:    const i64 step = cascade_step(1000);
// CHECK-NEXT:    for (i64 start = 0; start < 1000; start += step) {
// CHECK-NEXT:      r_add<vec<f32, L.n>> part;
// CHECK-NEXT:      for (i64 d0 = start; d0 < least(start + step, 1000); ++d0) {
// CHECK-NEXT:        const auto v = ld(L, x + (d1 + 64 * d0));
// CHECK-NEXT:        part.take(v);
// CHECK-NEXT:      }
// CHECK-NEXT:      acc.merge(part);
// CHECK-NEXT:    }
// CHECK-NEXT:    const auto t = acc.s;
// CHECK-NEXT:    st(L, o + d1, t);
kernel.func @colsum(read %x : !kernel.buf<f32[64000]>, write %o : !kernel.buf<f32[64]>) [] config {target = "cpp"} {
  kernel.parallel d1 : 64 <lanes 16, unroll 2, tail none> {
    %t = kernel.reduce d0 : 1000 [add] -> f32 {
      %v = kernel.load %x[d1 + 64 * d0] : f32
      kernel.yield %v : f32
    }
    kernel.store %t, %o[d1]
  }
}

// -----

/// An index that grows with the loop needs no tie test and, when small, only 32 bits.
// CHECK-LABEL: // argmax
// CHECK:       red<r_argmax<vec<f32, 16>, vec<i32, 16>>, r_argmax<f32, i32>, 1> acc;
// CHECK:       next(L, acc, a, ramp<i32>(L, d0, 1));
// CHECK:       const i64 j = m_cvt<i64>(total.index(0));
kernel.func @argmax(read %x : !kernel.buf<f32[512]>, write %o : !kernel.buf<i64[1]>) [] config {target = "cpp"} {
  %v, %j = kernel.reduce d0 : 512 <lanes 16, tail none> [argmax] -> f32, i64 {
    %a = kernel.load %x[d0] : f32
    %k = scalar.index d0 : i64
    kernel.yield %a, %k : f32, i64
  }
  kernel.store %j, %o[0]
}

// -----

/// Without a known order the lowest index among equals is found by comparing indices.
// CHECK-LABEL: // argmax_any
// CHECK:       take(L, acc, a, k);
kernel.func @argmax_any(read %x : !kernel.buf<f32[512]>, read %i : !kernel.buf<i64[512]>, write %o : !kernel.buf<i64[1]>) [] config {target = "cpp"} {
  %v, %j = kernel.reduce d0 : 512 <lanes 16, tail none> [argmax] -> f32, i64 {
    %a = kernel.load %x[d0] : f32
    %k = kernel.load %i[d0] : i64
    kernel.yield %a, %k : f32, i64
  }
  kernel.store %j, %o[0]
}
