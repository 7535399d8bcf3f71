#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

// ---- let -------------------------------------------------------------------------------------

tspec_cv_t tspec_check_single(tspec_checker_t *c, tspec_cv_t cv, const char *name,
                              tspec_range_t range) {
  if (cv.kind == TSPEC_CV_TUPLE) {
    tspec_check_error(c, range, "'%s' would be %zu values; let (a, ..) = .. takes them apart", name,
                      cv.u.list->count);
    return tspec_cv_error();
  }
  if (cv.kind == TSPEC_CV_NONE) {
    tspec_check_error(c, range, "'%s' would have no value: this call returns none", name);
    return tspec_cv_error();
  }
  cv.axis = NULL;
  return cv;
}

// A tensor gets the name of its let and, if something says so, a constraint.
static tspec_cv_t place_let(tspec_checker_t *c, tspec_ast_name_t name, tspec_cv_t cv,
                            const tspec_ast_sharding_t *written, const char *const *axes) {
  if (cv.kind != TSPEC_CV_TENSOR) {
    if (written != NULL && cv.kind != TSPEC_CV_ERROR) {
      tspec_check_error(c, written->range, "a sharding needs a tensor, but '%s' is %s", name.text,
                        tspec_check_describe(c, cv));
    }
    return cv;
  }
  const char *path = tspec_check_join_path(c, c->frame->path, name.text);
  tspec_declared_t declared = {.kind = TSPEC_DECLARED_LET,
                               .path = path,
                               .type = cv.u.tensor->type,
                               .axes = axes,
                               .written = written,
                               .range = name.range};
  const tspec_sharding_t *sharding = tspec_check_starting_sharding(c, &declared);
  tspec_site_t site = {name.range, NULL};
  return tspec_cv_tensor(tspec_emit_constraint(c, site, cv.u.tensor, sharding, path));
}

static void check_tuple_let(tspec_checker_t *c, const tspec_ast_stmt_t *stmt, tspec_cv_t cv) {
  const tspec_ast_names_t *names = &stmt->u.let.names;
  size_t count = cv.kind == TSPEC_CV_TUPLE ? cv.u.list->count : cv.kind == TSPEC_CV_NONE ? 0 : 1;
  if (cv.kind != TSPEC_CV_ERROR && count != names->count) {
    tspec_check_error(c, stmt->u.let.value->range, "%zu name%s for %zu value%s", names->count,
                      names->count == 1 ? "" : "s", count, count == 1 ? "" : "s");
    cv = tspec_cv_error();
  }
  for (size_t i = 0; i < names->count; ++i) {
    tspec_cv_t item = cv.kind == TSPEC_CV_TUPLE ? cv.u.list->items[i] : cv;
    item.axis = NULL;
    if (strcmp(names->items[i].text, "_") != 0) {
      tspec_frame_add(c, names->items[i], place_let(c, names->items[i], item, NULL, NULL));
    }
  }
}

static void check_let(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  tspec_cv_t cv = tspec_check_expr(c, stmt->u.let.value);
  if (stmt->u.let.is_tuple) {
    check_tuple_let(c, stmt, cv);
    return;
  }
  tspec_ast_name_t name = stmt->u.let.names.items[0];
  const char *const *axes = NULL;
  cv = tspec_check_single(c, cv, name.text, stmt->u.let.value->range);
  if (stmt->u.let.type != NULL) {
    const char *what = tspec_arena_printf(c->arena, "'%s'", name.text);
    tspec_operand_t operand = {cv, stmt->u.let.value->range};
    cv = tspec_check_fits(c, stmt->u.let.type, operand, what, &axes);
  }
  tspec_frame_add(c, name, place_let(c, name, cv, stmt->u.let.sharding, axes));
}

// ---- return ----------------------------------------------------------------------------------

typedef TSPEC_VEC(tspec_cv_t) values_t;

// Several values of a call count as several.
static bool add_returned(tspec_checker_t *c, const tspec_ast_expr_t *expr, values_t *values) {
  tspec_cv_t cv = tspec_check_expr(c, expr);
  cv.axis = NULL;
  if (cv.kind == TSPEC_CV_NONE) {
    tspec_check_error(c, expr->range, "this call returns no value");
    return false;
  }
  if (cv.kind != TSPEC_CV_TUPLE) {
    TSPEC_VEC_PUSH(c->arena, values, cv);
    return cv.kind != TSPEC_CV_ERROR;
  }
  for (size_t i = 0; i < cv.u.list->count; ++i) {
    TSPEC_VEC_PUSH(c->arena, values, cv.u.list->items[i]);
  }
  return true;
}

