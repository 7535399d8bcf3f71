// Ops between ranks. The value stays what it is; operand and result shardings say what moves. No
// factor rules: they stand where shardings differ on purpose.
#include "ir/rules/rules.h"

static bool check_axes(const tspec_op_view_t *view, tspec_diag_t *diag) {
  if (tspec_rules_attr(view, "axes")->count == 0) {
    tspec_diag_error(diag, view->range, "'%s' needs at least one mesh axis",
                     tspec_rules_spelling(view));
    return false;
  }
  return true;
}

static bool infer_collective(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                             tspec_type_t *out_results) {
  return check_axes(view, diag) && tspec_rules_infer_same(view, arena, diag, out_results);
}

/// Several tensors in one call: each result is the operand of its place.
static bool infer_each(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                       tspec_type_t *out_results) {
  if (view->noperands == 0) {
    tspec_diag_error(diag, view->range, "'%s' needs at least one operand",
                     tspec_rules_spelling(view));
    return false;
  }
  for (int i = 0; i < view->noperands; i++) {
    tspec_type_t operand = view->operands[i];
    out_results[i] = tspec_type_make(arena, operand.dtype, operand.rank, operand.dims);
  }
  return check_axes(view, diag);
}

// ---- parts of operands -------------------------------------------------------------------------

/// What the result shows of entry `index`, per operand and dim: as many elements as there are.
static tspec_window_t largest_window(const tspec_op_view_t *view, int64_t index) {
  const tspec_attr_t *shape = tspec_rules_attr(view, "shape");
  return tspec_window_make(shape->ints[index % shape->count],
                           view->operands[index / shape->count].dims[index % shape->count],
                           tspec_rules_attr(view, "lo")->ints[index],
                           tspec_rules_attr(view, "starts")->ints[index],
                           tspec_rules_attr(view, "steps")->ints[index]);
}

static bool fits_count(const tspec_op_view_t *view, int64_t index) {
  const tspec_attr_t *counts = tspec_op_attr(view, "counts");
  return counts == NULL ||
         (counts->ints[index] >= 0 && counts->ints[index] <= largest_window(view, index).count);
}

static bool check_parts(const tspec_op_view_t *view, const tspec_attr_t *shape,
                        tspec_diag_t *diag) {
  static const char *const names[] = {"lo", "starts", "steps", "counts"};
  for (int i = 0; i < 4; i++) {
    const tspec_attr_t *attr = tspec_op_attr(view, names[i]);
    bool may_lack = i == 3 && attr == NULL;
    if (!may_lack && (attr == NULL || attr->count != view->noperands * shape->count)) {
      tspec_diag_error(diag, view->range,
                       "'%s' with a shape needs %s, one entry per operand and dim",
                       tspec_rules_spelling(view), names[i]);
      return false;
    }
  }
  for (int64_t i = 0; i < view->noperands * shape->count; i++) {
    int64_t size = view->operands[i / shape->count].dims[i % shape->count];
    int64_t lo = tspec_rules_attr(view, "lo")->ints[i];
    int64_t start = tspec_rules_attr(view, "starts")->ints[i];
    if (lo < 0 || lo > shape->ints[i % shape->count] || start < 0 || start > size ||
        tspec_rules_attr(view, "steps")->ints[i] < 1 || !fits_count(view, i)) {
      tspec_diag_error(diag, view->range, "'%s' places no part of dim %lld of operand %lld so",
                       tspec_rules_spelling(view), (long long)(i % shape->count),
                       (long long)(i / shape->count));
      return false;
    }
  }
  return true;
}

/// Without a shape: one operand, which the result is. With one: parts of operands.
static bool infer_placing(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                          tspec_type_t *out_results) {
  const tspec_attr_t *shape = tspec_op_attr(view, "shape");
  bool fits = view->noperands == 1 || (view->noperands > 1 && shape != NULL);
  for (int i = 0; fits && shape != NULL && i < view->noperands; i++) {
    fits = view->operands[i].rank == shape->count &&
           view->operands[i].dtype == view->operands[0].dtype;
  }
  if (!fits) {
    tspec_diag_error(diag, view->range,
                     "'%s' takes one operand, or with a shape some of its rank and of one dtype",
                     tspec_rules_spelling(view));
    return false;
  }
  if (!infer_collective(view, arena, diag, out_results)) {
    return false;
  }
  if (shape == NULL) {
    return true;
  }
  if (!tspec_rules_check_shape(view, shape, diag) || !check_parts(view, shape, diag)) {
    return false;
  }
  int64_t *dims = tspec_arena_copy(arena, shape->ints, sizeof *shape->ints * (size_t)shape->count);
  out_results[0] = tspec_type_make(arena, view->operands[0].dtype, (int)shape->count, dims);
  return true;
}

