//@ m_mad
// a * b + c, in one rounding where the machine has that, of vectors of any width (`minus_pi` relies
// on it): the compiler joins the lanes of a width that has no builtin here.
#ifndef __has_builtin
#define __has_builtin(x) 0
#endif
template<class F> INL F m_mad(F a, F b, F c) {
  if constexpr (is_pair<F>) return F{m_mad(a.a, b.a, c.a), m_mad(a.b, b.b, c.b)};
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  else if constexpr (same<F, f32>) return __builtin_fmaf(a, b, c);
  else if constexpr (same<F, f64>) return __builtin_fma(a, b, c);
#if __has_builtin(__builtin_elementwise_fma)
  else return __builtin_elementwise_fma(a, b, c);
#else
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
#endif
#if defined(__FMA__)
  else if constexpr (same<F, vec<f32, 8>>) return __builtin_ia32_vfmaddps256(a, b, c);
  else if constexpr (same<F, vec<f64, 4>>) return __builtin_ia32_vfmaddpd256(a, b, c);
  else if constexpr (same<F, vec<f32, 4>>) return __builtin_ia32_vfmaddps(a, b, c);
  else if constexpr (same<F, vec<f64, 2>>) return __builtin_ia32_vfmaddpd(a, b, c);
#endif
  else {
    F r = a;
    for (int i = 0; i < (int)(sizeof(F) / sizeof(el<F>)); i++) r[i] = m_mad<el<F>>(a[i], b[i], c[i]);
    return r;
  }
#endif
#else
  else return a * b + c;
#endif
}
//@ poly
// c0 + c1 x + c2 x^2 + ... (Horner).
template<class F> INL F poly(F, el<F> c) { return bc<F>(c); }
template<class F, class... C> INL F poly(F x, el<F> c, C... rest) { return m_mad(poly(x, rest...), x, bc<F>(c)); }
//@ m_sqrt
template<class F> INL F m_sqrt(F x) {
  if constexpr (is_pair<F>) return F{m_sqrt(x.a), m_sqrt(x.b)};
  else if constexpr (same<F, f32>) return __builtin_sqrtf(x);
  else if constexpr (same<F, f64>) return __builtin_sqrt(x);
#if !defined(__clang__)
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_sqrtps512_mask(x, x, -1, 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4);
#endif
#if defined(__AVX__)
  else if constexpr (same<F, vec<f32, 8>>) return __builtin_ia32_sqrtps256(x);
  else if constexpr (same<F, vec<f64, 4>>) return __builtin_ia32_sqrtpd256(x);
#endif
#if defined(__SSE2__)
  else if constexpr (same<F, vec<f32, 4>>) return __builtin_ia32_sqrtps(x);
  else if constexpr (same<F, vec<f64, 2>>) return __builtin_ia32_sqrtpd(x);
#endif
#endif
  else { F r; for (int i = 0; i < width<F>; ++i) r[i] = m_sqrt((el<F>)x[i]); return r; }
}
//@ sign_bit
// The sign bit of x, as integer lanes.
template<class F> INL ints<F> sign_bit(F x) { typedef ints<F> I; return m_as<I>(x) & (el<I>)((u64)1 << (8 * sizeof(el<F>) - 1)); }
//@ m_abs
template<class F> INL F m_abs(F x) {
  typedef el<F> T;
  if constexpr (is_float<T>) { typedef ints<F> I; return m_as<F>(m_as<I>(x) & ~bc<I>((el<I>)((u64)1 << (8 * sizeof(T) - 1)))); }
  else if constexpr (!is_signed<T>) return x;
  else return m_sel(x < bc<F>(0), m_cvt<T>(-x), x);
}
//@ with_sign
// |x| given as x >= 0, with the sign bit s.
template<class F, class I> INL F with_sign(F x, I s) { return m_as<F>(m_as<I>(x) | s); }
//@ m_copysign
template<class F> INL F m_copysign(F x, F s) { return with_sign(m_abs(x), sign_bit(s)); }
//@ m_signbit
template<class F> INL auto m_signbit(F x) { typedef ints<F> I; return m_as<I>(x) < bc<I>(0); }
//@ m_inf
template<class F> INL F m_inf() { return bc<F>((el<F>)__builtin_inf()); }
//@ m_nan
template<class F> INL F m_nan() { return bc<F>((el<F>)__builtin_nan("")); }
//@ m_isinf
template<class F> INL auto m_isinf(F x) { return m_abs(x) == m_inf<F>(); }
//@ m_isfinite
template<class F> INL auto m_isfinite(F x) { return m_abs(x) < m_inf<F>(); }
//@ m_sign
// -1, 0, 1; 0 for NaN as in PyTorch.
template<class F> INL F m_sign(F x) {
  F z = bc<F>(0), one = bc<F>(1);
  if constexpr (is_signed<el<F>>) return m_sel(x > z, one, m_sel(x < z, bc<F>((el<F>)-1), z)); else return m_sel(x > z, one, z);
}
//@ greater: greater smaller
// a > b ? a : b, so b where one of them is NaN: what one instruction of x86 does.
template<class F> INL F greater(F a, F b) {
  if constexpr (is_pair<F>) return F{greater(a.a, b.a), greater(a.b, b.b)};
#if !defined(__clang__)
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_maxps512_mask(a, b, a, -1, 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_maxpd512_mask(a, b, a, -1, 4);
#endif
#if defined(__AVX__)
  else if constexpr (same<F, vec<f32, 8>>) return __builtin_ia32_maxps256(a, b);
  else if constexpr (same<F, vec<f64, 4>>) return __builtin_ia32_maxpd256(a, b);
#endif
#if defined(__SSE2__)
  else if constexpr (same<F, vec<f32, 4>>) return __builtin_ia32_maxps(a, b);
  else if constexpr (same<F, vec<f64, 2>>) return __builtin_ia32_maxpd(a, b);
#endif
#endif
  else return m_sel(a > b, a, b);
}
template<class F> INL F smaller(F a, F b) {
  if constexpr (is_pair<F>) return F{smaller(a.a, b.a), smaller(a.b, b.b)};
#if !defined(__clang__)
#if defined(__AVX512F__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_minps512_mask(a, b, a, -1, 4);
  else if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_minpd512_mask(a, b, a, -1, 4);
#endif
#if defined(__AVX__)
  else if constexpr (same<F, vec<f32, 8>>) return __builtin_ia32_minps256(a, b);
  else if constexpr (same<F, vec<f64, 4>>) return __builtin_ia32_minpd256(a, b);
#endif
#if defined(__SSE2__)
  else if constexpr (same<F, vec<f32, 4>>) return __builtin_ia32_minps(a, b);
  else if constexpr (same<F, vec<f64, 2>>) return __builtin_ia32_minpd(a, b);
#endif
#endif
  else return m_sel(a < b, a, b);
}
//@ at_least
// x, or the bound where x is below it; NaN and an equal zero stay as they are.
template<class F> INL F at_least(F x, F bound) { return greater(bound, x); }
//@ at_most
template<class F> INL F at_most(F x, F bound) { return smaller(bound, x); }
//@ m_minimum: m_minimum ordered_
// Propagates NaN; of two equal zeros the second. AVX-512 keeps the NaN of `a` within the instruction, but
// where `a` is a constant, which GCC knows to be none.
#if defined(__AVX512F__) && !defined(__clang__)
INL u16 ordered_(vec<f32, 16> x) { return __builtin_ia32_cmpps512_mask(x, x, 7, -1, 4); }
INL u8 ordered_(vec<f64, 8> x) { return __builtin_ia32_cmppd512_mask(x, x, 7, -1, 4); }
#endif
template<class F> INL F m_minimum(F a, F b) {
  if constexpr (is_pair<F>) return F{m_minimum(a.a, b.a), m_minimum(a.b, b.b)};
  else if constexpr (!is_float<el<F>>) return m_sel(a < b, a, b);
  else {
#if defined(__AVX512F__) && !defined(__clang__)
    if constexpr (same<F, vec<f32, 16>>) { if (!__builtin_constant_p(a[0])) return __builtin_ia32_minps512_mask(a, b, a, ordered_(a), 4); }
    else if constexpr (same<F, vec<f64, 8>>) { if (!__builtin_constant_p(a[0])) return __builtin_ia32_minpd512_mask(a, b, a, ordered_(a), 4); }
#endif
    return m_sel(a != a, a, smaller(a, b));
  }
}
//@ m_maximum: m_maximum m_minimum
template<class F> INL F m_maximum(F a, F b) {
  if constexpr (is_pair<F>) return F{m_maximum(a.a, b.a), m_maximum(a.b, b.b)};
  else if constexpr (!is_float<el<F>>) return m_sel(a > b, a, b);
  else {
#if defined(__AVX512F__) && !defined(__clang__)
    if constexpr (same<F, vec<f32, 16>>) { if (!__builtin_constant_p(a[0])) return __builtin_ia32_maxps512_mask(a, b, a, ordered_(a), 4); }
    else if constexpr (same<F, vec<f64, 8>>) { if (!__builtin_constant_p(a[0])) return __builtin_ia32_maxpd512_mask(a, b, a, ordered_(a), 4); }
#endif
    return m_sel(a != a, a, greater(a, b));
  }
}
//@ m_fmin
// Ignores NaN; of two equal zeros the first.
template<class F> INL F m_fmin(F a, F b) { return m_sel(a != a, b, at_most(a, b)); }
//@ m_fmax
template<class F> INL F m_fmax(F a, F b) { return m_sel(a != a, b, at_least(a, b)); }
//@ m_relu
template<class F> INL F m_relu(F x) { return at_least(x, bc<F>(0)); }
//@ m_select
template<class M, class F> INL F m_select(M c, F a, F b) { return m_where(c, a, b); }
//@ m_reciprocal
template<class F> INL F m_reciprocal(F x) { return bc<F>(1) / x; }
//@ m_divide_by
// x / s where s is one number for all lanes: by its reciprocal, less what that has too much of x,
// which rounds as a division does (Markstein 1990), to 2 ulp where x is next to subnormal, and keeps
// the sign of zero for s > 0. Of infinities and NaN the product stands.
template<class F> INL F m_divide_by(F x, F s) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  typedef el<F> T;
  const T one = lane(s, 0);
  if (width<F> > 1 && __builtin_expect(one > T(0x1p-96) && one < T(0x1p96), 1)) {
    const F r = bc<F>(T(1) / one), q = x * r, p = m_mad(-m_mad(q, s, -x), r, q);
    return m_sel(p == p, p, q);
  }
#endif
  return x / s;
}
//@ m_rsqrt
template<class F> INL F m_rsqrt(F x) { return bc<F>(1) / m_sqrt(x); }
//@ whole
// The float format: numbers of at least this size are integers.
template<class T> constexpr T whole = sizeof(T) == 4 ? T(8388608) : T(4503599627370496);
//@ round_by: has_round
// Rounding by the machine: mode 8 to nearest even, 9 down, 10 up, 11 towards zero.
template<class F> constexpr bool has_round =
#if defined(__AVX512F__) && !defined(__clang__)
  same<F, vec<f32, 16>> || same<F, vec<f64, 8>> ||
