//@ m_hypot
template<class F> INL F m_hypot(F x, F y) {
  if constexpr (sizeof(el<F>) == 8) return by_lane2(x, y, [](f64 a, f64 b) { return __builtin_hypot(a, b); });
  else {
    auto a = m_cvt<f64>(x), b = m_cvt<f64>(y);
    F r = m_cvt<f32>(m_sqrt(a * a + b * b));
    return m_sel(m_isinf(x) | m_isinf(y), m_inf<F>(), r);
  }
}
//@ powi
// Integer power with wraparound; a negative exponent gives 1, -1 or 0.
template<class T> INL T powi(T a, T b) {
  typedef typename int_<sizeof(T)>::u U;
  if (b < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (b & T(1) ? T(-1) : T(1)) : T(0);
  U r = 1, x = (U)a;
  for (u64 n = (u64)b; n; n >>= 1) { if (n & 1) r = (U)((u64)r * x); x = (U)((u64)x * x); }
  return (T)r;
}
//@ pow_f64
// |x|^y and the special cases of C's pow, given accurate exp and log.
template<class F> INL F pow_f64(F x, F y) {
  F a = m_abs(x), one = bc<F>(1);
  F r = m_exp(y * m_log(a));
  auto whole_y = m_trunc(y) == y;
  F half = y * 0.5;
  auto odd = whole_y & (m_trunc(half) != half);
  r = m_sel((a == one) & (y == y), one, r);
  r = m_sel((x < bc<F>(0)) & m_not(whole_y) & m_isfinite(x), m_nan<F>(), r);
  r = m_sel(odd, with_sign(r, sign_bit(x)), r);
  return m_sel((y == bc<F>(0)) | (x == one), one, r);
}
//@ m_pow
template<class F> INL F m_pow(F x, F y) {
  if constexpr (!is_float<el<F>>) return by_lane2(x, y, [](el<F> a, el<F> b) { return powi(a, b); });
  else if constexpr (sizeof(el<F>) == 8) return by_lane2(x, y, [](f64 a, f64 b) { return __builtin_pow(a, b); });
  else return m_cvt<f32>(pow_f64(m_cvt<f64>(x), m_cvt<f64>(y)));
}
//@ m_fmod: fmod_float
// C's fmod. f32 goes through doubles, in which quotient times divisor is exact up to 2^28.
template<class F> INL F fmod_float(F a, F b) {
  if constexpr (sizeof(el<F>) == 8) return by_lane2(a, b, [](f64 x, f64 y) { return __builtin_fmod(x, y); });
  else {
    typedef vec<f64, width<F>> D;
    D x = m_cvt<f64>(m_abs(a)), y = m_cvt<f64>(m_abs(b)), q = x / y;
    if (__builtin_expect(any((q > bc<D>(0x1p28)) & (x < bc<D>(__builtin_inf())) & (y > bc<D>(0))), 0))
      return by_lane2(a, b, [](el<F> v, el<F> w) { return __builtin_fmodf(v, w); });
    D r = x - m_trunc(q) * y;
    r = m_sel(r < bc<D>(0), r + y, r);
    r = m_sel((y == bc<D>(__builtin_inf())) & (x < y), x, r);
    return with_sign(m_abs(m_cvt<f32>(r)), sign_bit(a));
  }
}
template<class F> INL F m_fmod(F a, F b) { return fmod_float(a, b); }
//@ m_remainder
// Python's sign: that of the divisor.
template<class F> INL F m_remainder(F a, F b) {
  F z = bc<F>(0), r = fmod_float(a, b);
  return m_sel((r != z) & ((b < z) != (r < z)), r + b, r);
}
//@ m_floordiv
template<class F> INL F m_floordiv(F a, F b) {
  F z = bc<F>(0), r = fmod_float(a, b), q = (a - r) / b;
  q = m_sel((r != z) & ((b < z) != (r < z)), q - el<F>(1), q);
  F f = m_floor(q);
  f = m_sel(q - f > bc<F>(0.5), f + el<F>(1), f);
  f = m_sel(q != z, f, m_copysign(z, a / b));
  return m_sel(b == z, a / b, f);
}
//@ m_truncdiv
template<class F> INL F m_truncdiv(F a, F b) { return m_trunc(a / b); }
//@ divisor
// A divisor that cannot trap: a live zero is fault 2 (division by zero), and zero and dead lanes become 1.
template<class L, class F> INL F divisor(L l, F b, int &fault) {
  auto zero = b == bc<F>(0);
  if constexpr (is_part<L>) { if (any(zero & live<F>(l))) fault |= 2; } else if (any(zero)) fault |= 2;
  return m_sel(zero, bc<F>(1), b);
}
//@ quotient
// C's quotient with INT_MIN / -1 = INT_MIN. 32-bit and smaller integers divide as doubles, exactly.
template<class F> INL F quotient(F a, F b) {
  typedef el<F> T;
  if constexpr (width<F> == 1) {
    if constexpr (is_signed<T>) if (b == T(-1)) return (T)(0 - (typename int_<sizeof(T)>::u)a);
    return (T)(a / b);
  }
  else if constexpr (sizeof(T) < 8) { auto q = m_cvt<f64>(a) / m_cvt<f64>(b); return m_cvt<T>(m_cvt<i64>(q)); }
  else return by_lane2(a, b, [](T x, T y) { return quotient(x, y); });
}
//@ int_division: m_truncdiv m_fmod m_remainder m_floordiv
template<class F, class L> INL F m_truncdiv(F a, F b, L l, int &fault) { return quotient(a, divisor(l, b, fault)); }
template<class F, class L> INL F m_fmod(F a, F b, L l, int &fault) { b = divisor(l, b, fault); return m_cvt<el<F>>(a - quotient(a, b) * b); }
template<class F, class L> INL F m_remainder(F a, F b, L l, int &fault) {
  F z = bc<F>(0);
  b = divisor(l, b, fault);
  F r = m_cvt<el<F>>(a - quotient(a, b) * b);
  if constexpr (!is_signed<el<F>>) return r; else return m_sel((r != z) & ((b < z) != (r < z)), m_cvt<el<F>>(r + b), r);
}
template<class F, class L> INL F m_floordiv(F a, F b, L l, int &fault) {
  F z = bc<F>(0);
  b = divisor(l, b, fault);
  F q = quotient(a, b), r = m_cvt<el<F>>(a - q * b);
  if constexpr (!is_signed<el<F>>) return q; else return m_sel((r != z) & ((b < z) != (r < z)), m_cvt<el<F>>(q - el<F>(1)), q);
}
//@ m_shl
// Shifts by a negative or too large count give 0 (left) or the sign (right), as in PyTorch.
template<class F> INL F m_shl(F a, F n) {
  typedef el<F> T;
  constexpr int bits = 8 * sizeof(T);
  if constexpr (width<F> == 1) return n < 0 || n >= (T)bits ? (T)0 : (T)((u64)a << n);
  else {
    auto out = n >= bc<F>((T)bits);
    if constexpr (is_signed<T>) out = out | (n < bc<F>(0));
    return m_sel(out, bc<F>(0), a << m_sel(out, bc<F>(0), n));
  }
}
//@ m_shr
template<class F> INL F m_shr(F a, F n) {
  typedef el<F> T;
  constexpr int bits = 8 * sizeof(T);
  auto out = n >= bc<F>((T)bits);
  if constexpr (is_signed<T>) { out = out | (n < bc<F>(0)); F k = m_sel(out, bc<F>((T)(bits - 1)), n); return m_cvt<T>(a >> k); }
  else { F k = m_sel(out, bc<F>(0), n); return m_sel(out, bc<F>(0), m_cvt<T>(a >> k)); }
}
//@ outside: any_outside
// Not 0 <= j < size, in one comparison: as an unsigned number a negative one is large.
template<class J> INL auto outside(J j, i64 size) { typedef uints<J> U; return m_as<U>(j) >= bc<U>((el<U>)size); }
// AVX-512 asks its mask, which GCC would first write out as a vector.
template<class J> INL bool any_outside(J j, i64 size) {
#if defined(__AVX512F__) && !defined(__clang__)
  typedef vec<long long, 8> W;
  if constexpr (same<J, vec<i64, 8>>) return (u8)__builtin_ia32_ucmpq512_mask((W)j, (W)bc<J>(size), 5, -1) != 0;
  if constexpr (is_pair<J>) return any_outside(j.a, size) | any_outside(j.b, size);
#endif
  return any(outside(j, size));
}
//@ bound
// A checked index: fault 1 when a live lane is outside, and 0 in its place.
template<class L, class J> INL J bound(L l, J j, i64 size, bool wrap, int &fault) {
  if (wrap) j = m_sel(j < bc<J>(0), j + (el<J>)size, j);
  if constexpr (is_part<L>) j = m_sel(live<J>(l), j, bc<J>(0));
  if (__builtin_expect(any_outside(j, size), 0)) { fault |= 1; j = m_sel(outside(j, size), bc<J>(0), j); }
  return j;
}
//@ bound_if: bound m_where
// The same where a mask holds, 0 elsewhere. Of no elements every index is outside: as 1 is of one.
template<class L, class M, class J> INL J bound_if(L l, M m, J j, i64 size, bool wrap, int &fault) {
  if (size > 0) return bound(l, m_where(m, j, bc<J>(0)), size, wrap, fault);
  return bound(l, m_where(m, bc<J>(1), bc<J>(0)), 1, false, fault);
}
