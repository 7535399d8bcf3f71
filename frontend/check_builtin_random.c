// Random values, and the number of the call.
#include "frontend/check_ops.h"

// A number that fits the dtype, or a scalar of it; absent: nothing to check.
static bool check_scalar(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         tspec_dtype_t dtype) {
  tspec_operand_t arg = call->args[index];
  if (!call->given[index]) {
    return true;
  }
  if (arg.cv.kind == TSPEC_CV_NUMBER) {
    return tspec_check_number_fits(c, arg.cv.u.number, dtype, arg.range);
  }
  const tspec_value_t *x = tspec_builtin_tensor(c, call, index);
  if (x != NULL && (x->type.rank != 0 || x->type.dtype != dtype)) {
    tspec_check_error(c, arg.range, "%s must be a number or a scalar %s, but this is %s",
                      tspec_builtin_arg_text(c, call, index), tspec_dtype_name(dtype),
                      tspec_type_print(c->arena, x->type));
    return false;
  }
  return x != NULL;
}

// Numbers lo < hi; what is known at run time alone is not compared.
static bool check_bounds(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_cv_t lo = call->given[1] ? call->args[1].cv : tspec_cv_number(0);
  tspec_cv_t hi = call->given[2] ? call->args[2].cv : tspec_cv_number(1);
  bool ok = lo.kind != TSPEC_CV_NUMBER || hi.kind != TSPEC_CV_NUMBER || lo.u.number < hi.u.number;
  if (!ok) {
    tspec_check_error(c, call->site.range, "'%s' draws from %s up to %s: nothing",
                      call->builtin->name, tspec_number_text(c->arena, lo.u.number),
                      tspec_number_text(c->arena, hi.u.number));
  }
  return ok;
}

static tspec_cv_t draw(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_dtype_t dtype) {
  int rank = 0;
  int64_t *dims = NULL;
  if (!tspec_builtin_shape(c, call, 0, &rank, &dims)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_type_make(c->arena, dtype, rank, dims);
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 0, NULL));
}

static bool read_float_dtype(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                             tspec_dtype_t *out_dtype) {
  if (!tspec_builtin_dtype(c, call, index, TSPEC_DTYPE_F32, out_dtype)) {
    return false;
  }
  if (!tspec_dtype_is_float(*out_dtype)) {
    tspec_check_error(c, call->args[index].range,
                      "'%s' draws floats, not %s; random_int(shape, lo, hi) draws integers",
                      call->builtin->name, tspec_dtype_name(*out_dtype));
  }
  return tspec_dtype_is_float(*out_dtype);
}

tspec_cv_t tspec_builtin_random_normal(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_dtype_t dtype;
  return read_float_dtype(c, call, 1, &dtype) ? draw(c, call, dtype) : tspec_cv_error();
}

tspec_cv_t tspec_builtin_random_uniform(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_dtype_t dtype;
  bool ok = read_float_dtype(c, call, 3, &dtype) && check_scalar(c, call, 1, dtype) &&
            check_scalar(c, call, 2, dtype) && check_bounds(c, call);
  return ok ? draw(c, call, dtype) : tspec_cv_error();
}

tspec_cv_t tspec_builtin_random_int(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  bool ok = check_scalar(c, call, 1, TSPEC_DTYPE_I32) &&
            check_scalar(c, call, 2, TSPEC_DTYPE_I32) && check_bounds(c, call);
  return ok ? draw(c, call, TSPEC_DTYPE_I32) : tspec_cv_error();
}

tspec_cv_t tspec_builtin_dropout(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !tspec_builtin_needs_float(c, call, x) ||
      !check_scalar(c, call, 1, x->type.dtype)) {
    return tspec_cv_error();
  }
  tspec_cv_t rate = call->args[1].cv;
  if (rate.kind == TSPEC_CV_NUMBER && (rate.u.number < 0 || rate.u.number >= 1)) {
    tspec_check_error(c, call->args[1].range,
                      "'rate' of 'dropout' is the part that is dropped, from 0 to below 1, not %s",
                      tspec_number_text(c->arena, rate.u.number));
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, x->type, 1, &x));
}

tspec_cv_t tspec_builtin_step(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_type_t type = {.dtype = TSPEC_DTYPE_I32};
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 0, NULL));
}
