// Parts of a tensor at places that are known at run time.
#include "frontend/check_ops.h"

// Places along a dim of size `size`: an integer tensor, or a number that is one of them.
static tspec_value_t *places(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                             int64_t size) {
  tspec_operand_t arg = call->args[index];
  const char *what = tspec_builtin_arg_text(c, call, index);
  if (arg.cv.kind == TSPEC_CV_NUMBER) {
    int64_t at = 0;
    if (!tspec_cv_whole(c, arg.cv, arg.range, what, &at)) {
      return NULL;
    }
    if (at < -size || at >= size) {
      tspec_check_error(c, arg.range, "%s is %lld, but the dim has %lld elements", what,
                        (long long)at, (long long)size);
      return NULL;
    }
    tspec_type_t type = {.dtype = TSPEC_DTYPE_I32};
    return tspec_emit_constant(c, call->site, type, (double)at);
  }
  tspec_value_t *ids = tspec_builtin_tensor(c, call, index);
  if (ids != NULL && !tspec_dtype_is_integer(ids->type.dtype)) {
    tspec_check_error(c, arg.range, "%s must be integers, but this is %s; i32(x) converts", what,
                      tspec_type_print(c->arena, ids->type));
    return NULL;
  }
  return ids;
}

// `x` with at least one dim, or NULL after a report.
static tspec_value_t *rows(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x != NULL && x->type.rank == 0) {
    tspec_check_error(c, call->args[0].range, "'%s' needs a tensor with dims, but this is %s",
                      call->builtin->name, tspec_type_print(c->arena, x->type));
    return NULL;
  }
  return x;
}

tspec_type_t tspec_check_taken(tspec_checker_t *c, tspec_type_t table, tspec_type_t ids) {
  int rank = ids.rank + table.rank - 1;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  for (int i = 0; i < rank; ++i) {
    dims[i] = i < ids.rank ? ids.dims[i] : table.dims[1 + i - ids.rank];
  }
  return (tspec_type_t){.dtype = table.dtype, .rank = rank, .dims = dims};
}

tspec_cv_t tspec_builtin_take(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x[2] = {rows(c, call)};
  x[1] = x[0] == NULL ? NULL : places(c, call, 1, x[0]->type.dims[0]);
  if (x[1] == NULL) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_taken(c, x[0]->type, x[1]->type);
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 2, x));
}

// As NumPy's take_along_axis: the dims beside `dim` broadcast.
tspec_cv_t tspec_builtin_take_along(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x[2] = {rows(c, call)};
  int dim = 0;
  if (x[0] == NULL || !tspec_builtin_dim(c, call, 2, x[0]->type.rank, &dim)) {
    return tspec_cv_error();
  }
  x[1] = places(c, call, 1, x[0]->type.dims[dim]);
  if (x[1] == NULL) {
    return tspec_cv_error();
  }
  tspec_type_t from = x[0]->type, ids = x[1]->type;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, from.rank);
  bool ok = ids.rank == from.rank;
  for (int i = 0; ok && i < from.rank; ++i) {
    ok = i == dim || ids.dims[i] == from.dims[i] || ids.dims[i] == 1 || from.dims[i] == 1;
    dims[i] = i == dim || from.dims[i] == 1 ? ids.dims[i] : from.dims[i];
  }
  if (!ok) {
    tspec_check_error(c, call->site.range,
                      "'take_along' of %s along dim %d by %s: they have as many dims, and but for "
                      "that one equal sizes or a 1",
                      tspec_type_print(c->arena, from), dim, tspec_type_print(c->arena, ids));
    return tspec_cv_error();
  }
  tspec_type_t type = {.dtype = from.dtype, .rank = from.rank, .dims = dims};
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 2, x));
}

bool tspec_check_part(tspec_checker_t *c, tspec_site_t site, tspec_operand_t part,
                      tspec_type_t whole) {
  if (part.cv.kind == TSPEC_CV_NUMBER) {
    return tspec_check_number_fits(c, part.cv.u.number, whole.dtype, part.range);
  }
  const tspec_value_t *value = tspec_check_tensor(c, site, part);
  if (value == NULL) {
    return false;
  }
  tspec_type_t type = value->type;
  bool ok = type.dtype == whole.dtype && type.rank <= whole.rank;
  for (int i = 1; ok && i <= type.rank; ++i) {
    int64_t size = type.dims[type.rank - i];
    ok = size == 1 || size == whole.dims[whole.rank - i];
  }
  if (!ok) {
    tspec_check_error(c, part.range, "'%s' puts %s where %s is wanted, or what broadcasts to it",
                      site.spelling, tspec_type_print(c->arena, type),
                      tspec_type_print(c->arena, whole));
  }
  return ok;
}

