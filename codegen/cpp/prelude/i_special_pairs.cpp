//@ s_zeta: s_zeta_right
// Hurwitz zeta for q > 0: ten terms, then the Euler-Maclaurin sum (B_2k / (2k)! as in NIST 2.10.1).
static f64 s_zeta_right(f64 x, f64 q) {
  static const f64 b[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -5.2841901386874932e-10,
                          1.3382536530684679e-11, -3.3896802963225829e-13, 8.5860620562778446e-15, -2.174868698558062e-16,
                          5.5090028283602295e-18, -1.3954464685812523e-19};
  f64 sum = __builtin_pow(q, -x), w = q, last = sum;
  for (int i = 0; i < 9 || w <= 9; ++i) {
    w += 1;
    last = __builtin_pow(w, -x);
    sum += last;
    if (last < 1e-17 * sum) return sum;
  }
  sum += last * w / (x - 1) - 0.5 * last;
  f64 factor = x * last / w;
  for (int k = 0; k < 12; ++k) {
    f64 term = factor * b[k];
    sum += term;
    if (__builtin_fabs(term) < 1e-17 * sum) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (w * w);
  }
  return sum;
}
// For q < 0 (x whole) the terms below zero are those of two sums above it.
static __attribute__((noinline)) f64 s_zeta(f64 x, f64 q) {
  f64 whole = __builtin_floor(q), part = q - whole;
  if (x == 1) return __builtin_inf();
  if (x < 1) return __builtin_nan("");
  if (q <= 0 && q == whole) return __builtin_inf();
  if (x != x || q != q) return __builtin_nan("");
  if (q > 0) return s_zeta_right(x, q);
  if (x == __builtin_inf()) return x;  // some term is of a base between 0 and 1
  if (x != __builtin_floor(x)) return __builtin_nan("");
  f64 below = s_zeta_right(x, 1 - part) - s_zeta_right(x, 1 - q);
  return s_zeta_right(x, part) + (__builtin_fmod(x, 2) == 0 ? below : -below);
}
//@ m_zeta
template<class F> INL F m_zeta(F x, F q) { return by_lane2(x, q, [](el<F> a, el<F> b) { return (el<F>)s_zeta(a, b); }); }
//@ s_trigamma
// Recurrence to x >= 10, then the asymptotic series; reflection below 1/2. At a pole the sine is that of
// the rounded pi x, as PyTorch has it: large, not infinite.
template<class T> static __attribute__((noinline)) f64 s_trigamma(T v) {
  const f64 pi = 3.14159265358979323846;
  f64 x = v, sum = 0, sign = 1;
  if (x < 0.5) {
    f64 s = x == __builtin_floor(x) ? (f64)(T)__builtin_sin((f64)(T)((T)pi * v)) : __builtin_sin(pi * (x - __builtin_rint(x)));
    sum = -(pi * pi) / (s * s);
    sign = -1;
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum += 1 / (x * x);
  f64 z = 1 / (x * x);
  f64 t = z * (1. / 6 - z * (1. / 30 - z * (1. / 42 - z * (1. / 30 - z * (5. / 66 - z * (691. / 2730 - z * (7. / 6)))))));
  return sign * (sum + (1 + 0.5 / x + t) / x);
}
//@ m_trigamma
template<class F> INL F m_trigamma(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_trigamma(v); }); }
//@ s_gamma_inc: s_gamma_front s_gamma_series s_gamma_fraction s_gamma_upper
// x^a e^-x / Gamma(a + 1), for large a about the saddle, where the plain form would cancel.
static f64 s_gamma_front(f64 a, f64 x) {
  int sign;
  if (a < 10) return __builtin_exp(a * __builtin_log(x) - x - lgamma_r(a + 1, &sign));
  f64 m = (x - a) / a, z = 1 / (a * a);
  f64 gap = __builtin_log1p(m) - m;
  if (__builtin_fabs(m) < 0.1) {
    f64 t = m / (2 + m), s = t * t, sum = 0;
    for (int k = 13; k > 0; k -= 2) sum = sum * s + 1. / (k + 2);
    gap = 2 * t * s * sum - m * t;
  }
  f64 stirling = (1. / 12 - z * (1. / 360 - z * (1. / 1260 - z * (1. / 1680 - z / 1188)))) / a;
  return __builtin_exp(a * gap - stirling) * 0.39894228040143267794 / __builtin_sqrt(a);
}
static f64 s_gamma_series(f64 a, f64 x) {
  f64 sum = 1, term = 1;
  for (f64 r = a + 1; term > 1e-17 * sum; r += 1) { term *= x / r; sum += term; }
  return s_gamma_front(a, x) * sum;
}
// Lentz's method for the continued fraction of the upper function (NIST 8.9.2).
static f64 s_gamma_fraction(f64 a, f64 x) {
  f64 b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (f64 i = 1; i < 1e6; i += 1) {
    f64 n = -i * (i - a);
    b += 2;
    d = n * d + b; if (__builtin_fabs(d) < 1e-300) d = 1e-300;
    c = b + n / c; if (__builtin_fabs(c) < 1e-300) c = 1e-300;
    d = 1 / d;
    h *= d * c;
    if (__builtin_fabs(d * c - 1) < 1e-16) break;
  }
  return h * s_gamma_front(a, x) * a;
}
// The upper function where it is near 0 for small a (x at most 1.1).
static f64 s_gamma_upper(f64 a, f64 x) {
  int sign;
  f64 sum = 0, term = 1, power = a * __builtin_log(x) - lgamma_r(1 + a, &sign);
  for (int n = 1; n < 30; ++n) { term *= -x / n; sum += term / (a + n); }
  return -__builtin_expm1(power) - a * __builtin_exp(power) * sum;
}
// The regularised lower (or upper) incomplete gamma function.
static __attribute__((noinline)) f64 s_gamma_inc(f64 a, f64 x, bool upper) {
  if (!(x >= 0 && a >= 0)) return __builtin_nan("");
  f64 low = 0;
  const f64 inf = __builtin_inf();
  if (a == 0) { if (x == 0) return __builtin_nan(""); low = 1; }
  else if (x == 0) low = 0;
  else if (a == inf) { if (x == inf) return __builtin_nan(""); low = 0; }
  else if (x == inf) low = 1;
  else if (x > 1.1 && x > a) { f64 up = s_gamma_fraction(a, x); return upper ? up : 1 - up; }
  else if (upper && x <= 1.1 && (x <= 0.5 ? -0.4 / __builtin_log(x) >= a : x * 1.1 >= a)) return s_gamma_upper(a, x);
  else low = s_gamma_series(a, x);
  return upper ? 1 - low : low;
}
//@ m_igamma
template<class F> INL F m_igamma(F a, F x) { return by_lane2(a, x, [](el<F> v, el<F> w) { return (el<F>)s_gamma_inc(v, w, false); }); }
//@ m_igammac
template<class F> INL F m_igammac(F a, F x) { return by_lane2(a, x, [](el<F> v, el<F> w) { return (el<F>)s_gamma_inc(v, w, true); }); }