#endif
#if defined(__AVX__) && !defined(__clang__)
  same<F, vec<f32, 8>> || same<F, vec<f64, 4>> ||
#endif
  false;
template<int mode, class F> INL F round_by(F x) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_rndscaleps_mask(x, mode, x, -1, 4);
  if constexpr (same<F, vec<f64, 8>>) return __builtin_ia32_rndscalepd_mask(x, mode, x, -1, 4);
#endif
#if defined(__AVX__) && !defined(__clang__)
  if constexpr (same<F, vec<f32, 8>>) return __builtin_ia32_roundps256(x, mode);
  if constexpr (same<F, vec<f64, 4>>) return __builtin_ia32_roundpd256(x, mode);
#endif
  return x;
}
//@ m_round
// To nearest, ties to even; keeps the sign of zero.
template<class F> INL F m_round(F x) {
  if constexpr (is_pair<F>) return F{m_round(x.a), m_round(x.b)};
  else if constexpr (has_round<F>) return round_by<8>(x);
  else {
    F a = m_abs(x), r = (a + whole<el<F>>) - whole<el<F>>;
    return m_sel(a < bc<F>(whole<el<F>>), with_sign(r, sign_bit(x)), x);
  }
}
//@ m_trunc
template<class F> INL F m_trunc(F x) {
  if constexpr (is_pair<F>) return F{m_trunc(x.a), m_trunc(x.b)};
  else if constexpr (has_round<F>) return round_by<11>(x);
  else {
    F a = m_abs(x), r = (a + whole<el<F>>) - whole<el<F>>;
    r = m_sel(r > a, r - el<F>(1), r);
    return m_sel(a < bc<F>(whole<el<F>>), with_sign(r, sign_bit(x)), x);
  }
}
//@ m_floor
template<class F> INL F m_floor(F x) {
  if constexpr (is_pair<F>) return F{m_floor(x.a), m_floor(x.b)};
  else if constexpr (has_round<F>) return round_by<9>(x);
  else {
    F r = m_round(x);
    r = m_sel(r > x, r - el<F>(1), r);
    return with_sign(m_abs(r), sign_bit(m_sel(r == bc<F>(0), x, r)));
  }
}
//@ m_ceil
template<class F> INL F m_ceil(F x) {
  if constexpr (is_pair<F>) return F{m_ceil(x.a), m_ceil(x.b)};
  else if constexpr (has_round<F>) return round_by<10>(x);
  else {
    F r = m_round(x);
    r = m_sel(r < x, r + el<F>(1), r);
    return with_sign(m_abs(r), sign_bit(m_sel(r == bc<F>(0), x, r)));
  }
}
//@ by_lane
// A scalar function for each lane.
template<class F, class B> INL F by_lane(F x, B f) {
  if constexpr (width<F> == 1) return f(x);
  else { alignas(64) el<F> t[width<F>]; st_all<F>(t, x); for (int i = 0; i < width<F>; ++i) t[i] = f(t[i]); return ld_all<F>(t); }
}
//@ by_lane2
template<class F, class B> INL F by_lane2(F x, F y, B f) {
  if constexpr (width<F> == 1) return f(x, y);
  else {
    alignas(64) el<F> t[width<F>], u[width<F>];
    st_all<F>(t, x); st_all<F>(u, y);
    for (int i = 0; i < width<F>; ++i) t[i] = f(t[i], u[i]);
    return ld_all<F>(t);
  }
}
//@ in_f64
// f computed in double precision and rounded once.
template<class F, class B> INL F in_f64(F x, B f) { return m_cvt<el<F>>(f(m_cvt<f64>(x))); }
//@ m_nextafter
template<class F> INL F m_nextafter(F x, F y) {
  typedef ints<F> I;
  I i = m_as<I>(x), one = bc<I>(1);
  I up = m_sel((x < y) == (x > bc<F>(0)), i + one, i - one);
  F r = m_sel(x == bc<F>(0), with_sign(m_as<F>(one), sign_bit(y)), m_as<F>(up));
  r = m_sel(x == y, y, r);
  return m_sel((x != x) | (y != y), x + y, r);
}
