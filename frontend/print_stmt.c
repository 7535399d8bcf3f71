// Statements of the printer.
#include "frontend/print_internal.h"

enum { WIDTH = 100 };

static void put_stmt(tspec_printer_t *p, const tspec_ast_stmt_t *stmt);

/// True if the statement holds no block.
static bool is_simple(const tspec_ast_stmt_t *stmt) {
  switch ((int)stmt->kind) {
  case TSPEC_AST_STMT_LET:
    return stmt->u.let.value->kind != TSPEC_AST_EXPR_SCAN;
  case TSPEC_AST_STMT_ASSIGN:
    return stmt->u.assign.value->kind != TSPEC_AST_EXPR_SCAN;
  case TSPEC_AST_STMT_RETURN:
    return stmt->u.ret.count == 0 || stmt->u.ret.items[0]->kind != TSPEC_AST_EXPR_SCAN;
  case TSPEC_AST_STMT_FOR:
  case TSPEC_AST_STMT_IF:
    return false;
  default:
    return true;
  }
}

void tspec_printer_block(tspec_printer_t *p, const tspec_ast_block_t *block, bool may_be_short) {
  tspec_printer_put(p, " ");
  if (block->count == 0) {
    tspec_printer_put(p, "{ }");
    return;
  }
  if (may_be_short && block->count == 1 && is_simple(block->items[0])) {
    size_t length = p->line.length;
    size_t nmarks = p->marks.count;
    tspec_printer_put(p, "{ ");
    put_stmt(p, block->items[0]);
    tspec_printer_put(p, " }");
    if ((size_t)p->indent + p->line.length <= WIDTH) {
      return;
    }
    p->line.length = length;
    p->marks.count = nmarks;
  }
  tspec_printer_begin_block(p);
  for (size_t i = 0; i < block->count; i++) {
    put_stmt(p, block->items[i]);
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

/// What stands after '=' or 'return'.
static void put_rhs(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  tspec_printer_expr(p, expr, 1);
  if (expr->kind == TSPEC_AST_EXPR_SCAN) {
    tspec_printer_block(p, &expr->u.scan.body, true);
  }
}

static void put_let(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  tspec_printer_put(p, "let ");
  if (stmt->u.let.is_tuple) {
    tspec_printer_open(p, "(");
    tspec_printer_names(p, &stmt->u.let.names);
    tspec_printer_close(p, ")");
  } else {
    tspec_printer_names(p, &stmt->u.let.names);
  }
  if (stmt->u.let.type != NULL) {
    tspec_printer_put(p, ": ");
    tspec_printer_type(p, stmt->u.let.type);
  }
  if (stmt->u.let.sharding != NULL) {
    tspec_printer_put(p, " @ ");
    tspec_printer_sharding(p, stmt->u.let.sharding);
  }
  tspec_printer_assign(p);
  put_rhs(p, stmt->u.let.value);
}

static void put_return(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  tspec_printer_put(p, stmt->u.ret.count > 0 ? "return " : "return");
  if (stmt->u.ret.count == 1) {
    put_rhs(p, stmt->u.ret.items[0]);
  } else {
    tspec_printer_exprs(p, &stmt->u.ret);
  }
}

static void put_if(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  for (size_t i = 0; i < stmt->u.cond.narms; i++) {
    const tspec_ast_arm_t *arm = &stmt->u.cond.arms[i];
    tspec_printer_put(p, i > 0 ? " else" : "");
    if (arm->cond != NULL) {
      tspec_printer_put(p, i > 0 ? " if " : "if ");
      tspec_printer_expr(p, arm->cond, 1);
    }
    tspec_printer_block(p, &arm->body, stmt->u.cond.narms == 1);
  }
}

static void put_update(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  tspec_printer_put(p, stmt->u.update.is_apply ? "apply " : "minimize ");
  tspec_printer_expr(p, stmt->u.update.value, 1);
  tspec_printer_put(p, " with ");
  tspec_printer_break(p, TSPEC_PRINT_ASSIGN);
  for (size_t i = 0; i < stmt->u.update.nupdates; i++) {
    const tspec_ast_update_t *update = &stmt->u.update.updates[i];
    tspec_printer_comma(p, i);
    tspec_printer_put(p, update->optimizer.text);
    tspec_printer_args(p, &update->args);
    if (update->over != NULL) {
      tspec_printer_put(p, " over \"");
      tspec_printer_put(p, update->over);
      tspec_printer_put(p, "\"");
    }
  }
  if (stmt->u.update.clip != NULL) {
    tspec_printer_put(p, " clip ");
    tspec_printer_expr(p, stmt->u.update.clip, 1);
  }
}

static void put_next(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  if (stmt->u.next.next.count > 0) {
    tspec_printer_put(p, "next ");
    tspec_printer_exprs(p, &stmt->u.next.next);
  }
  if (stmt->u.next.emit.count > 0) {
    tspec_printer_put(p, stmt->u.next.next.count > 0 ? " emit " : "emit ");
    tspec_printer_exprs(p, &stmt->u.next.emit);
  }
}

static void put_stmt(tspec_printer_t *p, const tspec_ast_stmt_t *stmt) {
  switch (stmt->kind) {
  case TSPEC_AST_STMT_LET:
    put_let(p, stmt);
    break;
  case TSPEC_AST_STMT_ASSIGN:
    tspec_printer_expr(p, stmt->u.assign.target, 1);
    tspec_printer_assign(p);
    put_rhs(p, stmt->u.assign.value);
    break;
  case TSPEC_AST_STMT_RETURN:
    put_return(p, stmt);
    break;
  case TSPEC_AST_STMT_FOR:
    tspec_printer_put(p, "for ");
    tspec_printer_put(p, stmt->u.loop.var.text);
    tspec_printer_put(p, " in ");
    tspec_printer_expr(p, stmt->u.loop.lo, 1);
    tspec_printer_put(p, "..");
    tspec_printer_expr(p, stmt->u.loop.hi, 1);
    tspec_printer_block(p, &stmt->u.loop.body, true);
    break;
  case TSPEC_AST_STMT_IF:
    put_if(p, stmt);
    break;
  case TSPEC_AST_STMT_UPDATE:
    put_update(p, stmt);
    break;
  case TSPEC_AST_STMT_NEXT:
    put_next(p, stmt);
    break;
  case TSPEC_AST_STMT_CALL:
    tspec_printer_expr(p, stmt->u.call, 1);
    break;
  }
}