tspec_cv_t tspec_builtin_scatter_add(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x[2] = {rows(c, call)};
  x[1] = x[0] == NULL ? NULL : places(c, call, 1, x[0]->type.dims[0]);
  if (x[1] == NULL) {
    return tspec_cv_error();
  }
  tspec_type_t part = tspec_check_taken(c, x[0]->type, x[1]->type);
  if (!tspec_check_part(c, call->site, call->args[2], part)) {
    return tspec_cv_error();
  }
  tspec_value_t *operands[] = {x[0], x[1], tspec_builtin_tensor(c, call, 2)};
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, x[0]->type, 3, operands));
}

// ---- a box at a run-time place ---------------------------------------------------------------

static bool check_start(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                        tspec_cv_t cv) {
  const char *what = tspec_builtin_arg_text(c, call, index);
  int64_t at = 0;
  if (cv.kind != TSPEC_CV_TENSOR) {
    return tspec_cv_whole(c, cv, call->args[index].range,
                          tspec_arena_printf(c->arena, "each of %s", what), &at);
  }
  tspec_type_t type = cv.u.tensor->type;
  if (type.rank != 0 || !tspec_dtype_is_integer(type.dtype)) {
    tspec_check_error(c, call->args[index].range,
                      "each of %s must be a whole number or an i32 scalar, but one is %s", what,
                      tspec_type_print(c->arena, type));
    return false;
  }
  return true;
}

// One place per dim: a list of numbers and i32 scalars, or an integer tensor with one dim.
static bool check_starts(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         int rank) {
  tspec_operand_t arg = call->args[index];
  if (arg.cv.kind == TSPEC_CV_TENSOR) {
    tspec_type_t type = arg.cv.u.tensor->type;
    if (type.rank == 1 && type.dims[0] == rank && tspec_dtype_is_integer(type.dtype)) {
      return true;
    }
  }
  size_t count = arg.cv.kind == TSPEC_CV_LIST ? arg.cv.u.list->count : 0;
  if (arg.cv.kind != TSPEC_CV_LIST || count != (size_t)rank) {
    tspec_check_error(c, arg.range, "%s needs a list with a place for each of %d dims, but is %s",
                      tspec_builtin_arg_text(c, call, index), rank,
                      tspec_check_describe(c, arg.cv));
    return false;
  }
  bool ok = true;
  for (size_t i = 0; i < count && ok; ++i) {
    ok = check_start(c, call, index, arg.cv.u.list->items[i]);
  }
  return ok;
}

// A box of these sizes lies within `type`. `range` is blamed.
static bool check_box(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t type,
                      int rank, const int64_t *sizes, tspec_range_t range) {
  bool ok = rank == type.rank;
  for (int i = 0; ok && i < rank; ++i) {
    ok = sizes[i] <= type.dims[i];
  }
  if (!ok) {
    tspec_type_t box = {.dtype = type.dtype, .rank = rank, .dims = sizes};
    tspec_check_error(c, range, "'%s' of a part %s, which does not fit into %s",
                      call->builtin->name, tspec_type_print(c->arena, box),
                      tspec_type_print(c->arena, type));
  }
  return ok;
}

// What the box is computed of, for tspec_emit_absent: x, and the places that are tensors.
static int box_operands(const tspec_builtin_call_t *call, int index, tspec_value_t **operands) {
  tspec_cv_t starts = call->args[index].cv;
  if (starts.kind == TSPEC_CV_TENSOR) {
    operands[0] = starts.u.tensor;
    return 1;
  }
  int n = 0;
  for (size_t i = 0; i < starts.u.list->count; ++i) {
    if (starts.u.list->items[i].kind == TSPEC_CV_TENSOR) {
      operands[n++] = starts.u.list->items[i].u.tensor;
    }
  }
  return n;
}

tspec_cv_t tspec_builtin_dynamic_slice(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int rank = 0;
  int64_t *sizes = NULL;
  if (x == NULL || !check_starts(c, call, 1, x->type.rank) ||
      !tspec_builtin_shape(c, call, 2, &rank, &sizes) ||
      !check_box(c, call, x->type, rank, sizes, call->args[2].range)) {
    return tspec_cv_error();
  }
  tspec_value_t **operands = TSPEC_ARENA_NEW(c->arena, tspec_value_t *, rank + 2);
  operands[0] = x;
  int n = 1 + box_operands(call, 1, operands + 1);
  tspec_type_t type = tspec_type_make(c->arena, x->type.dtype, rank, sizes);
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, n, operands));
}

tspec_cv_t tspec_builtin_dynamic_update_slice(tspec_checker_t *c,
                                              const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0), *part = tspec_builtin_tensor(c, call, 1);
  if (x == NULL || part == NULL ||
      !tspec_check_same_dtype(c, call->site, call->args[0], call->args[1]) ||
      !check_box(c, call, x->type, part->type.rank, part->type.dims, call->args[1].range) ||
      !check_starts(c, call, 2, x->type.rank)) {
    return tspec_cv_error();
  }
  tspec_value_t **operands = TSPEC_ARENA_NEW(c->arena, tspec_value_t *, x->type.rank + 3);
  operands[0] = x;
  operands[1] = part;
  int n = 2 + box_operands(call, 2, operands + 2);
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, x->type, n, operands));
}
