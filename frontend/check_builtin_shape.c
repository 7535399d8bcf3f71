#include <string.h>

#include "frontend/check_ops.h"

// ---- one tensor in another shape -------------------------------------------------------------

// One size may be -1, as in NumPy: what the others leave.
static bool infer_dim(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t type,
                      int rank, int64_t *dims) {
  int64_t product = 1;
  int inferred = -1;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == -1 && inferred < 0) {
      inferred = i;
    } else if (dims[i] < 1) {
      tspec_check_error(c, call->args[1].range,
                        "dim %d of 'shape' of 'reshape' must be at least 1 (one may be -1: what "
                        "the others leave), but is %lld",
                        i, (long long)dims[i]);
      return false;
    } else {
      product *= dims[i];
    }
  }
  int64_t elems = tspec_type_elems(type);
  if (inferred >= 0 && elems % product == 0) {
    dims[inferred] = elems / product;
  } else if (inferred >= 0) {
    tspec_check_error(c, call->site.range,
                      "'reshape' cannot infer dim %d: %s has %lld elements, no multiple of %lld",
                      inferred, tspec_type_print(c->arena, type), (long long)elems,
                      (long long)product);
    return false;
  }
  return true;
}

tspec_cv_t tspec_builtin_reshape(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int rank = 0;
  int64_t *dims = NULL;
  if (x == NULL || !tspec_builtin_wholes(c, call, 1, &rank, &dims) ||
      !infer_dim(c, call, x->type, rank, dims)) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_reshape(c, call->site, x, rank, dims));
}

tspec_cv_t tspec_builtin_transpose(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL) {
    return tspec_cv_error();
  }
  int rank = x->type.rank, count = rank;
  int64_t *perm = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  for (int i = 0; i < rank; ++i) {
    perm[i] = rank - 1 - i;
  }
  int ndims = 0;
  int64_t *sorted = NULL;
  if (call->given[1] && (!tspec_builtin_wholes(c, call, 1, &count, &perm) ||
                         !tspec_builtin_dims(c, call, 1, rank, &ndims, &sorted))) {
    return tspec_cv_error();
  }
  if (count != rank) {
    tspec_check_error(c, call->args[1].range, "'perm' has %d entries, but %s has %d dims", count,
                      tspec_type_print(c->arena, x->type), rank);
    return tspec_cv_error();
  }
  for (int i = 0; i < rank; ++i) {
    perm[i] = perm[i] < 0 ? perm[i] + rank : perm[i];
  }
  return tspec_cv_tensor(tspec_emit_transpose(c, call->site, x, perm));
}

static bool check_stretch(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t from,
                          int rank, const int64_t *dims) {
  bool ok = from.rank <= rank;
  for (int i = 1; ok && i <= from.rank; ++i) {
    int64_t size = from.dims[from.rank - i];
    ok = size == 1 || size == dims[rank - i];
  }
  if (!ok) {
    tspec_type_t to = tspec_type_make(c->arena, from.dtype, rank, dims);
    tspec_check_error(
        c, call->site.range,
        "'broadcast_to' cannot stretch %s to %s: dims line up from the last, and only "
        "those of size 1 stretch",
        tspec_type_print(c->arena, from), tspec_type_print(c->arena, to));
  }
  return ok;
}

tspec_cv_t tspec_builtin_broadcast_to(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int rank = 0;
  int64_t *dims = NULL;
  if (!tspec_builtin_shape(c, call, 1, &rank, &dims)) {
    return tspec_cv_error();
  }
  if (call->args[0].cv.kind == TSPEC_CV_NUMBER) {
    tspec_type_t type = tspec_type_make(c->arena, c->compute_dtype, rank, dims);
    return tspec_cv_tensor(tspec_emit_constant(c, call->site, type, call->args[0].cv.u.number));
  }
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !check_stretch(c, call, x->type, rank, dims)) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_broadcast(c, call->site, x, rank, dims));
}

// `dims` are places in the result.
tspec_cv_t tspec_builtin_expand(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int count = 0, ndims = 0;
  int64_t *given = NULL, *places = NULL;
  if (x == NULL || !tspec_builtin_wholes(c, call, 1, &count, &given) ||
      !tspec_builtin_dims(c, call, 1, x->type.rank + count, &ndims, &places)) {
    return tspec_cv_error();
  }
  int rank = x->type.rank + count;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  for (int i = 0, k = 0; i < rank; ++i) {
    bool fresh = k < ndims && places[k] == i;
    dims[i] = fresh ? 1 : x->type.dims[i - k];
    k += fresh;
  }
  return tspec_cv_tensor(tspec_emit_reshape(c, call->site, x, rank, dims));
}

