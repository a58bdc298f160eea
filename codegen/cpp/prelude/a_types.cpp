//@ head: INL HOT REG i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wpsabi"
// i64 is long, as in GCC's masks of 64-bit lanes; the machine's own functions take long long.
#define INL inline __attribute__((always_inline))
#define HOT __attribute__((always_inline))
typedef signed char i8; typedef short i16; typedef int i32; typedef long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long u64;
typedef float f32; typedef double f64;
#if defined(__AVX512F__)
#define REG 64  // bytes of one vector register
#elif defined(__AVX2__)
#define REG 32
#else
#define REG 16
#endif
//@ vec: PAIR_OP P vec_ info plain_ one_ el width int_ ints uints is_float is_signed same is_pair
// vec<T, N>: N lanes of T. One register or less is a GCC vector, more is a pair of halves, one lane is T.
template<class V> struct P { V a, b; };
template<class T, int N, bool fits = (sizeof(T) * N <= REG)> struct vec_ { typedef T t __attribute__((vector_size(sizeof(T) * N))); };
template<class T, int N> struct vec_<T, N, false> { typedef P<typename vec_<T, N / 2>::t> t; };
template<class T> struct vec_<T, 1, true> { typedef T t; };
template<class T, int N> using vec = typename vec_<T, N>::t;
template<class T> T plain_(T);
i64 plain_(long long);
u64 plain_(unsigned long long);
template<class V> struct info { typedef decltype(plain_(V()[0])) el; static constexpr int n = sizeof(V) / sizeof(el); };
template<class V> struct info<P<V>> { typedef typename info<V>::el el; static constexpr int n = 2 * info<V>::n; };
template<class T> struct one_ { typedef T el; static constexpr int n = 1; };
template<> struct info<bool> : one_<bool> {};
template<> struct info<i8> : one_<i8> {};
template<> struct info<i16> : one_<i16> {};
template<> struct info<i32> : one_<i32> {};
template<> struct info<i64> : one_<i64> {};
template<> struct info<u8> : one_<u8> {};
template<> struct info<u16> : one_<u16> {};
template<> struct info<u32> : one_<u32> {};
template<> struct info<u64> : one_<u64> {};
template<> struct info<f32> : one_<f32> {};
template<> struct info<f64> : one_<f64> {};
template<class V> using el = typename info<V>::el;
template<class V> constexpr int width = info<V>::n;
template<int S> struct int_;
template<> struct int_<1> { typedef i8 s; typedef u8 u; };
template<> struct int_<2> { typedef i16 s; typedef u16 u; };
template<> struct int_<4> { typedef i32 s; typedef u32 u; };
template<> struct int_<8> { typedef i64 s; typedef u64 u; };
template<class F> using ints = vec<typename int_<sizeof(el<F>)>::s, width<F>>;  // signed integers of F's lane size
template<class F> using uints = vec<typename int_<sizeof(el<F>)>::u, width<F>>;
template<class T> constexpr bool is_float = T(0.5) != T(0);
template<class T> constexpr bool is_signed = T(-1) < T(0);
template<class A, class B> constexpr bool same = false;
template<class A> constexpr bool same<A, A> = true;
template<class V> constexpr bool is_pair = false;
template<class V> constexpr bool is_pair<P<V>> = true;
#define PAIR_OP(op) \
template<class V> INL auto operator op(P<V> x, P<V> y) { return P<decltype(x.a op y.a)>{x.a op y.a, x.b op y.b}; } \
template<class V> INL auto operator op(P<V> x, el<P<V>> y) { return P<decltype(x.a op y)>{x.a op y, x.b op y}; } \
template<class V> INL auto operator op(el<P<V>> x, P<V> y) { return P<decltype(x op y.a)>{x op y.a, x op y.b}; }
PAIR_OP(+) PAIR_OP(-) PAIR_OP(*) PAIR_OP(/) PAIR_OP(%) PAIR_OP(&) PAIR_OP(|) PAIR_OP(^) PAIR_OP(<<) PAIR_OP(>>)
PAIR_OP(<) PAIR_OP(>) PAIR_OP(<=) PAIR_OP(>=) PAIR_OP(==) PAIR_OP(!=)
template<class V> INL P<V> operator-(P<V> x) { return {-x.a, -x.b}; }
template<class V> INL P<V> operator~(P<V> x) { return {~x.a, ~x.b}; }
//@ lanes: seq upto low high join lane set_lane low_ high_ join_
// Split and join registers.
template<int... I> struct seq {};
template<class A, class B> struct cat_;
template<int... A, int... B> struct cat_<seq<A...>, seq<B...>> { typedef seq<A..., (int(sizeof...(A)) + B)...> t; };
template<int N> struct upto_ { typedef typename cat_<typename upto_<N / 2>::t, typename upto_<N - N / 2>::t>::t t; };
template<> struct upto_<1> { typedef seq<0> t; };
template<int N> using upto = typename upto_<N>::t;
template<class V, int... I> INL auto low_(V x, seq<I...>) { return __builtin_shufflevector(x, x, I...); }
template<class V, int... I> INL auto high_(V x, seq<I...>) { return __builtin_shufflevector(x, x, (int(sizeof...(I)) + I)...); }
template<class V, int... I> INL auto join_(V x, V y, seq<I...>) { return __builtin_shufflevector(x, y, I...); }
template<class V> INL vec<el<V>, width<V> / 2> low(V x) {
  if constexpr (is_pair<V>) return x.a; else if constexpr (width<V> == 2) return x[0]; else return low_(x, upto<width<V> / 2>());
}
template<class V> INL vec<el<V>, width<V> / 2> high(V x) {
  if constexpr (is_pair<V>) return x.b; else if constexpr (width<V> == 2) return x[1]; else return high_(x, upto<width<V> / 2>());
}
template<class V> INL vec<el<V>, width<V> * 2> join(V x, V y) {
  typedef vec<el<V>, width<V> * 2> R;
  if constexpr (is_pair<R>) return R{x, y};
  else if constexpr (width<V> == 1) return R{x, y};
#if defined(__AVX512F__) && !defined(__clang__)
  // One instruction where GCC takes three.
  else if constexpr (sizeof(V) == 32) return (R)__builtin_ia32_inserti64x4_mask((vec<long long, 8>)__builtin_ia32_si512_256si((vec<i32, 8>)x), (vec<long long, 4>)y, 1, vec<long long, 8>{}, -1);
#endif
  else return join_(x, y, upto<width<R>>());
}
template<class V> INL el<V> lane(V x, int i) {
  if constexpr (width<V> == 1) return x; else if constexpr (is_pair<V>) return i < width<V> / 2 ? lane(x.a, i) : lane(x.b, i - width<V> / 2); else return x[i];
}
template<class V, class T> INL void set_lane(V &x, int i, T v) {
  if constexpr (width<V> == 1) x = v;
  else if constexpr (is_pair<V>) { if (i < width<V> / 2) set_lane(x.a, i, v); else set_lane(x.b, i - width<V> / 2, v); }
  else x[i] = v;
}
//@ m_as
// The same bits as another type of equal lane size.
template<class I, class F> INL I m_as(F x) {
  if constexpr (is_pair<F>) return I{m_as<decltype(I().a)>(x.a), m_as<decltype(I().b)>(x.b)};
  else if constexpr (width<F> == 1) { I r; __builtin_memcpy(&r, &x, sizeof r); return r; }
  else return (I)x;
}
//@ bc
// Broadcast of a scalar to the lanes of V (keeps -0.0).
template<class V> INL V bc(el<V> x) {
  if constexpr (width<V> == 1) return x;
  else if constexpr (is_pair<V>) return V{bc<decltype(V().a)>(x), bc<decltype(V().b)>(x)};
  else return x - V{};
}
//@ m_cvt
// Lane conversion as C's, in steps that vector hardware has: integers double or halve in size.
template<class T, class V> INL vec<T, width<V>> m_cvt(V x) {
  typedef el<V> S;
  constexpr int N = width<V>;
  typedef vec<T, N> R;
  if constexpr (same<S, T>) return x;
  else if constexpr (N == 1) {
    if constexpr (is_float<S> && !is_float<T> && sizeof(T) < 4) return (T)(i32)x; else return (T)x;
  }
  else if constexpr (is_float<T> && !is_float<S> && sizeof(S) < 4) return m_cvt<T>(m_cvt<i32>(x));
  else if constexpr (is_float<T> && !is_float<S> && sizeof(S) == 4 && !is_signed<S> && sizeof(T) == 8) return m_cvt<T>(m_cvt<i64>(x));
  else if constexpr (is_float<S> && !is_float<T> && sizeof(T) < 4) return m_cvt<T>(m_cvt<i32>(x));
  else if constexpr (is_float<S> && same<T, u32>) return m_cvt<T>(m_cvt<i64>(x));
#if defined(__AVX512F__) && !defined(__clang__)
  // Four bytes to one and back, without the step between.
  else if constexpr (N > 16 && !is_float<S> && !is_float<T> && sizeof(T) == 4 && sizeof(S) == 1) return R{m_cvt<T>(low(x)), m_cvt<T>(high(x))};
  else if constexpr (N > 16 && !is_float<S> && !is_float<T> && sizeof(S) == 4 && sizeof(T) == 1) return join(m_cvt<T>(x.a), m_cvt<T>(x.b));
  else if constexpr (same<V, vec<i8, 16>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovsxbd512_mask((vec<char, 16>)x, vec<i32, 16>{}, -1);
  else if constexpr (same<V, vec<u8, 16>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovzxbd512_mask((vec<char, 16>)x, vec<i32, 16>{}, -1);
  else if constexpr (N == 16 && sizeof(S) == 4 && sizeof(T) == 1 && !is_float<S>) return (R)__builtin_ia32_pmovdb512_mask((vec<i32, 16>)x, vec<char, 16>{}, -1);
#endif
  else if constexpr (!is_float<S> && !is_float<T> && sizeof(T) > 2 * sizeof(S)) {
    typedef int_<2 * sizeof(S)> I;
    if constexpr (is_signed<S>) return m_cvt<T>(m_cvt<typename I::s>(x)); else return m_cvt<T>(m_cvt<typename I::u>(x));
  }
  else if constexpr (!is_float<S> && !is_float<T> && sizeof(S) > 2 * sizeof(T)) return m_cvt<T>(m_cvt<typename int_<sizeof(S) / 2>::u>(x));
  else if constexpr (is_pair<V> && is_pair<R>) return R{m_cvt<T>(x.a), m_cvt<T>(x.b)};
#if defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)
  // One instruction where GCC takes three.
  else if constexpr (same<V, vec<u16, 16>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovzxwd512_mask((vec<i16, 16>)x, vec<i32, 16>{}, -1);
  else if constexpr (same<V, vec<i16, 16>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovsxwd512_mask(x, vec<i32, 16>{}, -1);
  else if constexpr (same<V, vec<u32, 8>> && sizeof(T) == 8 && !is_float<T>) return (R)__builtin_ia32_pmovzxdq512_mask((vec<i32, 8>)x, vec<long long, 8>{}, -1);
  else if constexpr (same<V, vec<i32, 8>> && sizeof(T) == 8 && !is_float<T>) return (R)__builtin_ia32_pmovsxdq512_mask(x, vec<long long, 8>{}, -1);
  else if constexpr (same<V, vec<f32, 8>> && same<T, f64>) return __builtin_ia32_cvtps2pd512_mask(x, R{}, -1, 4);
  else if constexpr (width<V> == 16 && sizeof(S) == 4 && sizeof(T) == 2 && !is_float<S>) return (R)__builtin_ia32_pmovdw512_mask((vec<i32, 16>)x, vec<i16, 16>{}, -1);
#endif
#if defined(__AVX2__) && !defined(__clang__)
  else if constexpr (same<V, vec<u16, 8>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovzxwd256((vec<i16, 8>)x);
  else if constexpr (same<V, vec<i16, 8>> && sizeof(T) == 4) return (R)__builtin_ia32_pmovsxwd256(x);
  else if constexpr (same<V, vec<u32, 4>> && sizeof(T) == 8 && !is_float<T>) return (R)__builtin_ia32_pmovzxdq256((vec<i32, 4>)x);
  else if constexpr (same<V, vec<i32, 4>> && sizeof(T) == 8 && !is_float<T>) return (R)__builtin_ia32_pmovsxdq256(x);
#endif
  else if constexpr (is_pair<V>) return join(m_cvt<T>(x.a), m_cvt<T>(x.b));
  else if constexpr (is_pair<R> && sizeof(T) == 2 * sizeof(S)) {
    typedef T W __attribute__((vector_size(sizeof(T) * N)));
    W w = __builtin_convertvector(x, W);
    return R{low_(w, upto<N / 2>()), high_(w, upto<N / 2>())};
  }
  else if constexpr (is_pair<R>) return R{m_cvt<T>(low(x)), m_cvt<T>(high(x))};
  else return __builtin_convertvector(x, R);
}
