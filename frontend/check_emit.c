#include <math.h>

#include "frontend/check_ops.h"

tspec_value_t *tspec_emit(tspec_checker_t *c, const tspec_op_build_t *build) {
  for (int i = 0; i < build->noperands; ++i) {
    if (build->operands[i] == NULL) {
      return NULL;
    }
  }
  if (c->entry == NULL) {
    tspec_check_error(c, build->range,
                      "only compile-time numbers here: this would be computed at run time");
    return NULL;
  }
  tspec_diag_t below;
  tspec_diag_init(&below, c->sources, NULL);
  tspec_op_t *op = tspec_op_create(c->program, c->entry->func, NULL, build, &below);
  if (op == NULL) {
    tspec_check_forward(c, &below);
    return NULL;
  }
  for (int i = 0; c->manual != NULL && i < op->noperands; ++i) {
    op->results[0]->id |= op->operands[i]->id; // check_manual.c
  }
  op->range = tspec_check_user_range(c, build->range);
  for (int i = 0; i < op->nresults; ++i) {
    op->results[i]->range = op->range;
  }
  return op->results[0];
}

tspec_value_t *tspec_emit_simple(tspec_checker_t *c, tspec_site_t site, tspec_op_kind_t kind,
                                 int noperands, tspec_value_t *const *operands) {
  return tspec_emit(c, &(tspec_op_build_t){.kind = kind,
                                           .noperands = noperands,
                                           .operands = operands,
                                           .range = site.range,
                                           .spelling = site.spelling});
}

// An op of one operand (or none) with attributes.
static tspec_value_t *emit_with(tspec_checker_t *c, tspec_site_t site, tspec_op_kind_t kind,
                                tspec_value_t *x, int nattrs, const tspec_attr_t *attrs) {
  return tspec_emit(c, &(tspec_op_build_t){.kind = kind,
                                           .noperands = x == NULL ? 0 : 1,
                                           .operands = &x,
                                           .nattrs = nattrs,
                                           .attrs = attrs,
                                           .range = site.range,
                                           .spelling = site.spelling});
}

tspec_value_t *tspec_emit_constant(tspec_checker_t *c, tspec_site_t site, tspec_type_t type,
                                   double number) {
  if (tspec_dtype_is_float(type.dtype)) {
    number = tspec_dtype_round(type.dtype, number);
  }
  tspec_attr_t attrs[] = {
      tspec_attr_dtype("dtype", type.dtype),
      tspec_attr_ints("shape", type.rank, type.dims),
      tspec_attr_floats("values", 1, &number),
  };
  return emit_with(c, site, TSPEC_OP_constant, NULL, 3, attrs);
}

tspec_value_t *tspec_emit_iota(tspec_checker_t *c, tspec_site_t site, tspec_type_t type, int dim) {
  tspec_attr_t attrs[] = {
      tspec_attr_dtype("dtype", type.dtype),
      tspec_attr_ints("shape", type.rank, type.dims),
      tspec_attr_int("dim", dim),
  };
  return emit_with(c, site, TSPEC_OP_iota, NULL, 3, attrs);
}

tspec_value_t *tspec_emit_convert(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                  tspec_dtype_t dtype) {
  if (x == NULL || x->type.dtype == dtype) {
    return x;
  }
  tspec_attr_t attrs[] = {tspec_attr_dtype("dtype", dtype)};
  return emit_with(c, site, TSPEC_OP_convert, x, 1, attrs);
}

static bool has_shape(const tspec_value_t *x, int rank, const int64_t *dims) {
  return tspec_shape_equal(x->type, (tspec_type_t){.rank = rank, .dims = dims});
}

tspec_value_t *tspec_emit_broadcast(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                    int rank, const int64_t *dims) {
  if (x == NULL || has_shape(x, rank, dims)) {
    return x;
  }
  int from = x->type.rank;
  int64_t *map = TSPEC_ARENA_NEW(c->arena, int64_t, from);
  for (int i = 0; i < from; ++i) {
    map[i] = rank - from + i;
  }
  tspec_attr_t attrs[] = {
      tspec_attr_ints("shape", rank, dims),
      tspec_attr_ints("dims", from, map),
  };
  return emit_with(c, site, TSPEC_OP_broadcast, x, 2, attrs);
}

