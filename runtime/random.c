#include "runtime/random.h"

#include <math.h>

uint64_t tspec_rt_hash(const char *text) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (; *text != '\0'; ++text) {
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  }
  return hash;
}

void tspec_rt_philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p = UINT64_C(0xD2511F53) * counter[0];
    uint64_t q = UINT64_C(0xCD9E8D57) * counter[2];
    counter[0] = (uint32_t)(q >> 32) ^ counter[1] ^ key0;
    counter[1] = (uint32_t)q;
    counter[2] = (uint32_t)(p >> 32) ^ counter[3] ^ key1;
    counter[3] = (uint32_t)p;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

uint64_t tspec_rt_random_bits(uint64_t seed, uint64_t path_hash, int64_t index) {
  uint64_t pair = (uint64_t)index >> 1;
  uint32_t words[4] = {(uint32_t)pair, (uint32_t)(pair >> 32), (uint32_t)path_hash,
                       (uint32_t)(path_hash >> 32)};
  tspec_rt_philox(words, (uint32_t)seed, (uint32_t)(seed >> 32));
  int first = (index & 1) != 0 ? 2 : 0;
  return words[first] | (uint64_t)words[first + 1] << 32;
}

double tspec_rt_uniform(uint64_t bits) {
  return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

// Coefficients from the highest power down.
static double horner(const double *coefficients, int count, double x) {
  double value = coefficients[0];
  for (int i = 1; i < count; ++i) {
    value = value * x + coefficients[i];
  }
  return value;
}

// The natural logarithm of docs/numbers.md 5, for 0 < x < 1.
static double natural_log(double x) {
  static const double series[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                  1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  int exponent = 0;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent -= 1;
  }
  double s = (m - 1) / (m + 1);
  double v = s * s;
  return (double)exponent * 0.69314718055994531 + 2 * s * horner(series, 11, v);
}

// Wichura's algorithm AS 241, PPND16 (Applied Statistics 37, 1988).
double tspec_rt_normal_quantile(double p) {
  static const double n1[] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                              45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                              133.14166789178437745, 3.387132872796366608};
  static const double d1[] = {
      5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
  static const double n2[] = {7.7454501427834140764e-4, 0.0227238449892691845833,
                              0.24178072517745061177,   1.27045825245236838258,
                              3.64784832476320460504,   5.7694972214606914055,
                              4.6303378461565452959,    1.42343711074968357734};
  static const double d2[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                              0.0151986665636164571966,  0.14810397642748007459,
                              0.68976733498510000455,    1.6763848301838038494,
                              2.05319162663775882187,    1};
  static const double n3[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                              0.0012426609473880784386,  0.026532189526576123093,
                              0.29656057182650489123,    1.7848265399172913358,
                              5.4637849111641143699,     6.6579046435011037772};
  static const double d3[] = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                              1.8463183175100546818e-5,   7.868691311456132591e-4,
                              0.0148753612908506148525,   0.13692988092273580531,
                              0.59983220655588793769,     1};
  double q = p - 0.5;
  if (fabs(q) <= 0.425) {
    double r = 0.180625 - q * q;
    return horner(n1, 8, r) * q / horner(d1, 8, r);
  }
  double s = sqrt(-natural_log(q <= 0 ? p : 1 - p));
  double w = s <= 5 ? horner(n2, 8, s - 1.6) / horner(d2, 8, s - 1.6)
                    : horner(n3, 8, s - 5) / horner(d3, 8, s - 5);
  return q < 0 ? -w : w;
}

static double element(uint32_t init, const double args[2], uint64_t bits) {
  // The normal distribution's function at -2 and 2.
  static const double low = 0.022750131948179207;
  static const double high = 0.9772498680518208;
  double u = tspec_rt_uniform(bits);
  switch (init) {
  case TSPEC_IMAGE_INIT_UNIFORM:
    return args[0] + (args[1] - args[0]) * u;
  case TSPEC_IMAGE_INIT_NORMAL:
    return args[0] + args[1] * tspec_rt_normal_quantile(u);
  case TSPEC_IMAGE_INIT_TRUNCATED_NORMAL: {
    double t = tspec_rt_normal_quantile(low + (high - low) * u);
    t = t < -2 ? -2 : t;
    t = t > 2 ? 2 : t;
    return args[0] + args[1] * t;
  }
  default:
    return args[0];
  }
}

void tspec_rt_init_block(const tspec_rt_tensor_t *tensor, uint32_t init, const double args[2],
                         uint64_t seed, const char *path, void *out) {
  int64_t elem_bytes = tspec_rt_dtype_bytes(tensor->dtype);
  const tspec_rt_box_t *box = &tensor->box;
  uint64_t hash = tspec_rt_hash(path);
  int64_t index[TSPEC_RT_MAX_DIMS] = {0};
  for (int64_t i = 0; i < tensor->elems; ++i) {
    int64_t global = 0;
    for (int d = 0; d < box->ndims; ++d) {
      global = global * tensor->layout.dims[d].size + box->begin[d] + index[d];
    }
    uint64_t bits = init == TSPEC_IMAGE_INIT_FILL ? 0 : tspec_rt_random_bits(seed, hash, global);
    tspec_rt_dtype_store(tensor->dtype, element(init, args, bits), (char *)out + i * elem_bytes);
    for (int d = box->ndims - 1; d >= 0 && d < TSPEC_RT_MAX_DIMS; --d) {
      if (++index[d] < box->end[d] - box->begin[d]) {
        break;
      }
      index[d] = 0;
    }
  }
}
