// What the body of a manual function may call: its place along an axis, and collectives. Not
// compiled.
#include "frontend/check_ops.h"

/// The axis of a collective.
typedef struct along_t {
  int64_t size;
  int bit; ///< of the manual axis in values' `id`
} along_t;

static bool read_axis(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                      along_t *out) {
  int axis = call->args[index].cv.u.mesh_axis;
  const char *name = c->program->mesh.axes[axis].name;
  if (c->manual == NULL) {
    tspec_check_error(c, call->site.range,
                      "'%s' stands in the body of a 'manual' function alone: elsewhere "
                      "communication follows from the shardings",
                      call->builtin->name);
    return false;
  }
  *out = (along_t){c->program->mesh.axes[axis].size, tspec_check_manual_bit(c, axis)};
  if (out->bit == 0) {
    tspec_check_error(c, call->args[index].range, "'%s' is no manual axis of '%s'", name,
                      tspec_check_manual_name(c));
  }
  return out->bit != 0;
}

// A value that differs along the axis if `varies`, and along the others as `x` does.
static tspec_cv_t give(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_value_t *x,
                       tspec_type_t type, along_t along, bool varies) {
  tspec_value_t *value = tspec_emit_absent(c, call->site, type, x == NULL ? 0 : 1, &x);
  if (value != NULL) {
    value->id = varies ? value->id | along.bit : value->id & ~along.bit;
  }
  return tspec_cv_tensor(value);
}

tspec_cv_t tspec_builtin_axis_index(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  tspec_type_t type = {.dtype = TSPEC_DTYPE_I32};
  return read_axis(c, call, 0, &along) ? give(c, call, NULL, type, along, true) : tspec_cv_error();
}

tspec_cv_t tspec_builtin_axis_size(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  return read_axis(c, call, 0, &along) ? tspec_cv_number((double)along.size) : tspec_cv_error();
}

// psum, pmax, pmin and, of floats alone, pmean.
tspec_cv_t tspec_builtin_preduce(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !read_axis(c, call, 1, &along) ||
      (call->builtin->detail != 0 && !tspec_builtin_needs_float(c, call, x))) {
    return tspec_cv_error();
  }
  if (x->type.dtype == TSPEC_DTYPE_BOOL) {
    tspec_check_error(c, call->args[0].range, "'%s' needs numbers, but this is %s; i32(x) converts",
                      call->builtin->name, tspec_type_print(c->arena, x->type));
    return tspec_cv_error();
  }
  return give(c, call, x, x->type, along, false);
}

tspec_cv_t tspec_builtin_pgather(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  int dim = 0;
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !read_axis(c, call, 1, &along) ||
      !tspec_builtin_dim(c, call, 2, x->type.rank, &dim)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_resized(c, x->type, dim, x->type.dims[dim] * along.size);
  return give(c, call, x, type, along, false);
}

static bool divides(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_type_t type,
                    int dim, along_t along) {
  bool ok = type.dims[dim] % along.size == 0;
  if (!ok) {
    tspec_check_error(c, call->site.range,
                      "'%s' cannot cut dim %d of %s into %lld equal parts, one for each rank along "
                      "the axis",
                      call->builtin->name, dim, tspec_type_print(c->arena, type),
                      (long long)along.size);
  }
  return ok;
}

tspec_cv_t tspec_builtin_pscatter(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  int dim = 0;
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !read_axis(c, call, 1, &along) ||
      !tspec_builtin_dim(c, call, 2, x->type.rank, &dim) ||
      !divides(c, call, x->type, dim, along)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_resized(c, x->type, dim, x->type.dims[dim] / along.size);
  return give(c, call, x, type, along, true);
}

tspec_cv_t tspec_builtin_all_to_all(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  int split = 0, concat = 0;
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !read_axis(c, call, 1, &along) ||
      !tspec_builtin_dim(c, call, 2, x->type.rank, &split) ||
      !tspec_builtin_dim(c, call, 3, x->type.rank, &concat) ||
      !divides(c, call, x->type, split, along)) {
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_resized(c, x->type, split, x->type.dims[split] / along.size);
  type = tspec_check_resized(c, type, concat, type.dims[concat] * along.size);
  return give(c, call, x, type, along, true);
}

tspec_cv_t tspec_builtin_ppermute(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  along_t along;
  int64_t shift = 0;
  tspec_value_t *x = tspec_builtin_tensor(c, call, 0);
  if (x == NULL || !read_axis(c, call, 1, &along) || !tspec_builtin_whole(c, call, 2, 1, &shift)) {
    return tspec_cv_error();
  }
  return give(c, call, x, x->type, along, (x->id & along.bit) != 0);
}
