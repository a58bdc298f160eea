//@ mul_wide
// The high and low words of c * m.
template<class U> INL void mul_wide(U c, u32 m, U &high_word, U &low_word) {
  if constexpr (is_pair<U>) { mul_wide(c.a, m, high_word.a, low_word.a); mul_wide(c.b, m, high_word.b, low_word.b); }
  else if constexpr (sizeof(U) < 16) { auto p = m_cvt<u64>(c) * (u64)m; high_word = m_cvt<u32>(p >> (u64)32); low_word = m_cvt<u32>(p); }
  else {
    // Even and odd lanes apart, since the product takes two of them.
    typedef vec<u64, sizeof(U) / 8> W;
    auto times = [&](W a) HOT {
#if defined(__AVX512F__) && !defined(__clang__)
      if constexpr (sizeof(U) == 64) return (W)__builtin_ia32_pmuludq512_mask((vec<i32, 16>)a, (vec<i32, 16>)bc<W>(m), vec<long long, 8>{}, -1);
#endif
#if defined(__AVX2__) && !defined(__clang__)
      if constexpr (sizeof(U) == 32) return (W)__builtin_ia32_pmuludq256((vec<i32, 8>)a, (vec<i32, 8>)bc<W>(m));
#endif
      return (a & (u64)0xffffffffu) * (u64)m;
    };
    W even = times((W)c), odd = times((W)c >> (u64)32);
    high_word = (U)((even >> (u64)32) | (odd & (u64)0xffffffff00000000u));
    low_word = (U)((even & (u64)0xffffffffu) | (odd << (u64)32));
  }
}
//@ philox: words philox_words
// Philox-4x32-10: two of the four words for counter (index, stream) and key seed. Salmon et al., 2011.
template<class U> struct words { U a, b; };
template<class U, class J> INL words<U> philox(i64 seed, u32 stream, J index) {
  typedef vec<u64, width<J>> W;
  W i = m_as<W>(index);
  U c0 = m_cvt<u32>(i), c1 = m_cvt<u32>(i >> (u64)32), c2 = bc<U>(stream), c3 = bc<U>(0);
  u32 k0 = (u32)(u64)seed, k1 = (u32)((u64)seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    U p_high, p_low, q_high, q_low;
    mul_wide(c0, 0xD2511F53u, p_high, p_low);
    mul_wide(c2, 0xCD9E8D57u, q_high, q_low);
    c0 = q_high ^ c1 ^ bc<U>(k0);
    c1 = q_low;
    c2 = p_high ^ c3 ^ bc<U>(k1);
    c3 = p_low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1};
}
template<class J> INL auto philox_words(i64 seed, u32 stream, J index) { return philox<vec<u32, width<J>>>(seed, stream, index); }
//@ uniform
// In [0, 1): the leading 24 bits (f32), 53 bits (f64).
template<class T, class J> INL vec<T, width<J>> uniform(i64 seed, u32 stream, J index) {
  auto w = philox_words(seed, stream, index);
  if constexpr (sizeof(T) == 4) return m_cvt<f32>(m_cvt<i32>(w.a >> (u32)8)) * 0x1p-24f;
  else { auto u = (m_cvt<u64>(w.b) << (u64)32) | m_cvt<u64>(w.a); return m_cvt<f64>(m_cvt<i64>(u >> (u64)11)) * 0x1p-53; }
}
//@ normal
// Standard normal by Box and Muller, in f32 precision of the uniforms.
template<class T, class J> INL vec<T, width<J>> normal(i64 seed, u32 stream, J index) {
  auto w = philox_words(seed, stream, index);
  auto u = (m_cvt<T>(m_cvt<i32>(w.a >> (u32)8)) + T(1)) * T(0x1p-24), v = m_cvt<T>(m_cvt<i32>(w.b >> (u32)8)) * T(0x1p-24);
  return m_sqrt(m_log(u) * T(-2)) * m_cos(v * T(6.283185307179586));
}
//@ random_bits
template<class T, class J> INL vec<T, width<J>> random_bits(i64 seed, u32 stream, J index) {
  auto w = philox_words(seed, stream, index);
  return m_cvt<T>(m_cvt<i64>((m_cvt<u64>(w.b) << (u64)32) | m_cvt<u64>(w.a)));
}
//@ uniform_bits
// The leading bits only, so that rounding to a half type cannot give 1.
template<class J> INL auto uniform_bits(i64 seed, u32 stream, J index, int bits) {
  return m_cvt<f32>(m_cvt<i32>(philox_words(seed, stream, index).a >> (u32)(32 - bits))) * (1.f / (f32)(1 << bits));
}
