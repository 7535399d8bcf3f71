// Elementary functions in f32. Those that need many bits inside (sin, cos, pow) work in doubles;
// the others in floats, twice as many to a vector.
#include "runtime/math/math.h"

#include "runtime/math/coefficients.h"
#include "runtime/math/math_bits.h"

// ---- exponentials ------------------------------------------------------------------------------

typedef struct exp_f32_t {
  float r;    ///< |r| <= ln(2) / 2
  float tail; ///< e^r - 1 - r
  int32_t power;
} exp_f32_t;

/// e^x = 2^power * e^r, |x| below 2^20. x = power * ln 2 + r: the first piece of ln 2 leaves no
/// error, what rounding the second one loses goes into the tail.
TSPEC_MATH_INLINE exp_f32_t exp_parts_f32(float x) {
  float shifted = __builtin_fmaf(x, LOG2E_F32_0, WHOLE_F32);
  float n = shifted - WHOLE_F32;
  float high = __builtin_fmaf(n, -LN2_F32_0, x);
  float r = __builtin_fmaf(n, -LN2_F32_1, high);
  float lost = __builtin_fmaf(n, -LN2_F32_1, high - r);
  float tail = __builtin_fmaf(r * r, POLY_F32(exp_f32_poly, r), lost);
  return (exp_f32_t){r, tail, (int32_t)(f32_bits(shifted) - f32_bits(WHOLE_F32))};
}

/// e^r as a sum.
TSPEC_MATH_INLINE pair_f32_t exp_pair_f32(exp_f32_t parts) {
  pair_f32_t sum = fast_sum_f32(1.0f, parts.r);
  return fast_sum_f32(sum.hi, sum.lo + parts.tail);
}

/// `x` within [lo, hi]; NaN stays.
TSPEC_MATH_INLINE float clamp_f32(float x, float lo, float hi) {
  float low = x < lo ? lo : x;
  return low > hi ? hi : low;
}

TSPEC_MATH_FN float tspec_exp_f32(float x) {
  // Beyond these the result is 0 or infinity.
  exp_f32_t parts = exp_parts_f32(clamp_f32(x, -105.0f, 90.0f));
  float y = scale_f32(exp_pair_f32(parts).hi, parts.power);
  return select_f32(x != x, x, y);
}

TSPEC_MATH_FN float tspec_expm1_f32(float x) {
  // Below -18 the result is -1.
  exp_f32_t parts = exp_parts_f32(clamp_f32(x, -18.0f, 90.0f));
  // e^x - 1 = 2^power * (1 - 2^-power + r + tail)
  pair_f32_t sum = sum_f32(1.0f - scale_f32(1.0f, -parts.power), parts.r);
  float y = scale_f32(sum.hi + (sum.lo + parts.tail), parts.power);
  return select_f32((x != x) | (x == 0.0f), x, y);
}

TSPEC_MATH_FN float tspec_tanh_f32(float x) {
  float a = abs_f32(x);
  float z = x * x;
  float small = __builtin_fmaf(a * z, POLY_F32(tanh_f32_poly, z), a);
  // 1 - 2 / (e^2a + 1); from 10 on that is 1.
  exp_f32_t parts = exp_parts_f32(2.0f * (a > 10.0f ? 10.0f : a));
  float e = scale_f32(exp_pair_f32(parts).hi, parts.power);
  float large = 1.0f - 2.0f / (e + 1.0f);
  float y = with_sign_f32(select_f32(a < 0.5625f, small, large), x);
  return select_f32(x != x, x, y);
}

TSPEC_MATH_FN float tspec_sigmoid_f32(float x) {
  // 1 / (1 + e) or e / (1 + e) with e = e^-|x|, which does not overflow.
  float a = abs_f32(x);
  exp_f32_t parts = exp_parts_f32(-(a > 110.0f ? 110.0f : a));
  pair_f32_t pair = exp_pair_f32(parts);
  float e = scale_f32(pair.hi, parts.power);
  float e_low = scale_f32(pair.lo, parts.power);
  pair_f32_t divisor = fast_sum_f32(1.0f, e);
  float inverse = 1.0f / divisor.hi;
  float dividend = x < 0.0f ? e : 1.0f;
  float quotient = dividend * inverse;
  // What the quotient and the divisor lost is put back.
  float left = __builtin_fmaf(-quotient, divisor.hi, dividend) + (x < 0.0f ? e_low : 0.0f);
  left = __builtin_fmaf(-quotient, divisor.lo + e_low, left);
  float y = __builtin_fmaf(left, inverse, quotient);
  return select_f32(x != x, x, y);
}

