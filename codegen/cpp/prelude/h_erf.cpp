//@ erfcx_scaled: erfcx_pos
// e^(a a) erfc(a) for a >= 0, as (polynomial in (a - K) / (a + K)) / (1 + 2 a).
template<class F> INL F erfcx_pos(F a) {
  const el<F> K = sizeof(el<F>) == 4 ? 2 : 4;
  F t = (a - K) / (a + K), p;
  if constexpr (sizeof(el<F>) == 4)
    p = poly(t, 1.2769784f, -0.092763763f, -0.16603038f, 0.16404945f, -0.054220267f, -0.0080189631f, 0.0087246076f, 0.0012174106f, -0.0014640709f,
             -0.00035792045f, 0.00022157155f, 6.3369458e-05f, -2.025599e-05f);
  else
    p = poly(t, 1.2329951186255526, -0.1396211168405625, 0.015379652102619604, 0.0680970542546904, -0.10103906603630056, 0.09373283499843826,
             -0.06633036581218697, 0.03716751553592911, -0.016197734059799265, 0.005031969992669933, -0.0007577732613730956, -0.0001992567757633648,
             0.0001506214900124047, -2.4398944545280832e-05, -1.1221287012353486e-05, 5.709206053072183e-06, 2.919733377963012e-07,
             -8.249198427508354e-07, 7.746992727017941e-08, 1.1009737295274889e-07, -2.05606492756992e-08, -1.4709550868669278e-08,
             3.1695881915648173e-09, 1.7903326159489847e-09, -2.659599690242689e-10, -1.374652989001164e-10);
  p = p * el<F>(0.5) / (a + el<F>(0.5));
  return m_sel(a == m_inf<F>(), bc<F>(0), p);
}
//@ exp_minus_square
// e^(-a a), with a a in two parts.
template<class F> INL F exp_minus_square(F a) {
  typedef ints<F> I;
  F b = at_most(a, bc<F>(sizeof(el<F>) == 4 ? 11 : 28));
  F h = m_as<F>(m_as<I>(b) & ~bc<I>(sizeof(el<F>) == 4 ? (el<I>)0xfff : (el<I>)0x7ffffff));
  return exp_sum(-(h * h), -((b - h) * (b + h)));
}
//@ m_erfc
template<class F> INL F m_erfc(F x) {
  F a = m_abs(x), e = exp_minus_square(a) * erfcx_pos(a);
  return m_sel(x < bc<F>(0), bc<F>(2) - e, e);
}
//@ m_erfcx
template<class F> INL F m_erfcx(F x) {
  typedef ints<F> I;
  F a = m_abs(x), p = erfcx_pos(a);
  F h = m_as<F>(m_as<I>(a) & ~bc<I>(sizeof(el<F>) == 4 ? (el<I>)0xfff : (el<I>)0x7ffffff));
  F g = exp_sum(h * h, (a - h) * (a + h));
  g = m_sel(a > bc<F>(sizeof(el<F>) == 4 ? 20 : 40), m_inf<F>(), g * el<F>(2) - p);
  return m_sel(x < bc<F>(0), g, p);
}
//@ m_erf
template<class F> INL F m_erf(F x) {
  F a = m_abs(x), z = x * x;
  if constexpr (sizeof(el<F>) == 4) {
    F small = m_mad(x, poly(z, 0.12837915f, -0.37612483f, 0.11281682f, -0.026761107f, 0.0049843788f, -0.00059431425f), x);
    F b = at_most(a, bc<F>(4));
    F q = poly(b, -0.00023507755f, -1.1275126f, -0.63745707f, -0.10369007f, 0.022110349f, -0.0030139412f, 0.00019294982f);
    return m_sel(a >= bc<F>(0.9375f), with_sign(bc<F>(1) - exp_mid(q), sign_bit(x)), small);
  } else {
    F small = m_mad(x, poly(z, 0.12837916709551256, -0.37612638903183543, 0.1128379167094513, -0.026866170643256995, 0.005223977607269946,
                            -0.0008548325982543225, 0.00012055295112667001, -1.4924740785377576e-05, 1.6447471190594618e-06, -1.6208829856810202e-07,
                            1.3721520406351094e-08, -7.798543850549947e-10), x);
    F e = exp_minus_square(a) * erfcx_pos(a);
    return m_sel(a < bc<F>(1), small, with_sign(bc<F>(1) - e, sign_bit(x)));
  }
}
//@ m_erf_plus_one
// 1 + erf(x). f32: erfc(|x|) = 2^(polynomial), taken for x < 0 and from 2 for the others; where that is
// below a quarter of the last place of 1, nothing.
template<class F> INL F m_erf_plus_one(F x) {
  if constexpr (sizeof(el<F>) == 8) return m_erf(x) + 1.0;
  else {
    F a = m_abs(x);
    F q = a * poly(a, -1.627909f, -0.91841584f, -0.1484536f, 0.028079804f, -0.00036066672f, -0.001980748f, 0.00075691409f,
                   -0.00014889885f, 1.5915226e-05f, -7.2922683e-07f);
    F k = nearest(q), f = q - k;
    F e = m_mad(f, poly(f, 0.693147f, 0.24022242f, 0.055507336f, 0.009671513f, 0.0013264727f), bc<F>(1));
    e = scale_from(e, k, -a, -4);
    return m_sel(x < bc<F>(0), e, bc<F>(2) - e);
  }
}
