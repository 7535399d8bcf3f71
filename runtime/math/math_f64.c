// Elementary functions in f64: as math.c, and where a double alone is not enough, in sums of two
// (or, to reduce large angles, of four) doubles. Sources of the error-free sums and products:
// Dekker 1971; Knuth, TAOCP 2; Ogita, Rump, Oishi, "Accurate sum and dot product".
#include "runtime/math/coefficients.h"
#include "runtime/math/math.h"
#include "runtime/math/math_bits.h"

// ---- exponentials ------------------------------------------------------------------------------

typedef struct exp_f64_t {
  double r;    ///< |r| <= ln(2) / 2
  double tail; ///< e^r - 1 - r
  int64_t power;
} exp_f64_t;

/// e^x = 2^power * e^r, |x| below 2^40; see exp_parts_f32.
TSPEC_MATH_INLINE exp_f64_t exp_parts_f64(double x) {
  double shifted = __builtin_fma(x, LOG2E_F64_0, WHOLE_F64);
  double n = shifted - WHOLE_F64;
  double high = __builtin_fma(n, -LN2_F64_0, x);
  double r = __builtin_fma(n, -LN2_F64_1, high);
  double lost = __builtin_fma(n, -LN2_F64_1, high - r);
  double tail = __builtin_fma(r * r, POLY_F64(exp_f64_poly, r), lost);
  return (exp_f64_t){r, tail, (int64_t)(f64_bits(shifted) - f64_bits(WHOLE_F64))};
}

/// e^r as a sum.
TSPEC_MATH_INLINE pair_f64_t exp_pair_f64(exp_f64_t parts) {
  pair_f64_t sum = fast_sum_f64(1.0, parts.r);
  return fast_sum_f64(sum.hi, sum.lo + parts.tail);
}

/// `x` within [lo, hi]; NaN stays.
TSPEC_MATH_INLINE double clamp_f64(double x, double lo, double hi) {
  double low = x < lo ? lo : x;
  return low > hi ? hi : low;
}

TSPEC_MATH_FN double tspec_exp_f64(double x) {
  // Beyond these the result is 0 or infinity.
  exp_f64_t parts = exp_parts_f64(clamp_f64(x, -750.0, 720.0));
  double y = scale_f64(exp_pair_f64(parts).hi, parts.power);
  return select_f64(x != x, x, y);
}

TSPEC_MATH_FN double tspec_expm1_f64(double x) {
  // Below -38 the result is -1.
  exp_f64_t parts = exp_parts_f64(clamp_f64(x, -38.0, 720.0));
  // e^x - 1 = 2^power * (1 - 2^-power + r + tail)
  pair_f64_t sum = sum_f64(1.0 - scale_f64(1.0, -parts.power), parts.r);
  double y = scale_f64(sum.hi + (sum.lo + parts.tail), parts.power);
  return select_f64((x != x) | (x == 0.0), x, y);
}

TSPEC_MATH_FN double tspec_tanh_f64(double x) {
  double a = abs_f64(x);
  double z = x * x;
  double small = __builtin_fma(a * z, POLY_F64(tanh_f64_poly, z), a);
  // 1 - 2 / (e^2a + 1); from 20 on that is 1.
  exp_f64_t parts = exp_parts_f64(2.0 * (a > 20.0 ? 20.0 : a));
  double e = scale_f64(exp_pair_f64(parts).hi, parts.power);
  double large = 1.0 - 2.0 / (e + 1.0);
  double y = with_sign_f64(select_f64(a < 0.5625, small, large), x);
  return select_f64(x != x, x, y);
}

TSPEC_MATH_FN double tspec_sigmoid_f64(double x) {
  // 1 / (1 + e) or e / (1 + e) with e = e^-|x|, which does not overflow.
  double a = abs_f64(x);
  exp_f64_t parts = exp_parts_f64(-(a > 760.0 ? 760.0 : a));
  pair_f64_t pair = exp_pair_f64(parts);
  double e = scale_f64(pair.hi, parts.power);
  double e_low = scale_f64(pair.lo, parts.power);
  pair_f64_t divisor = fast_sum_f64(1.0, e);
  double inverse = 1.0 / divisor.hi;
  double dividend = x < 0.0 ? e : 1.0;
  double quotient = dividend * inverse;
  // What the quotient and the divisor lost is put back.
  double left = __builtin_fma(-quotient, divisor.hi, dividend) + (x < 0.0 ? e_low : 0.0);
  left = __builtin_fma(-quotient, divisor.lo + e_low, left);
  double y = __builtin_fma(left, inverse, quotient);
  return select_f64(x != x, x, y);
}

