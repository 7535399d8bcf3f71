// Elementary functions against the C library's in a wider type: doubles for f32, 80-bit long
// doubles for f64.
#include "runtime/math/math.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/runtime/math_loops.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double sigmoid(double x) {
  return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static long double sigmoidl(long double x) {
  return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
}

static double rsqrt(double x) {
  return 1 / sqrt(x);
}

static long double rsqrtl(long double x) {
  return 1 / sqrtl(x);
}

/// A function in all its forms, and the ulps that runtime/math/math.h promises.
typedef struct row_t {
  const char *name;
  float (*narrow)(float);
  double (*wide)(double);
  double (*want_narrow)(double);
  long double (*want_wide)(long double);
  void (*loop_narrow)(float *, const float *, int);
  void (*loop_wide)(double *, const double *, int);
  double narrow_ulp;
  double wide_ulp;
} row_t;

#define ROW(name, narrow_ulp, wide_ulp)                                                            \
  {#name,   tspec_##name##_f32,     tspec_##name##_f64,     name,                                  \
   name##l, math_loop_##name##_f32, math_loop_##name##_f64, narrow_ulp,                            \
   wide_ulp}

static const row_t rows[] = {
    ROW(exp, 0.8, 0.8),  ROW(expm1, 1.1, 1.1),    ROW(log, 0.85, 0.65), ROW(log1p, 0.85, 0.65),
    ROW(tanh, 1.5, 1.5), ROW(sigmoid, 0.81, 0.8), ROW(sin, 0.51, 0.7),  ROW(cos, 0.51, 0.7),
    ROW(erf, 1.1, 1.0),  ROW(rsqrt, 1.5, 1.5),
};

/// A small fixed generator (xorshift): the same samples on every run.
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// The error in ulps of `want`; huge for a wrong infinity, NaN or sign of zero. A result that
/// rounds to infinity by less than the bound is measured as if exponents went on.
static double ulps(long double got, long double want, int digits, int min_exponent,
                   long double limit) {
  if (isnan(want) || isnan(got)) {
    return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
  }
  if (got == want) {
    return !signbit(got) == !signbit(want) ? 0 : HUGE_VAL;
  }
  if (isinf(want)) {
    return HUGE_VAL;
  }
  int exponent;
  frexpl(want, &exponent);
  exponent = exponent < min_exponent ? min_exponent : exponent;
  long double reached = isinf(got) ? copysignl(limit, got) : got;
  return (double)(fabsl(reached - want) / ldexpl(1, exponent - digits));
}

static double ulps_narrow(float got, double want) {
  // Beyond all floats the right answer is infinity.
  if (isinf(got) && fabs(want) >= 0x1.ffffffp127) {
    return signbit(got) == signbit((float)want) ? 0 : HUGE_VAL;
  }
  return ulps((long double)got, (long double)want, FLT_MANT_DIG, FLT_MIN_EXP, 0x1p128L);
}

static double ulps_wide(double got, long double want) {
  if (isinf(got) && fabsl(want) >= 0x1.fffffffffffff8p1023L) {
    return !signbit(got) == !signbit(want) ? 0 : HUGE_VAL;
  }
  return ulps((long double)got, want, DBL_MANT_DIG, DBL_MIN_EXP, 0x1p1024L);
}

Test(math, f32_is_accurate_over_all_floats) {
  for (size_t r = 0; r < COUNT(rows); r++) {
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 30011) {
      float x = float_of((uint32_t)bits);
      double error = ulps_narrow(rows[r].narrow(x), rows[r].want_narrow((double)x));
      at = error > worst ? x : at;
      worst = error > worst ? error : worst;
    }
    cr_expect(le(dbl, worst, rows[r].narrow_ulp), "%s_f32(%a)", rows[r].name, (double)at);
  }
}

/// All kinds of doubles: any bits, and numbers of the sizes where functions have their bends.
static double sample_wide(uint64_t *state, int i) {
  uint64_t bits = next_random(state);
  double unit = (double)(int64_t)bits * 0x1p-63;
  switch (i % 4) {
  case 0:
    return double_of(bits);
  case 1:
    return unit * 20;
  case 2:
    return unit * 750;
  default:
    return ldexp(unit, (int)(next_random(state) % 32) - 20);
  }
}

