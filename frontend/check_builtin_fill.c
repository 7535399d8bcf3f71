#include "frontend/check_ops.h"

tspec_cv_t tspec_builtin_iota(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int rank = 0, dim = 0;
  int64_t *dims = NULL;
  if (!tspec_builtin_shape(c, call, 0, &rank, &dims)) {
    return tspec_cv_error();
  }
  if (rank == 0) {
    tspec_check_error(c, call->args[0].range, "'iota' counts along a dim, but its shape has none");
    return tspec_cv_error();
  }
  if (!tspec_builtin_dim(c, call, 1, rank, &dim)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_type_make(c->arena, TSPEC_DTYPE_I32, rank, dims);
  return tspec_cv_tensor(tspec_emit_iota(c, call->site, type, dim));
}

// tril keeps column <= row + k, triu column >= row + k; of the last two dims.
tspec_cv_t tspec_builtin_triangle(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int64_t k = 0;
  if (x == NULL || !tspec_builtin_whole(c, call, 1, 0, &k)) {
    return tspec_cv_error();
  }
  int rank = x->type.rank;
  if (rank < 2) {
    tspec_check_error(c, call->args[0].range, "'%s' needs at least two dims, but this is %s",
                      call->builtin->name, tspec_type_print(c->arena, x->type));
    return tspec_cv_error();
  }
  tspec_site_t site = call->site;
  tspec_type_t index = tspec_type_make(c->arena, TSPEC_DTYPE_I32, rank, x->type.dims);
  tspec_value_t *row = tspec_emit_iota(c, site, index, rank - 2);
  tspec_value_t *col = tspec_emit_iota(c, site, index, rank - 1);
  if (k != 0) {
    tspec_value_t *shift[] = {row, tspec_emit_constant(c, site, index, (double)k)};
    row = tspec_emit_simple(c, site, TSPEC_OP_add, 2, shift);
  }
  tspec_value_t *sides[] = {col, row};
  tspec_value_t *keep = tspec_emit_simple(c, site, call->builtin->op, 2, sides);
  tspec_value_t *parts[] = {keep, x, tspec_emit_constant(c, site, x->type, 0)};
  return tspec_cv_tensor(tspec_emit_simple(c, site, TSPEC_OP_select, 3, parts));
}

tspec_cv_t tspec_builtin_filled(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int rank = 0;
  int64_t *dims = NULL;
  tspec_dtype_t dtype;
  if (!tspec_builtin_shape(c, call, 0, &rank, &dims) ||
      !tspec_builtin_dtype(c, call, 1, TSPEC_DTYPE_F32, &dtype)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_type_make(c->arena, dtype, rank, dims);
  return tspec_cv_tensor(tspec_emit_constant(c, call->site, type, call->builtin->detail));
}

tspec_cv_t tspec_builtin_full(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int rank = 0;
  int64_t *dims = NULL;
  tspec_dtype_t dtype;
  if (!tspec_builtin_shape(c, call, 0, &rank, &dims) ||
      !tspec_builtin_dtype(c, call, 2, TSPEC_DTYPE_F32, &dtype)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_type_make(c->arena, dtype, rank, dims);
  tspec_operand_t value = call->args[1];
  if (value.cv.kind == TSPEC_CV_NUMBER) {
    return tspec_cv_tensor(
        tspec_check_number_tensor(c, call->site, value.cv.u.number, type, value.range));
  }
  tspec_value_t *x = tspec_builtin_tensor(c, call, 1);
  if (x == NULL) {
    return tspec_cv_error();
  }
  if (x->type.rank != 0 || x->type.dtype != dtype) {
    tspec_check_error(c, value.range, "'value' of 'full' must be a scalar %s, but this is %s",
                      tspec_dtype_name(dtype), tspec_type_print(c->arena, x->type));
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_broadcast(c, call->site, x, rank, dims));
}

tspec_cv_t tspec_builtin_zeros_like(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  if (call->args[0].cv.kind == TSPEC_CV_NUMBER) {
    return tspec_cv_number(0);
  }
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL) {
    return tspec_cv_error();
  }
  tspec_value_t *constant = tspec_emit_constant(c, call->site, x->type, 0);
  if (c->entry != NULL && c->manual == NULL) {
    tspec_like_t like = {constant, x};
    TSPEC_VEC_PUSH(c->arena, &c->entry->likes, like);
  }
  return tspec_cv_tensor(constant);
}

// ids == iota along a new last dim, as numbers: an id out of range gives a row of zeros.
tspec_cv_t tspec_builtin_one_hot(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *ids = tspec_builtin_tensor(c, call, 0);
  int64_t n = 0;
  tspec_dtype_t dtype;
  if (ids == NULL || !tspec_builtin_whole(c, call, 1, 1, &n) ||
      !tspec_builtin_dtype(c, call, 2, TSPEC_DTYPE_F32, &dtype)) {
    return tspec_cv_error();
  }
  if (!tspec_dtype_is_integer(ids->type.dtype) || n < 1) {
    tspec_check_error(c, call->site.range,
                      "'one_hot' needs integer ids and at least one class, but gets %s and %lld",
                      tspec_type_print(c->arena, ids->type), (long long)n);
    return tspec_cv_error();
  }
  tspec_site_t site = call->site;
  int rank = ids->type.rank + 1;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  int64_t *thin = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  for (int i = 0; i < rank; ++i) {
    dims[i] = i + 1 < rank ? ids->type.dims[i] : n;
    thin[i] = i + 1 < rank ? ids->type.dims[i] : 1;
  }
  ids = tspec_emit_convert(c, site, ids, TSPEC_DTYPE_I32);
  ids = tspec_emit_reshape(c, site, ids, rank, thin);
  tspec_type_t type = tspec_type_make(c->arena, TSPEC_DTYPE_I32, rank, dims);
  tspec_value_t *sides[] = {tspec_emit_broadcast(c, site, ids, rank, dims),
                            tspec_emit_iota(c, site, type, rank - 1)};
  tspec_value_t *hot = tspec_emit_simple(c, site, TSPEC_OP_eq, 2, sides);
  return tspec_cv_tensor(tspec_emit_convert(c, site, hot, dtype));
}
