// Ops along a dim: running sums, orders, turns.
#include "frontend/check_ops.h"

static tspec_cv_t same_type(tspec_checker_t *c, const tspec_builtin_call_t *call,
                            tspec_value_t *x) {
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, x->type, 1, &x));
}

// cumsum and cumprod: bool counts in i32, as in sums.
tspec_cv_t tspec_builtin_cumulate(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int dim = 0;
  if (x == NULL || !tspec_builtin_dim(c, call, 1, x->type.rank, &dim)) {
    return tspec_cv_error();
  }
  if (x->type.dtype == TSPEC_DTYPE_BOOL) {
    x = tspec_emit_convert(c, call->site, x, TSPEC_DTYPE_I32);
  }
  return same_type(c, call, x);
}

static bool has_dims(tspec_checker_t *c, const tspec_builtin_call_t *call, const tspec_value_t *x) {
  if (x->type.rank == 0) {
    tspec_check_error(c, call->args[0].range, "'%s' needs a dim to order along, but this is %s",
                      call->builtin->name, tspec_type_print(c->arena, x->type));
  }
  return x->type.rank > 0;
}

// The dim to order along: the last one if it is not given.
static bool order_dim(tspec_checker_t *c, const tspec_builtin_call_t *call,
                      const tspec_value_t *x) {
  int dim = 0;
  return has_dims(c, call, x) &&
         (!call->given[1] || tspec_builtin_dim(c, call, 1, x->type.rank, &dim));
}

tspec_cv_t tspec_builtin_sort(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  return x != NULL && order_dim(c, call, x) ? same_type(c, call, x) : tspec_cv_error();
}

tspec_cv_t tspec_builtin_argsort(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !order_dim(c, call, x)) {
    return tspec_cv_error();
  }
  tspec_type_t type = {.dtype = TSPEC_DTYPE_I32, .rank = x->type.rank, .dims = x->type.dims};
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 1, &x));
}

// The k largest of the last dim and their places.
tspec_cv_t tspec_builtin_top_k(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int64_t k = 0;
  if (x == NULL || !has_dims(c, call, x) || !tspec_builtin_whole(c, call, 1, 1, &k)) {
    return tspec_cv_error();
  }
  int last = x->type.rank - 1;
  if (k < 1 || k > x->type.dims[last]) {
    tspec_check_error(c, call->args[1].range,
                      "'k' of 'top_k' is %lld, but the last dim of %s is %lld", (long long)k,
                      tspec_type_print(c->arena, x->type), (long long)x->type.dims[last]);
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_resized(c, x->type, last, k);
  tspec_cv_t values = tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 1, &x));
  type.dtype = TSPEC_DTYPE_I32;
  tspec_cv_t places = tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 1, &x));
  return tspec_cv_tuple(c, 2, (tspec_cv_t[]){values, places});
}

tspec_cv_t tspec_builtin_reverse(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int ndims = 0;
  int64_t *dims = NULL;
  bool ok = x != NULL && tspec_builtin_dims(c, call, 1, x->type.rank, &ndims, &dims);
  return ok ? same_type(c, call, x) : tspec_cv_error();
}

// As many shifts as dims.
tspec_cv_t tspec_builtin_roll(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int nshifts = 0, ndims = 0;
  int64_t *shifts = NULL, *dims = NULL;
  if (x == NULL || !tspec_builtin_wholes(c, call, 1, &nshifts, &shifts) ||
      !tspec_builtin_dims(c, call, 2, x->type.rank, &ndims, &dims)) {
    return tspec_cv_error();
  }
  if (nshifts != ndims) {
    tspec_check_error(c, call->site.range, "'roll' has %d shift%s for %d dim%s", nshifts,
                      nshifts == 1 ? "" : "s", ndims, ndims == 1 ? "" : "s");
    return tspec_cv_error();
  }
  return same_type(c, call, x);
}
