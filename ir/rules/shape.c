// Ops that place elements elsewhere: broadcast, transpose, reshape, concat, slice, pad.
#include "ir/rules/rules.h"

static tspec_type_t shaped(tspec_arena_t *arena, tspec_dtype_t dtype, const tspec_attr_t *shape) {
  return tspec_type_make(arena, dtype, (int)shape->count, shape->ints);
}

// ---- broadcast ---------------------------------------------------------------------------------

static bool infer_broadcast(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                            tspec_type_t *out_results) {
  tspec_type_t operand = view->operands[0];
  const tspec_attr_t *dims = tspec_rules_attr(view, "dims");
  const tspec_attr_t *shape = tspec_rules_attr(view, "shape");
  tspec_type_t result = shaped(arena, operand.dtype, shape);
  if (!tspec_rules_check_shape(view, shape, diag) ||
      !tspec_rules_check_count(view, dims, operand, diag) ||
      !tspec_rules_check_dims(view, dims, result, true, diag)) {
    return false;
  }
  for (int i = 0; i < operand.rank; i++) {
    int64_t size = operand.dims[i];
    int64_t wanted = result.dims[dims->ints[i]];
    if (size != wanted && size != 1) {
      tspec_diag_error(diag, view->range,
                       "'%s' cannot stretch %s to %s: dim %d has size %lld, wanted 1 or %lld",
                       tspec_rules_spelling(view), tspec_type_print(arena, operand),
                       tspec_type_print(arena, result), i, (long long)size, (long long)wanted);
      return false;
    }
  }
  out_results[0] = result;
  return true;
}