static const tspec_window_t *windows_placing(const tspec_op_view_t *view, tspec_arena_t *arena) {
  const tspec_attr_t *shape = tspec_op_attr(view, "shape");
  if (shape == NULL) {
    return NULL;
  }
  const tspec_attr_t *counts = tspec_op_attr(view, "counts");
  int rank = (int)shape->count;
  tspec_window_t *windows = TSPEC_ARENA_NEW(arena, tspec_window_t, view->noperands * rank);
  for (int i = 0; i < view->noperands * rank; i++) {
    windows[i] = largest_window(view, i);
    windows[i].count = counts != NULL ? counts->ints[i] : windows[i].count;
  }
  return windows;
}

// ---- reductions --------------------------------------------------------------------------------

static bool check_reduction(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_reduce_t kind = tspec_rules_attr(view, "kind")->reduce;
  bool logical = kind == TSPEC_REDUCE_ALL || kind == TSPEC_REDUCE_ANY;
  bool is_bool = view->operands[0].dtype == TSPEC_DTYPE_BOOL;
  for (int i = 1; i < view->noperands; i++) {
    if (view->operands[i].dtype != view->operands[0].dtype) {
      tspec_diag_error(diag, view->range, "'%s' takes operands of one dtype, got %s and %s",
                       tspec_rules_spelling(view), tspec_type_print(arena, view->operands[0]),
                       tspec_type_print(arena, view->operands[i]));
      return false;
    }
  }
  if (logical != is_bool) {
    tspec_diag_error(diag, view->range, "'%s' by %s needs %s, got %s", tspec_rules_spelling(view),
                     tspec_reduce_name(kind), logical ? "bool" : "numbers",
                     tspec_type_print(arena, view->operands[0]));
    return false;
  }
  return true;
}

static bool infer_reducing(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results) {
  return infer_each(view, arena, diag, out_results) && check_reduction(view, arena, diag);
}

static const tspec_attr_spec_t reducing_attrs[] = {
    {"kind", TSPEC_ATTR_REDUCE, true, "how partial results combine"},
    {"axes", TSPEC_ATTR_AXES, true, "along which ranks take part, in mesh order"},
    {0},
};
static const tspec_attr_spec_t moving_attrs[] = {
    {"axes", TSPEC_ATTR_AXES, true, "along which ranks take part, in mesh order"},
    {0},
};

static const tspec_attr_spec_t placing_attrs[] = {
    {"axes", TSPEC_ATTR_AXES, true, "along which ranks take part, in mesh order"},
    {"shape", TSPEC_ATTR_INTS, false, "of a result that shows parts of the operands"},
    {"lo", TSPEC_ATTR_INTS, false, "with shape: where a part lies, per operand and dim"},
    {"starts", TSPEC_ATTR_INTS, false, "with shape: first element shown, per operand and dim"},
    {"steps", TSPEC_ATTR_INTS, false, "with shape: to the next one, per operand and dim"},
    {"counts", TSPEC_ATTR_INTS, false,
     "with shape: how many are shown, per operand and dim; as many as there are"},
    {"value", TSPEC_ATTR_FLOAT, false, "with shape: of elements that lie in no part; 0"},
    {0},
};

#define COLLECTIVE(id, attr_specs, infer_fn, windows_fn, text)                                     \
  const tspec_op_rules_t tspec_rules_##id = {                                                      \
      .summary = (text),                                                                           \
      .attrs = (attr_specs),                                                                       \
      .traits = TSPEC_TRAIT_COLLECTIVE,                                                            \
      .linear = TSPEC_LINEAR_NONE,                                                                 \
      .infer = (infer_fn),                                                                         \
      .windows = (windows_fn),                                                                     \
  }

COLLECTIVE(all_gather, moving_attrs, infer_each, NULL, "every rank gets the blocks of all");
COLLECTIVE(all_reduce, reducing_attrs, infer_reducing, NULL,
           "every rank gets the sum of the partials");
COLLECTIVE(all_slice, placing_attrs, infer_placing, windows_placing,
           "each rank keeps its part; nothing moves");
COLLECTIVE(all_to_all, moving_attrs, infer_collective, NULL,
           "an axis moves from one dim to another");
COLLECTIVE(permute, placing_attrs, infer_placing, windows_placing,
           "each block, or parts of it, moves to another rank");
COLLECTIVE(reduce_scatter, reducing_attrs, infer_reducing, NULL,
           "each rank gets its part of the sum");

// Not a collective: no rank needs another one for it.
const tspec_op_rules_t tspec_rules_make_pending = {
    .summary = "the value on the first rank along the axes, zero elsewhere",
    .attrs = reducing_attrs,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_reducing,
};
