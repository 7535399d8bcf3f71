#include "bench/loops.h"

// The arrays are apart or the same, so that iterations are independent.
void bench_scale(int64_t count, const float *x, float *y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    y[i] = x[i] * 0.5F;
  }
}

void bench_add4(int64_t count, const float *const in[4], float *y) {
  const float *x = in[0], *a = in[1], *b = in[2], *c = in[3];
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    y[i] = (x[i] + a[i] + b[i] + c[i]) * 0.25F;
  }
}
