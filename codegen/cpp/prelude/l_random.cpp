//@ philox: words philox_words
// Philox-4x32-10: two of the four words for counter (index, stream) and key seed. Salmon et al., 2011.
template<class U> struct words { U a, b; };
template<class U, class J> INL words<U> philox(i64 seed, u32 stream, J index) {
  typedef vec<u64, width<J>> W;
  W i = m_as<W>(index);
  U c0 = m_cvt<u32>(i), c1 = m_cvt<u32>(i >> (u64)32), c2 = bc<U>(stream), c3 = bc<U>(0);
  u32 k0 = (u32)(u64)seed, k1 = (u32)((u64)seed >> 32);
  for (int round = 0; round < 10; ++round) {
    W p = m_cvt<u64>(c0) * (u64)0xD2511F53u, q = m_cvt<u64>(c2) * (u64)0xCD9E8D57u;
    U n0 = m_cvt<u32>(q >> (u64)32) ^ c1 ^ bc<U>(k0), n2 = m_cvt<u32>(p >> (u64)32) ^ c3 ^ bc<U>(k1);
    c1 = m_cvt<u32>(q);
    c3 = m_cvt<u32>(p);
    c0 = n0;
    c2 = n2;
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