tspec_value_t *tspec_emit_reshape(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x, int rank,
                                  const int64_t *dims) {
  if (x == NULL || has_shape(x, rank, dims)) {
    return x;
  }
  tspec_attr_t attrs[] = {tspec_attr_ints("shape", rank, dims)};
  return emit_with(c, site, TSPEC_OP_reshape, x, 1, attrs);
}

tspec_value_t *tspec_emit_transpose(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                    const int64_t *perm) {
  bool identity = true;
  for (int i = 0; x != NULL && i < x->type.rank; ++i) {
    identity = identity && perm[i] == i;
  }
  if (identity) {
    return x;
  }
  tspec_attr_t attrs[] = {tspec_attr_ints("perm", x->type.rank, perm)};
  return emit_with(c, site, TSPEC_OP_transpose, x, 1, attrs);
}

tspec_dtype_t tspec_check_accumulator(const tspec_checker_t *c, tspec_dtype_t dtype) {
  bool small = dtype == TSPEC_DTYPE_BF16 || dtype == TSPEC_DTYPE_F16;
  return small ? c->reduce_dtype : dtype;
}

tspec_value_t *tspec_emit_reduce(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                 tspec_reduce_t kind, int ndims, const int64_t *dims) {
  if (x == NULL || ndims == 0) {
    return x;
  }
  tspec_dtype_t dtype = x->type.dtype;
  if (kind == TSPEC_REDUCE_SUM || kind == TSPEC_REDUCE_PROD) {
    x = tspec_emit_convert(c, site, x, tspec_check_accumulator(c, dtype));
  }
  tspec_attr_t attrs[] = {
      tspec_attr_reduce("kind", kind),
      tspec_attr_ints("dims", ndims, dims),
  };
  if (x != NULL) {
    x = emit_with(c, site, TSPEC_OP_reduce, x, 2, attrs);
  }
  return tspec_emit_convert(c, site, x, dtype);
}

tspec_value_t *tspec_emit_slice(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                const int64_t *starts, const int64_t *ends, const int64_t *steps) {
  bool whole = true;
  for (int i = 0; x != NULL && i < x->type.rank; ++i) {
    whole = whole && starts[i] == 0 && ends[i] == x->type.dims[i] && steps[i] == 1;
  }
  if (whole) {
    return x;
  }
  int rank = x->type.rank;
  tspec_attr_t attrs[] = {
      tspec_attr_ints("starts", rank, starts),
      tspec_attr_ints("ends", rank, ends),
      tspec_attr_ints("steps", rank, steps),
  };
  return emit_with(c, site, TSPEC_OP_slice, x, 3, attrs);
}

tspec_value_t *tspec_emit_concat(tspec_checker_t *c, tspec_site_t site, int noperands,
                                 tspec_value_t *const *operands, int64_t dim) {
  tspec_attr_t attrs[] = {tspec_attr_int("dim", dim)};
  return tspec_emit(c, &(tspec_op_build_t){.kind = TSPEC_OP_concat,
                                           .noperands = noperands,
                                           .operands = operands,
                                           .nattrs = 1,
                                           .attrs = attrs,
                                           .range = site.range,
                                           .spelling = site.spelling});
}

tspec_value_t *tspec_emit_constraint(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                     const tspec_sharding_t *sharding, const char *path) {
  if (x != NULL && sharding != NULL) {
    tspec_attr_t attrs[] = {tspec_attr_sharding("sharding", sharding)};
    x = emit_with(c, site, TSPEC_OP_constraint, x, 1, attrs);
  }
  if (x != NULL && x->name == NULL && x->def != NULL && path != NULL) {
    x->name = path;
    x->range = tspec_check_user_range(c, site.range);
  }
  return x;
}

tspec_value_t *tspec_emit_barrier(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                  const tspec_sharding_t *sharding) {
  if (x == NULL) {
    return NULL;
  }
  tspec_attr_t attrs[] = {tspec_attr_sharding("sharding", sharding)};
  return emit_with(c, site, TSPEC_OP_barrier, x, sharding == NULL ? 0 : 1, attrs);
}

tspec_value_t *tspec_emit_same_sharding(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                        int64_t group) {
  tspec_attr_t attrs[] = {tspec_attr_int("group", group)};
  return x == NULL ? NULL : emit_with(c, site, TSPEC_OP_same_sharding, x, 1, attrs);
}
