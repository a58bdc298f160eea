//@ m_fast_exp: fast_exp2
// For kernels whose results are of half precision: relative errors of at most 2^-15, the special values
// of the exact functions. f * log2(e) - k is exact but for the constant's own error.
template<class F> INL F fast_exp2(F f) { return m_mad(f, poly(f, 0.69312419f, 0.24024099f, 0.055906428f, 0.0095828535f), bc<F>(1)); }
template<class F> INL F m_fast_exp(F x) {
  F y = at_most(x, bc<F>(89)), k = exp_turns(y) - magic<el<F>>;
  return scale_from(fast_exp2(m_mad(y, bc<F>(1.44269504f), -k)), k, x, -104);
}
//@ m_fast_sigmoid
template<class F> INL F m_fast_sigmoid(F x) { return bc<F>(1) / (m_fast_exp(-x) + el<F>(1)); }
//@ m_fast_tanh
template<class F> INL F m_fast_tanh(F x) {
  F y = at_least(at_most(x, bc<F>(6)), bc<F>(-6)), z = y * y;
  F r = y * poly(z, 0.99999272f, 0.11483148f, 0.0015146176f) / poly(z, 1.f, 0.44811479f, 0.017611416f, 5.6274207e-05f);
  return m_sel(m_abs(x) >= bc<F>(6), with_sign(bc<F>(1), sign_bit(x)), r);
}
//@ m_fast_log
template<class F> INL F m_fast_log(F x) {
  auto s = log_parts(x);
  F p = m_mad(s.f * s.f, poly(s.f, -0.4999174f, 0.3327403f, -0.25387971f, 0.2192812f, -0.14216059f), s.f);
  return log_ends(x, m_mad(s.k, bc<F>(0.693147181f), p));
}
//@ m_fast_sin: fast_minus_pi fast_sin_poly
template<class F> INL F fast_minus_pi(F x, F h) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return m_mad(h, bc<F>(-1.5099579e-07f), m_mad(h, bc<F>(-3.1415925f), x));
#else
  return minus_pi(x, h);
#endif
}
template<class F> INL F fast_sin_poly(F r) { F z = r * r; return m_mad(r * z, poly(z, -0.16665853f, 0.0083142746f, -0.00018542219f), r); }
template<class F> INL F m_fast_sin(F x) {
  typedef ints<F> I;
  F a = m_abs(x), t = m_mad(a, bc<F>(0.31830988618379067), bc<F>(magic<el<F>>)), r = fast_sin_poly(fast_minus_pi(a, t - magic<el<F>>));
  auto far = a > bc<F>(trig_max<el<F>>);
  r = m_as<F>(m_as<I>(r) ^ odd_sign(t) ^ sign_bit(x));
  if (__builtin_expect(any(far), 0)) r = m_sel(far, sin_far(x), r);
  return r;
}
//@ short_cos
// cos by a short form of the sine of the distance to the multiple of pi that is nearest.
template<class F, class S> INL F short_cos(F x, S sine) {
  typedef ints<F> I;
  F a = with_sign(x, bc<I>((el<I>)0x80000000)), t = m_mad(a, bc<F>(-0.31830988618379067), bc<F>(-0.5)) + magic<el<F>>;
  F r = sine(fast_minus_pi(a, (magic<el<F>> - t) - el<F>(0.5)));
  auto far = a < bc<F>(-trig_max<el<F>>);
  r = m_as<F>(m_as<I>(r) ^ odd_sign(t));
  if (__builtin_expect(any(far), 0)) r = m_sel(far, cos_far(x), r);
  return r;
}
//@ m_fast_cos
template<class F> INL F m_fast_cos(F x) { return short_cos(x, [](F r) { return fast_sin_poly(r); }); }
//@ m_fast_erf_plus_one
template<class F> INL F m_fast_erf_plus_one(F x) {
  F a = m_abs(x);
  F q = a * poly(a, -1.6280598f, -0.91710345f, -0.15238468f, 0.033868851f, -0.0052048773f, 0.00048200616f, -1.9976051e-05f);
  F k = nearest(q), e = scale_from(fast_exp2(q - k), k, -a, -4);
  return m_sel(x < bc<F>(0), e, bc<F>(2) - e);
}
//@ m_fast_divide_by
template<class F> INL F m_fast_divide_by(F x, F s) {
  const el<F> one = lane(s, 0), size = one < 0 ? -one : one;
  if (__builtin_expect(size > el<F>(0x1p-96) && size < el<F>(0x1p96), 1)) return x * bc<F>(el<F>(1) / one);
  return x / s;
}
