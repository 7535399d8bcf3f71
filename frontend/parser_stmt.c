// Statements and scans.
#include <string.h>

#include "frontend/parser_internal.h"

bool tspec_parser_at_scan(const tspec_parser_t *p) {
  return tspec_parser_at(p, TSPEC_TOKEN_SCAN) ||
         (tspec_parser_at_word(p, "remat") && tspec_parser_peek_next(p) == TSPEC_TOKEN_SCAN);
}

static tspec_ast_scan_in_t scan_in(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_scan_in_t in = {.kind = TSPEC_AST_SCAN_CARRY};
  in.name = tspec_parser_name(p, "the name of a carry or an input");
  if (tspec_parser_take(p, TSPEC_TOKEN_ASSIGN)) {
    tspec_parser_skip_newline(p);
    in.value = tspec_parser_expr(p);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_IN)) {
    in.kind = TSPEC_AST_SCAN_EACH;
    in.value = tspec_parser_expr(p);
    if (tspec_parser_take(p, TSPEC_TOKEN_DOTS)) {
      in.kind = TSPEC_AST_SCAN_RANGE;
      in.hi = tspec_parser_expr(p);
    }
  } else {
    tspec_parser_expected(p, "'=' (a carry) or 'in' (an input)", "");
  }
  in.range = tspec_parser_range(p, first);
  return in;
}

static tspec_ast_expr_t *scan(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_SCAN, first);
  expr->u.scan.remat = tspec_parser_take_word(p, "remat");
  tspec_parser_need(p, TSPEC_TOKEN_SCAN);
  TSPEC_VEC(tspec_ast_scan_in_t) ins = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &ins, scan_in(p));
  } while (tspec_parser_take_comma(p));
  expr->u.scan.ins = ins.items;
  expr->u.scan.nins = ins.count;
  expr->u.scan.body = tspec_parser_block(p);
  expr->range = tspec_parser_range(p, first);
  return expr;
}

static tspec_ast_expr_t *rhs(tspec_parser_t *p) {
  return tspec_parser_at_scan(p) ? scan(p) : tspec_parser_expr(p);
}

static void let(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  stmt->kind = TSPEC_AST_STMT_LET;
  const tspec_token_t *open = tspec_parser_token(p);
  if (tspec_parser_take(p, TSPEC_TOKEN_LPAREN)) {
    TSPEC_VEC(tspec_ast_name_t) names = {0};
    do {
      TSPEC_VEC_PUSH(p->arena, &names, tspec_parser_name(p, "a name"));
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RPAREN));
    tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
    stmt->u.let.is_tuple = true;
    stmt->u.let.names = (tspec_ast_names_t){names.items, names.count};
  } else {
    tspec_ast_name_t *name = TSPEC_ARENA_NEW(p->arena, tspec_ast_name_t, 1);
    *name = tspec_parser_name(p, "a name or '('");
    stmt->u.let.names = (tspec_ast_names_t){name, 1};
    if (tspec_parser_take(p, TSPEC_TOKEN_COLON)) {
      stmt->u.let.type = tspec_parser_type(p);
    }
    stmt->u.let.sharding = tspec_parser_at_sharding(p);
  }
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
  stmt->u.let.value = rhs(p);
}

static void ret(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  stmt->kind = TSPEC_AST_STMT_RETURN;
  if (tspec_parser_at_scan(p)) {
    tspec_ast_expr_t **value = TSPEC_ARENA_NEW(p->arena, tspec_ast_expr_t *, 1);
    *value = scan(p);
    stmt->u.ret = (tspec_ast_exprs_t){value, 1};
  } else if (!tspec_parser_at_end(p)) {
    stmt->u.ret = tspec_parser_exprs(p);
  }
}

