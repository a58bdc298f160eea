//@ lowest
// Identities of max and min: infinities, or the ends of the integers.
template<class T> constexpr T lowest = is_float<T> ? T(-__builtin_inf()) : is_signed<T> ? T((u64)1 << (8 * sizeof(T) - 1)) : T(0);
template<> constexpr f32 lowest<f32> = -__builtin_inff();
template<> constexpr f64 lowest<f64> = -__builtin_inf();
//@ highest
template<class T> constexpr T highest = is_signed<T> ? T(((u64)1 << (8 * sizeof(T) - 1)) - 1) : T(-1);
template<> constexpr f32 highest<f32> = __builtin_inff();
template<> constexpr f64 highest<f64> = __builtin_inf();
//@ STATE1: STATE1 STATE_OF
// The running state of a reduction, for scalars and vectors: take a value, merge another state,
// keep the old one where a mask fails, map each part (to split lanes). `single`: of one part; `skips`:
// joined more simply where no NaN is; `fresh`: what many lanes may begin with where one of `start` joins
// in the end.
#define STATE_OF(name, start, fresh_, next, skips_, plain) \
template<class V> struct name { \
  typedef el<V> T; \
  template<class W> using of = name<W>; \
  static constexpr int lanes = width<V>; \
  static constexpr bool single = true, skips = skips_; \
  static constexpr T fresh = fresh_; \
  V s = bc<V>(start); \
  INL void take(V x) { s = next; } \
  INL void merge(name o) { V x = o.s; s = next; } \
  template<bool simple> INL void join(name o) { V x = o.s; if constexpr (simple) s = plain; else s = next; } \
  template<class M> INL void keep(M m, name old) { s = m_where(m, s, old.s); } \
  template<class G> INL auto map(G g) const { return name<decltype(g(s))>{g(s)}; } \
};
#define STATE1(name, start, next) STATE_OF(name, start, start, next, false, next)
//@ r_add
// A first value plus -0 is that value: nothing to compute.
STATE_OF(r_add, T(0), T(-0.0), s + x, false, s + x)
//@ r_mul
STATE1(r_mul, T(1), s * x)
//@ r_max
STATE_OF(r_max, lowest<T>, lowest<T>, m_maximum(x, s), true, greater(x, s))
//@ r_min
STATE_OF(r_min, highest<T>, highest<T>, m_minimum(x, s), true, smaller(x, s))
//@ r_any
STATE1(r_any, T(0), s | x)
//@ r_all
STATE1(r_all, T(1), s & x)
//@ r_xor
STATE1(r_xor, T(0), s ^ x)
//@ m_logaddexp
template<class F> INL F m_logaddexp(F a, F b) {
  F hi = m_maximum(a, b), d = m_sel(a == b, bc<F>(0), m_abs(a - b));
  F r = hi + m_log1p(m_exp(-d));
  return m_sel(m_isinf(hi), hi, r);
}
//@ r_logaddexp
STATE1(r_logaddexp, lowest<T>, m_logaddexp(s, x))
//@ STATE_ARG
// Extreme value and its flat index: the lowest index among equals; NaN is the most extreme.
#define STATE_ARG(name, start, better) \
template<class V, class I> struct name { \
  static constexpr int lanes = width<V>; \
  static constexpr bool single = false; \
  V v = bc<V>(start<el<V>>); \
  I i = bc<I>(highest<el<I>>); \
  INL void take(V x, I k) { \
    auto first = mask_of<V>(k < i); \
    auto win = (x better v) | ((x == v) & first); \
    if constexpr (is_float<el<V>>) win = win | ((x != x) & ((v == v) | first)); \
    v = m_sel(win, x, v); \
    i = m_where(win, k, i); \
  } \
  INL void next(V x, I k) { \
    auto win = x better v; \
    if constexpr (is_float<el<V>>) win = win | ((x != x) & (v == v)); \
    v = m_sel(win, x, v); \
    i = m_where(win, k, i); \
  } \
  INL void merge(name o) { take(o.v, o.i); } \
  template<class M> INL void keep(M m, name old) { v = m_where(m, v, old.v); i = m_where(m, i, old.i); } \
  template<class G> INL auto map(G g) const { return name<decltype(g(v)), decltype(g(i))>{g(v), g(i)}; } \
  INL I index(el<I> first) const { return m_sel(i == bc<I>(highest<el<I>>), bc<I>(first), i); } \
};
//@ r_argmax
STATE_ARG(r_argmax, lowest, >)
//@ r_argmin
STATE_ARG(r_argmin, highest, <)
//@ STATE_CUM
// As STATE_ARG for scans: among equals the last index stays, and NaN stays once seen.
#define STATE_CUM(name, start, better) \
template<class V, class I> struct name { \
  static constexpr int lanes = width<V>; \
  static constexpr bool single = false; \
  V v = bc<V>(start<el<V>>); \
  I i = bc<I>((el<I>)-1); \
  INL void take(V x, I k) { \
    auto later = mask_of<V>(k > i); \
    auto win = ((x better v) & later) | ((x better v) & (x != v)); \
    if constexpr (is_float<el<V>>) win = (win & (v == v)) | ((x != x) & ((v == v) | later)); \
    v = m_sel(win, x, v); \
    i = m_where(win, k, i); \
  } \
  INL void merge(name o) { take(o.v, o.i); } \
  template<class M> INL void keep(M m, name old) { v = m_where(m, v, old.v); i = m_where(m, i, old.i); } \
  template<class G> INL auto map(G g) const { return name<decltype(g(v)), decltype(g(i))>{g(v), g(i)}; } \
};
//@ r_cummax
STATE_CUM(r_cummax, lowest, >=)
//@ r_cummin
STATE_CUM(r_cummin, highest, <=)
//@ r_welford
// Mean, sum of squared deviations and count, merged as by Chan et al. Values of 4 bytes and less are
// summed in f64 as deviations from the first one: exact to their last place, and no division. Values
// that all lanes take are counted once, in `whole`; `n` holds what the lanes differ by.
template<class V, bool twice = sizeof(el<V>) < 8> struct r_welford {
  static constexpr int lanes = width<V>;
  static constexpr bool single = false;
  typedef vec<f64, width<V>> D;
  D first = bc<D>(0), s1 = bc<D>(0), s2 = bc<D>(0), n = bc<D>(0);
  f64 whole = 0;
  bool begun = false;
  INL void take(V x) {
    D d = m_cvt<f64>(x);
    if (!begun) { first = d; begun = true; }
    d = d - first;
    s1 = s1 + d;
    s2 = m_mad(d, d, s2);
    whole += 1;
  }
  INL D count() const { return n + whole; }
  INL D per() const { D k = count(); return s1 / m_sel(k == bc<D>(0), bc<D>(1), k); }
  // Moves the other sums to this state's first value, or to the other's where this is empty. A first
  // value is one of the values: its own deviation bounds what cancels.
  INL void merge(r_welford o) {
    D k = o.count();
    first = m_sel(count() == bc<D>(0), o.first, first);
    D d = o.first - first;
    s2 = s2 + (o.s2 + d * m_mad(k, d, o.s1 + o.s1));
    s1 = s1 + m_mad(k, d, o.s1);
    n = n + k;
    begun = begun | o.begun;
  }
  INL V mean() const { return m_cvt<el<V>>(first + per()); }
  INL V m2() const { D r = s2 - s1 * per(); return m_cvt<el<V>>(m_sel(r < bc<D>(0), bc<D>(0), r)); }
  template<class M> INL void keep(M m, r_welford old) {
    s1 = m_where(m, s1, old.s1);
    s2 = m_where(m, s2, old.s2);
    n = m_where(m, n + (whole - old.whole), old.n);
    whole = old.whole;
  }
  template<class G> INL auto map(G g) const { return r_welford<decltype(g(V()))>{g(first), g(s1), g(s2), g(n), whole, begun}; }
};
// f64 itself: Welford's recurrence.
template<class V> struct r_welford<V, false> {
  static constexpr int lanes = width<V>;
  static constexpr bool single = false;
  V at = bc<V>(0), sq = bc<V>(0), n = bc<V>(0);
  INL void take(V x) {
    n = n + el<V>(1);
    V d = x - at;
    at = at + d / n;
    sq = sq + d * (x - at);
  }
  INL void merge(r_welford o) {
    V all = n + o.n, d = o.at - at, w = m_sel(all == bc<V>(0), bc<V>(0), o.n / all);
    at = at + d * w;
    sq = sq + o.sq + d * d * n * w;
    n = all;
  }
  INL V count() const { return n; }
  INL V mean() const { return at; }
  INL V m2() const { return sq; }
  template<class M> INL void keep(M m, r_welford old) { at = m_where(m, at, old.at); sq = m_where(m, sq, old.sq); n = m_where(m, n, old.n); }
  template<class G> INL auto map(G g) const { return r_welford<decltype(g(at))>{g(at), g(sq), g(n)}; }
};
//@ r_max_sumexp
// Maximum and sum of e^(x - maximum), in one pass (the online softmax).
template<class V> struct r_max_sumexp {
  static constexpr int lanes = width<V>;
  static constexpr bool single = false;
  V m = bc<V>(lowest<el<V>>), s = bc<V>(0);
  INL void put(V x, V w) {
    V e = m_exp(-m_abs(x - m));
    e = m_sel((x == m) & (x == bc<V>(lowest<el<V>>)), bc<V>(0), e);
    auto up = x > m;
    s = m_sel(up, s * e + w, s + w * e);
    m = m_maximum(x, m);
  }
  INL void take(V x) { put(x, bc<V>(1)); }
  INL void merge(r_max_sumexp o) { put(o.m, o.s); }
  template<class M> INL void keep(M k, r_max_sumexp old) { m = m_where(k, m, old.m); s = m_where(k, s, old.s); }
  template<class G> INL auto map(G g) const { return r_max_sumexp<decltype(g(m))>{g(m), g(s)}; }
  INL V sum() const { return m_sel(m_isinf(m), m_nan<V>(), s); }
};
//@ take
// A value joins a state; dead lanes of a tail stay out.
template<class S, int N, class... X> INL void take(Full<N>, S &s, X... x) { s.take(x...); }
template<class S, int N, class X, class... Y> INL void take(Part<N> L, S &s, X x, Y... y) { S old = s; s.take(x, y...); s.keep(live<X>(L), old); }
//@ next
// The same for indices that only grow.
template<class S, int N, class... X> INL void next(Full<N>, S &s, X... x) { s.next(x...); }
template<class S, int N, class X, class... Y> INL void next(Part<N> L, S &s, X x, Y... y) { S old = s; s.next(x, y...); s.keep(live<X>(L), old); }
//@ any_nan
// AVX-512 asks its mask, which GCC would first write out as a vector.
template<class F> INL bool any_nan(F x) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (same<F, vec<f32, 16>>) return (u16)__builtin_ia32_cmpps512_mask(x, x, 3, -1, 4) != 0;
  else if constexpr (same<F, P<vec<f32, 16>>>) return any_nan(x.a) | any_nan(x.b);
