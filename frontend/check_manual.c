// Manual functions: a signature of whole tensors, a body of blocks along the manual axes. Not
// compiled.
//
// In such a body a value's `id` tells along which manual axes it may differ between ranks, a bit
// for each: values get it of what they are computed of, collectives change it.
#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

/// A manual function whose body is being checked.
struct tspec_manual_t {
  const char *name;
  int naxes;
  const int *axes; ///< of the mesh
};

int tspec_check_manual_bit(const tspec_checker_t *c, int mesh_axis) {
  for (int i = 0; c->manual != NULL && i < c->manual->naxes; ++i) {
    if (c->manual->axes[i] == mesh_axis) {
      return 1 << i;
    }
  }
  return 0;
}

const char *tspec_check_manual_name(const tspec_checker_t *c) {
  return c->manual->name;
}

/// A parameter or a result of the signature.
typedef struct signed_t {
  const char *name;
  const tspec_ast_type_t *type;
  const tspec_ast_sharding_t *written;
  tspec_range_t range;
} signed_t;

// Its sharding, or NULL after a report.
static const tspec_sharding_t *read_sharding(tspec_checker_t *c, const signed_t *s,
                                             tspec_type_t type) {
  if (s->type == NULL || s->written == NULL) {
    tspec_check_error(c, s->range,
                      "'%s' of the 'manual' function '%s' needs a type and a sharding for the "
                      "manual axes: %s: f32[..] @ [..]",
                      s->name, c->manual->name, s->name);
    return NULL;
  }
  tspec_declared_t declared = {.kind = TSPEC_DECLARED_CHECKED,
                               .path = s->name,
                               .type = type,
                               .written = s->written,
                               .range = s->range};
  return tspec_check_written(c, s->written, &declared, (tspec_range_t){0});
}

// How many blocks the manual axes make of a dim. `bits` collects those axes.
static bool count_blocks(tspec_checker_t *c, const signed_t *s, const tspec_dim_t *dim,
                         int64_t *out_count, int *bits) {
  *out_count = 1;
  for (int i = 0; i < dim->naxes; ++i) {
    tspec_axis_t axis = dim->axes[i];
    int bit = tspec_check_manual_bit(c, axis.axis);
    const tspec_mesh_axis_t *whole = &c->program->mesh.axes[axis.axis];
    if (bit != 0 && axis.size != whole->size) {
      tspec_check_error(c, s->written->range,
                        "'%s' is split by a piece of the manual axis '%s'; it is taken whole",
                        s->name, whole->name);
      return false;
    }
    *out_count *= bit != 0 ? axis.size : 1;
    *bits |= bit;
  }
  return true;
}

static int pending_bits(const tspec_checker_t *c, const tspec_sharding_t *sharding) {
  int bits = 0;
  for (int i = 0; i < sharding->npending; ++i) {
    bits |= tspec_check_manual_bit(c, sharding->pending[i].axis);
  }
  return bits;
}

// The block of a whole value that one place along the manual axes holds.
static tspec_value_t *cut(tspec_checker_t *c, const signed_t *s, tspec_value_t *whole) {
  const tspec_sharding_t *sharding = read_sharding(c, s, whole->type);
  if (sharding == NULL) {
    return NULL;
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, whole->type.rank);
  int bits = pending_bits(c, sharding);
  for (int i = 0; i < whole->type.rank; ++i) {
    int64_t count = 1, size = whole->type.dims[i];
    if (!count_blocks(c, s, &sharding->dims[i], &count, &bits)) {
      return NULL;
    }
    if (size % count != 0) {
      tspec_check_error(c, s->range,
                        "dim %d of '%s' is %lld and does not divide evenly into %lld blocks: "
                        "manual axes cut evenly",
                        i, s->name, (long long)size, (long long)count);
      return NULL;
    }
    dims[i] = size / count;
  }
  tspec_type_t type = {.dtype = whole->type.dtype, .rank = whole->type.rank, .dims = dims};
  tspec_value_t *block = tspec_emit_absent(c, (tspec_site_t){s->range, s->name}, type, 1, &whole);
  if (block != NULL) {
    block->id = bits;
  }
  return block;
}

static void report_varying(tspec_checker_t *c, const signed_t *s, int bits) {
  for (int i = 0; i < c->manual->naxes; ++i) {
    if ((bits & (1 << i)) != 0) {
      const char *axis = c->program->mesh.axes[c->manual->axes[i]].name;
      tspec_check_error(c, s->range,
                        "%s may differ between the ranks along '%s', which its sharding does not "
                        "name; psum(x, %s) makes it one value, sum(%s) says that it is a part",
                        s->name, axis, axis, axis);
      return;
    }
  }
}

