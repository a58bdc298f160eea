//@ bf16_exp2: bf16_has_exp2 bf16_split bf16_turn
// For kernels whose results are bf16: relative errors of at most 2^-12, the special values of the exact
// functions, and 1 of 0. 2^t from the distance of t to the integer below, where the machine gives that
// in one step; the scaling takes the integer below by itself. 0 where t < low.
#if defined(__AVX512DQ__) && !defined(__clang__)
template<class F> constexpr bool bf16_has_exp2 = same<F, vec<f32, 16>>;
#else
template<class F> constexpr bool bf16_has_exp2 = false;
#endif
template<class F> INL F bf16_exp2(F t, F x, el<F> low) {
  if constexpr (is_pair<F>) return F{bf16_exp2(t.a, x.a, low), bf16_exp2(t.b, x.b, low)};
#if defined(__AVX512DQ__) && !defined(__clang__)
  else if constexpr (bf16_has_exp2<F>) {
    F r = __builtin_ia32_reduceps512_mask_round(t, 9, t, -1, 4);
    return scale_from(poly(r, 1.f, 0.69511676f, 0.22764502f, 0.077067018f), t, x, low);
  }
#endif
  else {
    F k = nearest(at_most(t, bc<F>(129))), f = t - k;
    return scale_from(poly(f, 1.f, 0.6932829f, 0.24221097f, 0.055008918f), k, x, low);
  }
}
//@ m_bf16_exp
template<class F> INL F m_bf16_exp(F x) { return bf16_exp2(x * el<F>(1.44269504), x, -104); }
//@ m_bf16_exp2
template<class F> INL F m_bf16_exp2(F x) { return bf16_exp2(x, x, -150); }
//@ rcp_near
// 1 / x to 2^-14, or better.
template<class F> INL F rcp_near(F x) {
  if constexpr (is_pair<F>) return F{rcp_near(x.a), rcp_near(x.b)};
#if defined(__AVX512F__) && !defined(__clang__)
  else if constexpr (same<F, vec<f32, 16>>) return __builtin_ia32_rcp14ps512_mask(x, x, -1);
#endif
  else return bc<F>(1) / x;
}
//@ m_bf16_sigmoid
template<class F> INL F m_bf16_sigmoid(F x) { return rcp_near(bf16_exp2(x * el<F>(-1.44269504), -x, -104) + el<F>(1)); }
//@ m_bf16_tanh
// The quotient passes 1 before 5.25: from there on the result is 1.
template<class F> INL F m_bf16_tanh(F x) {
  F a = at_most(m_abs(x), bc<F>(5.25f)), z = a * a;
  F r = a * poly(z, 0.99996895f, 0.10363919f, 0.00070998358f) * rcp_near(poly(z, 1.f, 0.43676436f, 0.013201242f));
  return with_sign(at_most(r, bc<F>(1)), sign_bit(x));
}
//@ m_bf16_log
// By the mantissa in [3/4, 3/2) and the exponent that belongs to it, less one.
template<class F> INL F m_bf16_log(F x) {
  if constexpr (is_pair<F>) return F{m_bf16_log(x.a), m_bf16_log(x.b)};
#if defined(__AVX512F__) && !defined(__clang__)
  else if constexpr (same<F, vec<f32, 16>>) {
    F k = __builtin_ia32_getexpps512_mask(x * 0.66666669f, x, -1, 4), f = __builtin_ia32_getmantps512_mask(x, 11, x, -1, 4) - 1.f;
    F p = poly(f, 1.f, -0.49998057f, 0.33744782f, -0.25717303f, 0.14014964f);
    return m_mad(k, bc<F>(0.693147181f), m_mad(p, f, bc<F>(0.693147181f)));
  }
#endif
  else {
    auto s = log_parts(x);
    F p = m_mad(s.f * s.f, poly(s.f, -0.49953631f, 0.33570874f, -0.26991081f, 0.17839271f), s.f);
    return log_ends(x, m_mad(s.k, bc<F>(0.693147181f), p));
  }
}
//@ m_bf16_sin: bf16_sine
template<class F> INL F bf16_sine(F r) { F z = r * r; return r * poly(z, 1.f, -0.16612923f, 0.0076565612f); }
template<class F> INL F m_bf16_sin(F x) {
  typedef ints<F> I;
  F t = m_mad(x, bc<F>(0.31830988618379067), bc<F>(magic<el<F>>)), r = bf16_sine(fast_minus_pi(x, t - magic<el<F>>));
  auto far = m_abs(x) > bc<F>(trig_max<el<F>>);
  r = m_as<F>(m_as<I>(r) ^ odd_sign(t));
  if (__builtin_expect(any(far), 0)) r = m_sel(far, sin_far(x), r);
  return r;
}
//@ m_bf16_cos
template<class F> INL F m_bf16_cos(F x) { return short_cos(x, [](F r) { return bf16_sine(r); }); }
//@ m_bf16_erf_plus_one
template<class F> INL F m_bf16_erf_plus_one(F x) {
  F a = m_abs(x), q = a * poly(a, -1.6264987f, -0.92486107f, -0.13969094f, 0.024612432f, -0.001996215f);
  F e = bf16_exp2(q, -a, -4);
  return m_sel(x < bc<F>(0), e, bc<F>(2) - e);
}
//@ m_bf16_divide_by
template<class F> INL F m_bf16_divide_by(F x, F s) { return m_fast_divide_by(x, s); }
