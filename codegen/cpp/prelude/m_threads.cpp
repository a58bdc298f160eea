//@ threads: omp_get_thread_num omp_get_num_threads
extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);
//@ share: span
// The part of 0 .. n that thread t of nt takes: whole units, the same for every loop of that length.
struct span { i64 lo, hi; };
INL span share(i64 n, i64 unit, int t, int nt) {
  i64 blocks = (n + unit - 1) / unit, lo = blocks * t / nt * unit, hi = blocks * (t + 1) / nt * unit;
  return {lo, hi < n ? hi : n};
}
//@ quo
// Index arithmetic: quo and rem for operands known to be >= 0, floordiv and floormod for all.
INL i64 quo(i64 a, i64 b) { return (i64)((u64)a / (u64)b); }
//@ rem
INL i64 rem(i64 a, i64 b) { return (i64)((u64)a % (u64)b); }
//@ floordiv
INL i64 floordiv(i64 a, i64 b) { i64 q = a / b; return q * b > a ? q - 1 : q; }
//@ floormod
INL i64 floormod(i64 a, i64 b) { i64 r = a % b; return r < 0 ? r + b : r; }
//@ least
INL i64 least(i64 a, i64 b) { return a < b ? a : b; }
//@ most
INL i64 most(i64 a, i64 b) { return a < b ? b : a; }
//@ fill
template<class T> INL void fill(T *p, i64 n, T x) { for (i64 i = 0; i < n; ++i) p[i] = x; }
//@ atomic_update
// *p = f(*p), indivisibly.
template<class T, class B> INL void atomic_update(T *p, B f) {
  typename int_<sizeof(T)>::u old, now;
  __atomic_load((decltype(old) *)p, &old, __ATOMIC_RELAXED);
  do { T x; __builtin_memcpy(&x, &old, sizeof x); x = f(x); __builtin_memcpy(&now, &x, sizeof x); }
  while (!__atomic_compare_exchange((decltype(old) *)p, &old, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
//@ update_by
// p[at(i)] = f(p[at(i)], x[i]) for live lanes where c holds, in order: lanes may meet at one address.
template<bool atomic, class T, class L, class A, class M, class B> INL void update_by(L l, T *p, A at, M c, vec<T, L::n> x, B f) {
  alignas(64) T t[L::n];
  alignas(64) i32 k[L::n];
  st_all<vec<T, L::n>>(t, x);
  st_all<vec<i32, L::n>>(k, mask_to<i32>(as_mask(l, c)));
  const int n = lanes_of(l);
  for (int i = 0; i < n; ++i) if (k[i]) {
    T *q = p + at(i);
    if constexpr (atomic) atomic_update(q, [&](T old) { return f(old, t[i]); }); else *q = f(*q, t[i]);
  }
}
//@ weave: weave_low weave_high pick_lanes in_lane
// Shuffles that stay within lanes of 16 bytes, or move such lanes whole: one cheap instruction each.
template<class V> constexpr int in_lane = 16 / (int)sizeof(el<V>) < width<V> ? 16 / (int)sizeof(el<V>) : width<V>;
// Elements of x and y in turn, in each lane from its low half, or from its high one.
template<int E, class V, int... I> INL V weave_low(V x, V y, seq<I...>) { return __builtin_shufflevector(x, y, (I / E * E + I % E / 2 + (I & 1) * (int)sizeof...(I))...); }
template<int E, class V, int... I> INL V weave_high(V x, V y, seq<I...>) { return __builtin_shufflevector(x, y, (I / E * E + (E + I % E) / 2 + (I & 1) * (int)sizeof...(I))...); }
// The even lanes of x and y, or the odd ones.
template<int E, int odd, class V, int... I> INL V pick_lanes(V x, V y, seq<I...>) { return __builtin_shufflevector(x, y, ((2 * (I / E) + odd) * E + I % E)...); }
//@ transpose: transpose_square transpose_block transpose_lanes
// t[R][C] becomes t[C][R] in place: blocks in registers when square, else by way of a copy.
template<int step, int E, class V> INL void transpose_lanes(V *r) {
  if constexpr (step < E) {
    V s[E];
    for (int i = 0; i < E / 2; ++i) {
      s[2 * i] = weave_low<E>(r[i], r[i + E / 2], upto<width<V>>());
      s[2 * i + 1] = weave_high<E>(r[i], r[i + E / 2], upto<width<V>>());
    }
    for (int i = 0; i < E; ++i) r[i] = s[i];
    transpose_lanes<2 * step, E>(r);
  }
}
// Each lane by itself first, E rows at a time; then row k of all these squares, lane by lane.
template<int step, int B, class V> INL void transpose_block(V *r) {
  constexpr int E = in_lane<V>, M = B / E;
  if constexpr (step == 1) for (int i = 0; i < B; i += E) transpose_lanes<1, E>(r + i);
  if constexpr (step < M) {
    V s[B];
    for (int k = 0; k < E; ++k) for (int i = 0; i < M / 2; ++i) {
      V x = r[2 * i * E + k], y = r[(2 * i + 1) * E + k];
      s[i * E + k] = pick_lanes<E, 0>(x, y, upto<B>());
      s[(i + M / 2) * E + k] = pick_lanes<E, 1>(x, y, upto<B>());
    }
    for (int i = 0; i < B; ++i) r[i] = s[i];
    transpose_block<2 * step, B>(r);
  }
}
template<int N, class T> INL void transpose_square(T *t) {
  // No more than half of the registers at a time, but for bytes, of which a block moves as many at once.
  constexpr int M = sizeof(T) == 1 ? 32 : 16, R = (int)(REG / sizeof(T)) < M ? (int)(REG / sizeof(T)) : M, B = R < N ? R : N;
  typedef vec<T, B> V;
  for (int i = 0; i < N; i += B) for (int j = i; j < N; j += B) {
    V a[B], b[B];
#pragma GCC unroll 64
    for (int k = 0; k < B; ++k) { a[k] = ld_all<V>(t + (i + k) * N + j); b[k] = ld_all<V>(t + (j + k) * N + i); }
    transpose_block<1, B>(a);
    if (i != j) transpose_block<1, B>(b);
#pragma GCC unroll 64
    for (int k = 0; k < B; ++k) { st_all<V>(t + (j + k) * N + i, a[k]); if (i != j) st_all<V>(t + (i + k) * N + j, b[k]); }
  }
}
template<class T> INL void transpose(T *t, i64 rows, i64 cols) {
  T copy[rows * cols];
  __builtin_memcpy(copy, t, sizeof(T) * rows * cols);
  for (i64 j = 0; j < cols; ++j) for (i64 i = 0; i < rows; ++i) t[j * rows + i] = copy[i * cols + j];
}
//@ CALLED
// call_f: f compiled once for each type of one register; pairs are two calls.
#define CALLED(f) \
template<class V, class... W> static __attribute__((noinline)) V out_##f(V x, W... y) { return f(x, y...); } \
template<class V, class... W> INL V call_##f(V x, W... y) { \
  if constexpr (is_pair<V>) return V{call_##f(x.a, y.a...), call_##f(x.b, y.b...)}; else return out_##f(x, y...); \
}
