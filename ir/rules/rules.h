// What the files in ir/rules share: reading attributes, common checks with their messages. Private
// to this folder.
#ifndef TSPEC_IR_RULES_RULES_H
#define TSPEC_IR_RULES_RULES_H

#include "ir/op_rules.h"

/// What the user wrote, or the op's name; without quotes.
const char *tspec_rules_spelling(const tspec_op_view_t *view);

/// The attribute of that name, which tspec_op_check_form has found to be there.
const tspec_attr_t *tspec_rules_attr(const tspec_op_view_t *view, const char *name);

/// The `dims` of an INTS attribute must lie in 0 .. rank - 1, each once; `sorted`: increasing.
/// Errors: false after reporting.
bool tspec_rules_check_dims(const tspec_op_view_t *view, const tspec_attr_t *dims, tspec_type_t of,
                            bool sorted, tspec_diag_t *diag);

/// The INTS attribute must have one entry per dim of `of`. Errors: false after reporting.
bool tspec_rules_check_count(const tspec_op_view_t *view, const tspec_attr_t *ints, tspec_type_t of,
                             tspec_diag_t *diag);

/// The INTS attribute `shape` must have sizes of at least 1. Errors: false after reporting.
bool tspec_rules_check_shape(const tspec_op_view_t *view, const tspec_attr_t *shape,
                             tspec_diag_t *diag);

/// True if `value` is in the list.
bool tspec_rules_contains(const tspec_attr_t *ints, int64_t value);

/// Result type = type of operand 0.
bool tspec_rules_infer_same(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                            tspec_type_t *out_results);
/// One factor per dim, in all tensors.
const tspec_factor_rule_t *tspec_rules_pointwise(const tspec_op_view_t *view, tspec_arena_t *arena,
                                                 bool conservative);
/// Ops that only place elements distribute over every kind of partial result.
tspec_linear_t tspec_rules_moves_elements(const tspec_op_view_t *view, tspec_reduce_t kind);
/// reshape's result type, also view's.
bool tspec_rules_infer_reshape(const tspec_op_view_t *view, tspec_arena_t *arena,
                               tspec_diag_t *diag, tspec_type_t *out_results);
/// dot's result type, also gemm's.
bool tspec_rules_infer_dot(const tspec_op_view_t *view, tspec_arena_t *arena, tspec_diag_t *diag,
                           tspec_type_t *out_results);

/// A builder for the view's tensors.
tspec_rule_builder_t tspec_rules_builder(const tspec_op_view_t *view, tspec_arena_t *arena);

#endif
