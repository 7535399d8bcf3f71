#include "passes/fold.h"

#include <math.h>

// Integers are kept as doubles in attributes: beyond this they are not exact.
static const double EXACT_INTEGER = 9007199254740992.0;

bool tspec_value_splat(const tspec_value_t *value, double *out_number) {
  if (value->def == NULL || value->def->kind != TSPEC_OP_constant) {
    return false;
  }
  const tspec_attr_t *values = tspec_op_get_attr(value->def, "values");
  for (int64_t i = 1; i < values->count; i++) {
    if (values->floats[i] != values->floats[0] ||
        signbit(values->floats[i]) != signbit(values->floats[0])) {
      return false;
    }
  }
  tspec_dtype_t dtype = value->type.dtype;
  *out_number =
      tspec_dtype_is_float(dtype) ? tspec_dtype_round(dtype, values->floats[0]) : values->floats[0];
  return true;
}

// A result as the dtype holds it: rounded once. Integers that would wrap are left to the program.
static bool store(tspec_dtype_t dtype, double number, double *out_number) {
  if (tspec_dtype_is_float(dtype)) {
    *out_number = tspec_dtype_round(dtype, number);
    return !isnan(number); // whose sign and payload depend on the machine
  }
  *out_number = number;
  return fabs(number) < EXACT_INTEGER && number >= tspec_dtype_min(dtype) &&
         number <= tspec_dtype_max(dtype);
}

static double larger(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a > b ? a : b;
}

static double smaller(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a < b ? a : b;
}

// A float to an integer dtype: truncated, cut at its ends, 0 for NaN.
static double to_integer(tspec_dtype_t dtype, double number) {
  double truncated = isnan(number) ? 0 : trunc(number);
  return fmin(fmax(truncated, tspec_dtype_min(dtype)), tspec_dtype_max(dtype));
}

static bool convert(tspec_dtype_t from, tspec_dtype_t to, double number, double *out_number) {
  if (to == TSPEC_DTYPE_BOOL) {
    *out_number = number != 0 ? 1 : 0;
    return true;
  }
  if (tspec_dtype_is_float(from) && tspec_dtype_is_integer(to)) {
    return store(to, to_integer(to, number), out_number);
  }
  return store(to, number, out_number);
}

// Sums, products and quotients of two numbers of at most 24 bits in double, rounded again, are the
// same as rounded once.
static bool compute(const tspec_op_t *op, const double *in, double *out_number) {
  tspec_dtype_t dtype = op->results[0]->type.dtype;
  tspec_dtype_t from = op->operands[0]->type.dtype;
  bool is_float = tspec_dtype_is_float(from);
  switch ((int)op->kind) {
  case TSPEC_OP_add:
    return store(dtype, in[0] + in[1], out_number);
  case TSPEC_OP_sub:
    return store(dtype, in[0] - in[1], out_number);
  case TSPEC_OP_mul:
    return store(dtype, in[0] * in[1], out_number);
  case TSPEC_OP_div:
    return is_float && store(dtype, in[0] / in[1], out_number);
  case TSPEC_OP_neg:
    return store(dtype, is_float ? -in[0] : 0 - in[0], out_number);
  case TSPEC_OP_abs:
    return store(dtype, fabs(in[0]), out_number);
  case TSPEC_OP_maximum:
    // Of two zeros either may be the larger one.
    return in[0] != in[1] && store(dtype, larger(in[0], in[1]), out_number);
  case TSPEC_OP_minimum:
    return in[0] != in[1] && store(dtype, smaller(in[0], in[1]), out_number);
  case TSPEC_OP_convert:
    return convert(from, dtype, in[0], out_number);
  case TSPEC_OP_select:
    *out_number = in[0] != 0 ? in[1] : in[2];
    return true;
  case TSPEC_OP_broadcast:
  case TSPEC_OP_transpose:
  case TSPEC_OP_reshape:
    *out_number = in[0];
    return true;
  default:
    return false;
  }
}

static bool compare(tspec_op_kind_t kind, const double *in, double *out_number) {
  switch ((int)kind) {
  case TSPEC_OP_eq:
    *out_number = in[0] == in[1];
    return true;
  case TSPEC_OP_ne:
    *out_number = in[0] != in[1];
    return true;
  case TSPEC_OP_lt:
    *out_number = in[0] < in[1];
    return true;
  case TSPEC_OP_le:
    *out_number = in[0] <= in[1];
    return true;
  case TSPEC_OP_gt:
    *out_number = in[0] > in[1];
    return true;
  case TSPEC_OP_ge:
    *out_number = in[0] >= in[1];
    return true;
  case TSPEC_OP_and:
    *out_number = in[0] != 0 && in[1] != 0;
    return true;
  case TSPEC_OP_or:
    *out_number = in[0] != 0 || in[1] != 0;
    return true;
  case TSPEC_OP_not:
    *out_number = in[0] == 0;
    return true;
  default:
    return false;
  }
}

bool tspec_fold_splat(const tspec_op_t *op, double *out_number) {
  double in[3] = {0};
  if (op->noperands == 0 || op->noperands > 3 || op->nresults != 1) {
    return false;
  }
  for (int i = 0; i < op->noperands; i++) {
    bool is_integer = tspec_dtype_is_integer(op->operands[i]->type.dtype);
    if (!tspec_value_splat(op->operands[i], &in[i]) ||
        (is_integer && fabs(in[i]) >= EXACT_INTEGER)) {
      return false;
    }
  }
  return compare(op->kind, in, out_number) || compute(op, in, out_number);
}

tspec_value_t *tspec_fold_neutral(const tspec_op_t *op) {
  double left = 0;
  double right = 0;
  bool has_left = op->noperands == 2 && tspec_value_splat(op->operands[0], &left);
  bool has_right = op->noperands == 2 && tspec_value_splat(op->operands[1], &right);
  bool subtracts_zero = has_right && right == 0 && !signbit(right);
  switch ((int)op->kind) {
  case TSPEC_OP_mul:
    if (has_left && left == 1) {
      return op->operands[1];
    }
    return has_right && right == 1 ? op->operands[0] : NULL;
  case TSPEC_OP_div:
    return has_right && right == 1 ? op->operands[0] : NULL;
  case TSPEC_OP_sub: // x + 0 would turn -0 into 0
    return subtracts_zero ? op->operands[0] : NULL;
  case TSPEC_OP_convert:
    return op->operands[0]->type.dtype == op->results[0]->type.dtype ? op->operands[0] : NULL;
  default:
    return NULL;
  }
}
