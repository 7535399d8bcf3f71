// Loops over the elementary functions, compiled by clang into AVX2 code; what kernels do.
#ifndef TSPEC_TESTS_UNIT_RUNTIME_MATH_LOOPS_H
#define TSPEC_TESTS_UNIT_RUNTIME_MATH_LOOPS_H

// clang-format off
#define MATH_UNARY(X) \
  X(exp) X(expm1) X(log) X(log1p) X(tanh) X(sigmoid) X(sin) X(cos) X(erf) X(rsqrt)
// clang-format on

#define MATH_LOOPS(name)                                                                           \
  void math_loop_##name##_f32(float *y, const float *x, int count);                                \
  void math_loop_##name##_f64(double *y, const double *x, int count);
MATH_UNARY(MATH_LOOPS)
#undef MATH_LOOPS

/// z[i] = x[i] ^ y[i]
void math_loop_pow_f32(float *z, const float *x, const float *y, int count);
void math_loop_pow_f64(double *z, const double *x, const double *y, int count);

#endif
