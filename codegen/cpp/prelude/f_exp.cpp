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
//@ tanh_table: tanh_pieces
// tanh about 30 places, four an octave from 1/16 on: the place, chosen so that its tanh is nearly an
// f32 (Gal and Bachelis, An accurate elementary mathematical library, 1991), that tanh, and the
// coefficients of degree 1 to 5 in the distance to it. Columns are named by the low bits of exponent
// and mantissa; the one at 11 is about 0.
#if defined(__AVX512F__) && !defined(__clang__)
alignas(64) static const f32 tanh_table[7][32] = {
  {2.2490582f, 2.7490604f, 3.2490795f, 3.7490616f, 4.4981236f, 5.498579f, 6.498959f, 7.5019073f, 8.995686f, 0, 0, 0, 0.07028329f, 0.08590907f, 0.10153431f, 0.11715865f,
   0.14056708f, 0.17181663f, 0.20306893f, 0.23431747f, 0.28114122f, 0.34366167f, 0.40613145f, 0.46863168f, 0.5622765f, 0.6872685f, 0.81229204f, 0.93726784f, 1.1245553f, 1.3745707f, 1.6245418f, 1.8745685f},
  {0.97798514f, 0.9918445f, 0.9969921f, 0.99889237f, 0.9997523f, 0.9999665f, 0.99999547f, 0.9999994f, 0.99999994f, 0, 0, 0, 0.070167795f, 0.085698344f, 0.10118683f, 0.11662553f,
   0.13964851f, 0.17014563f, 0.2003229f, 0.23012123f, 0.27396098f, 0.33074245f, 0.385183f, 0.43709308f, 0.50966454f, 0.59622437f, 0.6708527f, 0.73396444f, 0.8091476f, 0.8797297f, 0.92528033f, 0.9540065f},
  {0.043545052f, 0.016244538f, 0.0060067307f, 0.0022140394f, 0.00049537985f, 6.699582e-05f, 9.0602825e-06f, 1.2196002e-06f, 6.218801e-08f, 0, 0, 1.f, 0.9950765f, 0.9926558f, 0.98976123f, 0.98639846f,
   0.9804983f, 0.97105044f, 0.95987076f, 0.9470442f, 0.92494535f, 0.89060944f, 0.851634f, 0.80894965f, 0.74024206f, 0.6445165f, 0.5499566f, 0.4612962f, 0.34528017f, 0.22607568f, 0.1438563f, 0.08987161f},
  {-0.04258518f, -0.016111119f, -0.00598825f, -0.0022114173f, -0.00049463735f, -6.691053e-05f, -9.050646e-06f, -1.4323339e-06f, 5.554113e-08f, 0, 0, 1.3223042e-08f, -0.06982161f, -0.085069545f, -0.10015147f, -0.11503952f,
   -0.13692474f, -0.16521989f, -0.19228435f, -0.21793535f, -0.25339884f, -0.29456207f, -0.3280348f, -0.3535865f, -0.3772748f, -0.38427633f, -0.36893985f, -0.33857504f, -0.27938458f, -0.19888665f, -0.13310787f, -0.08573815f},
  {0.027134418f, 0.010565639f, 0.003968287f, 0.0014710722f, 0.00032973025f, 4.4618842e-05f, 6.0343805e-06f, 7.984652e-07f, 3.6769567e-08f, 0, 0, -0.33333492f, -0.32677543f, -0.32360646f, -0.3197972f, -0.31538656f,
   -0.3077068f, -0.295571f, -0.28144002f, -0.26553237f, -0.23889345f, -0.19944459f, -0.15752405f, -0.11510042f, -0.05446434f, 0.014275738f, 0.06418542f, 0.09473663f, 0.11096973f, 0.09960802f, 0.07521012f, 0.05183774f},
  {-0.012404677f, -0.0051567387f, -0.0019814852f, -0.00074072886f, -0.00017263064f, -2.338302e-05f, -3.157691e-06f, 2.6223603e-07f, -1.1726989e-07f, 0, 0, 6.321429e-05f, 0.03687352f, 0.06382412f, 0.07458384f, 0.07869152f,
   0.08735792f, 0.10498932f, 0.12129574f, 0.13497837f, 0.14975883f, 0.1638672f, 0.16979685f, 0.16827229f, 0.15329823f, 0.119511925f, 0.07993724f, 0.043401632f, 0.003742915f, -0.021092065f, -0.025129557f, -0.020860748f},
  {0.0039775823f, 0.001914708f, 0.0007703282f, 0.0002925781f, 6.8264395e-05f, 9.275217e-06f, 1.2558621e-06f, 2.2262296e-07f, 1.31088305e-08f, 0, 0, 0.13246599f, -0.091841005f, 0.26829827f, 0.25413635f, 0.16178289f,
   0.097568415f, 0.098989844f, 0.097176164f, 0.08614981f, 0.058893245f, 0.031242171f, 0.0055925837f, -0.016650394f, -0.043370456f, -0.061544213f, -0.0627092f, -0.053095933f, -0.032117292f, -0.009540427f, 0.0013898351f, 0.004600672f},
};
INL vec<f32, 16> tanh_pieces(vec<f32, 16> x) {
  typedef vec<f32, 16> F;
  typedef vec<i32, 16> I;
  F a = at_most(m_abs(x), bc<F>(9.99f));
  I k = m_as<I>(at_least(a, bc<F>(0.062499996f))) >> 21;
  F c[7];
#pragma GCC unroll 7
  for (int i = 0; i < 7; ++i) c[i] = __builtin_ia32_vpermt2varps512_mask(k, ld_all<F>(tanh_table[i]), ld_all<F>(tanh_table[i] + 16), -1);
  F t = a - c[0], p = m_mad(m_mad(m_mad(m_mad(c[6], t, c[5]), t, c[4]), t, c[3]), t, c[2]);
  return with_sign(m_mad(p, t, c[1]), sign_bit(x));
}
#endif
//@ m_tanh
// f32: by pieces where a table lies in registers; else a polynomial up to 1, then 1 - 2 / (e^2a + 1), whose small term keeps the error of e^2a small.
template<class F> INL F m_tanh(F x) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (same<F, vec<f32, 16>>) return tanh_pieces(x);
  else if constexpr (same<F, P<vec<f32, 16>>>) return F{tanh_pieces(x.a), tanh_pieces(x.b)};
#endif
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