TSPEC_MATH_FN float tspec_erf_f32(float x) {
  float a = abs_f32(x);
  float z = x * x;
  float small = __builtin_fmaf(a, POLY_F32(erf_f32_poly, z), a);
  float c = clamp_f32(a, 0.921875f, 4.0f); // from 4 on erf is 1
  exp_f32_t parts = exp_parts_f32(POLY_F32(erfc_f32_poly, c));
  float complement = scale_f32(exp_pair_f32(parts).hi, parts.power);
  float large = a >= 4.0f ? 1.0f : 1.0f - complement;
  float y = with_sign_f32(select_f32(a < 0.921875f, small, large), x);
  return select_f32(x != x, x, y);
}

// ---- logarithms --------------------------------------------------------------------------------

typedef struct log_parts_f32_t {
  float f;     ///< 1 + f in [sqrt(1/2), sqrt(2))
  float power; ///< a whole number
} log_parts_f32_t;

/// x = 2^power * (1 + f), for a positive normal number.
TSPEC_MATH_INLINE log_parts_f32_t log_parts_f32(float x) {
  uint32_t bits = f32_bits(x);
  int32_t power = (int32_t)(bits - 0x3f3504f3u) >> 23; // the bits of sqrt(1/2)
  float m = f32_from_bits(bits - ((uint32_t)power << 23));
  return (log_parts_f32_t){m - 1.0f, (float)power};
}

/// log(1 + f) + power * ln 2 + rest
TSPEC_MATH_INLINE float log_join_f32(float f, float power, float rest) {
  float poly = POLY_F32(log_f32_poly, f);
  float square = f * f;
  float tail = __builtin_fmaf(square, __builtin_fmaf(f, poly, -0.5f),
                              __builtin_fmaf(power, LN2_SHORT_F32_1, rest));
  pair_f32_t sum = sum_f32(power * LN2_SHORT_F32_0, f);
  return sum.hi + (sum.lo + tail);
}

TSPEC_MATH_FN float tspec_log_f32(float x) {
  int is_small = x < 0x1p-126f;
  log_parts_f32_t parts = log_parts_f32(is_small ? x * 0x1p24f : x);
  float y = log_join_f32(parts.f, is_small ? parts.power - 24.0f : parts.power, 0.0f);
  y = select_f32(x == 0.0f, -INFINITY_F32, y);
  y = select_f32(x == INFINITY_F32, x, y);
  y = select_f32(x < 0.0f, NAN_F32, y);
  return select_f32(x != x, x, y);
}

TSPEC_MATH_FN float tspec_log1p_f32(float x) {
  float u = 1.0f + x;
  // What the sum lost: 1 + x = u + lost. For infinities it is NaN, and not used.
  float lost = x >= 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  log_parts_f32_t parts = log_parts_f32(u);
  int near_one = parts.power == 0.0f;
  float f = near_one ? x : parts.f;
  float y = log_join_f32(f, parts.power, near_one ? 0.0f : lost / u);
  y = select_f32(x == -1.0f, -INFINITY_F32, y);
  y = select_f32(x == INFINITY_F32, x, y);
  y = select_f32(x < -1.0f, NAN_F32, y);
  return select_f32((x != x) | (x == 0.0f), x, y);
}

// ---- sine and cosine ---------------------------------------------------------------------------

typedef struct angle_f32_t {
  double r; ///< |r| <= pi / 4
  uint64_t quadrant;
} angle_f32_t;

/// x = quadrant * pi/2 + r modulo 2 pi. With x = m * 2^s, m a whole number, x * 2/pi modulo 4 is m
/// * (2^s * 2/pi modulo 4): one of five factors, by the size of x, each as the sum of two doubles.
/// m * factor is exact in two doubles.
TSPEC_MATH_INLINE angle_f32_t reduce_f32(float x) {
  float a = abs_f32(x);
  double turns[2] = {turns_f32[0][0], turns_f32[0][1]};
  double scale = 1.0;
  for (int i = 1; i < 5; i++) {
    int above = a >= f32_from_bits((uint32_t)(127 + 23 * (i + 1)) << 23);
    turns[0] = above ? turns_f32[i][0] : turns[0];
    turns[1] = above ? turns_f32[i][1] : turns[1];
    scale = above ? f64_from_bits((uint64_t)(1023 - 23 * i) << 52) : scale;
  }
  double m = (double)x * scale;
  pair_f64_t product = product_f64(m, turns[0]);
  double high = product.hi - 4.0 * round_whole_f64(product.hi * 0.25);
  double low = __builtin_fma(m, turns[1], product.lo);
  double shifted = (high + low) + WHOLE_F64;
  double quarter = (high - (shifted - WHOLE_F64)) + low;
  return (angle_f32_t){quarter * HALF_PI_0, f64_bits(shifted)};
}

