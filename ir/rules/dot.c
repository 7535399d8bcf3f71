// The general matrix product: batch dims, free dims of the left side, of the right side.
#include "ir/rules/rules.h"

typedef struct dot_dims_t {
  const tspec_attr_t *lhs_batch;
  const tspec_attr_t *rhs_batch;
  const tspec_attr_t *lhs_contract;
  const tspec_attr_t *rhs_contract;
} dot_dims_t;

static dot_dims_t dot_dims(const tspec_op_view_t *view) {
  return (dot_dims_t){
      tspec_rules_attr(view, "lhs_batch"),
      tspec_rules_attr(view, "rhs_batch"),
      tspec_rules_attr(view, "lhs_contract"),
      tspec_rules_attr(view, "rhs_contract"),
  };
}

/// Dims that are paired must have one size.
static bool check_pairs(const tspec_op_view_t *view, const tspec_attr_t *lhs,
                        const tspec_attr_t *rhs, tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_type_t a = view->operands[0];
  tspec_type_t b = view->operands[1];
  if (lhs->count != rhs->count) {
    tspec_diag_error(diag, view->range, "'%s': %s has %lld dims, but %s has %lld",
                     tspec_rules_spelling(view), lhs->name, (long long)lhs->count, rhs->name,
                     (long long)rhs->count);
    return false;
  }
  for (int64_t i = 0; i < lhs->count; i++) {
    int64_t m = lhs->ints[i];
    int64_t n = rhs->ints[i];
    if (a.dims[m] != b.dims[n]) {
      tspec_diag_error(diag, view->range,
                       "'%s' pairs dim %lld of %s (size %lld) with dim %lld of %s (size %lld)",
                       tspec_rules_spelling(view), (long long)m, tspec_type_print(arena, a),
                       (long long)a.dims[m], (long long)n, tspec_type_print(arena, b),
                       (long long)b.dims[n]);
      return false;
    }
  }
  return true;
}

static bool check_disjoint(const tspec_op_view_t *view, const tspec_attr_t *a,
                           const tspec_attr_t *b, tspec_diag_t *diag) {
  for (int64_t i = 0; i < a->count; i++) {
    if (tspec_rules_contains(b, a->ints[i])) {
      tspec_diag_error(diag, view->range, "'%s': dim %lld is in %s and in %s",
                       tspec_rules_spelling(view), (long long)a->ints[i], a->name, b->name);
      return false;
    }
  }
  return true;
}

static bool check_dtypes(const tspec_op_view_t *view, tspec_dtype_t result, tspec_arena_t *arena,
                         tspec_diag_t *diag) {
  tspec_type_t a = view->operands[0];
  tspec_type_t b = view->operands[1];
  if (a.dtype != b.dtype || a.dtype == TSPEC_DTYPE_BOOL) {
    tspec_diag_error(
        diag, view->range, "'%s' needs two operands of one number dtype, got %s and %s",
        tspec_rules_spelling(view), tspec_type_print(arena, a), tspec_type_print(arena, b));
    return false;
  }
  if (result == TSPEC_DTYPE_BOOL || tspec_dtype_is_float(a.dtype) != tspec_dtype_is_float(result)) {
    tspec_diag_error(diag, view->range, "'%s' of %s and %s cannot give %s",
                     tspec_rules_spelling(view), tspec_type_print(arena, a),
                     tspec_type_print(arena, b), tspec_dtype_name(result));
    return false;
  }
  return true;
}

static bool is_free(const tspec_attr_t *batch, const tspec_attr_t *contract, int64_t dim) {
  return !tspec_rules_contains(batch, dim) && !tspec_rules_contains(contract, dim);
}

static bool check_dot(const tspec_op_view_t *view, const dot_dims_t *dims, tspec_arena_t *arena,
                      tspec_diag_t *diag) {
  tspec_type_t a = view->operands[0];
  tspec_type_t b = view->operands[1];
  return check_dtypes(view, tspec_rules_attr(view, "dtype")->dtype, arena, diag) &&
         tspec_rules_check_dims(view, dims->lhs_batch, a, false, diag) &&
         tspec_rules_check_dims(view, dims->rhs_batch, b, false, diag) &&
         tspec_rules_check_dims(view, dims->lhs_contract, a, false, diag) &&
         tspec_rules_check_dims(view, dims->rhs_contract, b, false, diag) &&
         check_disjoint(view, dims->lhs_batch, dims->lhs_contract, diag) &&
         check_disjoint(view, dims->rhs_batch, dims->rhs_contract, diag) &&
         check_pairs(view, dims->lhs_batch, dims->rhs_batch, arena, diag) &&
         check_pairs(view, dims->lhs_contract, dims->rhs_contract, arena, diag);
}