// The whole value that the blocks of a result make up.
static tspec_value_t *join(tspec_checker_t *c, const signed_t *s, tspec_value_t *block) {
  const tspec_sharding_t *sharding = read_sharding(c, s, block->type);
  if (sharding == NULL) {
    return NULL;
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, block->type.rank);
  int bits = pending_bits(c, sharding);
  for (int i = 0; i < block->type.rank; ++i) {
    int64_t count = 1;
    if (!count_blocks(c, s, &sharding->dims[i], &count, &bits)) {
      return NULL;
    }
    dims[i] = block->type.dims[i] * count;
  }
  if ((block->id & ~bits) != 0) {
    report_varying(c, s, block->id & ~bits);
    return NULL;
  }
  tspec_type_t type = {.dtype = block->type.dtype, .rank = block->type.rank, .dims = dims};
  tspec_value_t *whole = tspec_emit_absent(c, (tspec_site_t){s->range, s->name}, type, 1, &block);
  if (whole != NULL) {
    whole->id = 0;
  }
  return whole;
}

// ---- a call ----------------------------------------------------------------------------------

static bool read_axes(tspec_checker_t *c, const tspec_closure_t *closure, tspec_manual_t *manual) {
  const tspec_ast_names_t *names = &closure->info->fn->manual_axes;
  int *axes = TSPEC_ARENA_NEW(c->arena, int, names->count);
  manual->axes = axes;
  for (size_t i = 0; i < names->count; ++i) {
    int axis = tspec_check_mesh_axis(c, names->items[i], "'manual'", -1);
    if (axis < 0) {
      return false;
    }
    for (int k = 0; k < manual->naxes; ++k) {
      if (axes[k] == axis) {
        tspec_check_error(c, names->items[i].range, "the manual axis '%s' stands twice",
                          names->items[i].text);
        return false;
      }
    }
    axes[manual->naxes++] = axis;
  }
  return true;
}

// Arguments become blocks.
static bool cut_arguments(tspec_checker_t *c, const tspec_ast_fn_t *fn) {
  bool ok = true;
  for (size_t i = 0; i < fn->formals.count; ++i) {
    const tspec_ast_formal_t *formal = &fn->formals.items[i];
    tspec_named_t *local = tspec_frame_find(c->frame, formal->name.text);
    signed_t s = {formal->name.text, formal->type, formal->sharding, formal->range};
    if (local->cv.kind == TSPEC_CV_TENSOR) {
      local->cv = tspec_cv_tensor(cut(c, &s, local->cv.u.tensor));
    } else if (s.type == NULL || s.written == NULL) {
      read_sharding(c, &s, (tspec_type_t){0});
      local->cv = tspec_cv_error();
    }
    ok = ok && !tspec_cv_is_error(local->cv);
  }
  return ok;
}

static tspec_cv_t join_result(tspec_checker_t *c, const tspec_closure_t *closure,
                              const tspec_ast_result_t *result, tspec_cv_t cv) {
  tspec_site_t site = {result->range, "return"};
  tspec_value_t *block = tspec_check_tensor(c, site, (tspec_operand_t){cv, result->range});
  const char *name = tspec_arena_printf(c->arena, "the result of '%s'", closure->name);
  signed_t s = {name, result->type, result->sharding, result->range};
  return block == NULL ? tspec_cv_error() : tspec_cv_tensor(join(c, &s, block));
}

// The returned blocks as whole values; check_results compares them with the declared types.
static tspec_cv_t join_results(tspec_checker_t *c, const tspec_closure_t *closure,
                               tspec_cv_t returned) {
  const tspec_ast_fn_t *fn = closure->info->fn;
  size_t count = returned.kind == TSPEC_CV_TUPLE ? returned.u.list->count : 1;
  if (returned.kind == TSPEC_CV_ERROR || returned.kind == TSPEC_CV_NONE) {
    return returned;
  }
  if (!fn->has_results) {
    tspec_check_error(c, closure->info->range,
                      "the 'manual' function '%s' must declare its results with their shardings",
                      closure->name);
    return tspec_cv_error();
  }
  if (count != fn->nresults) {
    return returned;
  }
  tspec_cv_t *items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, count);
  for (size_t i = 0; i < count; ++i) {
    tspec_cv_t cv = returned.kind == TSPEC_CV_TUPLE ? returned.u.list->items[i] : returned;
    items[i] = join_result(c, closure, &fn->results[i], cv);
  }
  return tspec_cv_tuple(c, count, items);
}

tspec_cv_t tspec_check_manual_body(tspec_checker_t *c, const tspec_closure_t *closure) {
  tspec_check_absent(c, c->frame->call_range, "a 'manual' function");
  if (c->manual != NULL) {
    tspec_check_error(c, c->frame->call_range,
                      "'%s' is called in the body of the 'manual' function '%s': automatic code "
                      "alone calls one",
                      closure->name, c->manual->name);
    return tspec_cv_error();
  }
  tspec_manual_t manual = {.name = closure->name};
  if (!read_axes(c, closure, &manual)) {
    return tspec_cv_error();
  }
  tspec_cv_t result = tspec_cv_error();
  c->manual = &manual;
  if (cut_arguments(c, closure->info->fn)) {
    tspec_check_body(c, &closure->info->fn->body);
    result = join_results(c, closure, c->frame->result);
  }
  c->manual = NULL;
  return result;
}
