#include "ir/eval/init.h"

#include <math.h>

uint64_t tspec_init_hash(const char *path) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *path != '\0'; path++) {
    hash = (hash ^ (unsigned char)*path) * UINT64_C(1099511628211);
  }
  return hash;
}

uint64_t tspec_init_bits(uint64_t seed, uint64_t path_hash, uint64_t index) {
  uint32_t k0 = (uint32_t)seed;
  uint32_t k1 = (uint32_t)(seed >> 32);
  uint32_t c[4] = {(uint32_t)(index >> 1), (uint32_t)(index >> 33), (uint32_t)path_hash,
                   (uint32_t)(path_hash >> 32)};
  for (int round = 0; round < 10; round++) {
    if (round > 0) {
      k0 += UINT32_C(0x9E3779B9);
      k1 += UINT32_C(0xBB67AE85);
    }
    uint64_t p = UINT64_C(0xD2511F53) * c[0];
    uint64_t q = UINT64_C(0xCD9E8D57) * c[2];
    uint32_t c1 = c[1];
    uint32_t c3 = c[3];
    c[0] = (uint32_t)(q >> 32) ^ c1 ^ k0;
    c[1] = (uint32_t)q;
    c[2] = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c[3] = (uint32_t)p;
  }
  unsigned half = (unsigned)(index & 1) * 2;
  return c[half] | (uint64_t)c[half + 1] << 32;
}

static double polynomial(const double *coefficients, int count, double x) {
  double value = coefficients[0];
  for (int i = 1; i < count; i++) {
    value = value * x + coefficients[i];
  }
  return value;
}

static double natural_log(double x) {
  static const double odd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                               1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  int exponent = 0;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m = m * 2;
    exponent--;
  }
  double s = (m - 1) / (m + 1);
  return exponent * 0.69314718055994531 + 2 * s * polynomial(odd, 11, s * s);
}

// Wichura's AS 241, PPND16: the three ranges of the quantile, numerator and denominator.
static const double kNear[2][8] = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1},
};
static const double kTail[2][8] = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
     1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
     1},
};
static const double kFar[2][8] = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699,
     6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1},
};

double tspec_init_normal_quantile(double p) {
  double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return polynomial(kNear[0], 8, r) * q / polynomial(kNear[1], 8, r);
  }
  double s = sqrt(-natural_log(q <= 0 ? p : 1 - p));
  bool far = s > 5;
  double y = far ? s - 5 : s - 1.6;
  double w =
      polynomial(far ? kFar[0] : kTail[0], 8, y) / polynomial(far ? kFar[1] : kTail[1], 8, y);
  return q < 0 ? -w : w;
}

static double truncated_quantile(double u) {
  const double below = 0.022750131948179207; // the distribution's function at -2 and at 2
  const double above = 0.9772498680518208;
  double t = tspec_init_normal_quantile(below + (above - below) * u);
  return t < -2 ? -2 : t > 2 ? 2 : t;
}

double tspec_init_element(tspec_init_kind_t kind, const double args[2], uint64_t seed,
                          uint64_t path_hash, uint64_t index) {
  if (kind == TSPEC_INIT_FILL) {
    return args[0];
  }
  uint64_t bits = tspec_init_bits(seed, path_hash, index);
  double u = ((double)(bits >> 12) + 0.5) * 0x1p-52;
  if (kind == TSPEC_INIT_UNIFORM) {
    return args[0] + (args[1] - args[0]) * u;
  }
  double z = kind == TSPEC_INIT_NORMAL ? tspec_init_normal_quantile(u) : truncated_quantile(u);
  return args[0] + args[1] * z;
}