void tspec_parser_for_header(tspec_parser_t *p, tspec_ast_name_t *out_var,
                             tspec_ast_expr_t **out_lo, tspec_ast_expr_t **out_hi) {
  *out_var = tspec_parser_name(p, "the name of the loop variable");
  tspec_parser_need(p, TSPEC_TOKEN_IN);
  *out_lo = tspec_parser_expr(p);
  tspec_parser_need(p, TSPEC_TOKEN_DOTS);
  *out_hi = tspec_parser_expr(p);
}

/// After 'if'.
static void cond(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  stmt->kind = TSPEC_AST_STMT_IF;
  TSPEC_VEC(tspec_ast_arm_t) arms = {0};
  bool more = true;
  while (more) {
    tspec_ast_arm_t arm = {.cond = tspec_parser_expr(p)};
    arm.body = tspec_parser_block(p);
    TSPEC_VEC_PUSH(p->arena, &arms, arm);
    more = false;
    if (tspec_parser_take_after_newline(p, TSPEC_TOKEN_ELSE)) {
      more = tspec_parser_take(p, TSPEC_TOKEN_IF);
      if (!more) {
        TSPEC_VEC_PUSH(p->arena, &arms, (tspec_ast_arm_t){.body = tspec_parser_block(p)});
      }
    }
  }
  stmt->u.cond.arms = arms.items;
  stmt->u.cond.narms = arms.count;
}

static tspec_ast_update_t update(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_update_t update = {.optimizer = tspec_parser_name(p, "an optimizer")};
  update.args = tspec_parser_args(p);
  if (tspec_parser_take_word(p, "over")) {
    update.over = tspec_parser_string(p, &update.over_range);
  }
  update.range = tspec_parser_range(p, first);
  return update;
}

/// After 'minimize' or 'apply'.
static void minimize(tspec_parser_t *p, tspec_ast_stmt_t *stmt, bool is_apply) {
  stmt->kind = TSPEC_AST_STMT_UPDATE;
  stmt->u.update.is_apply = is_apply;
  stmt->u.update.value = tspec_parser_expr(p);
  if (!tspec_parser_take_word(p, "with")) {
    tspec_parser_expected(p, "'with'", "");
  }
  tspec_parser_skip_newline(p);
  TSPEC_VEC(tspec_ast_update_t) updates = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &updates, update(p));
  } while (tspec_parser_take_comma(p));
  stmt->u.update.updates = updates.items;
  stmt->u.update.nupdates = updates.count;
  if (tspec_parser_take_word(p, "clip")) {
    stmt->u.update.clip = tspec_parser_expr(p);
  }
}

static void next_emit(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  stmt->kind = TSPEC_AST_STMT_NEXT;
  if (tspec_parser_take(p, TSPEC_TOKEN_NEXT)) {
    stmt->u.next.next = tspec_parser_exprs(p);
  }
  if (tspec_parser_take(p, TSPEC_TOKEN_EMIT)) {
    stmt->u.next.emit = tspec_parser_exprs(p);
  }
}

static bool is_target(const tspec_ast_expr_t *expr) {
  while (expr != NULL && expr->kind != TSPEC_AST_EXPR_NAME) {
    if (expr->kind == TSPEC_AST_EXPR_MEMBER) {
      expr = expr->u.member.base;
    } else if (expr->kind == TSPEC_AST_EXPR_INDEX) {
      expr = expr->u.index.base;
    } else {
      return false;
    }
  }
  return expr != NULL;
}