Test(math, f64_is_accurate) {
  for (size_t r = 0; r < COUNT(rows); r++) {
    uint64_t state = 88172645463325252u;
    double worst = 0;
    double at = 0;
    for (int i = 0; i < 100000; i++) {
      double x = sample_wide(&state, i);
      double error = ulps_wide(rows[r].wide(x), rows[r].want_wide((long double)x));
      at = error > worst ? x : at;
      worst = error > worst ? error : worst;
    }
    cr_expect(le(dbl, worst, rows[r].wide_ulp), "%s_f64(%a)", rows[r].name, at);
  }
}

static const double specials[] = {
    0.0,         -0.0,        1.0,       -1.0,       2.0,        -2.0,       3.0,
    -3.0,        0.5,         -0.5,      0x1p23,     -0x1p23,    8388609.0,  -8388609.0,
    16777215.0,  0x1p24,      0x1p52,    -0x1p52,    0x1p53 - 1, 1 - 0x1p53, 0x1p53,
    -0x1p53,     1e30,        -1e30,     0x1p-149,   -0x1p-149,  0x1p-126,   -0x1p-126,
    0x1p-1074,   -0x1p-1074,  0x1p-1022, -0x1p-1022, FLT_MAX,    -FLT_MAX,   DBL_MAX,
    -DBL_MAX,    INFINITY,    -INFINITY, NAN,        0.999999,   1.000001,   -0.999999,
    88.0,        -88.0,       104.0,     -104.0,     710.0,      -745.2,     -0.99999994,
    1 - 0x1p-53, -1 + 0x1p-53};

Test(math, special_values_are_those_of_c99) {
  for (size_t r = 0; r < COUNT(rows); r++) {
    for (size_t i = 0; i < COUNT(specials); i++) {
      double x = specials[i];
      float narrow = (float)x;
      cr_expect(
          le(dbl, ulps_wide(rows[r].wide(x), rows[r].want_wide((long double)x)), rows[r].wide_ulp),
          "%s_f64(%a)", rows[r].name, x);
      cr_expect(le(dbl, ulps_narrow(rows[r].narrow(narrow), rows[r].want_narrow((double)narrow)),
                   rows[r].narrow_ulp),
                "%s_f32(%a)", rows[r].name, x);
    }
  }
}

Test(math, powers_of_special_values_are_those_of_c99) {
  for (size_t i = 0; i < COUNT(specials) * COUNT(specials); i++) {
    double x = specials[i / COUNT(specials)];
    double y = specials[i % COUNT(specials)];
    float narrow_x = (float)x;
    float narrow_y = (float)y;
    cr_expect(le(dbl, ulps_wide(tspec_pow_f64(x, y), powl((long double)x, (long double)y)), 1),
              "pow_f64(%a, %a)", x, y);
    cr_expect(
        le(dbl,
           ulps_narrow(tspec_pow_f32(narrow_x, narrow_y), pow((double)narrow_x, (double)narrow_y)),
           0.51),
        "pow_f32(%a, %a)", x, y);
  }
}

Test(math, powers_are_accurate) {
  uint64_t state = 1234567;
  for (int i = 0; i < 100000; i++) {
    double unit = (double)(int64_t)next_random(&state) * 0x1p-63;
    double other = (double)(int64_t)next_random(&state) * 0x1p-63;
    double x = i % 2 == 0 ? exp(unit * 20) : 1 + unit * 0.4;
    double y = i % 2 == 0 ? other * 37 : other * 2000;
    cr_assert(le(dbl, ulps_wide(tspec_pow_f64(x, y), powl((long double)x, (long double)y)), 0.8),
              "pow_f64(%a, %a)", x, y);
    float narrow_x = (float)x;
    float narrow_y = (float)(y / 8);
    cr_assert(
        le(dbl,
           ulps_narrow(tspec_pow_f32(narrow_x, narrow_y), pow((double)narrow_x, (double)narrow_y)),
           0.51),
        "pow_f32(%a, %a)", (double)narrow_x, (double)narrow_y);
  }
}

