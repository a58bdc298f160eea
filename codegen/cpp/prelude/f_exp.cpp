//@ pow2
// 2^k for integer k held as a float in the normal range of exponents.
template<class F> INL F pow2(F k) {
  typedef ints<F> I;
  if constexpr (sizeof(el<F>) == 4) return m_as<F>((m_cvt<i32>(k) + (i32)127) << (i32)23);
  else { I i = m_as<I>(k + 0x1.8p52) - (i64)0x4338000000000000; return m_as<F>((i + (i64)1023) << (i64)52); }
}
//@ magic
// Added to a float of less than 2^21, it leaves the nearest integer in the low bits of the sum.
template<class T> constexpr T magic = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);
//@ nearest
// The nearest integer as a float, for |x| < 2^21.
template<class F> INL F nearest(F x) { return (x + magic<el<F>>) - magic<el<F>>; }
//@ scale2
// x * 2^k, rounded once when the result is subnormal; k within twice the exponent range.
template<class F> INL F scale2(F x, F k) {
  if constexpr (is_pair<F>) return F{scale2(x.a, k.a), scale2(x.b, k.b)};
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_scalefps512_mask(x, k, x, -1, 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_scalefpd512_mask(x, k, x, -1, 4);
#endif
  else { F h = nearest(k * el<F>(0.5)); return x * pow2(h) * pow2(k - h); }
}
//@ scale_from
// p * 2^k, but 0 where x < low: there p may be anything, and no lane may round to 0 on the way, since
// machines spend hundreds of cycles on a product that vanishes.
template<class F> INL F scale_from(F p, F k, F x, el<F> low) {
  if constexpr (is_pair<F>) return F{scale_from(p.a, k.a, x.a, low), scale_from(p.b, k.b, x.b, low)};
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_scalefps512_mask(p, k, F{}, __builtin_ia32_cmpps512_mask(x, bc<F>(low), 5, -1, 4), 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_scalefpd512_mask(p, k, F{}, __builtin_ia32_cmppd512_mask(x, bc<F>(low), 5, -1, 4), 4);
#endif
  else { auto gone = x < bc<F>(low); return m_sel(gone, bc<F>(0), scale2(p, m_sel(gone, bc<F>(0), k))); }
}
//@ exp_tail
// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
template<class F> INL F exp_tail(F r) {
  if constexpr (sizeof(el<F>) == 4) return poly(r, 0.5f, 0.16666506f, 0.041666169f, 0.0083703212f, 0.0013952971f);
  else return poly(r, 0.5, 0.1666666666666667, 0.04166666666662063, 0.008333333333325544, 0.0013888888918941191, 0.00019841269876866175,
                   2.4801518638753758e-05, 2.7557252831535417e-06, 2.762133974738188e-07, 2.5106275452329115e-08);
}
//@ exp_split: exp_turns exp_rest
// x = k ln(2) + r: k on top of `magic`, and r from k.
template<class F> INL F exp_turns(F x) { return m_mad(x, bc<F>(1.4426950408889634), bc<F>(magic<el<F>>)); }
template<class F> INL F exp_rest(F x, F k) {
  if constexpr (sizeof(el<F>) == 4) return m_mad(k, bc<F>(2.12194440e-4f), m_mad(k, bc<F>(-0.693359375f), x));
  else return m_mad(k, bc<F>(-1.9082149292705877e-10), m_mad(k, bc<F>(-0.69314718036912382), x));
}
//@ exp_poly
// e^r for |r| <= ln(2) / 2.
template<class F> INL F exp_poly(F r) {
  if constexpr (sizeof(el<F>) == 4) return poly(r, 1.f, 1.f, 0.5f, 0.16666506f, 0.041666169f, 0.0083703212f, 0.0013952971f);
  else return m_mad(r * r, exp_tail(r), r) + 1.0;
}
//@ exp_sum
// e^(x + low) with low small against x. Beyond the bounds e^x is 0 or infinite; NaN stays.
template<class F> INL F exp_sum(F x, F low) {
  F y = at_most(x, bc<F>(sizeof(el<F>) == 4 ? 89 : 710)), k = exp_turns(y) - magic<el<F>>;
  return scale_from(exp_poly(exp_rest(y, k) + low), k, x, sizeof(el<F>) == 4 ? -104 : -746);
}
//@ m_exp
template<class F> INL F m_exp(F x) {
  F y = at_most(x, bc<F>(sizeof(el<F>) == 4 ? 89 : 710)), k = exp_turns(y) - magic<el<F>>;
  return scale_from(exp_poly(exp_rest(y, k)), k, x, sizeof(el<F>) == 4 ? -104 : -746);
}
//@ exp_mid
// e^x where it is an ordinary number; NaN may become anything.
template<class F> INL F exp_mid(F x) {
  typedef ints<F> I;
  F t = exp_turns(x), p = exp_poly(exp_rest(x, t - magic<el<F>>));
  return m_as<F>(m_as<I>(p) + (m_as<I>(t) << el<I>(sizeof(el<F>) == 4 ? 23 : 52)));
}
//@ m_exp2
template<class F> INL F m_exp2(F x) {
  const el<F> lo = sizeof(el<F>) == 4 ? -150 : -1075, hi = sizeof(el<F>) == 4 ? 129 : 1025;
  F y = at_most(x, bc<F>(hi)), k = nearest(y), f = y - k;
  if constexpr (sizeof(el<F>) == 4)
    return scale_from(m_mad(f, poly(f, 0.69314718f, 0.24022651f, 0.055503245f, 0.0096179983f, 0.0013401612f, 0.00015477787f), bc<F>(1)), k, x, lo);
  else { F r = f * 0.69314718055994531; return scale_from(m_mad(r * r, exp_tail(r), r) + 1.0, k, x, lo); }
}
//@ expm1_mid
// e^x - 1 without overflow handling: |x| below the exponent range.
template<class F> INL F expm1_mid(F x) {
  F k = exp_turns(x) - magic<el<F>>, r = exp_rest(x, k);
  F p = m_mad(r * r, exp_tail(r), r), t = pow2(k);
  return m_mad(t, p, t - el<F>(1));
}
//@ m_expm1
template<class F> INL F m_expm1(F x) {
  const el<F> lo = sizeof(el<F>) == 4 ? -20 : -40, hi = sizeof(el<F>) == 4 ? 89 : 710;
  F y = at_most(at_least(x, bc<F>(lo)), bc<F>(hi));
  F k = exp_turns(y) - magic<el<F>>, r = exp_rest(y, k);
  F p = m_mad(r * r, exp_tail(r), r), t = pow2(k - el<F>(1));
  return m_sel(x == bc<F>(0), x, m_mad(t, p, t - el<F>(0.5)) * el<F>(2));
}
//@ m_sigmoid
template<class F> INL F m_sigmoid(F x) { return bc<F>(1) / (m_exp(-x) + el<F>(1)); }
//@ m_tanh
// f32: a polynomial up to 1, then 1 - 2 / (e^2a + 1), whose small term keeps the error of e^2a small.
template<class F> INL F m_tanh(F x) {
  F a = m_abs(x);
  if constexpr (sizeof(el<F>) == 4) {
    F z = a * a, near = m_mad(a * z, poly(z, -0.33333296f, 0.13332345f, -0.0538798f, 0.021486655f, -0.007946102f, 0.0023013612f, -0.00035845107f), a);
    F b = at_most(a, bc<F>(10)), far = bc<F>(1) - bc<F>(2) / (exp_mid(b + b) + el<F>(1));
    return with_sign(m_sel(a >= bc<F>(1), far, near), sign_bit(x));
  } else {
    F e = expm1_mid(at_most(a, bc<F>(22)) * el<F>(-2));
    return with_sign(m_abs(e / (e + el<F>(2))), sign_bit(x));
  }
}
//@ m_sinh
template<class F> INL F m_sinh(F x) {
  const el<F> top = sizeof(el<F>) == 4 ? 88 : 709;
  F a = m_abs(x), e = m_expm1(a), h = m_exp(a * el<F>(0.5));
  F r = (e + e / (e + el<F>(1))) * el<F>(0.5);
  r = m_sel(a > bc<F>(top), h * el<F>(0.5) * h, r);
  return with_sign(r, sign_bit(x));
}
//@ m_cosh
template<class F> INL F m_cosh(F x) {
  const el<F> top = sizeof(el<F>) == 4 ? 88 : 709;
  F a = m_abs(x), e = m_exp(a), h = m_exp(a * el<F>(0.5));
  return m_sel(a > bc<F>(top), h * el<F>(0.5) * h, e * el<F>(0.5) + bc<F>(0.5) / e);
}
//@ log_parts: log_split log_exact
// x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x (subnormals too). With the
// machine's own exponent and mantissa other x come out right as well: log_exact, nothing to mend.
template<class F> struct log_split { F k, f; };
#if defined(__AVX512F__) && !defined(__clang__)
template<class F> constexpr bool log_exact = same<F, vec<f32, 16>>;
template<> constexpr bool log_exact<P<vec<f32, 16>>> = true;
#else
template<class F> constexpr bool log_exact = false;
#endif
template<class F> INL log_split<F> log_parts(F x) {
  typedef ints<F> I;
  constexpr bool s = sizeof(el<F>) == 4;
  if constexpr (log_exact<F> && is_pair<F>) {
    auto a = log_parts(x.a), b = log_parts(x.b);
    return {F{a.k, b.k}, F{a.f, b.f}};
  }
#if defined(__AVX512F__) && !defined(__clang__)
  else if constexpr (log_exact<F>) {
    F m = __builtin_ia32_getmantps512_mask(x, 8, x, -1, 4), k = __builtin_ia32_getexpps512_mask(x, x, -1, 4);
    auto upper = m > bc<F>(1.41421354f);
    return {m_sel(upper, k + 1.f, k), m_sel(upper, m * 0.5f, m) - 1.f};
  }
#endif
  else {
    constexpr int bits = s ? 23 : 52;
    const el<F> tiny = s ? el<F>(0x1p-126) : el<F>(0x1p-1022), up = s ? el<F>(0x1p25) : el<F>(0x1p54);
    const el<I> low = s ? (el<I>)0x3f3504f3 : (el<I>)0x3fe6a09e667f3bcd;
    auto small = x < bc<F>(tiny);
    I i = m_as<I>(m_sel(small, x * up, x)) - low, e = i >> (el<I>)bits;
    F m = m_as<F>((i & (el<I>)(((u64)1 << bits) - 1)) + low), k;
    e = m_sel(small, e - (el<I>)(s ? 25 : 54), e);
    if constexpr (s) k = m_cvt<f32>(e); else k = m_as<F>(e + (i64)0x4338000000000000) - 0x1.8p52;
    return {k, m - el<F>(1)};
  }
}
//@ log_tail
// log(1 + f) - f + f^2 / 2 + more.
template<class F> INL F log_tail(F f, F more) {
  if constexpr (sizeof(el<F>) == 4) {
    F p = poly(f, 0.333333313f, -0.250008196f, 0.200012267f, -0.166233569f, 0.142017573f, -0.131601825f, 0.12761578f, -0.0763449743f);
    return m_mad(f * f * f, p, more);
  } else {
    F s = f / (f + 2.0), z = s * s;
    F R = z * poly(z, 0.666666666666667, 0.3999999999989736, 0.2857142862691623, 0.22222210985106852, 0.1818289980293959, 0.1533137295835658, 0.14620693559505576);
    return s * (f * f * 0.5 + R) + more;
  }
}
//@ log_two: log_join
// log(1 + f) + k log(2) + more, the two parts of log(2) of one sign, so that k may be infinite.
template<class F> INL F log_join(F k, F f, F more) {
  const el<F> hi = sizeof(el<F>) == 4 ? el<F>(0.693138123) : el<F>(0.69314718036912382), lo = sizeof(el<F>) == 4 ? el<F>(9.05800061e-06) : el<F>(1.9082149292705877e-10);
  F t = m_mad(f * f, bc<F>(-0.5), log_tail(f, m_mad(k, bc<F>(lo), more)));
  return m_mad(k, bc<F>(hi), t + f);
}
//@ log_ends
// The values of a logarithm outside (0, inf).
template<class F> INL F log_ends(F x, F r) {
  if constexpr (log_exact<F>) return r;
  r = m_sel(x == m_inf<F>(), x, r);
  r = m_sel(x == bc<F>(0), -m_inf<F>(), r);
  return m_sel((x < bc<F>(0)) | (x != x), m_nan<F>(), r);
}
//@ m_log
template<class F> INL F m_log(F x) {
  auto s = log_parts(x);
  return log_ends(x, log_join(s.k, s.f, bc<F>(-0.0)));
}
//@ log_base
// k * scale_k + (log(1 + f)) * inv with inv = high + low, high short enough for exact products.
template<class F> INL F log_base(F x, el<F> high, el<F> low, el<F> khigh, el<F> klow) {
  typedef ints<F> I;
  auto s = log_parts(x);
  F h = s.f * s.f * el<F>(0.5), t = log_tail(s.f, bc<F>(-0.0)), d = s.f - h;
  F top = m_as<F>(m_as<I>(d) & ~bc<I>(sizeof(el<F>) == 4 ? (el<I>)0xfff : (el<I>)0xffffffff));
  F rest = ((s.f - top) - h) + t;
  F r = m_mad(rest, bc<F>(high), m_mad(top + rest, bc<F>(low), klow == 0 ? bc<F>(0) : s.k * klow)) + top * high;
  return log_ends(x, r + s.k * khigh);
}
//@ m_log2
template<class F> INL F m_log2(F x) {
  if constexpr (sizeof(el<F>) == 4) return log_base(x, 1.4428711f, -0.00017605286f, 1.f, 0.f);
  else return log_base(x, 1.44269504072144627571, 1.67517131648865118353e-10, 1.0, 0.0);
}
//@ m_log10
template<class F> INL F m_log10(F x) {
  if constexpr (sizeof(el<F>) == 4) return log_base(x, 0.43432617f, -3.1689971e-05f, 0.30102921f, 7.9034151e-07f);
  else return log_base(x, 4.34294481878168880939e-01, 2.50829467116452752298e-11, 3.01029995663611771306e-01, 3.69423907715893078616e-13);
}
//@ m_log1p
template<class F> INL F m_log1p(F x) {
  F u = x + el<F>(1);
  auto s = log_parts(u);
  F c = m_sel(x > bc<F>(1), bc<F>(1) - (u - x), x - (u - el<F>(1)));
  c = m_sel((u == m_inf<F>()) | (u <= bc<F>(0)), bc<F>(0), c / u);
  F r = log_ends(u, log_join(s.k, s.f, c));
  return m_sel(x == bc<F>(0), x, r);
}
//@ m_asinh
template<class F> INL F m_asinh(F x) {
  F a = m_abs(x), q = a * a;
  const el<F> top = sizeof(el<F>) == 4 ? el<F>(1e9) : el<F>(1e18);
  auto huge = a > bc<F>(top);
  F r = m_log1p(m_sel(huge, a, a + q / (m_sqrt(q + el<F>(1)) + el<F>(1))));
  r = m_sel(huge, r + el<F>(0.69314718055994531), r);
  return with_sign(r, sign_bit(x));
}
//@ m_acosh
template<class F> INL F m_acosh(F x) {
  const el<F> top = sizeof(el<F>) == 4 ? el<F>(1e9) : el<F>(1e18);
  auto huge = x > bc<F>(top);
  F t = x - el<F>(1);
  F r = m_log1p(m_sel(huge, x, t + m_sqrt(t * el<F>(2) + t * t)));
  return m_sel(x < bc<F>(1), m_nan<F>(), m_sel(huge, r + el<F>(0.69314718055994531), r));
}
//@ m_atanh
template<class F> INL F m_atanh(F x) {
  F a = m_abs(x);
  return with_sign(m_log1p(a * el<F>(2) / (bc<F>(1) - a)) * el<F>(0.5), sign_bit(x));
}
