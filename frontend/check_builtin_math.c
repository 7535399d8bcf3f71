#include <math.h>
#include <string.h>

#include "frontend/check_ops.h"

static bool is_number(tspec_operand_t operand) {
  return operand.cv.kind == TSPEC_CV_NUMBER;
}

// ---- elementwise -----------------------------------------------------------------------------

tspec_cv_t tspec_builtin_unary(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (is_number(call->args[0])) {
    return tspec_cv_number(tspec_number_function(call->builtin->op, call->args[0].cv.u.number));
  }
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  return tspec_cv_tensor(tspec_emit_simple(c, call->site, call->builtin->op, 1, &x));
}

static tspec_cv_t binary_number(tspec_checker_t *c, const tspec_builtin_call_t *call, double a,
                                double b) {
  if (call->builtin->op == TSPEC_OP_floor_div) {
    if (b == 0) {
      tspec_check_error(c, call->site.range, "floor_div(%s, 0): division by zero",
                        tspec_number_text(c->arena, a));
      return tspec_cv_error();
    }
    return tspec_cv_number(floor(a / b));
  }
  bool larger = call->builtin->op == TSPEC_OP_maximum;
  return tspec_cv_number(larger ? fmax(a, b) : fmin(a, b));
}

tspec_cv_t tspec_builtin_binary(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (is_number(call->args[0]) && is_number(call->args[1])) {
    return binary_number(c, call, call->args[0].cv.u.number, call->args[1].cv.u.number);
  }
  tspec_value_t *values[2];
  if (!tspec_check_match(c, call->site, 2, call->args, values)) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_simple(c, call->site, call->builtin->op, 2, values));
}

tspec_cv_t tspec_builtin_pow(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  return tspec_check_binary(c, call->site, TSPEC_AST_BINARY_POW, call->args[0], call->args[1]);
}

tspec_cv_t tspec_builtin_dot(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  return tspec_check_matmul(c, call->site, call->args[0], call->args[1]);
}

// minimum(maximum(x, lo), hi), as NumPy's clip.
tspec_cv_t tspec_builtin_clamp(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (is_number(call->args[0]) && is_number(call->args[1]) && is_number(call->args[2])) {
    double x = call->args[0].cv.u.number;
    return tspec_cv_number(fmin(fmax(x, call->args[1].cv.u.number), call->args[2].cv.u.number));
  }
  tspec_value_t *values[3];
  if (!tspec_check_match(c, call->site, 3, call->args, values)) {
    return tspec_cv_error();
  }
  tspec_value_t *low = tspec_emit_simple(c, call->site, TSPEC_OP_maximum, 2, values);
  tspec_value_t *operands[] = {low, values[2]};
  return tspec_cv_tensor(tspec_emit_simple(c, call->site, TSPEC_OP_minimum, 2, operands));
}

tspec_cv_t tspec_builtin_select(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (is_number(call->args[0])) {
    return call->args[call->args[0].cv.u.number != 0 ? 1 : 2].cv;
  }
  tspec_value_t *condition = tspec_builtin_tensor(c, call, 0);
  if (condition == NULL) {
    return tspec_cv_error();
  }
  if (condition->type.dtype != TSPEC_DTYPE_BOOL) {
    tspec_check_error(c, call->args[0].range,
                      "the condition of 'select' must be bool, but this is %s",
                      tspec_type_print(c->arena, condition->type));
    return tspec_cv_error();
  }
  tspec_value_t *operands[3] = {condition};
  if (!tspec_check_match_with(c, call->site, 2, &call->args[1], &operands[0], &operands[1])) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_simple(c, call->site, TSPEC_OP_select, 3, operands));
}

// There are no gradients to stop yet: the value itself.
tspec_cv_t tspec_builtin_stop_gradient(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  (void)c;
  return call->args[0].cv;
}

// ---- reductions ------------------------------------------------------------------------------

/// The arguments of a reduction: x, dims, keep.
typedef struct reduction_t {
  tspec_value_t *x;
  int ndims;
  int64_t *dims;
  int kept_rank; ///< with `keep`: the result's shape has 1 for each reduced dim
  const int64_t *kept_dims;
  double count; ///< elements that go into one
} reduction_t;

static bool read_reduction(tspec_checker_t *c, const tspec_builtin_call_t *call, reduction_t *out) {
  bool keep = false;
  out->x = tspec_builtin_tensor(c, call, 0);
  if (out->x == NULL) {
    return false;
  }
  tspec_type_t type = out->x->type;
  if (!tspec_builtin_dims(c, call, 1, type.rank, &out->ndims, &out->dims) ||
      !tspec_builtin_flag(c, call, 2, &keep)) {
    return false;
  }
  int64_t *kept = TSPEC_ARENA_NEW(c->arena, int64_t, type.rank);
  out->count = 1;
  out->kept_rank = 0;
  for (int i = 0, k = 0; i < type.rank; ++i) {
    bool reduced = k < out->ndims && out->dims[k] == i;
    if (reduced) {
      out->count *= (double)type.dims[i];
      ++k;
    }
    if (!reduced || keep) {
      kept[out->kept_rank++] = reduced ? 1 : type.dims[i];
    }
  }
  out->kept_dims = kept;
  return true;
}

static tspec_value_t *reduce_as(tspec_checker_t *c, const tspec_builtin_call_t *call,
                                const reduction_t *r, tspec_value_t *x, tspec_reduce_t kind) {
  x = tspec_emit_reduce(c, call->site, x, kind, r->ndims, r->dims);
  return tspec_emit_reshape(c, call->site, x, r->kept_rank, r->kept_dims);
}