TSPEC_MATH_FN double tspec_erf_f64(double x) {
  double a = abs_f64(x);
  double z = x * x;
  double small = __builtin_fma(a, POLY_F64(erf_f64_poly, z), a);
  double c = clamp_f64(a, 0.921875, 6.0); // from 6 on erf is 1
  exp_f64_t parts = exp_parts_f64(-c * c);
  double e = scale_f64(exp_pair_f64(parts).hi, parts.power);
  double large = __builtin_fma(-e, POLY_F64(erfc_f64_poly, 1.0 / (1.0 + c)), 1.0);
  large = a >= 6.0 ? 1.0 : large;
  double y = with_sign_f64(select_f64(a < 0.921875, small, large), x);
  return select_f64(x != x, x, y);
}

// ---- logarithms --------------------------------------------------------------------------------

typedef struct log_parts_f64_t {
  double m;     ///< in [sqrt(1/2), sqrt(2))
  double power; ///< a whole number
} log_parts_f64_t;

/// x = 2^power * m, for a positive normal number.
TSPEC_MATH_INLINE log_parts_f64_t log_parts_f64(double x) {
  uint64_t bits = f64_bits(x);
  // The bits of sqrt(1/2); a logical shift of a number made positive, as vectors of i64 have no
  // other.
  uint64_t power = (bits - 0x3fe6a09e667f3bcdu + (1024ull << 52)) >> 52;
  double m = f64_from_bits(bits - ((power - 1024) << 52));
  // The bits of 2^52 + power, so that no conversion from i64 is needed.
  return (log_parts_f64_t){m, f64_from_bits(0x4330000000000000u | power) - (0x1p52 + 1024.0)};
}

/// log(1 + f) + power * ln 2 + rest
TSPEC_MATH_INLINE double log_join_f64(double f, double power, double rest) {
  double s = f / (2.0 + f);
  double z = s * s;
  // log(1 + f) = 2 s + s z p(z), and 2 s = f - f^2 / 2 + s f^2 / 2, where f is exact.
  double half_square = 0.5 * f * f;
  double tail = __builtin_fma(s, __builtin_fma(z, POLY_F64(log_f64_poly, z), half_square),
                              __builtin_fma(power, LN2_SHORT_F64_1, rest));
  pair_f64_t sum = sum_f64(power * LN2_SHORT_F64_0, f);
  pair_f64_t whole = sum_f64(sum.hi, -half_square);
  double square_rest = -__builtin_fma(0.5 * f, f, -half_square);
  return whole.hi + (whole.lo + (sum.lo + (square_rest + tail)));
}

TSPEC_MATH_FN double tspec_log_f64(double x) {
  int is_small = x < 0x1p-1022;
  log_parts_f64_t parts = log_parts_f64(is_small ? x * 0x1p54 : x);
  double y = log_join_f64(parts.m - 1.0, is_small ? parts.power - 54.0 : parts.power, 0.0);
  y = select_f64(x == 0.0, -INFINITY_F64, y);
  y = select_f64(x == INFINITY_F64, x, y);
  y = select_f64(x < 0.0, NAN_F64, y);
  return select_f64(x != x, x, y);
}

TSPEC_MATH_FN double tspec_log1p_f64(double x) {
  double u = 1.0 + x;
  // What the sum lost: 1 + x = u + lost. For infinities it is NaN, and not used.
  double lost = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  log_parts_f64_t parts = log_parts_f64(u);
  int near_one = parts.power == 0.0;
  double f = near_one ? x : parts.m - 1.0;
  double y = log_join_f64(f, parts.power, near_one ? 0.0 : lost / u);
  y = select_f64(x == -1.0, -INFINITY_F64, y);
  y = select_f64(x == INFINITY_F64, x, y);
  y = select_f64(x < -1.0, NAN_F64, y);
  return select_f64((x != x) | (x == 0.0), x, y);
}

// ---- sine and cosine ---------------------------------------------------------------------------

typedef struct angle_f64_t {
  pair_f64_t r; ///< |r| <= pi / 4
  uint64_t quadrant;
} angle_f64_t;

/// x modulo 4, in [-2, 2]; exact.
TSPEC_MATH_INLINE double modulo4(double x) {
  double size = abs_f64(x) * 0.25;
  double whole = size < 0x1p52 ? (size + 0x1p52) - 0x1p52 : size;
  return x - with_sign_f64(4.0 * whole, x);
}

