//@ bf16_to: spread_words high_words
// bfloat16 bits to f32 (exact): each word on top of a zero one, where the machine has it by one shuffle.
#if defined(__AVX512BW__) && !defined(__clang__)
template<int from, int... I> INL auto high_words(seq<I...>) { return vec<i16, 32>{(from + I / 2)...}; }
template<int from> INL vec<f32, 16> spread_words(vec<u16, 32> x) {
  return (vec<f32, 16>)__builtin_ia32_permvarhi512_mask((vec<i16, 32>)x, high_words<from>(upto<32>()), vec<i16, 32>{}, 0xaaaaaaaa);
}
#endif
template<class H> INL vec<f32, width<H>> bf16_to(H x) {
#if defined(__AVX512BW__) && !defined(__clang__)
  if constexpr (same<H, vec<u16, 32>>) return {spread_words<0>(x), spread_words<16>(x)};
  else if constexpr (same<H, vec<u16, 16>>) return spread_words<0>((vec<u16, 32>)__builtin_ia32_si512_256si((vec<i32, 8>)x));
  else
#endif
  return m_as<vec<f32, width<H>>>(m_cvt<u32>(x) << (u32)16);
}
//@ ld_words: picked words_at_ ld_group pick_spread spread_picked
// ld_pick of bfloat16 for bf16_to: what a shuffle puts in place it widens too. Groups of 16 lanes, the
// words of each in one register.
#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)
template<int a, int b, int c, int N> struct picked { vec<u16, 32> x[N / 16]; };
template<int a, int b, int c, int N> struct info<picked<a, b, c, N>> { typedef u16 el; static constexpr int n = N; };
template<int a, int b, int c, int from, int... I> INL auto pick_spread(seq<I...>) { return vec<i16, 32>{(i16)(pick_at<a, b, c>(from + I / 2) - pick_at<a, b, c>(from))...}; }
template<int n> INL vec<u16, 32> words_at_(const u16 *p, int live) {
  constexpr int R = n <= 8 ? 8 : n <= 16 ? 16 : 32;
  const vec<u16, R> x = ld_some<vec<u16, R>>(p, live < n ? live : n);
  if constexpr (R == 8) return (vec<u16, 32>)__builtin_ia32_si512_si((vec<i32, 4>)x);
  else if constexpr (R == 16) return (vec<u16, 32>)__builtin_ia32_si512_256si((vec<i32, 8>)x);
  else return x;
}
template<int a, int b, int c, int g, int N> INL void ld_group(picked<a, b, c, N> &r, const u16 *p, int k) {
  if constexpr (g < N) {
    constexpr int from = pick_at<a, b, c>(g), n = pick_at<a, b, c>(g + 15) - from + 1;
    r.x[g / 16] = words_at_<n>(p + from, k <= g ? 0 : pick_at<a, b, c>((k < g + 16 ? k : g + 16) - 1) - from + 1);
    ld_group<a, b, c, g + 16>(r, p, k);
  }
}
template<int a, int b, int c, class L> INL auto ld_words(L l, const u16 *p) {
  if constexpr (L::n % 16 == 0 && a > 0 && a * 16 <= 32 * b) { picked<a, b, c, L::n> r; ld_group<a, b, c, 0>(r, p, lanes_of(l)); return r; }
  else return ld_pick<a, b, c>(l, p);
}
template<int a, int b, int c, int g> INL vec<f32, 16> spread_picked(vec<u16, 32> x) {
  return (vec<f32, 16>)__builtin_ia32_permvarhi512_mask((vec<i16, 32>)x, pick_spread<a, b, c, g>(upto<32>()), vec<i16, 32>{}, 0xaaaaaaaa);
}
template<int a, int b, int c, int N> INL vec<f32, N> bf16_to(picked<a, b, c, N> x) {
  if constexpr (N == 16) return spread_picked<a, b, c, 0>(x.x[0]);
  else if constexpr (N == 32) return {spread_picked<a, b, c, 0>(x.x[0]), spread_picked<a, b, c, 16>(x.x[1])};
  else return {bf16_to(picked<a, b, c, 32>{x.x[0], x.x[1]}), bf16_to(picked<a, b, c, 32>{x.x[2], x.x[3]})};
}
#else
template<int a, int b, int c, class L> INL auto ld_words(L l, const u16 *p) { return ld_pick<a, b, c>(l, p); }
#endif
//@ to_bf16: bf16_round odd_words BF16_UNIT bf16_plain bf16_unit bf16_words
// f32 to bfloat16 bits, to nearest even; any NaN becomes 0x7fc0 as in PyTorch. The machine's own
// conversion flushes subnormals and keeps the bits of a NaN: vectors that hold any take the long way.
#if defined(__AVX512BF16__) && defined(__AVX512DQ__) && !defined(__clang__) && (defined(__GNUC__) && __GNUC__ < 13)
#define BF16_UNIT 1
INL vec<u16, 32> bf16_unit(P<vec<f32, 16>> x) { return (vec<u16, 32>)__builtin_ia32_cvtne2ps2bf16_v32hi(x.b, x.a); }
INL vec<u16, 16> bf16_unit(vec<f32, 16> x) { return (vec<u16, 16>)__builtin_ia32_cvtneps2bf16_v16sf(x); }
#elif defined(__AVX512BF16__) && defined(__AVX512DQ__) && !defined(__clang__) && defined(__GNUC__)
#define BF16_UNIT 1
INL vec<u16, 32> bf16_unit(P<vec<f32, 16>> x) { return (vec<u16, 32>)__builtin_ia32_cvtne2ps2bf16_v32bf(x.b, x.a); }
INL vec<u16, 16> bf16_unit(vec<f32, 16> x) { return (vec<u16, 16>)__builtin_ia32_cvtneps2bf16_v16sf(x); }
#else
#define BF16_UNIT 0
template<class F> vec<u16, width<F>> bf16_unit(F x);
#endif
#if BF16_UNIT
INL bool bf16_plain(vec<f32, 16> x) { const auto k = __builtin_ia32_fpclassps512_mask(x, 0xa1, -1); return __builtin_ia32_kortestzhi(k, k); }
INL bool bf16_plain(P<vec<f32, 16>> x) { return __builtin_ia32_kortestzhi(__builtin_ia32_fpclassps512_mask(x.a, 0xa1, -1), __builtin_ia32_fpclassps512_mask(x.b, 0xa1, -1)); }
#else
template<class F> bool bf16_plain(F x);
#endif
template<class F> INL uints<F> bf16_round(F x) {
  typedef uints<F> U;
  U u = m_as<U>(x);
  return m_sel(x != x, bc<U>(0x7fc00000), u + ((u >> (u32)16) & (u32)1) + (u32)0x7fff);
}
template<class H, int... I> INL H odd_words(H x, H y, seq<I...>) { return __builtin_shufflevector(x, y, (2 * I + 1)...); }
template<class F> INL vec<u16, width<F>> bf16_words(F x) {
  typedef vec<u16, width<F>> H;
  if constexpr (is_pair<F> && sizeof(H) == REG) return odd_words((H)bf16_round(x.a), (H)bf16_round(x.b), upto<width<F>>());
  else return m_cvt<u16>(bf16_round(x) >> (u32)16);
}
template<class F> INL vec<u16, width<F>> to_bf16(F x) {
  typedef vec<u16, width<F>> H;
  if constexpr (is_pair<F> && is_pair<H>) return H{to_bf16(x.a), to_bf16(x.b)};
  else if constexpr (BF16_UNIT && sizeof(el<F>) * width<F> >= 64) {
    H r = bf16_unit(x);
    if (__builtin_expect(!bf16_plain(x), 0)) r = bf16_words(x);
    return r;
  }
  else return bf16_words(x);
}
//@ as_bf16
// The f32 that a bfloat16 keeps.
template<class F> INL F as_bf16(F x) { return m_as<F>(bf16_round(x) & (u32)0xffff0000); }
//@ f16_to
// IEEE half bits to f32 (exact).
template<class H> INL vec<f32, width<H>> f16_to(H x) {
  constexpr int N = width<H>;
  typedef vec<f32, N> F;
  typedef vec<u32, N> U;
  if constexpr (N == 1) { _Float16 h; __builtin_memcpy(&h, &x, 2); return (f32)h; }
  else if constexpr (is_pair<F> && is_pair<H>) return F{f16_to(x.a), f16_to(x.b)};
  else if constexpr (is_pair<F>) return F{f16_to(low(x)), f16_to(high(x))};
#if defined(__AVX512F__)
  else if constexpr (N == 16) { typedef short S __attribute__((vector_size(32))); typedef float W __attribute__((vector_size(64))); return (F)__builtin_ia32_vcvtph2ps512_mask((S)x, W{}, (u16)-1, 4); }
#endif
#if defined(__F16C__)
  else if constexpr (N == 8) { typedef short S __attribute__((vector_size(16))); return (F)__builtin_ia32_vcvtph2ps256((S)x); }
#endif
  else {
    U u = m_cvt<u32>(x), s = (u & (u32)0x8000) << (u32)16, m = (u & (u32)0x7fff) << (u32)13;
    F small = m_as<F>(m) * 0x1p112f;
    U r = m_sel(m >= bc<U>(0x0f800000), m | (u32)0x7f800000, m_as<U>(small));
    return m_as<F>(r | s);
  }
}
//@ to_f16
// f32 to IEEE half bits, to nearest even.
template<class F> INL vec<u16, width<F>> to_f16(F x) {
  constexpr int N = width<F>;
  typedef uints<F> U;
  if constexpr (N == 1) { _Float16 h = (_Float16)x; u16 r; __builtin_memcpy(&r, &h, 2); return r; }
  else if constexpr (is_pair<F>) { typedef vec<u16, N> H; if constexpr (is_pair<H>) return H{to_f16(x.a), to_f16(x.b)}; else return join(to_f16(x.a), to_f16(x.b)); }
#if defined(__AVX512F__)
  else if constexpr (N == 16) { typedef short S __attribute__((vector_size(32))); return (vec<u16, N>)__builtin_ia32_vcvtps2ph512_mask(x, 0, S{}, (u16)-1); }
#endif
#if defined(__F16C__)
  else if constexpr (N == 8) return (vec<u16, N>)__builtin_ia32_vcvtps2ph256(x, 0);
#endif
  else {
    U u = m_as<U>(x), s = (u >> (u32)16) & (u32)0x8000, a = u & (u32)0x7fffffff;
    // Normal results: re-bias and round on the 13 dropped bits. Small ones: the add of 0.5 does the rounding.
    U normal = (a + (((a >> (u32)13) & (u32)1) + (u32)0xc8000fff)) >> (u32)13;
    U tiny = m_as<U>(m_as<F>(a) + 0.5f) - (u32)0x3f000000;
    U r = m_sel(a < bc<U>(0x38800000), tiny, normal);
    r = m_sel(a >= bc<U>(0x477ff000), bc<U>(0x7c00), r);
    r = m_sel(a > bc<U>(0x7f800000), ((a >> (u32)13) & (u32)0x3ff) | (u32)0x7e00, r);
    return m_cvt<u16>(r | s);
  }
}
//@ m_cast
// Casts of PyTorch on x86 where C's conversion differs: u8 from floats goes through i64. From f32,
// whose low byte is 0 from 2^31 on, the machine's i32 gives the same.
template<class T, class V> INL vec<T, width<V>> m_cast(V x) {
#if defined(__SSE2__)
  if constexpr (same<el<V>, f32> && same<T, u8>) return m_cvt<u8>(m_cvt<i32>(x)); else
#endif
  if constexpr (is_float<el<V>> && same<T, u8>) return m_cvt<u8>(m_cvt<i64>(x)); else return m_cvt<T>(x);
}
