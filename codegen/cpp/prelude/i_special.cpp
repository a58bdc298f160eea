//@ m_lgamma: lgamma_r
extern "C" double lgamma_r(double, int *);
template<class F> INL F m_lgamma(F x) { return by_lane(x, [](el<F> v) { int sign; return (el<F>)lgamma_r((f64)v, &sign); }); }
//@ s_digamma
// Recurrence to x >= 10, then the asymptotic series; reflection below 0.
static __attribute__((noinline)) f64 s_digamma(f64 x) {
  const f64 pi = 3.14159265358979323846;
  if (x == 0) return __builtin_copysign(__builtin_inf(), -x);
  f64 sum = 0;
  if (x < 0) {
    f64 f = x - __builtin_rint(x);
    if (f == 0) return __builtin_nan("");
    sum = -pi / __builtin_tan(pi * f);
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  if (x > 1e17) return sum + __builtin_log(x);
  f64 z = 1 / (x * x);
  f64 s = z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return sum + (__builtin_log(x) - 0.5 / x - s);
}
//@ m_digamma
template<class F> INL F m_digamma(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_digamma(v); }); }
//@ s_erfcinv
// x with erfc(x) = q for 0 < q <= 1: a first guess, then Halley steps.
static __attribute__((noinline)) f64 s_erfcinv(f64 q) {
  if (q <= 0) return q == 0 ? __builtin_inf() : __builtin_nan("");
  f64 x, y = 1 - q;
  if (q > 1e-2) {
    f64 l = __builtin_log(q * (2 - q)), t = 4.3307467508 + 0.5 * l;
    x = __builtin_sqrt(__builtin_sqrt(t * t - l * 6.8027210884) - t);
    if (y < 1e-3) x = y * 0.88622692545275801;
  } else {
    f64 t = -__builtin_log(q * 1.7724538509055159);
    x = __builtin_sqrt(t - 0.5 * __builtin_log(t));
  }
  for (int i = 0; i < 4; ++i) {
    f64 miss = q > 0.5 ? y - __builtin_erf(x) : __builtin_erfc(x) - q;
    f64 u = -miss * 0.88622692545275801 * __builtin_exp(x * x);
    if (!(u * u < 1e300)) break;
    x -= u / (1 + x * u);
  }
  return x;
}
//@ s_erfinv: s_erfinv_small
static f64 s_erfinv_small(f64 a) {
  // Near zero erf is almost linear; the Halley step works on erf itself.
  f64 x = a * 0.88622692545275801;
  for (int i = 0; i < 4; ++i) {
    f64 u = (__builtin_erf(x) - a) * 0.88622692545275801 * __builtin_exp(x * x);
    x -= u / (1 + x * u);
  }
  return x;
}
static __attribute__((noinline)) f64 s_erfinv(f64 y) {
  f64 a = __builtin_fabs(y);
  if (!(a <= 1)) return __builtin_nan("");
  return __builtin_copysign(a < 0.5 ? s_erfinv_small(a) : s_erfcinv(1 - a), y);
}
//@ m_erfinv
template<class F> INL F m_erfinv(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_erfinv(v); }); }
//@ s_ndtri
static __attribute__((noinline)) f64 s_ndtri(f64 p) {
  const f64 root2 = 1.41421356237309504880;
  if (!(p >= 0 && p <= 1)) return __builtin_nan("");
  if (p < 0.25) return -root2 * s_erfcinv(2 * p);
  if (p > 0.75) return root2 * s_erfcinv(2 * (1 - p));
  return root2 * s_erfinv(2 * p - 1);
}
//@ m_ndtri
template<class F> INL F m_ndtri(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_ndtri(v); }); }
//@ m_log_ndtr
template<class F> INL F m_log_ndtr(F x) {
  F t = x * el<F>(0.70710678118654752);
  F left = m_log(m_erfcx(-t) * el<F>(0.5)) - t * t, right = m_log1p(m_erfc(t) * el<F>(-0.5));
  return m_sel(x < bc<F>(-1), left, right);
}
//@ s_bessel_i
// Modified Bessel function of order 0 or 1 times e^-|x|: power series, or the asymptotic one for large x.
static __attribute__((noinline)) f64 s_bessel_i(int order, f64 x) {
  f64 a = __builtin_fabs(x), sum, term;
  if (a != a) return a;
  if (a < 25) {
    f64 z = a * a * 0.25;
    sum = term = order ? a * 0.5 : 1;
    for (int k = 1; k < 80 && term > 1e-17 * sum; ++k) { term *= z / ((f64)k * (k + order)); sum += term; }
    sum *= __builtin_exp(-a);
  } else {
    f64 mu = 4. * order;
    sum = term = 1;
    for (int k = 1; k < 25 && __builtin_fabs(term) > 1e-17; ++k) { f64 o = 2 * k - 1; term *= (o * o - mu) / (8 * k * a); sum += term; }
    sum *= 0.3989422804014326779 / __builtin_sqrt(a);
  }
  return order ? __builtin_copysign(sum, x) : sum;
}
//@ m_i0e
template<class F> INL F m_i0e(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_i(0, v); }); }
//@ m_i1e
template<class F> INL F m_i1e(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_i(1, v); }); }
//@ exp_or_inf
// e^|x| in double, but infinite where it is in x's own type: PyTorch's product overflows there.
template<class T> INL f64 exp_or_inf(T x) { f64 e = __builtin_exp(__builtin_fabs((f64)x)); return (f64)(T)e == __builtin_inf() ? __builtin_inf() : e; }
//@ m_i0
template<class F> INL F m_i0(F x) { return by_lane(x, [](el<F> v) { return (el<F>)(s_bessel_i(0, v) * exp_or_inf(v)); }); }
//@ m_i1
template<class F> INL F m_i1(F x) { return by_lane(x, [](el<F> v) { return (el<F>)(s_bessel_i(1, v) * exp_or_inf(v)); }); }
//@ m_bessel_j0
extern "C" double j0(double);
template<class F> INL F m_bessel_j0(F x) { return by_lane(x, [](el<F> v) { return m_isinf(v) ? m_nan<el<F>>() : (el<F>)j0((f64)v); }); }
//@ m_bessel_j1
extern "C" double j1(double);
template<class F> INL F m_bessel_j1(F x) { return by_lane(x, [](el<F> v) { return m_isinf(v) ? m_nan<el<F>>() : (el<F>)j1((f64)v); }); }