/// x = quadrant * pi/2 + r modulo 2 pi, as reduce_f32: m has up to 85 bits (53 of them used), the
/// factor 4 * 53, enough for the 62 bits that the double nearest to a multiple of pi/2 can cancel.
TSPEC_MATH_INLINE angle_f64_t reduce_f64(double x) {
  uint64_t exponent = (f64_bits(x) >> 52) & 0x7ff;
  uint64_t group = exponent < 1023 + 85 ? 0 : (exponent - (1023 + 53)) >> 5;
  group = group > 30 ? 30 : group; // infinities and NaN
  const double *turns = turns_f64[group];
  double m = x * f64_from_bits((group == 0 ? 1023 : 1023 - 1 - 32 * group) << 52);
  pair_f64_t p0 = product_f64(m, turns[0]);
  pair_f64_t p1 = product_f64(m, turns[1]);
  pair_f64_t p2 = product_f64(m, turns[2]);
  double least = __builtin_fma(m, turns[3], p2.lo);
  pair_f64_t a = sum_f64(modulo4(p0.hi), modulo4(p0.lo));
  pair_f64_t b = sum_f64(a.hi, modulo4(p1.hi));
  double shifted = b.hi + WHOLE_F64;
  // A sum of six, the largest last; twice, as the largest ones may cancel.
  double terms[6] = {least, a.lo, b.lo, p1.lo, p2.hi, b.hi - (shifted - WHOLE_F64)};
  for (int round = 0; round < 2; round++) {
    for (int i = 1; i < 6; i++) {
      pair_f64_t sum = sum_f64(terms[i], terms[i - 1]);
      terms[i] = sum.hi;
      terms[i - 1] = sum.lo;
    }
  }
  double low = terms[4] + (terms[3] + (terms[2] + (terms[1] + terms[0])));
  pair_f64_t quarter = fast_sum_f64(terms[5], low);
  pair_f64_t r = pair_product_f64(quarter, (pair_f64_t){HALF_PI_0, HALF_PI_1});
  return (angle_f64_t){r, f64_bits(shifted)};
}

/// sin(r) or, if `quadrant` is odd, cos(r); negative in quadrants 2 and 3.
TSPEC_MATH_INLINE double sin_quadrant_f64(pair_f64_t r, uint64_t quadrant) {
  double z = r.hi * r.hi;
  double slope = __builtin_fma(z, -0.5, 1.0); // of the sine, good enough for r.lo
  double sine = r.hi + __builtin_fma(r.hi * z, POLY_F64(sin_wide_poly, z), r.lo * slope);
  pair_f64_t first = fast_sum_f64(1.0, -0.5 * z);
  double z_low = __builtin_fma(r.hi, r.hi, -z);
  double rest = __builtin_fma(z * z, POLY_F64(cos_wide_poly, z), first.lo);
  double cosine = first.hi + (rest - __builtin_fma(r.hi, r.lo, 0.5 * z_low));
  double y = (quadrant & 1) != 0 ? cosine : sine;
  return f64_from_bits(f64_bits(y) ^ ((quadrant & 2) << 62));
}

TSPEC_MATH_FN double tspec_sin_f64(double x) {
  angle_f64_t angle = reduce_f64(x);
  double y = sin_quadrant_f64(angle.r, angle.quadrant);
  y = select_f64(abs_f64(x) < INFINITY_F64, y, x * 0.0);
  return select_f64(abs_f64(x) < 0x1p-27, x, y);
}

TSPEC_MATH_FN double tspec_cos_f64(double x) {
  angle_f64_t angle = reduce_f64(x);
  double y = sin_quadrant_f64(angle.r, angle.quadrant + 1);
  return select_f64(abs_f64(x) < INFINITY_F64, y, x * 0.0);
}

// ---- powers ------------------------------------------------------------------------------------

TSPEC_MATH_FN double tspec_rsqrt_f64(double x) {
  return 1.0 / __builtin_sqrt(x);
}