// sum and prod of bool count in i32; all and any ask what is not 0; max and min of bool are any,
// all.
static tspec_value_t *prepare(tspec_checker_t *c, const tspec_builtin_call_t *call,
                              tspec_value_t *x, tspec_reduce_t *kind) {
  bool is_bool = x->type.dtype == TSPEC_DTYPE_BOOL;
  if (*kind == TSPEC_REDUCE_ALL || *kind == TSPEC_REDUCE_ANY) {
    return tspec_emit_convert(c, call->site, x, TSPEC_DTYPE_BOOL);
  }
  if (is_bool && (*kind == TSPEC_REDUCE_SUM || *kind == TSPEC_REDUCE_PROD)) {
    return tspec_emit_convert(c, call->site, x, TSPEC_DTYPE_I32);
  }
  if (is_bool) {
    *kind = *kind == TSPEC_REDUCE_MAX ? TSPEC_REDUCE_ANY : TSPEC_REDUCE_ALL;
  }
  return x;
}

tspec_cv_t tspec_builtin_reduce(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  reduction_t r;
  if (call->args[0].cv.kind == TSPEC_CV_TREE && call->builtin->detail == TSPEC_REDUCE_SUM) {
    return tspec_check_sum_tree(c, call);
  }
  if (!read_reduction(c, call, &r)) {
    return tspec_cv_error();
  }
  tspec_reduce_t kind = (tspec_reduce_t)call->builtin->detail;
  tspec_value_t *x = prepare(c, call, r.x, &kind);
  return tspec_cv_tensor(reduce_as(c, call, &r, x, kind));
}

// Sum and quotient in the reduce dtype, rounded once.
tspec_cv_t tspec_builtin_mean(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  reduction_t r;
  if (!read_reduction(c, call, &r) || !tspec_builtin_needs_float(c, call, r.x)) {
    return tspec_cv_error();
  }
  tspec_dtype_t dtype = r.x->type.dtype;
  tspec_value_t *x = tspec_emit_convert(c, call->site, r.x, tspec_check_accumulator(c, dtype));
  tspec_value_t *sum = reduce_as(c, call, &r, x, TSPEC_REDUCE_SUM);
  if (sum == NULL) {
    return tspec_cv_error();
  }
  tspec_value_t *operands[] = {sum, tspec_emit_constant(c, call->site, sum->type, r.count)};
  tspec_value_t *mean = tspec_emit_simple(c, call->site, TSPEC_OP_div, 2, operands);
  return tspec_cv_tensor(tspec_emit_convert(c, call->site, mean, dtype));
}

// log(sum(exp(x - m))) + m with the largest finite m, all in the reduce dtype. An infinite m counts
// as 0, as in JAX: exp(inf - inf) would be NaN.
tspec_cv_t tspec_builtin_logsumexp(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  reduction_t r;
  if (!read_reduction(c, call, &r) || !tspec_builtin_needs_float(c, call, r.x)) {
    return tspec_cv_error();
  }
  tspec_dtype_t dtype = r.x->type.dtype;
  tspec_site_t site = call->site;
  tspec_value_t *x = tspec_emit_convert(c, site, r.x, tspec_check_accumulator(c, dtype));
  tspec_value_t *max = tspec_emit_reduce(c, site, x, TSPEC_REDUCE_MAX, r.ndims, r.dims);
  if (max == NULL) {
    return tspec_cv_error();
  }
  tspec_value_t *parts[] = {tspec_emit_simple(c, site, TSPEC_OP_isfinite, 1, &max), max,
                            tspec_emit_constant(c, site, max->type, 0)};
  max = tspec_emit_simple(c, site, TSPEC_OP_select, 3, parts);
  int64_t *ones = tspec_arena_copy(c->arena, x->type.dims, sizeof(int64_t) * (size_t)x->type.rank);
  for (int i = 0; i < r.ndims; ++i) {
    ones[r.dims[i]] = 1;
  }
  tspec_value_t *wide = tspec_emit_reshape(c, site, max, x->type.rank, ones);
  tspec_value_t *shift[] = {x, tspec_emit_broadcast(c, site, wide, x->type.rank, x->type.dims)};
  tspec_value_t *e = tspec_emit_simple(c, site, TSPEC_OP_sub, 2, shift);
  e = tspec_emit_simple(c, site, TSPEC_OP_exp, 1, &e);
  e = tspec_emit_reduce(c, site, e, TSPEC_REDUCE_SUM, r.ndims, r.dims);
  e = tspec_emit_simple(c, site, TSPEC_OP_log, 1, &e);
  tspec_value_t *sum[] = {e, max};
  e = tspec_emit_simple(c, site, TSPEC_OP_add, 2, sum);
  e = tspec_emit_reshape(c, site, e, r.kept_rank, r.kept_dims);
  return tspec_cv_tensor(tspec_emit_convert(c, site, e, dtype));
}

tspec_cv_t tspec_builtin_arg_reduce(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int dim = 0;
  if (x == NULL || !tspec_builtin_dim(c, call, 1, x->type.rank, &dim)) {
    return tspec_cv_error();
  }
  tspec_attr_t attrs[] = {
      tspec_attr_reduce("kind", (tspec_reduce_t)call->builtin->detail),
      tspec_attr_int("dim", dim),
  };
  return tspec_cv_tensor(tspec_emit(c, &(tspec_op_build_t){.kind = TSPEC_OP_arg_reduce,
                                                           .noperands = 1,
                                                           .operands = &x,
                                                           .nattrs = 2,
                                                           .attrs = attrs,
                                                           .range = call->site.range,
                                                           .spelling = call->site.spelling}));
}

tspec_cv_t tspec_builtin_einsum(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  return tspec_check_einsum(c, call->site, call->nrest, call->rest);
}
