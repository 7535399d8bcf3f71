// Ops between ranks. The value stays what it is; operand and result shardings say what moves. No
// factor rules: they stand where shardings differ on purpose.
#include "ir/rules/rules.h"

static bool infer_collective(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                             tspec_type_t *out_results) {
  if (tspec_rules_attr(view, "axes")->count == 0) {
    tspec_diag_error(diag, view->range, "'%s' needs at least one mesh axis",
                     tspec_rules_spelling(view));
    return false;
  }
  return tspec_rules_infer_same(view, arena, diag, out_results);
}

static bool infer_reducing(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results) {
  tspec_reduce_t kind = tspec_rules_attr(view, "kind")->reduce;
  bool logical = kind == TSPEC_REDUCE_ALL || kind == TSPEC_REDUCE_ANY;
  bool is_bool = view->operands[0].dtype == TSPEC_DTYPE_BOOL;
  if (logical != is_bool) {
    tspec_diag_error(diag, view->range, "'%s' by %s needs %s, got %s", tspec_rules_spelling(view),
                     tspec_reduce_name(kind), logical ? "bool" : "numbers",
                     tspec_type_print(arena, view->operands[0]));
    return false;
  }
  return infer_collective(view, arena, diag, out_results);
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

#define COLLECTIVE(id, attr_specs, infer_fn, text)                                                 \
  const tspec_op_rules_t tspec_rules_##id = {                                                      \
      .summary = (text),                                                                           \
      .attrs = (attr_specs),                                                                       \
      .traits = TSPEC_TRAIT_COLLECTIVE,                                                            \
      .linear = TSPEC_LINEAR_NONE,                                                                 \
      .infer = (infer_fn),                                                                         \
  }

COLLECTIVE(all_gather, moving_attrs, infer_collective, "every rank gets the blocks of all");
COLLECTIVE(all_reduce, reducing_attrs, infer_reducing, "every rank gets the sum of the partials");
COLLECTIVE(all_slice, moving_attrs, infer_collective, "each rank keeps its part; nothing moves");
COLLECTIVE(all_to_all, moving_attrs, infer_collective, "an axis moves from one dim to another");
COLLECTIVE(permute, moving_attrs, infer_collective, "each block moves to another rank");
COLLECTIVE(reduce_scatter, reducing_attrs, infer_reducing, "each rank gets its part of the sum");

// Not a collective: no rank needs another one for it.
const tspec_op_rules_t tspec_rules_make_pending = {
    .summary = "the value on the first rank along the axes, zero elsewhere",
    .attrs = reducing_attrs,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_reducing,
};