#endif
  return any(x != x);
}
//@ fold_lanes: fold_lanes fold_turned turned_ turned
// Merge the lanes of a state, halves first; from one register of 16 bytes on by turning it round. A
// maximum looks for NaN once, not at each step.
template<int k, class V, int... I> INL V turned_(V x, seq<I...>) { return __builtin_shufflevector(x, x, ((I + k) % (int)sizeof...(I))...); }
template<int k, class V> INL V turned(V x) { return turned_<k>(x, upto<width<V>>()); }
template<int k, bool plain, class S> INL auto fold_turned(S s) {
  if constexpr (k == 0) return s.map([](auto v) { return lane(v, 0); });
  else { s.template join<plain>(s.map([](auto v) { return turned<k>(v); })); return fold_turned<k / 2, plain>(s); }
}
template<bool plain = false, class S> INL auto fold_lanes(S s) {
  if constexpr (S::lanes == 1) return s;
  else if constexpr (!S::single) { auto a = s.map([](auto v) { return low(v); }); a.merge(s.map([](auto v) { return high(v); })); return fold_lanes(a); }
  else {
    typedef decltype(s.s) V;
    typedef typename S::template of<el<V>> S1;
    if constexpr (S::skips && is_float<el<V>> && !plain) return __builtin_expect(any_nan(s.s), 0) ? S1{m_nan<el<V>>()} : fold_lanes<true>(s);
    else if constexpr (!is_pair<V> && sizeof(V) <= 16) return fold_turned<S::lanes / 2, plain>(s);
    else { auto a = s.map([](auto v) { return low(v); }); a.template join<plain>(s.map([](auto v) { return high(v); })); return fold_lanes<plain>(a); }
  }
}
//@ red
// A reduction in flight: U vector states, and a scalar one for a scalar tail.
template<class SV, class S1, int U> struct red {
  SV v[U];
  S1 s;
  INL red() { if constexpr (SV::single) for (int i = 0; i < U; ++i) v[i].s = bc<decltype(v[i].s)>(SV::fresh); }
  INL void merge(const red &o) { for (int i = 0; i < U; ++i) v[i].merge(o.v[i]); s.merge(o.s); }
  INL SV merged() {
    return merged_<0, U>();
  }
  template<int from, int n> INL SV merged_() const {
    if constexpr (n == 1) return v[from];
    else { SV a = merged_<from, n / 2>(); a.merge(merged_<from + n / 2, n - n / 2>()); return a; }
  }
  INL S1 total() {
    S1 t = fold_lanes(merged());
    t.merge(s);
    return t;
  }
};
//@ lane_loop: each_
// The iterations lo .. hi in vectors of N, U of them in flight. tail: 0 none, 1 masked, 2 scalar,
// 3 none and the length is a multiple of N U, 4 a vector that ends with the loop, of at least N.
template<class F, int... I> INL void each_(F f, seq<I...>) { (f(Full<I>()), ...); }
template<int N, int U, int tail, class B, class... R> INL void lane_loop(i64 lo, i64 hi, B body, R &...r) {
  i64 i = lo;
  // U are in flight as it is: GCC would write out a short loop whole, which costs its time and gains none.
#pragma GCC unroll 1
  for (; i + N * U <= hi; i += N * U) each_([&](auto u) HOT { body(Full<N>(), i + N * u.n, r.v[u.n]...); }, upto<U>());
  if constexpr (tail == 1) for (; i < hi; i += N) body(Part<N>{hi - i < N ? (int)(hi - i) : N}, i, r.v[0]...);
  else if constexpr (U > 1 && tail != 3) for (; i + N <= hi; i += N) body(Full<N>(), i, r.v[0]...);
  if constexpr (tail == 4) if (i < hi) body(Full<N>(), hi - N, r.v[0]...);
  if constexpr (tail == 2) for (; i < hi; ++i) body(Full<1>(), i, r.s...);
}
//@ cascade_step
// Iterations that one partial sum takes: near the square root of all, so that errors grow slowly.
INL i64 cascade_step(i64 n) { i64 k = 16; while (k * k < n) k *= 2; return k; }
//@ cascade_loop
// lane_loop in pieces, each with states of its own that are merged into the whole at its end.
template<int N, int U, int tail, class B, class... R> INL void cascade_loop(i64 lo, i64 hi, B body, R &...r) {
  const i64 step = cascade_step((hi - lo) / (N * U)) * (N * U);
  for (i64 i = lo; i < hi; i += step) {
    const i64 stop = hi - i < step ? hi : i + step;
    [&](R... part) HOT {
      lane_loop<N, U, tail>(i, stop, body, part...);
      (r.merge(part), ...);
    }(R()...);
  }
}
//@ shift_up: shift_ shift_in
// Lane i takes lane i - k; the first k lanes hold anything.
template<int k, class V, int... I> INL V shift_(V x, seq<I...>) { return __builtin_shufflevector(x, x, (I < k ? I : I - k)...); }
template<int k, class V, int... I> INL V shift_in(V x, V y, seq<I...>) { return __builtin_shufflevector(x, y, (int(sizeof...(I)) - k + I)...); }
template<int k, class V> INL V shift_up(V x) {
  constexpr int half = width<V> / 2;
  if constexpr (!is_pair<V>) return shift_<k>(x, upto<width<V>>());
  else if constexpr (k == half) return V{x.a, x.a};
  else if constexpr (k > half) return V{x.a, shift_up<k - half>(x.a)};
  else if constexpr (!is_pair<decltype(x.a)>) return V{shift_up<k>(x.a), shift_in<k>(x.a, x.b, upto<half>())};
  else {
    alignas(64) el<V> t[2 * width<V>];
    st_all<V>(t, x);
    st_all<V>(t + k, x);
    return ld_all<V>(t);
  }
}
//@ prefix: prefix_steps
// Inclusive prefixes of the lanes of x on top of a carried state, which moves on. S is the state of vectors.
template<int k, class S> INL S prefix_steps(S p) {
  if constexpr (k >= S::lanes) return p;
  else {
    S q = p.map([](auto v) { return shift_up<k>(v); });
    q.keep(iota<vec<i32, S::lanes>>() >= bc<vec<i32, S::lanes>>(k), S());
    q.merge(p);
    return prefix_steps<2 * k>(q);
  }
}
template<class S, class L, class C, class... X> INL S prefix(L l, C &carry, X... x) {
  if constexpr (S::lanes == 1) { carry.take(x...); return carry; }
  else {
    S p;
    p.take(x...);
    p = prefix_steps<1>(p);
    S c = carry.map([](auto v) { return bc<vec<decltype(v), S::lanes>>(v); });
    c.merge(p);
    // One step of the carry waits for the last one, and for nothing else.
    const int last = lanes_of(l) - 1;
    carry.merge(p.map([=](auto v) { return lane(v, last); }));
    return c;
  }
}
