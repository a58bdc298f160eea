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
    typedef vec<long long, sizeof(V) / 8> W;
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
//@ fetch
// Asks for the lines of a vector that is needed later; the single elements of a tail do not.
template<int write, class L, class T> INL void fetch(L, const T *p) {
  if constexpr (L::n > 1) for (int i = 0; i < L::n * (int)sizeof(T); i += 64) __builtin_prefetch((const char *)p + i, write);
}
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
//@ low_half
// x in the low half of a vector of twice the lanes, anything in the other.
template<class V> INL vec<el<V>, width<V> * 2> low_half(V x) {
#if defined(__AVX512F__) && !defined(__clang__)
  if constexpr (!is_pair<V> && sizeof(V) == 32) return (vec<el<V>, width<V> * 2>)__builtin_ia32_si512_256si((vec<i32, 8>)x); else
#endif
  return join(x, x);
}
//@ ld_pick: pick_at pick_end pick_
// Lane i from p[(step * i + add) / over], by one or two loads and a shuffle. No element outside of those
// is touched.
template<int step, int over, int add> constexpr int pick_at(int i) {
  return step < 0 ? step * i : (step * i + add) / over;
}
template<int a, int b, int c, class V, int... I> INL auto pick_(V x, V y, seq<I...>) {
  constexpr int n = width<V>, w = sizeof...(I), from = pick_at<a, b, c>(a < 0 ? w - 1 : 0);
  constexpr int last = pick_at<a, b, c>(a < 0 ? 0 : w - 1) - from, late = last - n + 1;
  return __builtin_shufflevector(x, y, (pick_at<a, b, c>(I) - from < n ? pick_at<a, b, c>(I) - from : pick_at<a, b, c>(I) - from - late + n)...);
}
template<int a, int b, int c, class T, class L> INL vec<T, L::n> ld_pick(L l, const T *p) {
  constexpr int N = L::n;
  typedef vec<T, N> V;
  constexpr int from = pick_at<a, b, c>(a < 0 ? N - 1 : 0), last = pick_at<a, b, c>(a < 0 ? 0 : N - 1) - from;
  if constexpr (N == 1) return *p;
  else if constexpr (is_pair<V> && a * (N / 2) % b == 0 && !(is_part<L> && a < 0)) {
    constexpr int h = N / 2;
    if constexpr (is_part<L>) return V{ld_pick<a, b, c>(Part<h>{l.k < h ? l.k : h}, p), ld_pick<a, b, c>(Part<h>{l.k > h ? l.k - h : 0}, p + a * h / b)};
    else return V{ld_pick<a, b, c>(Full<h>(), p), ld_pick<a, b, c>(Full<h>(), p + a * h / b)};
  }
  else if constexpr (is_pair<V> || (is_part<L> && a < 0)) return ld_by(l, p, [](int i) HOT { return pick_at<a, b, c>(i); });
  else {
    int n = last + 1;  // elements from the first to the last live one
    if constexpr (is_part<L>) n = l.k > 0 ? pick_at<a, b, c>(l.k - 1) + 1 : 0;
    if constexpr (last < N / 2) {
      typedef vec<T, N / 2> H;
      H x = ld_some<H>(p + from, n);
      V y = low_half(x);
      return pick_<a, b, c>(y, y, upto<N>());
    }
    else if constexpr (last < N) {
      V x = ld_some<V>(p + from, n);
      return pick_<a, b, c>(x, x, upto<N>());
    }
    else {
      constexpr int late = last - N + 1;
      V x = ld_some<V>(p + from, n < N ? n : N), y = ld_some<V>(p + from + late, n > late ? n - late : 0);
      return pick_<a, b, c>(x, y, upto<N>());
    }
  }
}
//@ cycle: cycle_ cycle_from
// The data of the lanes, repeated; of one lane, the value given.
template<class V, int from, class T, int n, int... I> INL V cycle_(const T (&t)[n], seq<I...>) { return V{t[(from + I) % n]...}; }
template<class V, int from, class T, int n> INL V cycle_from(const T (&t)[n]) {
  if constexpr (is_pair<V>) { typedef decltype(V().a) H; return V{cycle_from<H, from>(t), cycle_from<H, from + width<H>>(t)}; }
  else return cycle_<V, from>(t, upto<width<V>>());
}
template<class T, i64... x, class L> INL vec<T, L::n> cycle(L, i64 one) {
  typedef vec<T, L::n> V;
  constexpr T t[] = {(T)x...};
  if constexpr (L::n == 1) return (T)one;
  else return cycle_from<V, 0>(t);
}
//@ gather_all: GATHER
// Hardware gathers of 4- and 8-byte elements by 64-bit indices.
#if defined(__AVX512F__) && !defined(__clang__)
#define GATHER 1
template<class V, class J> INL V gather_all(const el<V> *p, J j) {
  constexpr int s = sizeof(el<V>);
  if constexpr (is_pair<J>) {
    auto a = gather_all<vec<el<V>, width<V> / 2>>(p, j.a), b = gather_all<vec<el<V>, width<V> / 2>>(p, j.b);
    if constexpr (is_pair<V>) return V{a, b}; else return join(a, b);
  }
  else if constexpr (s == 4) return (V)__builtin_ia32_gatherdiv16sf(vec<f32, 8>{}, p, (vec<long long, 8>)j, -1, 4);
  else return (V)__builtin_ia32_gatherdiv8df(vec<f64, 8>{}, p, (vec<long long, 8>)j, -1, 8);
}
#else
#define GATHER 0
template<class V, class J> V gather_all(const el<V> *p, J j);
#endif
//@ gather_words: GATHER_WORDS words_at
// The same of elements of two bytes: the aligned four bytes around each, which lie in one page with it,
// then the half that it is.
#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)
#define GATHER_WORDS 1
INL vec<u32, 8> words_at(const void *p, vec<i64, 8> j) {
  j = j + (i64)((u64)p >> 1 & 1);
  const vec<u32, 8> w = (vec<u32, 8>)__builtin_ia32_gatherdiv16si(vec<i32, 8>{}, (const void *)((u64)p & ~3ull), (vec<long long, 8>)(j >> 1), -1, 4);
  const u8 odd = __builtin_ia32_ptestmq512((vec<long long, 8>)j, (vec<long long, 8>)bc<vec<i64, 8>>(1), -1);
  return (vec<u32, 8>)__builtin_ia32_psrldi256_mask((vec<i32, 8>)w, 16, (vec<i32, 8>)w, odd);
}
template<class V, class J> INL V gather_words(const el<V> *p, J j) {
  if constexpr (width<V> == 8) return (V)m_cvt<u16>(words_at(p, j) & (u32)0xffff);
  else {
    typedef vec<el<V>, width<V> / 2> H;
    H a = gather_words<H>(p, j.a), b = gather_words<H>(p, j.b);
    if constexpr (is_pair<V>) return V{a, b}; else return join(a, b);
  }
}
#else
#define GATHER_WORDS 0
template<class V, class J> V gather_words(const el<V> *p, J j);
#endif
//@ ld_at
// Lane i from p[j[i]] with a vector of indices.
template<class T, class L, class J> INL vec<T, L::n> ld_at(L l, const T *p, J j) {
  if constexpr (L::n == 1) return p[j];
  else if constexpr (GATHER && !is_part<L> && sizeof(T) >= 4 && L::n >= 8) return gather_all<vec<T, L::n>>(p, j);
  else if constexpr (GATHER_WORDS && !is_part<L> && sizeof(T) == 2 && sizeof(el<J>) == 8 && L::n >= 8) return gather_words<vec<T, L::n>>(p, j);
  else { alignas(64) el<J> t[L::n]; st_all<J>(t, j); return ld_by(l, p, [&](int i) HOT { return t[i]; }); }
}
//@ lookup: look_words look_up
// Lane i from entry x[i] of a table that has one for each value of 8 or 16 bits, and room behind. Words
// are read by gathers of 32 bits, of which the upper half goes; bytes lie in four registers.
#if defined(__AVX512BW__) && !defined(__clang__)
typedef vec<i32, 16> look_words;
template<class T> INL auto look_up(const T *t, look_words i) {
  if constexpr (sizeof(T) == 4) return (vec<T, 16>)__builtin_ia32_gathersiv16si(look_words{}, t, i, (u16)-1, 4);
  else return __builtin_ia32_gathersiv16si(look_words{}, t, i, (u16)-1, 2);
}
#endif
template<class T, class L, class X> INL vec<T, L::n> lookup(L l, const T *t, X x) {
  typedef vec<T, L::n> V;
  typedef typename int_<sizeof(el<X>)>::u U;
  if constexpr (L::n == 1) return t[(U)x];
#if defined(__AVX512BW__) && !defined(__clang__)
  else if constexpr (sizeof(U) == 2 && L::n == 16 && sizeof(T) == 4) return look_up(t, m_as<look_words>(m_cvt<u32>(m_as<vec<U, 16>>(x))));
  else if constexpr (sizeof(U) == 2 && L::n == 16 && sizeof(T) == 2) return m_cvt<T>(look_up(t, m_as<look_words>(m_cvt<u32>(m_as<vec<U, 16>>(x)))));
  else if constexpr (sizeof(U) == 2 && L::n == 32 && sizeof(T) == 4) return V{lookup(Full<16>(), t, low(x)), lookup(Full<16>(), t, high(x))};
  else if constexpr (sizeof(U) == 2 && L::n == 32 && sizeof(T) == 2) {
    const vec<u32, 16> w = (vec<u32, 16>)x;
    const auto even = look_up(t, (look_words)(w & (u32)0xffff)), odd = look_up(t, (look_words)(w >> (u32)16));
    return (V)__builtin_ia32_movdquhi512_mask((vec<i16, 32>)even, (vec<i16, 32>)(odd << 16), 0x55555555);
  }
  else if constexpr (sizeof(U) == 2 && L::n == 64) return V{lookup(Full<32>(), t, low(x)), lookup(Full<32>(), t, high(x))};
#if defined(__AVX512VBMI__)
  else if constexpr (sizeof(U) == 1 && L::n == 64 && sizeof(T) == 1) {
    typedef vec<char, 64> B;
    const B *b = (const B *)t, i = (B)x;
    const B small = __builtin_ia32_vpermt2varqi512_mask(i, b[0], b[1], -1), large = __builtin_ia32_vpermt2varqi512_mask(i, b[2], b[3], -1);
    return (V)m_sel((vec<i8, 64>)x < 0, (vec<i8, 64>)large, (vec<i8, 64>)small);
  }
#endif
#endif
  else {
    alignas(64) el<X> j[L::n];
    st_all<X>(j, x);
    return ld_by(Full<L::n>(), t, [&](int i) HOT { return (i64)(U)j[i]; });
  }
}
//@ mask_bits: MASK_BITS
// One bit a lane, where the machine can load and store under such a mask.
#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && !defined(__clang__)
#define MASK_BITS 1
template<class M> INL u64 mask_bits(M m) {
  constexpr int s = sizeof(el<M>), n = width<M>;
  if constexpr (is_pair<M>) return mask_bits(m.a) | mask_bits(m.b) << (n / 2);
  else if constexpr (s == 4 && n == 16) return (u16)__builtin_ia32_cvtd2mask512(m);
  else if constexpr (s == 4 && n == 8) return (u8)__builtin_ia32_cvtd2mask256(m);
  else if constexpr (s == 8 && n == 8) return (u8)__builtin_ia32_cvtq2mask512((vec<long long, 8>)m);
  else if constexpr (s == 1 && n == 16) return (u16)__builtin_ia32_cvtb2mask128((vec<char, 16>)m);
  else if constexpr (s == 1 && n == 32) return (u32)__builtin_ia32_cvtb2mask256((vec<char, 32>)m);
  else if constexpr (s == 2 && n == 16) return (u16)__builtin_ia32_cvtw2mask256(m);
  else if constexpr (s == 2 && n == 32) return (u32)__builtin_ia32_cvtw2mask512(m);
  else if constexpr (s == 4 && n == 4) return (u8)__builtin_ia32_cvtd2mask128(m);
  else if constexpr (s == 4) { u64 r = 0; for (int i = 0; i < n; ++i) r |= (u64)(m[i] != 0) << i; return r; }
  else return mask_bits(m_cvt<i32>(m));
}
template<class V> INL V ld_bits(const el<V> *p, u64 k, V z) {
  constexpr int s = sizeof(el<V>), n = width<V>;
  if constexpr (is_pair<V>) return V{ld_bits(p, k & ((1ull << (n / 2)) - 1), z.a), ld_bits(p + n / 2, k >> (n / 2), z.b)};
  else if constexpr (s == 4 && n == 16) return (V)__builtin_ia32_loaddqusi512_mask((const i32 *)p, (vec<i32, 16>)z, (u16)k);
  else if constexpr (s == 4 && n == 8) return (V)__builtin_ia32_loaddqusi256_mask((const i32 *)p, (vec<i32, 8>)z, (u8)k);
  else if constexpr (s == 8 && n == 8) return (V)__builtin_ia32_loaddqudi512_mask((const long long *)p, (vec<long long, 8>)z, (u8)k);
  else if constexpr (s == 2 && n == 16) return (V)__builtin_ia32_loaddquhi256_mask((const i16 *)p, (vec<i16, 16>)z, (u16)k);
  else if constexpr (s == 2 && n == 32) return (V)__builtin_ia32_loaddquhi512_mask((const i16 *)p, (vec<i16, 32>)z, (u32)k);
  else if constexpr (s == 1 && n == 16) return (V)__builtin_ia32_loaddquqi128_mask((const char *)p, (vec<char, 16>)z, (u16)k);
  else { for (int i = 0; i < n; ++i) if (k >> i & 1) z[i] = p[i]; return z; }
}
template<class V> INL void st_bits(el<V> *p, u64 k, V x) {
  constexpr int s = sizeof(el<V>), n = width<V>;
  if constexpr (is_pair<V>) { st_bits(p, k & ((1ull << (n / 2)) - 1), x.a); st_bits(p + n / 2, k >> (n / 2), x.b); }
  else if constexpr (s == 4 && n == 16) __builtin_ia32_storedqusi512_mask((i32 *)p, (vec<i32, 16>)x, (u16)k);
  else if constexpr (s == 8 && n == 8) __builtin_ia32_storedqudi512_mask((long long *)p, (vec<long long, 8>)x, (u8)k);
  else { for (int i = 0; i < n; ++i) if (k >> i & 1) p[i] = x[i]; }
}
#else
#define MASK_BITS 0
template<class M> u64 mask_bits(M m);
template<class V> V ld_bits(const el<V> *p, u64 k, V z);
template<class V> void st_bits(el<V> *p, u64 k, V x);
#endif
//@ live_bits
template<int N> INL u64 live_bits(Full<N>) { return N == 64 ? ~0ull : (1ull << (N & 63)) - 1; }
template<int N> INL u64 live_bits(Part<N> L) { return L.k >= 64 ? ~0ull : (1ull << L.k) - 1; }
//@ ld_if
// Predicated load: lanes where c fails take z and touch no memory.
template<class T, class L, class M> INL vec<T, L::n> ld_if(L l, const T *p, M c, vec<T, L::n> z) {
  typedef vec<T, L::n> V;
  if constexpr (L::n == 1) { if (c) return *p; return z; }
  else if constexpr (MASK_BITS && L::n <= 64 && width<M> == L::n) return ld_bits<V>(p, mask_bits(c) & live_bits(l), z);
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
//@ st_if_all
// Predicated store to consecutive elements.
template<class T, class L, class M> INL void st_if_all(L l, T *p, M c, vec<T, L::n> x) {
  typedef vec<T, L::n> V;
  if constexpr (MASK_BITS && L::n <= 64 && L::n > 1) st_bits<V>(p, mask_bits(as_mask(l, c)) & live_bits(l), x);
  else st_if(l, p, [](int i) HOT { return (i64)i; }, c, x);
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
