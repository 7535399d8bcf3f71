// Values without operands. They have no factor rule: each rank makes the block that is asked for.
#include "ir/rules/rules.h"

static bool infer_constant(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results) {
  const tspec_attr_t *shape = tspec_rules_attr(view, "shape");
  const tspec_attr_t *values = tspec_rules_attr(view, "values");
  if (!tspec_rules_check_shape(view, shape, diag)) {
    return false;
  }
  tspec_dtype_t dtype = tspec_rules_attr(view, "dtype")->dtype;
  out_results[0] = tspec_type_make(arena, dtype, (int)shape->count, shape->ints);
  int64_t elems = tspec_type_elems(out_results[0]);
  if (values->count != 1 && values->count != elems) {
    tspec_diag_error(diag, view->range, "'%s' of type %s needs 1 value or %lld values, got %lld",
                     tspec_rules_spelling(view), tspec_type_print(arena, out_results[0]),
                     (long long)elems, (long long)values->count);
    return false;
  }
  return true;
}

static bool infer_iota(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                       tspec_type_t *out_results) {
  const tspec_attr_t *shape = tspec_rules_attr(view, "shape");
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  tspec_dtype_t dtype = tspec_rules_attr(view, "dtype")->dtype;
  if (!tspec_rules_check_shape(view, shape, diag)) {
    return false;
  }
  if (dim < 0 || dim >= shape->count) {
    tspec_diag_error(diag, view->range, "'%s' has no dim %lld, its shape has %lld dims",
                     tspec_rules_spelling(view), (long long)dim, (long long)shape->count);
    return false;
  }
  if (dtype == TSPEC_DTYPE_BOOL) {
    tspec_diag_error(diag, view->range, "'%s' counts in numbers, not in bool",
                     tspec_rules_spelling(view));
    return false;
  }
  out_results[0] = tspec_type_make(arena, dtype, (int)shape->count, shape->ints);
  return true;
}

static const tspec_attr_spec_t constant_attrs[] = {
    {"dtype", TSPEC_ATTR_DTYPE, true, "of the result"},
    {"shape", TSPEC_ATTR_INTS, true, "of the result"},
    {"values", TSPEC_ATTR_FLOATS, true, "one for all elements, or all in row-major order"},
    {0},
};

static const tspec_attr_spec_t iota_attrs[] = {
    {"dtype", TSPEC_ATTR_DTYPE, true, "of the result"},
    {"shape", TSPEC_ATTR_INTS, true, "of the result"},
    {"dim", TSPEC_ATTR_INT, true, "whose index is each element's value"},
    {0},
};

const tspec_op_rules_t tspec_rules_constant = {
    .summary = "given values: one for all elements, or each",
    .attrs = constant_attrs,
    .traits = TSPEC_TRAIT_CONSTANT_LIKE,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_constant,
};

const tspec_op_rules_t tspec_rules_iota = {
    .summary = "each element's index along a dim",
    .attrs = iota_attrs,
    .traits = TSPEC_TRAIT_CONSTANT_LIKE,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_iota,
};
