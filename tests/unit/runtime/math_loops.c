// Compiled by clang (runtime/math/CMakeLists.txt), not with the other tests.
#include "tests/unit/runtime/math_loops.h"

#include "runtime/math/bitcode.c" // NOLINT(bugprone-suspicious-include)

#define MATH_LOOP(name, suffix, type)                                                              \
  void math_loop_##name##_##suffix(type *restrict y, const type *restrict x, int count) {          \
    for (int i = 0; i < count; i++) {                                                              \
      y[i] = tspec_##name##_##suffix(x[i]);                                                        \
    }                                                                                              \
  }
#define MATH_LOOPS(name) MATH_LOOP(name, f32, float) MATH_LOOP(name, f64, double)
MATH_UNARY(MATH_LOOPS)

void math_loop_pow_f32(float *restrict z, const float *restrict x, const float *restrict y,
                       int count) {
  for (int i = 0; i < count; i++) {
    z[i] = tspec_pow_f32(x[i], y[i]);
  }
}

void math_loop_pow_f64(double *restrict z, const double *restrict x, const double *restrict y,
                       int count) {
  for (int i = 0; i < count; i++) {
    z[i] = tspec_pow_f64(x[i], y[i]);
  }
}
