//@ masked_bytes: MASKED_BYTES load_bytes store_bytes
// AVX-512 loads and stores of the bytes whose bit is set; the others are not touched.
#if defined(__AVX512BW__) && defined(__AVX512VL__)
#define MASKED_BYTES 1
typedef char b64_ __attribute__((vector_size(64)));
typedef char b32_ __attribute__((vector_size(32)));
typedef char b16_ __attribute__((vector_size(16)));
#if defined(__clang__)
#define BYTES(n, p) ((b##n##_ *)(p))
#else
#define BYTES(n, p) ((char *)(p))
#endif
template<class V> INL V load_bytes(const void *p, u64 m) {
  if constexpr (sizeof(V) == 64) return (V)__builtin_ia32_loaddquqi512_mask(BYTES(64, p), b64_{}, m);
  else if constexpr (sizeof(V) == 32) return (V)__builtin_ia32_loaddquqi256_mask(BYTES(32, p), b32_{}, (u32)m);
  else return (V)__builtin_ia32_loaddquqi128_mask(BYTES(16, p), b16_{}, (u16)m);
}
template<class V> INL void store_bytes(void *p, V x, u64 m) {
  if constexpr (sizeof(V) == 64) __builtin_ia32_storedquqi512_mask(BYTES(64, p), (b64_)x, m);
  else if constexpr (sizeof(V) == 32) __builtin_ia32_storedquqi256_mask(BYTES(32, p), (b32_)x, (u32)m);
  else __builtin_ia32_storedquqi128_mask(BYTES(16, p), (b16_)x, (u16)m);
}
#else
#define MASKED_BYTES 0
template<class V> V load_bytes(const void *p, u64 m);
template<class V> void store_bytes(void *p, V x, u64 m);
#endif
//@ copy_bytes
// Copies k < 64 bytes without touching any other.
INL void copy_bytes(char *t, const char *s, int k) {
  if (k & 32) { __builtin_memcpy(t, s, 32); t += 32; s += 32; }
  if (k & 16) { __builtin_memcpy(t, s, 16); t += 16; s += 16; }
  if (k & 8) { __builtin_memcpy(t, s, 8); t += 8; s += 8; }
  if (k & 4) { __builtin_memcpy(t, s, 4); t += 4; s += 4; }
  if (k & 2) { __builtin_memcpy(t, s, 2); t += 2; s += 2; }
  if (k & 1) *t = *s;
}
//@ ld_all
template<class V> INL V ld_all(const el<V> *p) {
  if constexpr (is_pair<V>) return V{ld_all<decltype(V().a)>(p), ld_all<decltype(V().b)>(p + width<V> / 2)};
  else { V r; __builtin_memcpy(&r, p, sizeof r); return r; }
}
//@ ld_some
// The first k lanes from memory, the others zero.
template<class V> INL V ld_some(const el<V> *p, int k) {
  constexpr int H = width<V> / 2;
  if constexpr (is_pair<V>) return V{ld_some<decltype(V().a)>(p, k < H ? k : H), ld_some<decltype(V().b)>(k < H ? p : p + H, k < H ? 0 : k - H)};
  else if (k >= width<V>) return ld_all<V>(p);
  else if constexpr (MASKED_BYTES && sizeof(V) >= 16) return load_bytes<V>(p, (1ull << (k * (int)sizeof(el<V>))) - 1);
  else { V r{}; copy_bytes((char *)&r, (const char *)p, k * (int)sizeof(el<V>)); return r; }
}
//@ ld
// Load of the lanes of a context from consecutive elements; a masked tail touches live elements only.
template<class T, int N> INL vec<T, N> ld(Full<N>, const T *p) { return ld_all<vec<T, N>>(p); }
template<class T, int N> INL vec<T, N> ld(Part<N> L, const T *p) { return ld_some<vec<T, N>>(p, L.k); }
//@ st_all
template<class V> INL void st_all(el<V> *p, V x) {
  if constexpr (is_pair<V>) { st_all(p, x.a); st_all(p + width<V> / 2, x.b); }
  else __builtin_memcpy(p, &x, sizeof x);
}
//@ st_some
template<class V> INL void st_some(el<V> *p, V x, int k) {
  constexpr int H = width<V> / 2;
  if constexpr (is_pair<V>) { st_some(p, x.a, k < H ? k : H); if (k > H) st_some(p + H, x.b, k - H); }
  else if (k >= width<V>) st_all(p, x);
  else if constexpr (MASKED_BYTES && sizeof(V) >= 16) store_bytes(p, x, (1ull << (k * (int)sizeof(el<V>))) - 1);
  else copy_bytes((char *)p, (const char *)&x, k * (int)sizeof(el<V>));
}
//@ st
template<class T, int N> INL void st(Full<N>, T *p, vec<T, N> x) { st_all<vec<T, N>>(p, x); }
template<class T, int N> INL void st(Part<N> L, T *p, vec<T, N> x) { st_some<vec<T, N>>(p, x, L.k); }
//@ st_nt: st_stream
// Store past the caches when the address is aligned to the register, else an ordinary one.
template<class V> INL void st_stream(el<V> *p, V x) {
  if constexpr (is_pair<V>) { st_stream(p, x.a); st_stream(p + width<V> / 2, x.b); }
  else if constexpr (sizeof(V) >= 16) {
    typedef vec<i64, sizeof(V) / 8> W;
    if ((u64)p % sizeof(V) != 0) st_all(p, x);
#if defined(__clang__)
    else __builtin_nontemporal_store((W)x, (W *)p);
#elif defined(__SSE2__)
#if defined(__AVX512F__)
    else if constexpr (sizeof(V) == 64) __builtin_ia32_movntdq512((W *)p, (W)x);
#endif
#if defined(__AVX__)
    else if constexpr (sizeof(V) == 32) __builtin_ia32_movntdq256((W *)p, (W)x);
#endif
    else __builtin_ia32_movntdq((W *)p, (W)x);
#else
    else st_all(p, x);
#endif
  }
  else st_all(p, x);
}
template<class T, int N> INL void st_nt(Full<N>, T *p, vec<T, N> x) { st_stream<vec<T, N>>(p, x); }
template<class T, int N> INL void st_nt(Part<N> L, T *p, vec<T, N> x) { st_some<vec<T, N>>(p, x, L.k); }
//@ fence
// Non-temporal stores are seen by other threads after this.
#if defined(__SSE2__)
INL void fence() { __builtin_ia32_sfence(); }
#else
INL void fence() { __sync_synchronize(); }
#endif
//@ lanes_of
// How many lanes of the context are live.
template<int N> INL int lanes_of(Full<N>) { return N; }
template<int N> INL int lanes_of(Part<N> L) { return L.k; }
//@ ld_by
// Gather: lane i from p[at(i)]; dead lanes of a tail are zero and untouched.
template<class T, class L, class A> INL vec<T, L::n> ld_by(L l, const T *p, A at) {
  if constexpr (L::n == 1) return p[at(0)];
  else {
    alignas(64) T t[L::n];
    if constexpr (is_part<L>) { for (int i = 0; i < L::n; ++i) t[i] = 0; for (int i = 0; i < l.k; ++i) t[i] = p[at(i)]; }
    else for (int i = 0; i < L::n; ++i) t[i] = p[at(i)];
    return ld_all<vec<T, L::n>>(t);
  }
}
//@ ld_step
// Lane i from p[step * i].
template<class T, class L> INL vec<T, L::n> ld_step(L l, const T *p, i64 step) { return ld_by(l, p, [=](int i) { return step * i; }); }
//@ ld_at
// Lane i from p[j[i]] with a vector of indices.
template<class T, class L, class J> INL vec<T, L::n> ld_at(L l, const T *p, J j) {
  if constexpr (L::n == 1) return p[j];
  else { alignas(64) el<J> t[L::n]; st_all<J>(t, j); return ld_by(l, p, [&](int i) { return t[i]; }); }
}
//@ ld_if
// Predicated load: lanes where c fails take z and touch no memory.
template<class T, class L, class M> INL vec<T, L::n> ld_if(L l, const T *p, M c, vec<T, L::n> z) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) { if (c) return *p; return z; }
  else {
    auto m = mask_of<V>(c);
    if constexpr (is_part<L>) m = m & live<V>(l);
    if (!any(m)) return z;
    if constexpr (!is_part<L>) if (all(m)) return ld_all<V>(p);
    alignas(64) T t[L::n];
    alignas(64) el<ints<V>> k[L::n];
    st_all<V>(t, z);
    st_all<ints<V>>(k, m);
    for (int i = 0; i < L::n; ++i) if (k[i]) t[i] = p[i];
    return ld_all<V>(t);
  }
}
//@ ld_by_if
template<class T, class L, class M, class A> INL vec<T, L::n> ld_by_if(L l, const T *p, A at, M c, vec<T, L::n> z) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) { if (c) return p[at(0)]; return z; }
  else {
    alignas(64) T t[L::n];
    alignas(64) el<ints<V>> k[L::n];
    st_all<V>(t, z);
    st_all<ints<V>>(k, mask_of<V>(c));
    const int n = lanes_of(l);
    for (int i = 0; i < n; ++i) if (k[i]) t[i] = p[at(i)];
    return ld_all<V>(t);
  }
}
//@ st_by
// Scatter in lane order: p[at(i)] = x[i] for live lanes.
template<class T, class L, class A> INL void st_by(L l, T *p, A at, vec<T, L::n> x) {
  if constexpr (L::n == 1) p[at(0)] = x;
  else {
    alignas(64) T t[L::n];
    st_all<vec<T, L::n>>(t, x);
    const int n = lanes_of(l);
    for (int i = 0; i < n; ++i) p[at(i)] = t[i];
  }
}
//@ st_last
// A store whose address does not vary with the lane: the last live lane's value stays.
template<class T, class L> INL void st_last(L l, T *p, vec<T, L::n> x) { *p = lane(x, lanes_of(l) - 1); }
//@ each_lane
// f(i) for the live lanes in order.
template<class L, class B> INL void each_lane(L l, B f) { const int n = lanes_of(l); for (int i = 0; i < n; ++i) f(i); }
//@ by_index
// Lane i holds at(i).
template<class T, class L, class A> INL vec<T, L::n> by_index(L, A at) {
  if constexpr (L::n == 1) return (T)at(0);
  else { alignas(64) T t[L::n]; for (int i = 0; i < L::n; ++i) t[i] = (T)at(i); return ld_all<vec<T, L::n>>(t); }
}
//@ ld_uniform_if
// One element for all lanes where c holds; not touched when no lane is live.
template<class T, class L, class M> INL vec<T, L::n> ld_uniform_if(L l, const T *p, M c, vec<T, L::n> z) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) { if (c) return *p; return z; }
  else {
    auto m = mask_of<V>(c);
    if constexpr (is_part<L>) m = m & live<V>(l);
    return any(m) ? m_sel(m, bc<V>(*p), z) : z;
  }
}
//@ st_if
// Predicated store: only lanes where c holds.
template<class T, class L, class A, class M> INL void st_if(L l, T *p, A at, M c, vec<T, L::n> x) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) { if (c) p[at(0)] = x; }
  else {
    alignas(64) T t[L::n];
    alignas(64) el<ints<V>> k[L::n];
    st_all<V>(t, x);
    st_all<ints<V>>(k, mask_of<V>(c));
    const int n = lanes_of(l);
    for (int i = 0; i < n; ++i) if (k[i]) p[at(i)] = t[i];
  }
}