tspec_cv_t tspec_builtin_squeeze(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int ndims = 0;
  int64_t *gone = NULL;
  if (x == NULL || !tspec_builtin_dims(c, call, 1, x->type.rank, &ndims, &gone)) {
    return tspec_cv_error();
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, x->type.rank);
  int rank = 0;
  for (int i = 0, k = 0; i < x->type.rank; ++i) {
    bool taken = k < ndims && gone[k] == i;
    k += taken;
    if (taken && call->given[1] && x->type.dims[i] != 1) {
      tspec_check_error(c, call->site.range,
                        "'squeeze' takes dims of size 1 away, but dim %d of %s is %lld", i,
                        tspec_type_print(c->arena, x->type), (long long)x->type.dims[i]);
      return tspec_cv_error();
    }
    if (!taken || x->type.dims[i] != 1) {
      dims[rank++] = x->type.dims[i];
    }
  }
  return tspec_cv_tensor(tspec_emit_reshape(c, call->site, x, rank, dims));
}

// ---- several tensors -------------------------------------------------------------------------

// Numbers of a list (scalars, for 'stack') take the dtype of its tensors.
static bool list_dtype(tspec_checker_t *c, const tspec_builtin_call_t *call,
                       tspec_dtype_t *out_dtype) {
  const tspec_cvs_t *list = call->args[0].cv.u.list;
  const tspec_value_t *first = NULL;
  for (size_t i = 0; i < list->count; ++i) {
    if (list->items[i].kind != TSPEC_CV_TENSOR) {
      continue;
    }
    const tspec_value_t *value = list->items[i].u.tensor;
    if (first != NULL && first->type.dtype != value->type.dtype) {
      tspec_check_error(c, call->args[0].range,
                        "'%s' takes one element type, but the list has %s and %s",
                        call->builtin->name, tspec_type_print(c->arena, first->type),
                        tspec_type_print(c->arena, value->type));
      return false;
    }
    first = first == NULL ? value : first;
  }
  *out_dtype = first == NULL ? c->compute_dtype : first->type.dtype;
  return true;
}

static bool list_values(tspec_checker_t *c, const tspec_builtin_call_t *call, int *out_count,
                        tspec_value_t ***out_values) {
  tspec_operand_t arg = call->args[0];
  if (arg.cv.kind != TSPEC_CV_LIST || arg.cv.u.list->count == 0) {
    tspec_check_error(c, arg.range, "'%s' needs a list of tensors: [a, b], but this is %s",
                      call->builtin->name, tspec_check_describe(c, arg.cv));
    return false;
  }
  tspec_dtype_t dtype;
  if (!list_dtype(c, call, &dtype)) {
    return false;
  }
  const tspec_cvs_t *list = arg.cv.u.list;
  tspec_type_t scalar = tspec_type_make(c->arena, dtype, 0, NULL);
  *out_count = (int)list->count;
  *out_values = TSPEC_ARENA_NEW(c->arena, tspec_value_t *, list->count);
  for (size_t i = 0; i < list->count; ++i) {
    tspec_cv_t cv = list->items[i];
    tspec_operand_t operand = {cv, arg.range};
    (*out_values)[i] =
        cv.kind == TSPEC_CV_NUMBER
            ? tspec_check_number_tensor(c, call->site, cv.u.number, scalar, arg.range)
            : tspec_check_tensor(c, call->site, operand);
    if ((*out_values)[i] == NULL) {
      return false;
    }
  }
  return true;
}

tspec_cv_t tspec_builtin_concat(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int count = 0, dim = 0;
  tspec_value_t **values = NULL;
  if (!list_values(c, call, &count, &values) ||
      !tspec_builtin_dim(c, call, 1, values[0]->type.rank, &dim)) {
    return tspec_cv_error();
  }
  return tspec_cv_tensor(tspec_emit_concat(c, call->site, count, values, dim));
}

tspec_cv_t tspec_builtin_stack(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int count = 0, dim = 0;
  tspec_value_t **values = NULL;
  if (!list_values(c, call, &count, &values) ||
      !tspec_builtin_dim(c, call, 1, values[0]->type.rank + 1, &dim)) {
    return tspec_cv_error();
  }
  tspec_type_t first = values[0]->type;
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, first.rank + 1);
  for (int i = 0; i <= first.rank; ++i) {
    dims[i] = i == dim ? 1 : first.dims[i < dim ? i : i - 1];
  }
  for (int i = 0; i < count; ++i) {
    if (!tspec_shape_equal(values[i]->type, first)) {
      tspec_check_error(
          c, call->args[0].range, "'stack' takes one shape, but the list has %s and %s",
          tspec_type_print(c->arena, first), tspec_type_print(c->arena, values[i]->type));
      return tspec_cv_error();
    }
    values[i] = tspec_emit_reshape(c, call->site, values[i], first.rank + 1, dims);
  }
  return tspec_cv_tensor(tspec_emit_concat(c, call->site, count, values, dim));
}

