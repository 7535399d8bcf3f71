// Building blocks of runtime/math: bits of floats, error-free sums and products, polynomials.
// Nothing here branches, so loops over it become vector code; nothing depends on rounding modes or
// fast-math flags.
#ifndef TSPEC_RUNTIME_MATH_MATH_BITS_H
#define TSPEC_RUNTIME_MATH_MATH_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// In the bitcode that kernels are linked with every function must be inlined, for the loop around
/// the call to become vector code; in the object they are ordinary functions.
#ifdef TSPEC_MATH_BITCODE
#define TSPEC_MATH_FN __attribute__((always_inline))
#else
#define TSPEC_MATH_FN
#endif
#define TSPEC_MATH_INLINE static inline __attribute__((always_inline))

#define TSPEC_MATH_LENGTH(array) (sizeof(array) / sizeof *(array))

TSPEC_MATH_INLINE float f32_from_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

TSPEC_MATH_INLINE uint32_t f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TSPEC_MATH_INLINE double f64_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

TSPEC_MATH_INLINE uint64_t f64_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Selections: both values are computed, so that no branch is needed.
TSPEC_MATH_INLINE float select_f32(int condition, float yes, float no) {
  return condition ? yes : no;
}

TSPEC_MATH_INLINE double select_f64(int condition, double yes, double no) {
  return condition ? yes : no;
}

/// A number as the unevaluated sum of two, |lo| at most half a unit of hi's last place.
typedef struct pair_f32_t {
  float hi;
  float lo;
} pair_f32_t;

typedef struct pair_f64_t {
  double hi;
  double lo;
} pair_f64_t;

/// a + b exactly, if |a| >= |b| or a is 0 (Dekker).
TSPEC_MATH_INLINE pair_f32_t fast_sum_f32(float a, float b) {
  float sum = a + b;
  return (pair_f32_t){sum, b - (sum - a)};
}

TSPEC_MATH_INLINE pair_f64_t fast_sum_f64(double a, double b) {
  double sum = a + b;
  return (pair_f64_t){sum, b - (sum - a)};
}

/// a + b exactly (Knuth).
TSPEC_MATH_INLINE pair_f32_t sum_f32(float a, float b) {
  float sum = a + b;
  float part = sum - a;
  return (pair_f32_t){sum, (a - (sum - part)) + (b - part)};
}

TSPEC_MATH_INLINE pair_f64_t sum_f64(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  return (pair_f64_t){sum, (a - (sum - part)) + (b - part)};
}

/// a * b exactly.
TSPEC_MATH_INLINE pair_f64_t product_f64(double a, double b) {
  double product = a * b;
  return (pair_f64_t){product, __builtin_fma(a, b, -product)};
}

/// a * b to about 2^-104 of itself.
TSPEC_MATH_INLINE pair_f64_t pair_product_f64(pair_f64_t a, pair_f64_t b) {
  pair_f64_t product = product_f64(a.hi, b.hi);
  product.lo = __builtin_fma(a.hi, b.lo, __builtin_fma(a.lo, b.hi, product.lo));
  return fast_sum_f64(product.hi, product.lo);
}

/// a + b to about 2^-104 of itself, |a| >= |b|.
TSPEC_MATH_INLINE pair_f64_t pair_sum_f64(pair_f64_t a, pair_f64_t b) {
  pair_f64_t sum = fast_sum_f64(a.hi, b.hi);
  return fast_sum_f64(sum.hi, sum.lo + (a.lo + b.lo));
}

/// coefficients[0] + x * (coefficients[1] + x * ...), by Horner.
TSPEC_MATH_INLINE float horner_f32(const float *coefficients, size_t count, float x) {
  float value = coefficients[count - 1];
  for (size_t i = count - 1; i > 0; i--) {
    value = __builtin_fmaf(value, x, coefficients[i - 1]);
  }
  return value;
}

TSPEC_MATH_INLINE double horner_f64(const double *coefficients, size_t count, double x) {
  double value = coefficients[count - 1];
  for (size_t i = count - 1; i > 0; i--) {
    value = __builtin_fma(value, x, coefficients[i - 1]);
  }
  return value;
}

#define POLY_F32(coefficients, x) horner_f32((coefficients), TSPEC_MATH_LENGTH(coefficients), (x))
#define POLY_F64(coefficients, x) horner_f64((coefficients), TSPEC_MATH_LENGTH(coefficients), (x))

/// Adding one of these rounds a smaller number to a whole one, which then stands in the low bits of
/// the sum.
#define WHOLE_F32 0x1.8p23f
#define WHOLE_F64 0x1.8p52

/// `x` rounded to a whole number, |x| below 2^22 (2^51), half to even.
TSPEC_MATH_INLINE float round_whole_f32(float x) {
  return (x + WHOLE_F32) - WHOLE_F32;
}

TSPEC_MATH_INLINE double round_whole_f64(double x) {
  return (x + WHOLE_F64) - WHOLE_F64;
}

/// x * 2^power, rounded once; |power| up to 250 (2000). Two factors, as one alone would overflow or
/// lose bits of a subnormal result twice.
TSPEC_MATH_INLINE float scale_f32(float x, int32_t power) {
  uint32_t half = ((uint32_t)power + 512) >> 1;
  uint32_t rest = (uint32_t)power + 512 - half;
  return x * f32_from_bits((half + 127 - 256) << 23) * f32_from_bits((rest + 127 - 256) << 23);
}

TSPEC_MATH_INLINE double scale_f64(double x, int64_t power) {
  uint64_t half = ((uint64_t)power + 4096) >> 1;
  uint64_t rest = (uint64_t)power + 4096 - half;
  return x * f64_from_bits((half + 1023 - 2048) << 52) * f64_from_bits((rest + 1023 - 2048) << 52);
}

#define SIGN_F32 0x80000000u
#define SIGN_F64 0x8000000000000000u
#define INFINITY_F32 __builtin_inff()
#define INFINITY_F64 __builtin_inf()
#define NAN_F32 __builtin_nanf("")
#define NAN_F64 __builtin_nan("")

TSPEC_MATH_INLINE float abs_f32(float x) {
  return f32_from_bits(f32_bits(x) & ~SIGN_F32);
}

TSPEC_MATH_INLINE double abs_f64(double x) {
  return f64_from_bits(f64_bits(x) & ~SIGN_F64);
}

/// The size of `x` with the sign of `sign`.
TSPEC_MATH_INLINE float with_sign_f32(float x, float sign) {
  return f32_from_bits((f32_bits(x) & ~SIGN_F32) | (f32_bits(sign) & SIGN_F32));
}

TSPEC_MATH_INLINE double with_sign_f64(double x, double sign) {
  return f64_from_bits((f64_bits(x) & ~SIGN_F64) | (f64_bits(sign) & SIGN_F64));
}

#endif
