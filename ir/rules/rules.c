#include "ir/rules/rules.h"

const char *tspec_rules_spelling(const tspec_op_view_t *view) {
  return view->spelling != NULL ? view->spelling : tspec_op_info(view->kind)->name;
}

const tspec_attr_t *tspec_rules_attr(const tspec_op_view_t *view, const char *name) {
  const tspec_attr_t *attr = tspec_op_attr(view, name);
  TSPEC_CHECK(attr != NULL, "op '%s' without '%s'", tspec_op_info(view->kind)->name, name);
  return attr;
}

bool tspec_rules_check_dims(const tspec_op_view_t *view, const tspec_attr_t *dims, tspec_type_t of,
                            bool sorted, tspec_diag_t *diag) {
  for (int64_t i = 0; i < dims->count; i++) {
    if (dims->ints[i] < 0 || dims->ints[i] >= of.rank) {
      tspec_diag_error(diag, view->range, "'%s': %s has dim %lld, but the tensor has %d dims",
                       tspec_rules_spelling(view), dims->name, (long long)dims->ints[i], of.rank);
      return false;
    }
    for (int64_t j = 0; j < i; j++) {
      if (dims->ints[j] == dims->ints[i]) {
        tspec_diag_error(diag, view->range, "'%s': %s has dim %lld twice",
                         tspec_rules_spelling(view), dims->name, (long long)dims->ints[i]);
        return false;
      }
    }
    if (sorted && i > 0 && dims->ints[i] < dims->ints[i - 1]) {
      tspec_diag_error(diag, view->range, "'%s': %s must increase, but %lld follows %lld",
                       tspec_rules_spelling(view), dims->name, (long long)dims->ints[i],
                       (long long)dims->ints[i - 1]);
      return false;
    }
  }
  return true;
}

bool tspec_rules_check_count(const tspec_op_view_t *view, const tspec_attr_t *ints, tspec_type_t of,
                             tspec_diag_t *diag) {
  if (ints->count != of.rank) {
    tspec_diag_error(diag, view->range, "'%s': %s has %lld entries, but the tensor has %d dims",
                     tspec_rules_spelling(view), ints->name, (long long)ints->count, of.rank);
    return false;
  }
  return true;
}

bool tspec_rules_check_shape(const tspec_op_view_t *view, const tspec_attr_t *shape,
                             tspec_diag_t *diag) {
  for (int64_t i = 0; i < shape->count; i++) {
    if (shape->ints[i] < 1) {
      tspec_diag_error(diag, view->range, "'%s': size %lld of dim %lld must be at least 1",
                       tspec_rules_spelling(view), (long long)shape->ints[i], (long long)i);
      return false;
    }
  }
  return true;
}

bool tspec_rules_contains(const tspec_attr_t *ints, int64_t value) {
  for (int64_t i = 0; i < ints->count; i++) {
    if (ints->ints[i] == value) {
      return true;
    }
  }
  return false;
}

bool tspec_rules_infer_same(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                            tspec_type_t *out_results) {
  (void)diag;
  tspec_type_t operand = view->operands[0];
  out_results[0] = tspec_type_make(arena, operand.dtype, operand.rank, operand.dims);
  return true;
}

tspec_rule_builder_t tspec_rules_builder(const tspec_op_view_t *view, tspec_arena_t *arena) {
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, arena, view->noperands, view->operands, view->nresults,
                          view->results);
  return builder;
}

const tspec_factor_rule_t *tspec_rules_pointwise(const tspec_op_view_t *view, tspec_arena_t *arena,
                                                 bool conservative) {
  (void)conservative;
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  tspec_rule_builder_pointwise(&builder);
  return tspec_rule_builder_finish(&builder);
}

tspec_linear_t tspec_rules_moves_elements(const tspec_op_view_t *view, tspec_reduce_t kind) {
  (void)view;
  (void)kind;
  return TSPEC_LINEAR_EACH;
}