// ---- parts -----------------------------------------------------------------------------------

tspec_cv_t tspec_builtin_split(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  int64_t n = 0;
  int dim = 0;
  if (x == NULL || !tspec_builtin_whole(c, call, 1, 1, &n) ||
      !tspec_builtin_dim(c, call, 2, x->type.rank, &dim)) {
    return tspec_cv_error();
  }
  int64_t size = x->type.dims[dim];
  if (n < 1 || size % n != 0) {
    tspec_check_error(c, call->site.range, "'split' cannot cut dim %d of %s into %lld equal parts",
                      dim, tspec_type_print(c->arena, x->type), (long long)n);
    return tspec_cv_error();
  }
  int rank = x->type.rank;
  int64_t *starts = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  int64_t *steps = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  int64_t *ends = tspec_arena_copy(c->arena, x->type.dims, sizeof(int64_t) * (size_t)rank);
  for (int i = 0; i < rank; ++i) {
    steps[i] = 1;
  }
  tspec_cvs_t *parts = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  parts->count = (size_t)n;
  parts->items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, n);
  for (int64_t i = 0; i < n; ++i) {
    starts[dim] = i * (size / n);
    ends[dim] = starts[dim] + size / n;
    parts->items[i] = tspec_cv_tensor(tspec_emit_slice(c, call->site, x, starts, ends, steps));
  }
  return n == 1 ? parts->items[0] : (tspec_cv_t){.kind = TSPEC_CV_TUPLE, .u.list = parts};
}

tspec_cv_t tspec_builtin_pad(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL) {
    return tspec_cv_error();
  }
  int rank = x->type.rank;
  int64_t *lo = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  int64_t *hi = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  double value = 0;
  if (!tspec_builtin_pads(c, call, 1, (tspec_builtin_pads_t){rank, "dim", lo, hi}) ||
      (call->given[2] &&
       !tspec_cv_real(c, call->args[2].cv, call->args[2].range, "'value' of 'pad'", &value))) {
    return tspec_cv_error();
  }
  if (!tspec_check_number_fits(c, value, x->type.dtype,
                               call->given[2] ? call->args[2].range : call->site.range)) {
    return tspec_cv_error();
  }
  tspec_attr_t attrs[] = {
      tspec_attr_ints("lo", rank, lo),
      tspec_attr_ints("hi", rank, hi),
      tspec_attr_float("value", tspec_number_convert(x->type.dtype, value)),
  };
  return tspec_cv_tensor(tspec_emit(c, &(tspec_op_build_t){.kind = TSPEC_OP_pad,
                                                           .noperands = 1,
                                                           .operands = &x,
                                                           .nattrs = 3,
                                                           .attrs = attrs,
                                                           .range = call->site.range,
                                                           .spelling = call->site.spelling}));
}

tspec_cv_t tspec_builtin_slice(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL) {
    return tspec_cv_error();
  }
  int rank = x->type.rank;
  int64_t *starts = NULL, *ends = NULL, *steps = NULL;
  if (!tspec_builtin_per_dim(c, call, 1, rank, "dim", &starts) ||
      !tspec_builtin_per_dim(c, call, 2, rank, "dim", &ends) ||
      !tspec_builtin_per_dim(c, call, 3, rank, "dim", &steps)) {
    return tspec_cv_error();
  }
  for (int i = 0; i < rank; ++i) {
    int64_t size = x->type.dims[i];
    starts[i] = starts[i] < 0 ? starts[i] + size : starts[i];
    ends[i] = ends[i] < 0 ? ends[i] + size : ends[i];
    if (starts[i] < 0 || ends[i] > size || starts[i] >= ends[i] || steps[i] < 1) {
      tspec_check_error(c, call->site.range,
                        "'slice' of dim %d of %s from %lld to %lld by %lld is empty or out of it",
                        i, tspec_type_print(c->arena, x->type), (long long)starts[i],
                        (long long)ends[i], (long long)steps[i]);
      return tspec_cv_error();
    }
  }
  return tspec_cv_tensor(tspec_emit_slice(c, call->site, x, starts, ends, steps));
}

tspec_cv_t tspec_builtin_shape_of(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  if (call->args[0].cv.kind != TSPEC_CV_NUMBER) {
    tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
    if (x == NULL) {
      return tspec_cv_error();
    }
    list->count = (size_t)x->type.rank;
    list->items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, list->count);
    for (size_t i = 0; i < list->count; ++i) {
      list->items[i] = tspec_cv_number((double)x->type.dims[i]);
    }
  }
  return (tspec_cv_t){.kind = TSPEC_CV_LIST, .u.list = list};
}
