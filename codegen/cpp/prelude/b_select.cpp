//@ m_sel
// c ? a : b, lane by lane; c is a mask of the same lane size (bool for scalars).
template<class M, class F> INL F m_sel(M c, F a, F b) {
  if constexpr (is_pair<F>) return F{m_sel(c.a, a.a, b.a), m_sel(c.b, a.b, b.b)}; else return c ? a : b;
}
//@ mask_of
// The mask m with lanes as wide as those of F; a bool is spread over the lanes.
template<class F, class M> INL auto mask_of(M m) {
  if constexpr (width<F> == 1) return m;
  else if constexpr (width<M> == 1) return bc<ints<F>>(m ? -1 : 0);
  else return m_cvt<el<ints<F>>>(m);
}
//@ m_where
// where(c, a, b) with a mask of any lane size.
template<class M, class F> INL F m_where(M c, F a, F b) { return m_sel(mask_of<F>(c), a, b); }
//@ m_and
template<class A, class B> INL A m_and(A x, B y) { if constexpr (same<A, B>) return x & y; else return x & (A)mask_of<A>(y); }
//@ m_or
template<class A, class B> INL A m_or(A x, B y) { if constexpr (same<A, B>) return x | y; else return x | (A)mask_of<A>(y); }
//@ m_xor
template<class A, class B> INL A m_xor(A x, B y) { if constexpr (same<A, B>) return x ^ y; else return x ^ (A)mask_of<A>(y); }
//@ m_not
template<class M> INL M m_not(M x) { if constexpr (same<M, bool>) return !x; else return ~x; }
//@ m_mask
// A mask from numbers: x != 0.
template<class F> INL auto m_mask(F x) { return x != bc<F>(0); }
//@ mask_to
// 1 where the mask holds, else 0.
template<class T, class M> INL vec<T, width<M>> mask_to(M m) {
  if constexpr (width<M> == 1) return (T)m;
  else if constexpr (is_float<T>) { typedef vec<T, width<M>> F; return m_sel(mask_of<F>(m), bc<F>(1), bc<F>(0)); }
  else return m_cvt<T>(m) & T(1);
}
//@ any
template<class M> INL bool any(M m) {
  if constexpr (width<M> == 1) return m != 0;
#if defined(__AVX512F__) && !defined(__clang__)
  else if constexpr (is_pair<M> && sizeof(M) == 128) return any(m.a) | any(m.b);
  else if constexpr (sizeof(M) == 64 && sizeof(el<M>) >= 4) return __builtin_ia32_ptestmd512((vec<i32, 16>)m, (vec<i32, 16>)m, -1) != 0;
#endif
  else if constexpr (is_pair<M>) return any(m.a | m.b);
#if defined(__AVX__) && !defined(__clang__)
  else if constexpr (sizeof(M) == 32) return !__builtin_ia32_ptestz256((vec<long long, 4>)m, (vec<long long, 4>)m);
  else if constexpr (sizeof(M) == 16) return !__builtin_ia32_ptestz128((vec<long long, 2>)m, (vec<long long, 2>)m);
#endif
  else if constexpr (sizeof(M) == 16) { typedef vec<i64, 2> L; L x = (L)m; return (x[0] | x[1]) != 0; }
  else if constexpr (sizeof(M) < 16) { i64 x = 0; __builtin_memcpy(&x, &m, sizeof m); return x != 0; }
  else return any(low(m) | high(m));
}
//@ all
template<class M> INL bool all(M m) { return !any(m_not(m)); }
//@ contexts: Full Part is_part
// How many lanes a body runs with: all N of them, or only the first k of N (a masked tail).
template<int N> struct Full {
  static constexpr int n = N;
  template<class T> INL vec<T, N> operator()(T x) const { return bc<vec<T, N>>(x); }
};
template<int N> struct Part {
  static constexpr int n = N;
  int k;
  template<class T> INL vec<T, N> operator()(T x) const { return bc<vec<T, N>>(x); }
};
template<class L> constexpr bool is_part = false;
template<int N> constexpr bool is_part<Part<N>> = true;
//@ iota: iota_
template<class V, int... I> INL V iota_(seq<I...>) { return V{(el<V>)I...}; }
template<class V> INL V iota(int from = 0) {
  if constexpr (width<V> == 1) return (V)from;
  else if constexpr (is_pair<V>) return V{iota<decltype(V().a)>(from), iota<decltype(V().b)>(from + width<V> / 2)};
  else return iota_<V>(upto<width<V>>()) + el<V>(from);
}
//@ ramp
// base + step * lane, as data.
template<class T, class L> INL vec<T, L::n> ramp(L, i64 base, i64 step) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) return (T)base;
  else if constexpr (is_float<T>) return m_cvt<T>(ramp<i64>(Full<L::n>(), base, step));
  else return bc<V>((T)base) + iota<V>() * (T)step;
}
//@ live
// The lanes that a masked tail runs, as a mask for F.
template<class F, int N> INL auto live(Part<N> L) { typedef ints<F> I; return iota<I>() < bc<I>((el<I>)L.k); }
//@ within
// lo <= base + step * lane < hi for step >= 0.
template<class L> INL auto within(L, i64 base, i64 step, i64 lo, i64 hi) {
  if constexpr (L::n == 1) return base >= lo && base < hi;
  else if constexpr (true) {
    typedef vec<i32, L::n> I;
    const i64 m = 1 << 30;
    i64 a = lo - base, b = hi - base;
    I i = iota<I>() * bc<I>((i32)step);
    a = a < -m ? -m : a > m ? m : a;
    b = b < -m ? -m : b > m ? m : b;
    return (i >= bc<I>((i32)a)) & (i < bc<I>((i32)b));
  }
}
//@ is_at
// base + lane == at.
template<class L> INL auto is_at(L, i64 base, i64 at) {
  if constexpr (L::n == 1) return base == at;
  else if constexpr (true) {
    typedef vec<i32, L::n> I;
    const i64 k = at - base;
    return iota<I>() == bc<I>(k >= 0 && k < L::n ? (i32)k : -1);
  }
}
//@ mask: mask_ as_mask
// The type of a condition over N lanes when it must have one type: bool, or 32-bit lanes.
template<int N> struct mask_ { typedef vec<i32, N> t; };
template<> struct mask_<1> { typedef bool t; };
template<int N> using mask = typename mask_<N>::t;
template<class L, class M> INL mask<L::n> as_mask(L, M m) { if constexpr (L::n == 1) return m; else return mask_of<vec<i32, L::n>>(m); }
