// Assignments: to locals, which rebinds them; to state, parameters and parts of tensors, which is
// checked, but not compiled.
#include <string.h>

#include "frontend/check_ops.h"

// ---- state and parameters --------------------------------------------------------------------

tspec_type_t tspec_check_slot_type(const tspec_slot_t *slot) {
  return (tspec_type_t){.dtype = slot->type.dtype,
                        .rank = slot->type.rank - slot->nstack,
                        .dims = slot->type.dims + slot->nstack};
}

// A type written f32 takes the compute dtype, too.
static bool fits_dtype(const tspec_checker_t *c, const tspec_slot_t *slot, tspec_dtype_t got) {
  bool is_f32 = slot->was_f32 || slot->type.dtype == TSPEC_DTYPE_F32;
  return got == slot->type.dtype || (is_f32 && (got == TSPEC_DTYPE_F32 || got == c->compute_dtype));
}

static bool fits_slot(tspec_checker_t *c, const tspec_slot_t *slot, tspec_operand_t value) {
  tspec_type_t type = tspec_check_slot_type(slot);
  if (value.cv.kind == TSPEC_CV_NUMBER && type.rank == 0) {
    return tspec_check_number_fits(c, value.cv.u.number, type.dtype, value.range);
  }
  bool ok = value.cv.kind == TSPEC_CV_TENSOR && tspec_shape_equal(value.cv.u.tensor->type, type) &&
            fits_dtype(c, slot, value.cv.u.tensor->type.dtype);
  if (!ok && value.cv.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, value.range, "the %s '%s' is %s, but what is assigned is %s",
                      slot->is_state ? "state" : "parameter", slot->path,
                      tspec_type_print(c->arena, type), tspec_check_describe(c, value.cv));
    tspec_check_note(c, slot->range, "declared here");
  }
  return ok;
}

static void assign_slot(tspec_checker_t *c, tspec_slot_t *slot, tspec_range_t target,
                        tspec_operand_t value) {
  const char *what = slot->is_state ? "state" : "parameter";
  tspec_check_absent(c, target,
                     tspec_arena_printf(c->arena, "assigning the %s '%s'", what, slot->path));
  if (!tspec_check_slot_visible(c, slot, target)) {
    return;
  }
  if (!slot->is_state && c->frame->scan != NULL) {
    tspec_check_error(c, target,
                      "the parameter '%s' is assigned in a scan: state alone passes from iteration "
                      "to iteration",
                      slot->path);
    return;
  }
  if (slot->is_tree) {
    tspec_check_like_params(c, value, tspec_arena_printf(c->arena, "'%s'", slot->path));
  } else {
    fits_slot(c, slot, value);
  }
}

// ---- names -----------------------------------------------------------------------------------

// A parameter or a slot within an optimizer's update: its type stays, f64 scalars and the like are
// rounded to it.
static bool keeps_type(tspec_checker_t *c, const tspec_named_t *local, tspec_operand_t value) {
  tspec_type_t type = local->cv.u.tensor->type;
  if (value.cv.kind == TSPEC_CV_NUMBER && type.rank == 0) {
    return true;
  }
  bool ok = value.cv.kind == TSPEC_CV_TENSOR && tspec_shape_equal(value.cv.u.tensor->type, type) &&
            (value.cv.u.tensor->type.dtype == type.dtype ||
             value.cv.u.tensor->type.dtype == TSPEC_DTYPE_F64);
  if (!ok && value.cv.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, value.range, "'%s' is %s in this update, but what is assigned is %s",
                      local->name, tspec_type_print(c->arena, type),
                      tspec_check_describe(c, value.cv));
  }
  return ok;
}