/// sin(r) or, if `quadrant` is odd, cos(r); negative in quadrants 2 and 3.
TSPEC_MATH_INLINE float sin_quadrant_f32(double r, uint64_t quadrant) {
  double z = r * r;
  double sine = __builtin_fma(r * z, POLY_F64(sin_narrow_poly, z), r);
  double cosine = __builtin_fma(z * z, POLY_F64(cos_narrow_poly, z), __builtin_fma(z, -0.5, 1.0));
  double y = (quadrant & 1) != 0 ? cosine : sine;
  return (float)f64_from_bits(f64_bits(y) ^ ((quadrant & 2) << 62));
}

TSPEC_MATH_FN float tspec_sin_f32(float x) {
  angle_f32_t angle = reduce_f32(x);
  float y = sin_quadrant_f32(angle.r, angle.quadrant);
  y = select_f32(abs_f32(x) < INFINITY_F32, y, x * 0.0f);
  return select_f32(x == 0.0f, x, y);
}

TSPEC_MATH_FN float tspec_cos_f32(float x) {
  angle_f32_t angle = reduce_f32(x);
  float y = sin_quadrant_f32(angle.r, angle.quadrant + 1);
  return select_f32(abs_f32(x) < INFINITY_F32, y, x * 0.0f);
}

// ---- powers ------------------------------------------------------------------------------------

TSPEC_MATH_FN float tspec_rsqrt_f32(float x) {
  return 1.0f / __builtin_sqrtf(x);
}

/// log2 of a positive number, in a double good to 2^-43.
TSPEC_MATH_INLINE double log2_f32(float x) {
  double wide = (double)x; // subnormal floats are normal doubles
  uint64_t bits = f64_bits(wide);
  // The bits of sqrt(1/2); a logical shift of a number made positive, as vectors of i64 have no
  // other.
  uint64_t power = (bits - 0x3fe6a09e667f3bcdu + (1024ull << 52)) >> 52;
  double m = f64_from_bits(bits - ((power - 1024) << 52));
  double s = (m - 1.0) / (m + 1.0);
  // The bits of 2^52 + power, so that no conversion from i64 is needed.
  double n = f64_from_bits(0x4330000000000000u | power) - (0x1p52 + 1024.0);
  return __builtin_fma(s, POLY_F64(log2_poly, s * s), n);
}

/// 2^t as a float, |t| below 2^50.
TSPEC_MATH_INLINE float exp2_f32(double t) {
  double low = t < -160.0 ? -160.0 : t;
  double c = low > 130.0 ? 130.0 : low;
  double shifted = c + WHOLE_F64;
  double r = c - (shifted - WHOLE_F64);
  uint64_t power = (f64_bits(shifted) + 1023) << 52;
  return (float)(POLY_F64(exp2_poly, r) * f64_from_bits(power));
}

/// x^y for x = 0, infinity and negative x; `y0` is |x|^y, `is_odd` and `is_whole` speak of y.
TSPEC_MATH_INLINE float pow_special_f32(float x, float y, float y0, int is_odd, int is_whole) {
  float a = abs_f32(x);
  float result = y0;
  // |x| = 0 with y < 0 or infinity with y > 0; and the other way round.
  int grows = ((a == 0.0f) & (y < 0.0f)) | ((a == INFINITY_F32) & (y > 0.0f));
  int shrinks = ((a == 0.0f) & (y > 0.0f)) | ((a == INFINITY_F32) & (y < 0.0f));
  result = select_f32(grows, INFINITY_F32, result);
  result = select_f32(shrinks, 0.0f, result);
  // An infinite y.
  int is_infinite = abs_f32(y) == INFINITY_F32;
  float limit = select_f32((a > 1.0f) == (y > 0.0f), INFINITY_F32, 0.0f);
  result = select_f32(is_infinite, select_f32(a == 1.0f, 1.0f, limit), result);
  result = select_f32(((f32_bits(x) & SIGN_F32) != 0) & is_odd, -result, result);
  // A negative finite number to a power that is not whole.
  int is_invalid = (x < 0.0f) & (a < INFINITY_F32) & !is_whole & !is_infinite;
  result = select_f32(is_invalid, NAN_F32, result);
  result = select_f32((x != x) | (y != y), x + y, result);
  return select_f32((x == 1.0f) | (y == 0.0f), 1.0f, result);
}

TSPEC_MATH_FN float tspec_pow_f32(float x, float y) {
  float size = abs_f32(y);
  double t = (double)y * log2_f32(abs_f32(x));
  // Whole numbers end at the last bit of size + 2^23, those above 2^23 at their own; above 2^24 all
  // are even.
  float sum = select_f32(size < 0x1p23f, size + 0x1p23f, size);
  int is_whole = (size >= 0x1p23f) | (sum - 0x1p23f == size);
  int is_odd = is_whole & (size < 0x1p24f) & (int)(f32_bits(sum) & 1);
  return pow_special_f32(x, y, exp2_f32(t), is_odd, is_whole);
}
