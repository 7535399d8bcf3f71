// The elementary functions that the evaluator and native code share. One place, so that both give
// the same bits.
#ifndef TSPEC_IR_EVAL_ELEMENTARY_H
#define TSPEC_IR_EVAL_ELEMENTARY_H

#include <math.h>

#define TSPEC_ELEMENTARY(name)                                                                     \
  static inline float tspec_elementary_##name##_f32(float x) {                                     \
    return name##f(x);                                                                             \
  }                                                                                                \
  static inline double tspec_elementary_##name##_f64(double x) {                                   \
    return name(x);                                                                                \
  }

TSPEC_ELEMENTARY(exp)
TSPEC_ELEMENTARY(expm1)
TSPEC_ELEMENTARY(log)
TSPEC_ELEMENTARY(log1p)
TSPEC_ELEMENTARY(sin)
TSPEC_ELEMENTARY(cos)
TSPEC_ELEMENTARY(tanh)
TSPEC_ELEMENTARY(erf)
#undef TSPEC_ELEMENTARY

static inline float tspec_elementary_sigmoid_f32(float x) {
  return 1.0f / (1.0f + expf(-x));
}
static inline double tspec_elementary_sigmoid_f64(double x) {
  return 1.0 / (1.0 + exp(-x));
}
static inline float tspec_elementary_rsqrt_f32(float x) {
  return 1.0f / sqrtf(x);
}
static inline double tspec_elementary_rsqrt_f64(double x) {
  return 1.0 / sqrt(x);
}
static inline float tspec_elementary_pow_f32(float a, float b) {
  return powf(a, b);
}
static inline double tspec_elementary_pow_f64(double a, double b) {
  return pow(a, b);
}

#endif
