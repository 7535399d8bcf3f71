// Ops that drop dims.
#include "ir/rules/rules.h"

/// The operand's type without the dims in the list.
static tspec_type_t without_dims(tspec_type_t type, const int64_t *dims, int64_t ndims,
                                 tspec_dtype_t dtype, tspec_arena_t *arena) {
  int64_t *sizes = TSPEC_ARENA_NEW(arena, int64_t, type.rank);
  int rank = 0;
  int64_t next = 0;
  for (int i = 0; i < type.rank; i++) {
    if (next < ndims && dims[next] == i) {
      next++;
    } else {
      sizes[rank++] = type.dims[i];
    }
  }
  return tspec_type_make(arena, dtype, rank, sizes);
}

static bool infer_reduce(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                         tspec_type_t *out_results) {
  tspec_type_t type = view->operands[0];
  tspec_reduce_t kind = tspec_rules_attr(view, "kind")->reduce;
  const tspec_attr_t *dims = tspec_rules_attr(view, "dims");
  bool logical = kind == TSPEC_REDUCE_ALL || kind == TSPEC_REDUCE_ANY;
  if (logical != (type.dtype == TSPEC_DTYPE_BOOL)) {
    tspec_diag_error(diag, view->range, "'%s' needs %s, got %s",
                     view->spelling != NULL ? view->spelling : tspec_reduce_name(kind),
                     logical ? "bool" : "numbers", tspec_type_print(arena, type));
    return false;
  }
  if (!tspec_rules_check_dims(view, dims, type, true, diag)) {
    return false;
  }
  out_results[0] = without_dims(type, dims->ints, dims->count, type.dtype, arena);
  return true;
}

static bool infer_arg_reduce(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                             tspec_type_t *out_results) {
  tspec_type_t type = view->operands[0];
  tspec_reduce_t kind = tspec_rules_attr(view, "kind")->reduce;
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  if (kind != TSPEC_REDUCE_MAX && kind != TSPEC_REDUCE_MIN) {
    tspec_diag_error(diag, view->range, "'%s' is of kind max or min, got %s",
                     tspec_rules_spelling(view), tspec_reduce_name(kind));
    return false;
  }
  if (dim < 0 || dim >= type.rank) {
    tspec_diag_error(diag, view->range, "'%s' along dim %lld of %s, which has %d dims",
                     tspec_rules_spelling(view), (long long)dim, tspec_type_print(arena, type),
                     type.rank);
    return false;
  }
  if (type.dims[dim] > INT32_MAX) {
    tspec_diag_error(diag, view->range, "'%s' along dim %lld of %s: the index does not fit i32",
                     tspec_rules_spelling(view), (long long)dim, tspec_type_print(arena, type));
    return false;
  }
  out_results[0] = without_dims(type, &dim, 1, TSPEC_DTYPE_I32, arena);
  return true;
}

/// Kept dims are shared, dropped ones are the operand's alone.
static const tspec_factor_rule_t *rule_dropping(const tspec_op_view_t *view, const int64_t *dims,
                                                int64_t ndims, tspec_arena_t *arena,
                                                tspec_factor_rule_t *out_rule) {
  tspec_type_t type = view->operands[0];
  tspec_rule_builder_t builder = tspec_rules_builder(view, arena);
  int64_t next = 0;
  int at = 0;
  for (int i = 0; i < type.rank; i++) {
    bool dropped = next < ndims && dims[next] == i;
    int f = tspec_rule_builder_factor(&builder, type.dims[i],
                                      dropped ? TSPEC_FACTOR_REDUCTION : TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, i, f);
    if (dropped) {
      next++;
    } else {
      tspec_rule_builder_map_result(&builder, 0, at++, f);
    }
  }
  *out_rule = *tspec_rule_builder_finish(&builder);
  return out_rule;
}

static const tspec_factor_rule_t *rule_reduce(const tspec_op_view_t *view, tspec_arena_t *arena,
                                              bool conservative) {
  (void)conservative;
  const tspec_attr_t *dims = tspec_rules_attr(view, "dims");
  tspec_factor_rule_t *rule = TSPEC_ARENA_NEW(arena, tspec_factor_rule_t, 1);
  rule_dropping(view, dims->ints, dims->count, arena, rule);
  rule->reduce = tspec_rules_attr(view, "kind")->reduce;
  return rule;
}

static const tspec_factor_rule_t *rule_arg_reduce(const tspec_op_view_t *view, tspec_arena_t *arena,
                                                  bool conservative) {
  (void)conservative;
  int64_t dim = tspec_rules_attr(view, "dim")->i;
  tspec_factor_rule_t *rule = TSPEC_ARENA_NEW(arena, tspec_factor_rule_t, 1);
  rule_dropping(view, &dim, 1, arena, rule);
  rule->reduce = tspec_rules_attr(view, "kind")->reduce;
  rule->gathers_partials = true; // an index alone does not say which value it stands for
  return rule;
}

// A sum of sums, the largest of the largest; a sum of maxima is neither.
static tspec_linear_t linear_reduce(const tspec_op_view_t *view, tspec_reduce_t kind) {
  return tspec_rules_attr(view, "kind")->reduce == kind ? TSPEC_LINEAR_EACH : TSPEC_LINEAR_NONE;
}

static const tspec_attr_spec_t reduce_attrs[] = {
    {"kind", TSPEC_ATTR_REDUCE, true,
     "how elements combine: numbers by sum prod max min, bools by all any"},
    {"dims", TSPEC_ATTR_INTS, true, "dropped, in increasing order"},
    {0},
};
static const tspec_attr_spec_t arg_reduce_attrs[] = {
    {"kind", TSPEC_ATTR_REDUCE, true, "max or min; NaN counts as the largest or smallest"},
    {"dim", TSPEC_ATTR_INT, true, "dropped"},
    {0},
};

const tspec_op_rules_t tspec_rules_reduce = {
    .summary = "sum, prod, max, min, all or any over dims, which are dropped",
    .attrs = reduce_attrs,
    .linear = TSPEC_LINEAR_EACH,
    .infer = infer_reduce,
    .rule = rule_reduce,
    .linear_over = linear_reduce,
};

const tspec_op_rules_t tspec_rules_arg_reduce = {
    .summary = "index of the largest or smallest along a dim, the first of equals",
    .attrs = arg_reduce_attrs,
    .linear = TSPEC_LINEAR_NONE,
    .infer = infer_arg_reduce,
    .rule = rule_arg_reduce,
};