static void assign_or_call(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  static const char *const keywords[] = {"let",      "return", "for",  "if",   "else",
                                         "minimize", "apply",  "next", "emit", NULL};
  const char *meant = tspec_parser_meant(p, keywords);
  tspec_ast_expr_t *expr = tspec_parser_postfix(p);
  if (tspec_parser_take(p, TSPEC_TOKEN_ASSIGN)) {
    if (!p->panic && !is_target(expr)) {
      tspec_parser_fail(p, expr->range,
                        "only a name, a member of an instance, or either with an index can be "
                        "assigned");
    }
    tspec_parser_skip_newline(p);
    stmt->kind = TSPEC_AST_STMT_ASSIGN;
    stmt->u.assign.target = expr;
    stmt->u.assign.value = rhs(p);
    return;
  }
  stmt->kind = TSPEC_AST_STMT_CALL;
  stmt->u.call = expr;
  if (p->panic || expr->kind == TSPEC_AST_EXPR_CALL) {
    return;
  }
  if (tspec_parser_at_end(p) ||
      tspec_parser_binary_op(tspec_parser_peek(p)) != TSPEC_AST_BINARY_COUNT) {
    tspec_parser_fail(p, expr->range, "a value that nobody uses");
  } else if (meant != NULL && expr->kind == TSPEC_AST_EXPR_NAME) {
    tspec_parser_expected(p, "'=' or a call",
                          tspec_arena_printf(p->arena, " (did you mean '%s'?)", meant));
  } else {
    tspec_parser_expected(p, "'=' or a call", "");
  }
}

/// A statement can't start here: says why. A declaration in a block means that its '}' is missing.
static void no_statement(tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  static const tspec_token_kind_t declares[] = {
      TSPEC_TOKEN_MESH,   TSPEC_TOKEN_AXIS,      TSPEC_TOKEN_CONST,  TSPEC_TOKEN_IMPORT,
      TSPEC_TOKEN_PARAM,  TSPEC_TOKEN_STATE,     TSPEC_TOKEN_SHARD,  TSPEC_TOKEN_MODULE,
      TSPEC_TOKEN_FN,     TSPEC_TOKEN_ENTRY,     TSPEC_TOKEN_MANUAL, TSPEC_TOKEN_PRECISION,
      TSPEC_TOKEN_EXPECT, TSPEC_TOKEN_OPTIMIZER,
  };
  for (size_t i = 0; i < sizeof declares / sizeof *declares; i++) {
    if (!p->panic && token->kind == declares[i] && token->first_on_line && p->block_open != NULL) {
      tspec_parser_fail(p, token->range, "expected a statement or '}', got %s",
                        tspec_token_kind_name(token->kind));
      tspec_diag_note(p->diag, p->block_open->range, "'{' opened here");
      p->unwind = true;
    }
  }
  tspec_parser_expected(p, "a statement", tspec_parser_line_hint(p));
}

static void stmt_body(tspec_parser_t *p, tspec_ast_stmt_t *stmt) {
  tspec_token_kind_t kind = tspec_parser_peek(p);
  if (kind == TSPEC_TOKEN_NEXT || kind == TSPEC_TOKEN_EMIT) {
    next_emit(p, stmt);
  } else if (kind == TSPEC_TOKEN_NAME) {
    assign_or_call(p, stmt);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_LET)) {
    let(p, stmt);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_RETURN)) {
    ret(p, stmt);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_FOR)) {
    stmt->kind = TSPEC_AST_STMT_FOR;
    tspec_parser_for_header(p, &stmt->u.loop.var, &stmt->u.loop.lo, &stmt->u.loop.hi);
    stmt->u.loop.body = tspec_parser_block(p);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_IF)) {
    cond(p, stmt);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_MINIMIZE)) {
    minimize(p, stmt, false);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_APPLY)) {
    minimize(p, stmt, true);
  } else {
    no_statement(p);
  }
}

tspec_ast_block_t tspec_parser_block(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  TSPEC_VEC(tspec_ast_stmt_t *) stmts = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, false, false);
  while (tspec_parser_items_next(p, &items)) {
    const tspec_token_t *start = tspec_parser_token(p);
    tspec_ast_stmt_t *stmt = TSPEC_ARENA_NEW(p->arena, tspec_ast_stmt_t, 1);
    stmt_body(p, stmt);
    stmt->range = tspec_parser_range(p, start);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &stmts, stmt);
    }
  }
  return (tspec_ast_block_t){stmts.items, stmts.count, tspec_parser_range(p, first)};
}
