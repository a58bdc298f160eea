/* The least a kernel can take: read each input once, write each output once, in chunks that all
   threads walk in order. `streaming` writes past the caches. Arrays are 64-byte aligned and their
   sizes multiples of 64 bytes; `chunks` is how many parts each of them is cut into. */
typedef long long vec __attribute__((vector_size(64)));

static void store(vec *to, vec value, int streaming) {
#if defined(__AVX512F__)
  if (streaming) {
    __builtin_ia32_movntdq512(to, value);
    return;
  }
#elif defined(__AVX__)
  typedef long long half __attribute__((vector_size(32)));
  if (streaming) {
    half *parts = (half *)&value;
    __builtin_ia32_movntdq256((half *)to, parts[0]);
    __builtin_ia32_movntdq256((half *)to + 1, parts[1]);
    return;
  }
#endif
  *to = value;
}

long long limit(int readers, vec *const *in, const long long *in_size, int writers, vec *const *out,
                const long long *out_size, long long chunks, int streaming, int threads) {
  long long seen = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : seen)
  for (long long chunk = 0; chunk < chunks; ++chunk) {
    vec sums[4] = {{0}};
    for (int r = 0; r < readers; ++r) {
      long long count = in_size[r] / 64, end = count * (chunk + 1) / chunks;
      long long i = count * chunk / chunks;
      for (; i + 4 <= end; i += 4)
        for (int k = 0; k < 4; ++k)
          sums[k] += in[r][i + k];
      for (; i < end; ++i)
        sums[0] += in[r][i];
    }
    vec total = sums[0] + sums[1] + sums[2] + sums[3];
    for (int w = 0; w < writers; ++w) {
      long long count = out_size[w] / 64, end = count * (chunk + 1) / chunks;
      for (long long i = count * chunk / chunks; i < end; ++i)
        store(out[w] + i, total, streaming);
    }
    seen += total[0] + total[7];
  }
  return seen;
}