static void rebind(tspec_checker_t *c, tspec_named_t *local, const tspec_ast_expr_t *target,
                   tspec_operand_t value) {
  if (local->scan != c->frame->scan) {
    tspec_check_error(
        c, target->range,
        "'%s' is a local from outside this scan: a carry passes it on ('scan %s = %s, "
        "..', 'next ..')",
        local->name, local->name, local->name);
    tspec_check_note(c, local->range, "declared here");
    return;
  }
  if (local->keeps_type) {
    keeps_type(c, local, value);
    return;
  }
  local->cv = tspec_check_single(c, value.cv, local->name, value.range);
  if (local->cv.kind == TSPEC_CV_TENSOR) {
    const char *path = tspec_check_join_path(c, c->frame->path, local->name);
    tspec_emit_constraint(c, (tspec_site_t){target->range, NULL}, local->cv.u.tensor, NULL, path);
  }
}

static void assign_name(tspec_checker_t *c, const tspec_ast_expr_t *target, tspec_operand_t value) {
  const char *name = target->u.name;
  tspec_named_t *local = tspec_frame_find(c->frame, name);
  if (local != NULL) {
    rebind(c, local, target, value);
    return;
  }
  tspec_cv_t old;
  if (!tspec_check_lookup(c, name, target->range, &old)) {
    tspec_check_undeclared(c, name, target->range);
    return;
  }
  if (old.kind == TSPEC_CV_SLOT) {
    assign_slot(c, old.u.slot, target->range, value);
  } else if (old.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, target->range,
                      "'%s' cannot be assigned: it is no local, state or parameter; 'let %s = ..' "
                      "makes a local",
                      name, name);
    tspec_range_t declared;
    if (tspec_check_declared_at(c, name, &declared)) {
      tspec_check_note(c, declared, "'%s' is declared here", name);
    }
  }
}

// ---- members and parts -----------------------------------------------------------------------

static void assign_member(tspec_checker_t *c, const tspec_ast_expr_t *target,
                          tspec_operand_t value) {
  tspec_cv_t old = tspec_check_reference(c, target);
  if (old.kind == TSPEC_CV_SLOT) {
    assign_slot(c, old.u.slot, target->range, value);
  } else if (old.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, target->range, "%s cannot be assigned: a state of an instance can",
                      tspec_check_describe(c, old));
  }
}

static void assign_to(tspec_checker_t *c, const tspec_ast_expr_t *target, tspec_operand_t value);

// `x` with that part replaced: the part takes what broadcasts to it, x keeps its type.
static void assign_part(tspec_checker_t *c, const tspec_ast_expr_t *target, tspec_operand_t value) {
  tspec_check_absent(c, target->range, "assigning a part of a tensor");
  const tspec_ast_expr_t *base = target->u.index.base;
  tspec_cv_t whole = tspec_check_expr(c, base);
  if (whole.kind != TSPEC_CV_TENSOR) {
    if (whole.kind != TSPEC_CV_ERROR) {
      tspec_check_error(c, base->range, "a part of %s cannot be assigned",
                        tspec_check_describe(c, whole));
    }
    return;
  }
  tspec_cv_t part = tspec_check_index(c, target);
  if (part.kind != TSPEC_CV_TENSOR) {
    return;
  }
  tspec_site_t site = {target->range, "="};
  if (value.cv.kind != TSPEC_CV_ERROR && !tspec_check_part(c, site, value, part.u.tensor->type)) {
    return;
  }
  tspec_value_t *operands[] = {whole.u.tensor, value.cv.kind == TSPEC_CV_TENSOR ? value.cv.u.tensor
                                                                                : whole.u.tensor};
  tspec_value_t *updated = tspec_emit_absent(c, site, whole.u.tensor->type, 2, operands);
  assign_to(c, base, (tspec_operand_t){tspec_cv_tensor(updated), value.range});
}

static void assign_to(tspec_checker_t *c, const tspec_ast_expr_t *target, tspec_operand_t value) {
  if (target->kind == TSPEC_AST_EXPR_NAME) {
    assign_name(c, target, value);
  } else if (target->kind == TSPEC_AST_EXPR_INDEX) {
    assign_part(c, target, value);
  } else {
    assign_member(c, target, value);
  }
}

void tspec_check_assign(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  tspec_operand_t value = {tspec_check_expr(c, stmt->u.assign.value), stmt->u.assign.value->range};
  assign_to(c, stmt->u.assign.target, value);
}