bool tspec_rules_infer_dot(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results) {
  dot_dims_t dims = dot_dims(view);
  if (!check_dot(view, &dims, arena, diag)) {
    return false;
  }
  tspec_type_t a = view->operands[0];
  tspec_type_t b = view->operands[1];
  int64_t *sizes = TSPEC_ARENA_NEW(arena, int64_t, a.rank + b.rank);
  int rank = 0;
  for (int64_t i = 0; i < dims.lhs_batch->count; i++) {
    sizes[rank++] = a.dims[dims.lhs_batch->ints[i]];
  }
  for (int i = 0; i < a.rank; i++) {
    if (is_free(dims.lhs_batch, dims.lhs_contract, i)) {
      sizes[rank++] = a.dims[i];
    }
  }
  for (int i = 0; i < b.rank; i++) {
    if (is_free(dims.rhs_batch, dims.rhs_contract, i)) {
      sizes[rank++] = b.dims[i];
    }
  }
  tspec_dtype_t dtype = tspec_rules_attr(view, "dtype")->dtype;
  out_results[0] = tspec_type_make(arena, dtype, rank, sizes);
  return true;
}

static const tspec_factor_rule_t *rule_dot(const tspec_op_view_t *view, tspec_arena_t *arena,
                                           bool conservative) {
  (void)conservative;
  dot_dims_t dims = dot_dims(view);
  tspec_type_t a = view->operands[0];
  tspec_type_t b = view->operands[1];
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  int at = 0;
  for (int64_t i = 0; i < dims.lhs_batch->count; i++) {
    int64_t m = dims.lhs_batch->ints[i];
    int f = tspec_rule_builder_factor(&builder, a.dims[m], TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, (int)m, f);
    tspec_rule_builder_map_operand(&builder, 1, (int)dims.rhs_batch->ints[i], f);
    tspec_rule_builder_map_result(&builder, 0, at++, f);
  }
  for (int i = 0; i < a.rank; i++) {
    if (is_free(dims.lhs_batch, dims.lhs_contract, i)) {
      int f = tspec_rule_builder_factor(&builder, a.dims[i], TSPEC_FACTOR_PASS_THROUGH);
      tspec_rule_builder_map_operand(&builder, 0, i, f);
      tspec_rule_builder_map_result(&builder, 0, at++, f);
    }
  }
  for (int i = 0; i < b.rank; i++) {
    if (is_free(dims.rhs_batch, dims.rhs_contract, i)) {
      int f = tspec_rule_builder_factor(&builder, b.dims[i], TSPEC_FACTOR_PASS_THROUGH);
      tspec_rule_builder_map_operand(&builder, 1, i, f);
      tspec_rule_builder_map_result(&builder, 0, at++, f);
    }
  }
  for (int64_t i = 0; i < dims.lhs_contract->count; i++) {
    int64_t m = dims.lhs_contract->ints[i];
    int f = tspec_rule_builder_factor(&builder, a.dims[m], TSPEC_FACTOR_REDUCTION);
    tspec_rule_builder_map_operand(&builder, 0, (int)m, f);
    tspec_rule_builder_map_operand(&builder, 1, (int)dims.rhs_contract->ints[i], f);
  }
  return tspec_rule_builder_finish(&builder); // partial results add up: TSPEC_REDUCE_SUM is 0
}

static const tspec_attr_spec_t dot_attrs[] = {
    {"lhs_batch", TSPEC_ATTR_INTS, true,
     "dims of lhs that are batch dims, paired with rhs_batch; first in the result"},
    {"rhs_batch", TSPEC_ATTR_INTS, true, "the same of rhs"},
    {"lhs_contract", TSPEC_ATTR_INTS, true,
     "dims of lhs that are summed over, paired with rhs_contract; the others follow in the result"},
    {"rhs_contract", TSPEC_ATTR_INTS, true,
     "the same of rhs, whose other dims come last in the result"},
    {"dtype", TSPEC_ATTR_DTYPE, true, "of the sum and of the result"},
    {0},
};

const tspec_op_rules_t tspec_rules_dot = {
    .summary = "matrix product over batch, free and contracted dims",
    .attrs = dot_attrs,
    .linear = TSPEC_LINEAR_ONE,
    .infer = tspec_rules_infer_dot,
    .rule = rule_dot,
};
