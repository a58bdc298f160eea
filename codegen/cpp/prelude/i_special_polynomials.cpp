//@ s_polynomial: s_edge s_wave s_rest
// Orthogonal polynomials of degree n, with PyTorch's conventions: 0 below degree 0, trigonometric forms of
// the Chebyshev family inside (-1, 1) from some degree on, NaN for Hermite's beyond `limit`.
// Kinds: t, u, v, w (Chebyshev), h, e (Hermite, physicists' and probabilists'), l (Laguerre), p (Legendre).
static f64 s_edge(char kind, f64 x, i64 n) {
  // At x = 1 or -1.
  f64 odd = n % 2 ? -1 : 1;
  switch (kind) {
    case 't': case 'p': return x > 0 ? 1 : odd;
    case 'u': return (x > 0 ? 1 : odd) * (n + 1);
    case 'v': return x > 0 ? 1 : odd * (2 * n + 1);
    default: return x > 0 ? 2 * n + 1 : odd;
  }
}
static f64 s_wave(char kind, f64 x, i64 n) {
  f64 t = __builtin_acos(x);
  switch (kind) {
    case 't': return __builtin_cos(n * t);
    case 'u': return __builtin_sin((n + 1) * t) / __builtin_sin(t);
    case 'v': return __builtin_cos((n + 0.5) * t) / __builtin_cos(t * 0.5);
    default: return __builtin_sin((n + 0.5) * t) / __builtin_sin(t * 0.5);
  }
}
static f64 s_rest(char kind, f64 x, i64 n) {
  f64 p = 1, q = x;
  switch (kind) {
    case 'u': case 'h': q = 2 * x; break;
    case 'v': q = 2 * x - 1; break;
    case 'w': q = 2 * x + 1; break;
    case 'l': q = 1 - x; break;
  }
  if (n == 0) return p;
  for (i64 k = 1; k < n && q == q; ++k) {
    f64 r;
    switch (kind) {
      case 'h': r = 2 * x * q - 2 * k * p; break;
      case 'e': r = x * q - k * p; break;
      case 'l': r = ((2 * k + (1 - x)) * q - k * p) / (k + 1); break;
      case 'p': r = ((2 * k + 1) * x * q - k * p) / (k + 1); break;
      default: r = 2 * x * q - p;
    }
    p = q;
    q = r;
  }
  return q;
}
static __attribute__((noinline)) f64 s_polynomial(char kind, f64 x, f64 degree, int limit) {
  i64 n = (i64)degree;
  if (n < 0) return 0;
  bool cosine = kind >= 't' && kind <= 'w', hermite = kind == 'h' || kind == 'e';
  if (hermite) return n > limit ? __builtin_nan("") : s_rest(kind, x, n);
  if ((cosine || kind == 'p') && __builtin_fabs(x) == 1) return s_edge(kind, x, n);
  if (kind == 'l' && x == 0) return 1;
  return cosine && n > 8 && __builtin_fabs(x) < 1 ? s_wave(kind, x, n) : s_rest(kind, x, n);
}
//@ polynomial_of
template<char kind, bool shifted, class F> INL F polynomial_of(F x, F n) {
  const int limit = sizeof(el<F>) == 4 ? 128 : 512;
  return by_lane2(x, n, [](el<F> a, el<F> b) { return (el<F>)s_polynomial(kind, shifted ? 2 * (f64)a - 1 : (f64)a, b, limit); });
}
//@ m_chebyshev_polynomial_t
template<class F> INL F m_chebyshev_polynomial_t(F x, F n) { return polynomial_of<'t', false>(x, n); }
//@ m_chebyshev_polynomial_u
template<class F> INL F m_chebyshev_polynomial_u(F x, F n) { return polynomial_of<'u', false>(x, n); }
//@ m_chebyshev_polynomial_v
template<class F> INL F m_chebyshev_polynomial_v(F x, F n) { return polynomial_of<'v', false>(x, n); }
//@ m_chebyshev_polynomial_w
template<class F> INL F m_chebyshev_polynomial_w(F x, F n) { return polynomial_of<'w', false>(x, n); }
//@ m_shifted_chebyshev_polynomial_t
template<class F> INL F m_shifted_chebyshev_polynomial_t(F x, F n) { return polynomial_of<'t', true>(x, n); }
//@ m_shifted_chebyshev_polynomial_u
template<class F> INL F m_shifted_chebyshev_polynomial_u(F x, F n) { return polynomial_of<'u', true>(x, n); }
//@ m_shifted_chebyshev_polynomial_v
template<class F> INL F m_shifted_chebyshev_polynomial_v(F x, F n) { return polynomial_of<'v', true>(x, n); }
//@ m_shifted_chebyshev_polynomial_w
template<class F> INL F m_shifted_chebyshev_polynomial_w(F x, F n) { return polynomial_of<'w', true>(x, n); }
//@ m_hermite_polynomial_h
template<class F> INL F m_hermite_polynomial_h(F x, F n) { return polynomial_of<'h', false>(x, n); }
//@ m_hermite_polynomial_he
template<class F> INL F m_hermite_polynomial_he(F x, F n) { return polynomial_of<'e', false>(x, n); }
//@ m_laguerre_polynomial_l
template<class F> INL F m_laguerre_polynomial_l(F x, F n) { return polynomial_of<'l', false>(x, n); }
//@ m_legendre_polynomial_p
template<class F> INL F m_legendre_polynomial_p(F x, F n) { return polynomial_of<'p', false>(x, n); }
