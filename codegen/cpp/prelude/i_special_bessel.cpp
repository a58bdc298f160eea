//@ s_bessel_y
// Bessel functions of the second kind, of the C library where they are defined.
extern "C" double y0(double);
extern "C" double y1(double);
static f64 s_bessel_y(int order, f64 x) {
  if (!(x > 0) || x == __builtin_inf()) return x == 0 ? -__builtin_inf() : __builtin_nan("");
  return order ? y1(x) : y0(x);
}
//@ m_bessel_y0
template<class F> INL F m_bessel_y0(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_y(0, v); }); }
//@ m_bessel_y1
template<class F> INL F m_bessel_y1(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_y(1, v); }); }
//@ s_bessel_k: s_bessel_k_small
// Modified Bessel function of the second kind for 0 < x < 2, by its power series (NIST 10.31).
static f64 s_bessel_k_small(int order, f64 x) {
  const f64 euler = 0.57721566490153286061;
  f64 z = x * x * 0.25, term = order ? x * 0.5 : 1, i = 0, s = 0, harmonic = 0;
  for (int k = 0; k < 20; ++k) {
    i += term;
    s += term * (order ? 2 * harmonic + 1. / (k + 1) : harmonic);
    harmonic += 1. / (k + 1);
    term *= z / ((f64)(k + 1) * (k + 1 + order));
  }
  f64 l = __builtin_log(x * 0.5) + euler;
  return order ? 1 / x + l * i - 0.5 * s : s - l * i;
}
// e^x K(x). From 2 on the integral of e^(-u u / 2) / sqrt(1 + u u / 4x), by the trapezoidal rule, which
// converges faster than any power of the step for such functions.
static __attribute__((noinline)) f64 s_bessel_k(int order, f64 x) {
  if (!(x > 0)) return x == 0 ? __builtin_inf() : __builtin_nan("");
  if (x < 2) return s_bessel_k_small(order, x) * __builtin_exp(x);
  f64 sum = 0.5, z = 1 / x;
  for (int k = 1; k < 23; ++k) {
    f64 h = 0.08 * k * k, t = h * z;  // u u / 2 and its part in cosh
    sum += __builtin_exp(-h) * (order ? 1 + t : 1) / __builtin_sqrt(1 + t * 0.5);
  }
  return 0.4 * sum / __builtin_sqrt(x);
}
//@ m_scaled_modified_bessel_k0
template<class F> INL F m_scaled_modified_bessel_k0(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_k(0, v); }); }
//@ m_scaled_modified_bessel_k1
template<class F> INL F m_scaled_modified_bessel_k1(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_bessel_k(1, v); }); }
//@ m_modified_bessel_k0
template<class F> INL F m_modified_bessel_k0(F x) { return by_lane(x, [](el<F> v) { return (el<F>)(s_bessel_k(0, v) * __builtin_exp(-(f64)v)); }); }
//@ m_modified_bessel_k1
template<class F> INL F m_modified_bessel_k1(F x) { return by_lane(x, [](el<F> v) { return (el<F>)(s_bessel_k(1, v) * __builtin_exp(-(f64)v)); }); }
//@ m_spherical_bessel_j0
static f64 s_spherical_bessel_j0(f64 x) {
  f64 a = __builtin_fabs(x), z = x * x;
  if (a == __builtin_inf()) return 0;
  if (a < 0.5) return 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
  return __builtin_sin(x) / x;
}
template<class F> INL F m_spherical_bessel_j0(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_spherical_bessel_j0(v); }); }
//@ s_airy_ai: s_airy_series s_airy_right s_airy_left
// Maclaurin series (NIST 9.4.1).
static f64 s_airy_series(f64 x) {
  f64 z = x * x * x, f = 1, g = x, a = 1, b = x;
  for (int k = 1; k < 60; ++k) {
    a *= z / ((3. * k - 1) * (3 * k));
    b *= z / ((3. * k) * (3 * k + 1));
    f += a; g += b;
  }
  return 0.35502805388781723926 * f - 0.25881940379280679841 * g;
}
// By K of order 1/3 (NIST 9.6.1), as the integral that s_bessel_k sums.
static f64 s_airy_right(f64 x) {
  f64 zeta = x * __builtin_sqrt(x) * (2. / 3), sum = 0.5;
  for (int k = 1; k < 23; ++k) {
    f64 h = 0.08 * k * k, r = __builtin_sqrt(h / (2 * zeta));
    f64 t = 2 * __builtin_log(r + __builtin_sqrt(1 + r * r)) / 3;  // a third of the angle
    f64 e = __builtin_exp(t);
    sum += __builtin_exp(-h) * 0.5 * (e + 1 / e) / __builtin_sqrt(1 + r * r);
  }
  f64 k = 0.4 * sum / __builtin_sqrt(zeta);
  return 0.31830988618379067 * __builtin_sqrt(x / 3) * k * __builtin_exp(-zeta);
}
// Asymptotic expansion (NIST 9.7.9).
static f64 s_airy_left(f64 a) {
  f64 zeta = a * __builtin_sqrt(a) * (2. / 3), u = 1, p = 1, q = 0;
  for (int k = 1; k < 18; ++k) {
    u *= (6. * k - 5) * (6 * k - 3) * (6 * k - 1) / (216. * k * (2 * k - 1)) / zeta;
    if (k & 1) q += k & 2 ? -u : u; else p += k & 2 ? -u : u;
  }
  f64 t = zeta - 0.78539816339744830962;
  return (__builtin_cos(t) * p + __builtin_sin(t) * q) / (1.7724538509055160273 * __builtin_sqrt(__builtin_sqrt(a)));
}
static __attribute__((noinline)) f64 s_airy_ai(f64 x) {
  if (x - x != 0) return __builtin_nan("");
  if (x > 103.892) return 0;
  return x > 2 ? s_airy_right(x) : x < -8 ? s_airy_left(-x) : s_airy_series(x);
}
//@ m_airy_ai
template<class F> INL F m_airy_ai(F x) { return by_lane(x, [](el<F> v) { return (el<F>)s_airy_ai(v); }); }
