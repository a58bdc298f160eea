//@ minus_pi
// x - h pi for multiples h of 1/2: each step is exact, fused or by constants short enough, while
// |h| < 2^12 (f32) or 2^19 (f64).
template<class F> INL F minus_pi(F x, F h) {
  if constexpr (sizeof(el<F>) == 8) {
    F r = m_mad(h, bc<F>(-3.1415926534682512), x);
    r = m_mad(h, bc<F>(-1.2154201012607932e-10), r);
    r = m_mad(h, bc<F>(-4.044532497422333e-21), r);
    return m_mad(h, bc<F>(-1.69568553207378e-31), r);
  } else {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    F r = m_mad(h, bc<F>(-3.141592502593994f), x);
    r = m_mad(h, bc<F>(-1.5099578831723193e-07f), r);
    return m_mad(h, bc<F>(-1.078060505991553e-14f), r);
#else
    F r = m_mad(h, bc<F>(-3.140625f), x);
    r = m_mad(h, bc<F>(-9.675025939941406e-4f), r);
    r = m_mad(h, bc<F>(-1.5099067240953445e-7f), r);
    r = m_mad(h, bc<F>(-5.126565838509123e-12f), r);
    return m_mad(h, bc<F>(-1.2246467991473532e-16f), r);
#endif
  }
}
//@ trig_max
// Beyond this the argument is reduced by the C library, lane by lane.
template<class T> constexpr T trig_max = sizeof(T) == 4 ? T(12000) : T(1e6);
//@ sin_poly
// sin(r) for |r| <= pi / 2.
template<class F> INL F sin_poly(F r) {
  F z = r * r;
  if constexpr (sizeof(el<F>) == 4)
    return m_mad(r * z, poly(z, -0.16666667f, 0.0083333328f, -0.00019841085f, 2.7536312e-06f, -2.4076657e-08f), r);
  else
    return m_mad(r * z, poly(z, -0.16666666666666666, 0.008333333333333333, -0.00019841269841269806, 2.7557319223970917e-06, -2.5052108382331518e-08,
                             1.6059043473811124e-10, -7.64713883287156e-13, 2.810461057633866e-15, -8.005236269643352e-18), r);
}
//@ odd_sign
// The sign bit of (-1)^n for an integer n on top of `magic`.
template<class F> INL ints<F> odd_sign(F n) { typedef ints<F> I; return m_as<I>(n) << el<I>(8 * sizeof(el<F>) - 1); }
//@ sin_cos_far: sin_far cos_far tan_far
template<class F> __attribute__((noinline, cold)) F sin_far(F x) { return by_lane(x, [](el<F> v) { return (el<F>)__builtin_sin((f64)v); }); }
template<class F> __attribute__((noinline, cold)) F cos_far(F x) { return by_lane(x, [](el<F> v) { return (el<F>)__builtin_cos((f64)v); }); }
template<class F> __attribute__((noinline, cold)) F tan_far(F x) { return by_lane(x, [](el<F> v) { return (el<F>)__builtin_tan((f64)v); }); }
//@ any_beyond
// Whether |x| is above the bound in any lane, for x of one sign. AVX-512 asks its mask, which GCC would
// first write out as a vector.
template<class F> INL bool any_beyond(F x, el<F> bound) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (same<F, vec<f32, 16>>) return (u16)(bound < 0 ? __builtin_ia32_cmpps512_mask(x, bc<F>(bound), 17, -1, 4) : __builtin_ia32_cmpps512_mask(x, bc<F>(bound), 30, -1, 4)) != 0;
  if constexpr (same<F, P<vec<f32, 16>>>) return any_beyond(x.a, bound) | any_beyond(x.b, bound);