/// log2 of a positive number, to about 2^-68 of itself: log2(m) = s (c1 + z (c3 + z (c5 + z
/// p(z)))), s = (m - 1) / (m + 1), z = s^2, all but p in two doubles.
TSPEC_MATH_INLINE pair_f64_t log2_f64(double x) {
  int is_small = x < 0x1p-1022;
  log_parts_f64_t parts = log_parts_f64(is_small ? x * 0x1p54 : x);
  double power = is_small ? parts.power - 54.0 : parts.power;
  double f = parts.m - 1.0;
  pair_f64_t divisor = fast_sum_f64(2.0, f);
  double inverse = 1.0 / divisor.hi;
  double quotient = f * inverse;
  double left = __builtin_fma(-quotient, divisor.hi, f);
  left = __builtin_fma(-quotient, divisor.lo, left);
  pair_f64_t s = fast_sum_f64(quotient, left * inverse);
  pair_f64_t z = pair_product_f64(s, s);
  pair_f64_t c = fast_sum_f64(LOG2_COEFFICIENT_5_0, z.hi * POLY_F64(log2_tail_poly, z.hi));
  c.lo += LOG2_COEFFICIENT_5_1;
  c = pair_product_f64(z, c);
  c = pair_sum_f64((pair_f64_t){LOG2_COEFFICIENT_3_0, LOG2_COEFFICIENT_3_1}, c);
  c = pair_product_f64(z, c);
  c = pair_sum_f64((pair_f64_t){LOG2_COEFFICIENT_1_0, LOG2_COEFFICIENT_1_1}, c);
  c = pair_product_f64(s, c);
  return pair_sum_f64((pair_f64_t){power, 0.0}, c);
}

/// 2^(t.hi + t.lo), |t.hi| below 2^50, rounded once.
TSPEC_MATH_INLINE double exp2_f64(pair_f64_t t) {
  double shifted = t.hi + WHOLE_F64;
  double whole = t.hi - (shifted - WHOLE_F64);
  double v = whole * LN2_F64_0;
  double low = __builtin_fma(whole, LN2_F64_0, -v);
  low = __builtin_fma(whole, LN2_F64_1, __builtin_fma(t.lo, LN2_F64_0, low));
  pair_f64_t u = sum_f64(v, low);
  pair_f64_t sum = fast_sum_f64(1.0, u.hi);
  double tail =
      __builtin_fma(u.hi * u.hi, POLY_F64(exp_f64_poly, u.hi), __builtin_fma(u.lo, u.hi, u.lo));
  return scale_f64(sum.hi + (sum.lo + tail), (int64_t)(f64_bits(shifted) - f64_bits(WHOLE_F64)));
}

/// x^y for x = 0, infinity and negative x; `y0` is |x|^y, `is_odd` and `is_whole` speak of y.
TSPEC_MATH_INLINE double pow_special_f64(double x, double y, double y0, int is_odd, int is_whole) {
  double a = abs_f64(x);
  double result = y0;
  // |x| = 0 with y < 0 or infinity with y > 0; and the other way round.
  int grows = ((a == 0.0) & (y < 0.0)) | ((a == INFINITY_F64) & (y > 0.0));
  int shrinks = ((a == 0.0) & (y > 0.0)) | ((a == INFINITY_F64) & (y < 0.0));
  result = select_f64(grows, INFINITY_F64, result);
  result = select_f64(shrinks, 0.0, result);
  // An infinite y.
  int is_infinite = abs_f64(y) == INFINITY_F64;
  double limit = select_f64((a > 1.0) == (y > 0.0), INFINITY_F64, 0.0);
  result = select_f64(is_infinite, select_f64(a == 1.0, 1.0, limit), result);
  result = select_f64(((f64_bits(x) & SIGN_F64) != 0) & is_odd, -result, result);
  // A negative finite number to a power that is not whole.
  int is_invalid = (x < 0.0) & (a < INFINITY_F64) & !is_whole & !is_infinite;
  result = select_f64(is_invalid, NAN_F64, result);
  result = select_f64((x != x) | (y != y), x + y, result);
  return select_f64((x == 1.0) | (y == 0.0), 1.0, result);
}

TSPEC_MATH_FN double tspec_pow_f64(double x, double y) {
  double size = abs_f64(y);
  pair_f64_t log = log2_f64(abs_f64(x));
  // y * log2|x|; beyond 1100 the result is 0 or infinity, and so it is for y that would overflow
  // here.
  double c = clamp_f64(y, -0x1p70, 0x1p70);
  double high = c * log.hi;
  double low = __builtin_fma(c, log.hi, -high) + c * log.lo;
  double t = clamp_f64(high, -1100.0, 1100.0);
  double power = exp2_f64((pair_f64_t){t, t == high ? low : 0.0});
  // Whole numbers end at the last bit of size + 2^52, those above 2^52 at their own; above 2^53 all
  // are even.
  double sum = select_f64(size < 0x1p52, size + 0x1p52, size);
  int is_whole = (size >= 0x1p52) | (sum - 0x1p52 == size);
  int is_odd = is_whole & (size < 0x1p53) & (int)(f64_bits(sum) & 1);
  return pow_special_f64(x, y, power, is_odd, is_whole);
}