static tspec_cv_t join_returned(tspec_checker_t *c, const values_t *values) {
  if (values->count == 0) {
    return (tspec_cv_t){.kind = TSPEC_CV_NONE};
  }
  if (values->count == 1) {
    return values->items[0];
  }
  tspec_cvs_t *list = TSPEC_ARENA_NEW(c->arena, tspec_cvs_t, 1);
  *list = (tspec_cvs_t){values->count, values->items};
  return (tspec_cv_t){.kind = TSPEC_CV_TUPLE, .u.list = list};
}

static void check_return(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  values_t values = {0};
  bool ok = true;
  for (size_t i = 0; i < stmt->u.ret.count; ++i) {
    ok = add_returned(c, stmt->u.ret.items[i], &values) && ok;
  }
  if (c->frame->nloops > 0) {
    tspec_check_error(c, stmt->range, "'return' inside a 'for': it stands last in its function");
    ok = false;
  }
  if (c->frame->scan != NULL) {
    tspec_check_error(c, stmt->range,
                      "'return' inside a 'scan': its body ends with 'next' and 'emit'");
    return;
  }
  c->frame->returned = true;
  c->frame->result = ok ? join_returned(c, &values) : tspec_cv_error();
}

// ---- for, if ---------------------------------------------------------------------------------

static void check_for(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  int64_t lo = 0, hi = 0;
  bool ok = tspec_check_loop(c, stmt->u.loop.lo, stmt->u.loop.hi, &lo, &hi);
  size_t nlive = c->frame->live.count;
  int nerrors = c->diag->nerrors;
  ++c->frame->nloops;
  for (int64_t i = lo; ok && i < hi; ++i) {
    tspec_frame_add(c, stmt->u.loop.var, tspec_cv_number((double)i));
    tspec_check_block(c, &stmt->u.loop.body);
    tspec_frame_trim(c, nlive);
    ok = c->diag->nerrors == nerrors; // the other iterations would only say the same
  }
  --c->frame->nloops;
}

static bool check_condition(tspec_checker_t *c, const tspec_ast_expr_t *expr, double *out_value) {
  tspec_cv_t cv = tspec_check_expr(c, expr);
  if (cv.kind == TSPEC_CV_TENSOR) {
    tspec_check_error(c, expr->range,
                      "the condition of an 'if' must be known at compile time, but this is %s; "
                      "select(c, a, b) chooses at run time",
                      tspec_check_describe(c, cv));
    return false;
  }
  return tspec_cv_real(c, cv, expr->range, "the condition of an 'if'", out_value);
}

static void check_if(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  for (size_t i = 0; i < stmt->u.cond.narms; ++i) {
    const tspec_ast_arm_t *arm = &stmt->u.cond.arms[i];
    double cond = 1;
    if (arm->cond != NULL && !check_condition(c, arm->cond, &cond)) {
      c->frame->result = tspec_cv_error(); // a return in an arm is not missed then
      return;
    }
    if (cond != 0) {
      tspec_check_block(c, &arm->body);
      return;
    }
  }
}

// ---- all -------------------------------------------------------------------------------------

static void check_stmt(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  switch (stmt->kind) {
  case TSPEC_AST_STMT_LET:
    check_let(c, stmt);
    break;
  case TSPEC_AST_STMT_ASSIGN:
    tspec_check_assign(c, stmt);
    break;
  case TSPEC_AST_STMT_RETURN:
    check_return(c, stmt);
    break;
  case TSPEC_AST_STMT_FOR:
    check_for(c, stmt);
    break;
  case TSPEC_AST_STMT_IF:
    check_if(c, stmt);
    break;
  case TSPEC_AST_STMT_UPDATE:
    tspec_check_update(c, stmt);
    break;
  case TSPEC_AST_STMT_NEXT:
    tspec_check_next(c, stmt);
    break;
  case TSPEC_AST_STMT_CALL:
    tspec_check_expr(c, stmt->u.call);
    break;
  }
}

void tspec_check_block(tspec_checker_t *c, const tspec_ast_block_t *block) {
  size_t nlive = c->frame->live.count;
  for (size_t i = 0; i < block->count; ++i) {
    bool done = tspec_check_scan_is_done(c->frame->scan);
    if (c->frame->returned || done) {
      tspec_check_error(c, block->items[i]->range, "this is never run: %s",
                        done ? "'next' and 'emit' stand last in a scan"
                             : "'return' stands last in a function");
      break;
    }
    check_stmt(c, block->items[i]);
  }
  tspec_frame_trim(c, nlive);
}

void tspec_check_body(tspec_checker_t *c, const tspec_ast_block_t *block) {
  c->frame->returned = false;
  c->frame->result = (tspec_cv_t){.kind = TSPEC_CV_NONE};
  tspec_check_block(c, block);
}
