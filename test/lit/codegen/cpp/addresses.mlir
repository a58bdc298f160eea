// RUN: mini-opt %s --split-input-file -t cpp | filecheck %s

/// An address that moves by one is a vector; one that does not move is a scalar in all lanes; other
/// steps go lane by lane, data indices through a gather. Prefixes over outer loops are computed once.
// CHECK-LABEL: // forms
// CHECK:       const i64 i0 = s1 * d0;
// CHECK:       const auto a = ld(L, x + (i0 + d1));
// CHECK-NEXT:  const f32 b = x[i0];
// CHECK-NEXT:  const auto c = ld_step(L, x + (d0 + s1 * d1), s1);
// CHECK-NEXT:  const auto k = ld(L, i_1 + d1);
// CHECK-NEXT:  const auto j = bound(L, k, s1, true, fault);
// CHECK-NEXT:  const auto e = ld_at(L, x + i0, j);
// CHECK-NEXT:  const auto f = a + L(b);
// CHECK:       return fault;
kernel.func @forms(read %x : !kernel.buf<f32[s0 * s1]>, read %i : !kernel.buf<i64[s1]>, write %o : !kernel.buf<f32[s0 * s1]>) [s0, s1] config {target = "cpp"} {
  kernel.parallel d0 : s0 {
    kernel.parallel d1 : s1 <lanes 16, tail mask> {
      %a = kernel.load %x[s1 * d0 + d1] : f32
      %b = kernel.load %x[s1 * d0] : f32
      %c = kernel.load %x[d0 + s1 * d1] : f32
      %k = kernel.load %i[d1] : i64
      %j = scalar.bound %k to s1 wrap
      %e = kernel.load %x[s1 * d0 + %j] : f32
      %f = scalar.add %a, %b : f32
      %g = scalar.add %f, %c : f32
      %h = scalar.add %g, %e : f32
      kernel.store %h, %o[s1 * d0 + d1] {nt}
    }
  }
}

// -----

/// Vectors start at multiples of the lanes, so `d0 mod 64` moves by one and `d0 floordiv 64` not at
/// all; with 48 neither is known, and lanes are addressed one by one.
// CHECK-LABEL: // wrapped
// CHECK:       const auto a = ld(L, x + rem(d0, 64));
// CHECK-NEXT:  const f32 b = x[quo(d0, 64)];
// CHECK-NEXT:  const auto c = ld_by(L, x, [&](int i) HOT { return rem((d0 + i), 24); });
kernel.func @wrapped(read %x : !kernel.buf<f32[64]>, write %o : !kernel.buf<f32[4096]>) [] config {target = "cpp"} {
  kernel.parallel d0 : 4096 <lanes 16, tail none> {
    %a = kernel.load %x[d0 mod 64] : f32
    %b = kernel.load %x[d0 floordiv 64] : f32
    %c = kernel.load %x[d0 mod 24] : f32
    %d = scalar.add %a, %b : f32
    %e = scalar.add %d, %c : f32
    kernel.store %e, %o[d0]
  }
}

// -----

/// A load under a condition touches memory only where it holds, be it an `if` or a masked load.
// CHECK-LABEL: // guarded
// CHECK:       const auto c = within(L, d0, 1, 0, 509);
// CHECK-NEXT:  const auto taken = c;
// CHECK-NEXT:  const auto skipped = m_not(c);
// CHECK-NEXT:  const auto a = ld_if(L, x + d0, taken, L(f32(0)));
// CHECK-NEXT:  const auto b = ld_if(L, y + (d0 - 509), skipped, L(f32(0)));
// CHECK-NEXT:  const auto v = m_where(c, a, b);
// CHECK-NEXT:  const auto m = ld_if(L, x + d0, c, L(-7.0f));
kernel.func @guarded(read %x : !kernel.buf<f32[509]>, read %y : !kernel.buf<f32[259]>, write %o : !kernel.buf<f32[768]>) [] config {target = "cpp"} {
  kernel.parallel d0 : 768 <lanes 16, tail none> {
    %c = scalar.within d0 in 0 to 509
    %v = scalar.if %c -> f32 {
      %a = kernel.load %x[d0] : f32
      scalar.yield %a : f32
    } else {
      %b = kernel.load %y[d0 - 509] : f32
      scalar.yield %b : f32
    }
    %z = scalar.constant -7.0 : f32
    %m = kernel.load %x[d0] if %c else %z : f32
    %s = scalar.add %v, %m : f32
    kernel.store %s, %o[d0]
  }
}
