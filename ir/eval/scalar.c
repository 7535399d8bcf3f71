#include "ir/eval/scalar.h"

#include <math.h>

#include "runtime/math/math.h"

double tspec_scalar_max(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return (double)NAN;
  }
  if (a == b) {
    return signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

double tspec_scalar_min(double a, double b) {
  return -tspec_scalar_max(-a, -b);
}

// ---- comparisons -------------------------------------------------------------------------------

typedef enum order_t { ORDER_LESS, ORDER_EQUAL, ORDER_GREATER, ORDER_NONE } order_t;

static bool is_compare(tspec_op_kind_t kind) {
  return kind == TSPEC_OP_eq || kind == TSPEC_OP_ne || kind == TSPEC_OP_lt || kind == TSPEC_OP_le ||
         kind == TSPEC_OP_gt || kind == TSPEC_OP_ge;
}

static bool compare(tspec_op_kind_t kind, order_t order) {
  if (kind == TSPEC_OP_eq) {
    return order == ORDER_EQUAL;
  }
  if (kind == TSPEC_OP_ne) {
    return order != ORDER_EQUAL;
  }
  if (kind == TSPEC_OP_lt || kind == TSPEC_OP_gt) {
    return order == (kind == TSPEC_OP_lt ? ORDER_LESS : ORDER_GREATER);
  }
  return order == ORDER_EQUAL || order == (kind == TSPEC_OP_le ? ORDER_LESS : ORDER_GREATER);
}

static order_t order_floats(double a, double b) {
  return a < b ? ORDER_LESS : a > b ? ORDER_GREATER : a == b ? ORDER_EQUAL : ORDER_NONE;
}

static order_t order_ints(int64_t a, int64_t b) {
  return a < b ? ORDER_LESS : a > b ? ORDER_GREATER : ORDER_EQUAL;
}

// ---- floats ------------------------------------------------------------------------------------

typedef struct float_row_t {
  tspec_op_kind_t kind;
  float (*narrow)(float);
  double (*wide)(double);
} float_row_t;

#define ELEMENTARY(name) {TSPEC_OP_##name, tspec_##name##_f32, tspec_##name##_f64}

static const float_row_t float_rows[] = {
    {TSPEC_OP_abs, fabsf, fabs},
    {TSPEC_OP_sqrt, sqrtf, sqrt},
    {TSPEC_OP_floor, floorf, floor},
    {TSPEC_OP_ceil, ceilf, ceil},
    {TSPEC_OP_round, nearbyintf, nearbyint},
    ELEMENTARY(exp),
    ELEMENTARY(expm1),
    ELEMENTARY(log),
    ELEMENTARY(log1p),
    ELEMENTARY(sin),
    ELEMENTARY(cos),
    ELEMENTARY(tanh),
    ELEMENTARY(erf),
    ELEMENTARY(sigmoid),
    ELEMENTARY(rsqrt),
};

static double unary_float(tspec_op_kind_t kind, bool is_wide, double x) {
  for (unsigned i = 0; i < sizeof float_rows / sizeof *float_rows; i++) {
    if (float_rows[i].kind == kind) {
      return is_wide ? float_rows[i].wide(x) : (double)float_rows[i].narrow((float)x);
    }
  }
  if (kind == TSPEC_OP_neg) {
    return -x;
  }
  if (kind == TSPEC_OP_relu) {
    return tspec_scalar_max(x, 0);
  }
  TSPEC_CHECK(kind == TSPEC_OP_sign, "no float op '%s'", tspec_op_info(kind)->name);
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

/// The remainder with the sign of the divisor.
static double floored_rem(double a, double b) {
  double r = fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double binary_f64(tspec_op_kind_t kind, double a, double b) {
  switch ((int)kind) {
  case TSPEC_OP_add:
    return a + b;
  case TSPEC_OP_sub:
    return a - b;
  case TSPEC_OP_mul:
    return a * b;
  case TSPEC_OP_div:
    return a / b;
  case TSPEC_OP_floor_div:
    return floor(a / b);
  case TSPEC_OP_rem:
    return floored_rem(a, b);
  case TSPEC_OP_pow:
    return tspec_pow_f64(a, b);
  default:
    break;
  }
  TSPEC_CHECK(false, "no float op '%s'", tspec_op_info(kind)->name);
  return 0;
}

static float binary_f32(tspec_op_kind_t kind, float a, float b) {
  switch ((int)kind) {
  case TSPEC_OP_add:
    return a + b;
  case TSPEC_OP_sub:
    return a - b;
  case TSPEC_OP_mul:
    return a * b;
  case TSPEC_OP_div:
    return a / b;
  case TSPEC_OP_floor_div:
    return floorf(a / b);
  case TSPEC_OP_rem: {
    float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  case TSPEC_OP_pow:
    return tspec_pow_f32(a, b);
  default:
    break;
  }
  TSPEC_CHECK(false, "no float op '%s'", tspec_op_info(kind)->name);
  return 0;
}

static tspec_element_t eval_float(tspec_op_kind_t kind, bool is_wide, const tspec_element_t *args) {
  double a = args[0].f;
  if (is_compare(kind)) {
    return (tspec_element_t){.i = compare(kind, order_floats(a, args[1].f))};
  }
  if (kind == TSPEC_OP_isfinite) {
    return (tspec_element_t){.i = isfinite(a)};
  }
  if (kind == TSPEC_OP_maximum) {
    return (tspec_element_t){.f = tspec_scalar_max(a, args[1].f)};
  }
  if (kind == TSPEC_OP_minimum) {
    return (tspec_element_t){.f = tspec_scalar_min(a, args[1].f)};
  }
  if (tspec_op_info(kind)->noperands == 1) {
    return (tspec_element_t){.f = unary_float(kind, is_wide, a)};
  }
  if (is_wide) {
    return (tspec_element_t){.f = binary_f64(kind, a, args[1].f)};
  }
  return (tspec_element_t){.f = (double)binary_f32(kind, (float)a, (float)args[1].f)};
}

// ---- integers ----------------------------------------------------------------------------------

// All of it modulo 2^64; the one who stores the result cuts it to its width.
static int64_t wrap(uint64_t number) {
  return (int64_t)number;
}

static int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  if (b == -1) {
    return wrap(0 - (uint64_t)a);
  }
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static int64_t floor_rem(int64_t a, int64_t b) {
  if (b == 0) {
    return a;
  }
  if (b == -1) {
    return 0;
  }
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t int_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  }
  uint64_t result = 1;
  uint64_t square = (uint64_t)base;
  for (; exponent > 0; exponent >>= 1) {
    result = exponent & 1 ? result * square : result;
    square *= square;
  }
  return wrap(result);
}

static int64_t binary_int(tspec_op_kind_t kind, int64_t a, int64_t b) {
  switch ((int)kind) {
  case TSPEC_OP_add:
    return wrap((uint64_t)a + (uint64_t)b);
  case TSPEC_OP_sub:
    return wrap((uint64_t)a - (uint64_t)b);
  case TSPEC_OP_mul:
    return wrap((uint64_t)a * (uint64_t)b);
  case TSPEC_OP_floor_div:
    return floor_div(a, b);
  case TSPEC_OP_rem:
    return floor_rem(a, b);
  case TSPEC_OP_pow:
    return int_pow(a, b);
  case TSPEC_OP_maximum:
    return a > b ? a : b;
  case TSPEC_OP_minimum:
    return a < b ? a : b;
  case TSPEC_OP_and:
    return a & b;
  case TSPEC_OP_or:
    return a | b;
  default:
    break;
  }
  TSPEC_CHECK(false, "no integer op '%s'", tspec_op_info(kind)->name);
  return 0;
}

static int64_t unary_int(tspec_op_kind_t kind, int64_t x) {
  switch ((int)kind) {
  case TSPEC_OP_neg:
    return wrap(0 - (uint64_t)x);
  case TSPEC_OP_abs:
    return x < 0 ? wrap(0 - (uint64_t)x) : x;
  case TSPEC_OP_relu:
    return x > 0 ? x : 0;
  case TSPEC_OP_sign:
    return (x > 0) - (x < 0);
  case TSPEC_OP_not:
    return x == 0;
  case TSPEC_OP_isfinite:
    return 1;
  default:
    break;
  }
  TSPEC_CHECK(false, "no integer op '%s'", tspec_op_info(kind)->name);
  return 0;
}

tspec_element_t tspec_scalar_eval(tspec_op_kind_t kind, tspec_dtype_t dtype,
                                  const tspec_element_t *args) {
  if (tspec_dtype_is_float(dtype)) {
    return eval_float(kind, dtype == TSPEC_DTYPE_F64, args);
  }
  if (is_compare(kind)) {
    return (tspec_element_t){.i = compare(kind, order_ints(args[0].i, args[1].i))};
  }
  return (tspec_element_t){.i = tspec_op_info(kind)->noperands == 1
                                    ? unary_int(kind, args[0].i)
                                    : binary_int(kind, args[0].i, args[1].i)};
}