#endif
  return bound < 0 ? any(x < bc<F>(bound)) : any(x > bc<F>(bound));
}
//@ flip_odd
// r with its sign turned by that of x, and by odd n as in odd_sign.
template<class F> INL F flip_odd(F r, F n, F x) {
  typedef ints<F> I;
#if defined(__AVX512F__) && !defined(__clang__)
  // a ^ (b & c) in one instruction.
  if constexpr (same<F, vec<f32, 16>>) return m_as<F>(m_as<I>(r) ^ (I)__builtin_ia32_pternlogd512_mask(odd_sign(n), m_as<I>(x), bc<I>((i32)0x80000000), 0x78, -1));
  else if constexpr (same<F, P<vec<f32, 16>>>) return F{flip_odd(r.a, n.a, x.a), flip_odd(r.b, n.b, x.b)};
#endif
  return m_as<F>(m_as<I>(r) ^ odd_sign(n) ^ sign_bit(x));
}
//@ m_sin
template<class F> INL F m_sin(F x) {
  F a = m_abs(x), t = m_mad(a, bc<F>(0.31830988618379067), bc<F>(magic<el<F>>)), r = sin_poly(minus_pi(a, t - magic<el<F>>));
  r = flip_odd(r, t, x);
  if (__builtin_expect(any_beyond(a, trig_max<el<F>>), 0)) r = m_sel(a > bc<F>(trig_max<el<F>>), sin_far(x), r);
  return r;
}
//@ m_cos
// At -|x| = r - (n + 1/2) pi it is (-1)^n sin(r).
template<class F> INL F m_cos(F x) {
  typedef ints<F> I;
  F a = with_sign(x, bc<I>((el<I>)((u64)1 << (8 * sizeof(el<F>) - 1)))), t = m_mad(a, bc<F>(-0.31830988618379067), bc<F>(-0.5)) + magic<el<F>>;
  F r = sin_poly(minus_pi(a, (magic<el<F>> - t) - el<F>(0.5)));
  r = m_as<F>(m_as<I>(r) ^ odd_sign(t));
  if (__builtin_expect(any_beyond(a, -trig_max<el<F>>), 0)) r = m_sel(a < bc<F>(-trig_max<el<F>>), cos_far(x), r);
  return r;
}
//@ m_tan
template<class F> INL F m_tan(F x) {
  auto far = m_abs(x) > bc<F>(trig_max<el<F>>);
  F t2 = m_mad(x, bc<F>(0.63661977236758134), bc<F>(magic<el<F>>)), r = minus_pi(x, (t2 - magic<el<F>>) * el<F>(0.5)), z = r * r;
  auto odd = odd_sign(t2) != bc<ints<F>>(0);
  if constexpr (sizeof(el<F>) == 4) {
    F t = m_mad(r * z, poly(z, 0.33333333f, 0.13333344f, 0.053964712f, 0.021913808f, 0.0085939563f, 0.0044635248f, -4.719121e-05f, 0.001812088f), r);
    r = m_sel(x == bc<F>(0), x, m_sel(odd, bc<F>(-1) / t, t));
  } else {
    F s = sin_poly(r);
    F c = m_mad(z * z, poly(z, 0.041666666666666664, -0.0013888888888888887, 2.480158730158451e-05, -2.755731922129824e-07, 2.087675575491805e-09,
                            -1.1470455182399034e-11, 4.7455371712958035e-14), bc<F>(1) - z * 0.5);
    r = m_sel(x == bc<F>(0), x, m_sel(odd, -c, s) / m_sel(odd, s, c));
  }
  if (__builtin_expect(any(far), 0)) r = m_sel(far, tan_far(x), r);
  return r;
}
//@ atan_unit
// atan(t) for 0 <= t <= 1.
template<class F> INL F atan_unit(F t) {
  F z = t * t;
  return m_mad(t * z, poly(z, -0.33333302f, 0.19998638f, -0.14265245f, 0.10957577f, -0.084194608f, 0.05823458f, -0.031455729f, 0.011064457f, -0.0018272165f), t);
}
//@ m_atan
template<class F> INL F m_atan(F x) {
  if constexpr (sizeof(el<F>) == 8) return by_lane(x, [](f64 v) { return __builtin_atan(v); });
  else {
    F a = m_abs(x);
    auto big = a > bc<F>(1);
    F t = atan_unit(m_sel(big, bc<F>(1) / a, a));
    return with_sign(m_sel(big, (bc<F>(1.57079637f) - t) - 4.37113883e-08f, t), sign_bit(x));
  }
}
//@ m_atan2
template<class F> INL F m_atan2(F y, F x) {
  if constexpr (sizeof(el<F>) == 8) return by_lane2(y, x, [](f64 v, f64 w) { return __builtin_atan2(v, w); });
  else {
    F a = m_abs(y), b = m_abs(x), z = bc<F>(0);
    auto steep = a > b;
    F num = m_sel(steep, b, a), den = m_sel(steep, a, b);
    F q = num / den;
    q = m_sel(den == z, z, q);
    q = m_sel((a == m_inf<F>()) & (b == m_inf<F>()), bc<F>(1), q);
    F t = atan_unit(q);
    t = m_sel(steep, (bc<F>(1.57079637f) - t) - 4.37113883e-08f, t);
    t = m_sel(m_signbit(x), (bc<F>(3.14159274f) - t) - 8.74227766e-08f, t);
    return with_sign(m_sel((x != x) | (y != y), x + y, t), sign_bit(y));
  }
}
//@ asin_half
// asin(t) for 0 <= t <= 1/2.
template<class F> INL F asin_half(F t) {
  F z = t * t;
  return m_mad(t * z, poly(z, 0.1666666f, 0.075005107f, 0.044515721f, 0.031817615f, 0.014402597f, 0.037565216f), t);
}
//@ m_asin
template<class F> INL F m_asin(F x) {
  if constexpr (sizeof(el<F>) == 8) return by_lane(x, [](f64 v) { return __builtin_asin(v); });
  else {
    F a = m_abs(x);
    auto big = a > bc<F>(0.5f);
    F s = m_sqrt((bc<F>(1) - a) * 0.5f), t = asin_half(m_sel(big, s, a));
    return with_sign(m_sel(big, bc<F>(1.57079637f) - (t + t + 4.37113883e-08f), t), sign_bit(x));
  }
}
//@ m_acos
template<class F> INL F m_acos(F x) {
  if constexpr (sizeof(el<F>) == 8) return by_lane(x, [](f64 v) { return __builtin_acos(v); });
  else {
    F a = m_abs(x);
    auto big = a > bc<F>(0.5f);
    F s = m_sqrt((bc<F>(1) - a) * 0.5f), t = asin_half(m_sel(big, s, a)), d = t + t;
    F far = m_sel(x < bc<F>(0), (bc<F>(3.14159274f) - d) - 8.74227766e-08f, d);
    F near = bc<F>(1.57079637f) - (with_sign(t, sign_bit(x)) + 4.37113883e-08f);
    return m_sel(big, far, near);
  }
}