static const tspec_factor_rule_t *rule_broadcast(const tspec_op_view_t *view, tspec_arena_t *arena,
                                                 bool conservative) {
  (void)conservative;
  tspec_type_t operand = view->operands[0];
  tspec_type_t result = view->results[0];
  const tspec_attr_t *dims = tspec_rules_attr(view, "dims");
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  int next = 0;
  for (int i = 0; i < result.rank; i++) {
    bool mapped = next < operand.rank && dims->ints[next] == i;
    bool stretched = mapped && operand.dims[next] != result.dims[i];
    if (stretched) {
      int one = tspec_rule_builder_factor(&builder, 1, TSPEC_FACTOR_PASS_THROUGH);
      tspec_rule_builder_map_operand(&builder, 0, next, one);
    }
    int f = tspec_rule_builder_factor(&builder, result.dims[i], TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_result(&builder, 0, i, f);
    if (mapped && !stretched) {
      tspec_rule_builder_map_operand(&builder, 0, next, f);
    }
    next += mapped;
  }
  return tspec_rule_builder_finish(&builder);
}

// ---- transpose ---------------------------------------------------------------------------------

static bool infer_transpose(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                            tspec_type_t *out_results) {
  tspec_type_t operand = view->operands[0];
  const tspec_attr_t *perm = tspec_rules_attr(view, "perm");
  if (!tspec_rules_check_count(view, perm, operand, diag) ||
      !tspec_rules_check_dims(view, perm, operand, false, diag)) {
    return false;
  }
  int64_t *sizes = TSPEC_ARENA_NEW(arena, int64_t, operand.rank);
  for (int i = 0; i < operand.rank; i++) {
    sizes[i] = operand.dims[perm->ints[i]];
  }
  out_results[0] = tspec_type_make(arena, operand.dtype, operand.rank, sizes);
  return true;
}

static const tspec_factor_rule_t *rule_transpose(const tspec_op_view_t *view, tspec_arena_t *arena,
                                                 bool conservative) {
  (void)conservative;
  tspec_type_t result = view->results[0];
  const tspec_attr_t *perm = tspec_rules_attr(view, "perm");
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  for (int i = 0; i < result.rank; i++) {
    int f = tspec_rule_builder_factor(&builder, result.dims[i], TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, (int)perm->ints[i], f);
    tspec_rule_builder_map_result(&builder, 0, i, f);
  }
  return tspec_rule_builder_finish(&builder);
}

// ---- reshape -----------------------------------------------------------------------------------

bool tspec_rules_infer_reshape(const tspec_op_view_t *view, tspec_arena_t *arena,
                               tspec_diag_t *diag, tspec_type_t *out_results) {
  tspec_type_t operand = view->operands[0];
  const tspec_attr_t *shape = tspec_rules_attr(view, "shape");
  if (!tspec_rules_check_shape(view, shape, diag)) {
    return false;
  }
  tspec_type_t result = shaped(arena, operand.dtype, shape);
  if (tspec_type_elems(operand) != tspec_type_elems(result)) {
    tspec_diag_error(diag, view->range, "'%s' cannot turn %s (%lld elements) into %s (%lld)",
                     tspec_rules_spelling(view), tspec_type_print(arena, operand),
                     (long long)tspec_type_elems(operand), tspec_type_print(arena, result),
                     (long long)tspec_type_elems(result));
    return false;
  }
  out_results[0] = result;
  return true;
}

/// One side of the walk. `opened`: product of the dims opened so far; `emitted`: of the factors.
typedef struct reshape_side_t {
  tspec_type_t type;
  bool is_result;
  int dim; ///< opened last; -1: none
  int64_t opened;
  int64_t emitted;
} reshape_side_t;

static int64_t greatest_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static void map_side(tspec_rule_builder_t *builder, reshape_side_t *side, int factor,
                     int64_t size) {
  if (side->is_result) {
    tspec_rule_builder_map_result(builder, 0, side->dim, factor);
  } else {
    tspec_rule_builder_map_operand(builder, 0, side->dim, factor);
  }
  side->emitted *= size;
}

static void emit_own(tspec_rule_builder_t *builder, reshape_side_t *side, int64_t size) {
  int f = tspec_rule_builder_factor(builder, size, TSPEC_FACTOR_PASS_THROUGH);
  map_side(builder, side, f, size);
}

/// Opens the next dim if the last one is used up; dims of size 1 get a factor of their own. False
/// at the end.
static bool open_next(tspec_rule_builder_t *builder, reshape_side_t *side) {
  while (side->opened == side->emitted) {
    if (side->dim + 1 >= side->type.rank) {
      return false;
    }
    side->dim++;
    side->opened *= side->type.dims[side->dim];
    if (side->type.dims[side->dim] == 1) {
      emit_own(builder, side, 1);
    }
  }
  return true;
}

/// The side that is behind emits what brings it nearest to the other.
static void emit_behind(tspec_rule_builder_t *builder, reshape_side_t *behind, int64_t ahead,
                        int64_t divisor) {
  int64_t rest = behind->opened / behind->emitted;
  int64_t size = rest > divisor ? rest / divisor : rest;
  if (ahead % behind->emitted == 0 && rest % (ahead / behind->emitted) == 0) {
    size = ahead / behind->emitted;
  }
  emit_own(builder, behind, size);
}

static void emit_step(tspec_rule_builder_t *builder, reshape_side_t *in, reshape_side_t *out) {
  int64_t in_rest = in->opened / in->emitted;
  int64_t out_rest = out->opened / out->emitted;
  int64_t divisor = greatest_divisor(in_rest, out_rest);
  if (in->emitted < out->emitted) {
    emit_behind(builder, in, out->emitted, divisor);
  } else if (out->emitted < in->emitted) {
    emit_behind(builder, out, in->emitted, divisor);
  } else if (divisor > 1) {
    int f = tspec_rule_builder_factor(builder, divisor, TSPEC_FACTOR_PASS_THROUGH);
    map_side(builder, in, f, divisor);
    map_side(builder, out, f, divisor);
  } else {
    emit_own(builder, in, in_rest);
    emit_own(builder, out, out_rest);
  }
}

// The walk of `propagation.md` 2.2: factors are shared while both sides stand at the same element
// count.
static const tspec_factor_rule_t *rule_reshape(const tspec_op_view_t *view, tspec_arena_t *arena,
                                               bool conservative) {
  (void)conservative;
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  reshape_side_t in = {view->operands[0], false, -1, 1, 1};
  reshape_side_t out = {view->results[0], true, -1, 1, 1};
  for (;;) {
    bool more_in = open_next(&builder, &in);
    bool more_out = open_next(&builder, &out);
    if (!more_in && !more_out) {
      break;
    }
    if (more_in && more_out) {
      emit_step(&builder, &in, &out);
    } else {
      reshape_side_t *left = more_in ? &in : &out;
      emit_own(&builder, left, left->opened / left->emitted);
    }
  }
  return tspec_rule_builder_finish(&builder);
}

// ---- concat ------------------------------------------------------------------------------------

static bool check_concat_operand(const tspec_op_view_t *view, int index, int64_t dim,
                                 tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_type_t first = view->operands[0];
  tspec_type_t other = view->operands[index];
  bool fits = first.dtype == other.dtype && first.rank == other.rank;
  for (int i = 0; fits && i < first.rank; i++) {
    fits = i == dim || first.dims[i] == other.dims[i];
  }
  if (!fits) {
    tspec_diag_error(
        diag, view->range,
        "'%s' along dim %lld needs one dtype and equal sizes in the other dims, got %s and %s",
        tspec_rules_spelling(view), (long long)dim, tspec_type_print(arena, first),
        tspec_type_print(arena, other));
  }
  return fits;
}

static bool infer_concat(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                         tspec_type_t *out_results) {
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  if (view->noperands == 0) {
    tspec_diag_error(diag, view->range, "'%s' needs at least one operand",
                     tspec_rules_spelling(view));
    return false;
  }
  tspec_type_t first = view->operands[0];
  if (dim < 0 || dim >= first.rank) {
    tspec_diag_error(diag, view->range, "'%s' along dim %lld of %s, which has %d dims",
                     tspec_rules_spelling(view), (long long)dim, tspec_type_print(arena, first),
                     first.rank);
    return false;
  }
  int64_t size = first.dims[dim];
  for (int i = 1; i < view->noperands; i++) {
    if (!check_concat_operand(view, i, dim, arena, diag)) {
      return false;
    }
    size += view->operands[i].dims[dim];
  }
  int64_t *sizes = tspec_arena_copy(arena, first.dims, sizeof(int64_t) * (size_t)first.rank);
  sizes[dim] = size;
  out_results[0] = tspec_type_make(arena, first.dtype, first.rank, sizes);
  return true;
}

/// Parts of tensors that are put together again: neighbours hold what a rank lacks.
static bool is_concat_of_slices(const tspec_op_view_t *view) {
  if (view->origins == NULL) {
    return false;
  }
  bool all_sliced = true;
  bool any_sliced = false;
  bool one_tensor = true;
  for (int i = 0; i < view->noperands; i++) {
    all_sliced = all_sliced && view->origins[i].sliced;
    any_sliced = any_sliced || view->origins[i].sliced;
    one_tensor = one_tensor && view->origins[i].tensor == view->origins[0].tensor;
  }
  return all_sliced || (one_tensor && any_sliced);
}

static const tspec_factor_rule_t *rule_concat(const tspec_op_view_t *view, tspec_arena_t *arena,
                                              bool conservative) {
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  tspec_type_t result = view->results[0];
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  for (int i = 0; i < result.rank; i++) {
    tspec_factor_kind_t kind = TSPEC_FACTOR_PASS_THROUGH;
    if (i == dim) {
      if (conservative) {
        continue;
      }
      kind = is_concat_of_slices(view) ? TSPEC_FACTOR_PERMUTATION : TSPEC_FACTOR_NEED_REPLICATION;
    }
    int f = tspec_rule_builder_factor(&builder, result.dims[i], kind);
    for (int k = 0; k < view->noperands; k++) {
      tspec_rule_builder_map_operand(&builder, k, i, f);
    }
    tspec_rule_builder_map_result(&builder, 0, i, f);
  }
  return tspec_rule_builder_finish(&builder);
}

// ---- slice and pad -----------------------------------------------------------------------------

static bool check_slice_dim(const tspec_op_view_t *view, int dim, tspec_arena_t *arena,
                            tspec_diag_t *diag) {
  tspec_type_t operand = view->operands[0];
  int64_t start = tspec_rules_attr(view, "starts")->ints[dim];
  int64_t end = tspec_rules_attr(view, "ends")->ints[dim];
  int64_t step = tspec_rules_attr(view, "steps")->ints[dim];
  if (start < 0 || end > operand.dims[dim] || start >= end) {
    tspec_diag_error(diag, view->range, "'%s' takes %lld:%lld of dim %d of %s, which has size %lld",
                     tspec_rules_spelling(view), (long long)start, (long long)end, dim,
                     tspec_type_print(arena, operand), (long long)operand.dims[dim]);
    return false;
  }
  if (step < 1) {
    tspec_diag_error(diag, view->range, "'%s': step %lld of dim %d must be at least 1",
                     tspec_rules_spelling(view), (long long)step, dim);
    return false;
  }
  return true;
}

static bool infer_slice(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                        tspec_type_t *out_results) {
  tspec_type_t operand = view->operands[0];
  const tspec_attr_t *starts = tspec_rules_attr(view, "starts");
  const tspec_attr_t *ends = tspec_rules_attr(view, "ends");
  const tspec_attr_t *steps = tspec_rules_attr(view, "steps");
  if (!tspec_rules_check_count(view, starts, operand, diag) ||
      !tspec_rules_check_count(view, ends, operand, diag) ||
      !tspec_rules_check_count(view, steps, operand, diag)) {
    return false;
  }
  int64_t *sizes = TSPEC_ARENA_NEW(arena, int64_t, operand.rank);
  for (int i = 0; i < operand.rank; i++) {
    if (!check_slice_dim(view, i, arena, diag)) {
      return false;
    }
    sizes[i] = (ends->ints[i] - starts->ints[i] - 1) / steps->ints[i] + 1;
  }
  out_results[0] = tspec_type_make(arena, operand.dtype, operand.rank, sizes);
  return true;
}

static bool infer_pad(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                      tspec_type_t *out_results) {
  tspec_type_t operand = view->operands[0];
  const tspec_attr_t *lo = tspec_rules_attr(view, "lo");
  const tspec_attr_t *hi = tspec_rules_attr(view, "hi");
  if (!tspec_rules_check_count(view, lo, operand, diag) ||
      !tspec_rules_check_count(view, hi, operand, diag)) {
    return false;
  }
  int64_t *sizes = TSPEC_ARENA_NEW(arena, int64_t, operand.rank);
  for (int i = 0; i < operand.rank; i++) {
    if (lo->ints[i] < 0 || hi->ints[i] < 0) {
      tspec_diag_error(
          diag, view->range, "'%s': padding [%lld, %lld] of dim %d must not be negative",
          tspec_rules_spelling(view), (long long)lo->ints[i], (long long)hi->ints[i], i);
      return false;
    }
    sizes[i] = lo->ints[i] + operand.dims[i] + hi->ints[i];
  }
  out_results[0] = tspec_type_make(arena, operand.dtype, operand.rank, sizes);
  return true;
}

/// Dims that keep their size are shared; a changed one needs its neighbours' elements.
static const tspec_factor_rule_t *rule_resized(const tspec_op_view_t *view, tspec_arena_t *arena,
                                               bool conservative) {
  tspec_type_t operand = view->operands[0];
  tspec_type_t result = view->results[0];
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  for (int i = 0; i < operand.rank; i++) {
    bool same = operand.dims[i] == result.dims[i];
    int f = tspec_rule_builder_factor(&builder, operand.dims[i],
                                      same ? TSPEC_FACTOR_PASS_THROUGH : TSPEC_FACTOR_PERMUTATION);
    if (!same && conservative) {
      tspec_rule_builder_block(&builder, f);
    }
    tspec_rule_builder_map_operand(&builder, 0, i, f);
    tspec_rule_builder_map_result(&builder, 0, i, f);
  }
  return tspec_rule_builder_finish(&builder);
}

// Every partial would bring its padding along: zeros add up to zero, and the largest of equals is
// that.
static tspec_linear_t linear_pad(const tspec_op_view_t *view, tspec_reduce_t kind) {
  bool harmless = kind != TSPEC_REDUCE_SUM || tspec_rules_attr(view, "value")->f == 0.0;
  return harmless ? TSPEC_LINEAR_EACH : TSPEC_LINEAR_NONE;
}

// ---- where elements go -------------------------------------------------------------------------

static const tspec_window_t *windows_slice(const tspec_op_view_t *view, tspec_arena_t *arena) {
  tspec_type_t operand = view->operands[0];
  tspec_window_t *windows = TSPEC_ARENA_NEW(arena, tspec_window_t, operand.rank);
  for (int i = 0; i < operand.rank; i++) {
    windows[i] = tspec_window_make(view->results[0].dims[i], operand.dims[i], 0,
                                   tspec_rules_attr(view, "starts")->ints[i],
                                   tspec_rules_attr(view, "steps")->ints[i]);
  }
  return windows;
}

static const tspec_window_t *windows_pad(const tspec_op_view_t *view, tspec_arena_t *arena) {
  tspec_type_t operand = view->operands[0];
  tspec_window_t *windows = TSPEC_ARENA_NEW(arena, tspec_window_t, operand.rank);
  for (int i = 0; i < operand.rank; i++) {
    windows[i] = tspec_window_make(view->results[0].dims[i], operand.dims[i],
                                   tspec_rules_attr(view, "lo")->ints[i], 0, 1);
  }
  return windows;
}

static const tspec_window_t *windows_concat(const tspec_op_view_t *view, tspec_arena_t *arena) {
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  int rank = view->results[0].rank;
  tspec_window_t *windows = TSPEC_ARENA_NEW(arena, tspec_window_t, view->noperands * rank);
  int64_t lo = 0;
  for (int k = 0; k < view->noperands; k++) {
    for (int i = 0; i < rank; i++) {
      windows[k * rank + i] = tspec_window_make(view->results[0].dims[i], view->operands[k].dims[i],
                                                i == dim ? lo : 0, 0, 1);
    }
    lo += view->operands[k].dims[dim];
  }
  return windows;
}

// ---- rows --------------------------------------------------------------------------------------

static const tspec_attr_spec_t broadcast_attrs[] = {
    {"shape", TSPEC_ATTR_INTS, true, "of the result"},
    {"dims", TSPEC_ATTR_INTS, true,
     "dim i of the operand becomes dims[i], increasing; its size is that of the result or 1"},
    {0},
};
static const tspec_attr_spec_t transpose_attrs[] = {
    {"perm", TSPEC_ATTR_INTS, true, "dim i of the result is dim perm[i] of the operand"},
    {0},
};
static const tspec_attr_spec_t reshape_attrs[] = {
    {"shape", TSPEC_ATTR_INTS, true, "of the result, with as many elements"},
    {0},
};
static const tspec_attr_spec_t concat_attrs[] = {
    {"dim", TSPEC_ATTR_INT, true, "along which"},
    {0},
};
static const tspec_attr_spec_t slice_attrs[] = {
    {"starts", TSPEC_ATTR_INTS, true, "first index, per dim"},
    {"ends", TSPEC_ATTR_INTS, true, "one past the last, per dim"},
    {"steps", TSPEC_ATTR_INTS, true, "at least 1, per dim"},
    {0},
};
static const tspec_attr_spec_t pad_attrs[] = {
    {"lo", TSPEC_ATTR_INTS, true, "elements before, per dim, at least 0"},
    {"hi", TSPEC_ATTR_INTS, true, "elements behind, per dim, at least 0"},
    {"value", TSPEC_ATTR_FLOAT, true, "of the new elements"},
    {0},
};

const tspec_op_rules_t tspec_rules_broadcast = {
    .summary = "the value repeated along new dims and dims of size 1",
    .attrs = broadcast_attrs,
    .traits = TSPEC_TRAIT_BROADCAST,
    .linear = TSPEC_LINEAR_EACH,
    .infer = infer_broadcast,
    .rule = rule_broadcast,
    .linear_over = tspec_rules_moves_elements,
};

const tspec_op_rules_t tspec_rules_transpose = {
    .summary = "dims in another order",
    .attrs = transpose_attrs,
    .traits = TSPEC_TRAIT_RESHAPE_LIKE,
    .linear = TSPEC_LINEAR_EACH,
    .infer = infer_transpose,
    .rule = rule_transpose,
    .linear_over = tspec_rules_moves_elements,
};

const tspec_op_rules_t tspec_rules_reshape = {
    .summary = "the same elements in row-major order under another shape",
    .attrs = reshape_attrs,
    .traits = TSPEC_TRAIT_RESHAPE_LIKE,
    .linear = TSPEC_LINEAR_EACH,
    .infer = tspec_rules_infer_reshape,
    .rule = rule_reshape,
    .linear_over = tspec_rules_moves_elements,
};

const tspec_op_rules_t tspec_rules_concat = {
    .summary = "operands one after the other along a dim",
    .attrs = concat_attrs,
    .linear = TSPEC_LINEAR_EACH,
    .infer = infer_concat,
    .rule = rule_concat,
    .linear_over = tspec_rules_moves_elements,
    .windows = windows_concat,
};

const tspec_op_rules_t tspec_rules_slice = {
    .summary = "elements start, start + step, ... before end, per dim",
    .attrs = slice_attrs,
    .linear = TSPEC_LINEAR_EACH,
    .infer = infer_slice,
    .rule = rule_resized,
    .linear_over = tspec_rules_moves_elements,
    .windows = windows_slice,
};

const tspec_op_rules_t tspec_rules_pad = {
    .summary = "a value before and behind, per dim",
    .attrs = pad_attrs,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_pad,
    .rule = rule_resized,
    .linear_over = linear_pad,
    .windows = windows_pad,
};
