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
//@ transpose: transpose_square
// t[R][C] becomes t[C][R] in place: register blocks when square, else by way of a copy.
template<int N, class T> INL void transpose_square(T *t) {
  constexpr int B = REG / sizeof(T) < N ? REG / sizeof(T) : N;
  for (int i = 0; i < N; i += B) for (int j = i; j < N; j += B) {
    T a[B][B], b[B][B];
    for (int k = 0; k < B; ++k) for (int l = 0; l < B; ++l) { a[l][k] = t[(i + k) * N + j + l]; b[l][k] = t[(j + k) * N + i + l]; }
    for (int k = 0; k < B; ++k) for (int l = 0; l < B; ++l) { t[(j + k) * N + i + l] = a[k][l]; t[(i + k) * N + j + l] = b[k][l]; }
  }
}
template<class T> INL void transpose(T *t, i64 rows, i64 cols) {
  T copy[rows * cols];
  __builtin_memcpy(copy, t, sizeof(T) * rows * cols);
  for (i64 j = 0; j < cols; ++j) for (i64 i = 0; i < rows; ++i) t[j * rows + i] = copy[i * cols + j];
}