/// Doubles very near to multiples of pi/2; the first is the nearest of all (Muller, Elementary
/// Functions, ch. 11).
static const double hard_angles[] = {6381956970095103.0 * 0x1p797, 0x1.6ac5b262ca1ffp849,
                                     0x1.6ac5b262ca1ffp843,        0x1.4567e55d2f16p43,
                                     1.5707963267948966,           3.141592653589793,
                                     0x1.921fb54442d18p60,         0x1p1023,
                                     0x1.fffffffffffffp84,         0x1p85,
                                     0x1.fffffffffffffp116,        0x1p117};

Test(math, angles_of_any_size_are_reduced_exactly) {
  for (size_t i = 0; i < COUNT(hard_angles); i++) {
    double x = hard_angles[i];
    cr_expect(le(dbl, ulps_wide(tspec_sin_f64(x), sinl((long double)x)), 0.7), "sin(%a)", x);
    cr_expect(le(dbl, ulps_wide(tspec_cos_f64(-x), cosl((long double)x)), 0.7), "cos(%a)", x);
  }
  for (int exponent = -20; exponent < 1024; exponent++) {
    double x = ldexp(1.2345678901234567, exponent);
    cr_expect(le(dbl, ulps_wide(tspec_sin_f64(-x), sinl((long double)-x)), 0.7), "sin(%a)", x);
    cr_expect(le(dbl, ulps_wide(tspec_cos_f64(x), cosl((long double)x)), 0.7), "cos(%a)", x);
  }
}

static bool same_narrow(float a, float b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static bool same_wide(double a, double b) {
  return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

enum { LOOP = 4099 }; // a prime: the last elements run in the remainder loop

Test(math, vector_code_of_clang_gives_the_bits_of_gcc) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    cr_skip("this CPU cannot run it");
  }
  static float narrow[LOOP], narrow_y[LOOP];
  static double wide[LOOP], wide_y[LOOP];
  uint64_t state = 42;
  for (int i = 0; i < LOOP; i++) {
    wide[i] = i < (int)COUNT(specials) ? specials[i] : sample_wide(&state, i);
    narrow[i] = i % 4 == 0 ? float_of((uint32_t)next_random(&state)) : (float)wide[i];
  }
  for (size_t r = 0; r < COUNT(rows); r++) {
    rows[r].loop_narrow(narrow_y, narrow, LOOP);
    rows[r].loop_wide(wide_y, wide, LOOP);
    for (int i = 0; i < LOOP; i++) {
      float one = rows[r].narrow(narrow[i]);
      double other = rows[r].wide(wide[i]);
      cr_assert(same_narrow(one, narrow_y[i]), "%s_f32(%a)", rows[r].name, (double)narrow[i]);
      cr_assert(same_wide(other, wide_y[i]), "%s_f64(%a)", rows[r].name, wide[i]);
    }
  }
}

Test(math, vector_code_of_clang_gives_the_bits_of_gcc_for_powers) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    cr_skip("this CPU cannot run it");
  }
  static float narrow[2][LOOP], narrow_z[LOOP];
  static double wide[2][LOOP], wide_z[LOOP];
  uint64_t state = 43;
  for (int i = 0; i < LOOP; i++) {
    for (int k = 0; k < 2; k++) {
      wide[k][i] = i < 2000 ? specials[next_random(&state) % COUNT(specials)]
                            : sample_wide(&state, i % 3 + k);
      narrow[k][i] = (float)wide[k][i];
    }
  }
  math_loop_pow_f32(narrow_z, narrow[0], narrow[1], LOOP);
  math_loop_pow_f64(wide_z, wide[0], wide[1], LOOP);
  for (int i = 0; i < LOOP; i++) {
    float one = tspec_pow_f32(narrow[0][i], narrow[1][i]);
    double other = tspec_pow_f64(wide[0][i], wide[1][i]);
    cr_assert(same_narrow(one, narrow_z[i]), "pow_f32(%a, %a)", (double)narrow[0][i],
              (double)narrow[1][i]);
    cr_assert(same_wide(other, wide_z[i]), "pow_f64(%a, %a)", wide[0][i], wide[1][i]);
  }
}
