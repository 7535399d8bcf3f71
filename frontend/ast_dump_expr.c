// Types, shardings, expressions and statements of a dump. Each list item brings the blank before
// it.
#include <inttypes.h>

#include "frontend/ast_dump.h"

void tspec_ast_dump_name(const tspec_ast_name_t *name, tspec_buf_t *buf) {
  tspec_buf_puts(buf, name->text);
}

void tspec_ast_dump_names(const char *head, const tspec_ast_names_t *names, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(%s", head);
  for (size_t i = 0; i < names->count; i++) {
    tspec_buf_printf(buf, "%s%s", i > 0 || head[0] != '\0' ? " " : "", names->items[i].text);
  }
  tspec_buf_puts(buf, ")");
}

void tspec_ast_dump_entry(const tspec_ast_entry_t *entry, tspec_buf_t *buf) {
  if (entry->is_ellipsis) {
    tspec_buf_puts(buf, "...");
  } else if (entry->nrefs == 0) {
    tspec_buf_puts(buf, entry->open ? "?" : "-");
  }
  for (size_t i = 0; i < entry->nrefs; i++) {
    const tspec_ast_mesh_ref_t *ref = &entry->refs[i];
    tspec_buf_printf(buf, "%s%s", i > 0 ? "*" : "", ref->axis.text);
    if (ref->is_sub) {
      tspec_buf_printf(buf, ":(%" PRId64 ")%" PRId64, ref->pre, ref->size);
    }
  }
  if (entry->nrefs > 0 && entry->open) {
    tspec_buf_puts(buf, "?");
  }
  if (entry->has_priority) {
    tspec_buf_printf(buf, "!%" PRId64, entry->priority);
  }
}

void tspec_ast_dump_sharding(const tspec_ast_sharding_t *sharding, const tspec_ast_sharding_t *use,
                             tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(sharding");
  for (size_t i = 0; i < sharding->nentries; i++) {
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_entry(&sharding->entries[i], buf);
  }
  for (size_t i = 0; i < sharding->npending; i++) {
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_names(tspec_reduce_name(sharding->pending[i].kind), &sharding->pending[i].axes,
                         buf);
  }
  if (use != NULL) {
    tspec_buf_puts(buf, " (use ");
    tspec_ast_dump_sharding(use, NULL, buf);
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

void tspec_ast_dump_type(const tspec_ast_type_t *type, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(type %s%s", type->bind.text != NULL ? "$" : "",
                   type->bind.text != NULL ? type->bind.text : tspec_dtype_name(type->dtype));
  for (size_t i = 0; i < type->ndims; i++) {
    const tspec_ast_dim_t *dim = &type->dims[i];
    tspec_buf_puts(buf, " ");
    switch (dim->kind) {
    case TSPEC_AST_DIM_ELLIPSIS:
      tspec_buf_puts(buf, "...");
      break;
    case TSPEC_AST_DIM_BIND:
      tspec_buf_printf(buf, "$%s", dim->name.text);
      break;
    case TSPEC_AST_DIM_EXPR:
      tspec_ast_dump_expr(dim->expr, buf);
      break;
    }
  }
  tspec_buf_puts(buf, ")");
}

void tspec_ast_dump_args(const tspec_ast_args_t *args, tspec_buf_t *buf) {
  for (size_t i = 0; i < args->count; i++) {
    const tspec_ast_arg_t *arg = &args->items[i];
    tspec_buf_puts(buf, " ");
    if (arg->name.text != NULL) {
      tspec_buf_printf(buf, "(= %s ", arg->name.text);
    }
    tspec_ast_dump_expr(arg->value, buf);
    tspec_buf_puts(buf, arg->name.text != NULL ? ")" : "");
  }
}

static void dump_exprs(const tspec_ast_exprs_t *exprs, tspec_buf_t *buf) {
  for (size_t i = 0; i < exprs->count; i++) {
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_expr(exprs->items[i], buf);
  }
}

static void dump_optional(const tspec_ast_expr_t *expr, tspec_buf_t *buf) {
  if (expr == NULL) {
    tspec_buf_puts(buf, "_");
  } else {
    tspec_ast_dump_expr(expr, buf);
  }
}

static void dump_index(const tspec_ast_expr_t *expr, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(index ");
  tspec_ast_dump_expr(expr->u.index.base, buf);
  for (size_t i = 0; i < expr->u.index.nindices; i++) {
    const tspec_ast_index_t *index = &expr->u.index.indices[i];
    tspec_buf_puts(buf, " ");
    if (index->kind == TSPEC_AST_INDEX_ELLIPSIS) {
      tspec_buf_puts(buf, "...");
    } else if (index->kind == TSPEC_AST_INDEX_EXPR) {
      tspec_ast_dump_expr(index->lo, buf);
    } else {
      tspec_buf_puts(buf, "(slice ");
      dump_optional(index->lo, buf);
      tspec_buf_puts(buf, " ");
      dump_optional(index->hi, buf);
      if (index->step != NULL) {
        tspec_buf_puts(buf, " ");
        tspec_ast_dump_expr(index->step, buf);
      }
      tspec_buf_puts(buf, ")");
    }
  }
  tspec_buf_puts(buf, ")");
}

static void dump_scan(const tspec_ast_expr_t *expr, tspec_buf_t *buf) {
  tspec_buf_puts(buf, expr->u.scan.remat ? "(remat (scan" : "(scan");
  for (size_t i = 0; i < expr->u.scan.nins; i++) {
    const tspec_ast_scan_in_t *in = &expr->u.scan.ins[i];
    tspec_buf_printf(buf, " (%s %s ", in->kind == TSPEC_AST_SCAN_CARRY ? "carry" : "each",
                     in->name.text);
    tspec_buf_puts(buf, in->hi != NULL ? "(range " : "");
    tspec_ast_dump_expr(in->value, buf);
    if (in->hi != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_expr(in->hi, buf);
      tspec_buf_puts(buf, ")");
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, " ");
  tspec_ast_dump_block(&expr->u.scan.body, buf);
  tspec_buf_puts(buf, expr->u.scan.remat ? "))" : ")");
}

static void dump_operator(const tspec_ast_expr_t *expr, tspec_buf_t *buf) {
  if (expr->kind == TSPEC_AST_EXPR_UNARY) {
    tspec_buf_puts(buf, expr->u.unary.op == TSPEC_AST_UNARY_NEG ? "(neg " : "(not ");
    tspec_ast_dump_expr(expr->u.unary.operand, buf);
  } else {
    tspec_buf_printf(buf, "(%s ", tspec_ast_binary_name(expr->u.binary.op));
    tspec_ast_dump_expr(expr->u.binary.lhs, buf);
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_expr(expr->u.binary.rhs, buf);
  }
  tspec_buf_puts(buf, ")");
}

void tspec_ast_dump_expr(const tspec_ast_expr_t *expr, tspec_buf_t *buf) {
  switch (expr->kind) {
  case TSPEC_AST_EXPR_NUMBER:
    tspec_buf_puts(buf, expr->u.number.text);
    break;
  case TSPEC_AST_EXPR_STRING:
    tspec_buf_printf(buf, "\"%s\"", expr->u.string);
    break;
  case TSPEC_AST_EXPR_BOOL:
    tspec_buf_puts(buf, expr->u.boolean ? "true" : "false");
    break;
  case TSPEC_AST_EXPR_DTYPE:
    tspec_buf_puts(buf, tspec_dtype_name(expr->u.dtype));
    break;
  case TSPEC_AST_EXPR_NAME:
    tspec_buf_puts(buf, expr->u.name);
    break;
  case TSPEC_AST_EXPR_LIST:
    tspec_buf_puts(buf, "(list");
    dump_exprs(&expr->u.list, buf);
    tspec_buf_puts(buf, ")");
    break;
  case TSPEC_AST_EXPR_CALL:
    tspec_buf_puts(buf, "(call ");
    tspec_ast_dump_expr(expr->u.call.callee, buf);
    tspec_ast_dump_args(&expr->u.call.args, buf);
    tspec_buf_puts(buf, ")");
    break;
  case TSPEC_AST_EXPR_INDEX:
    dump_index(expr, buf);
    break;
  case TSPEC_AST_EXPR_MEMBER:
    tspec_buf_puts(buf, "(. ");
    tspec_ast_dump_expr(expr->u.member.base, buf);
    tspec_buf_printf(buf, " %s)", expr->u.member.name.text);
    break;
  case TSPEC_AST_EXPR_UNARY:
  case TSPEC_AST_EXPR_BINARY:
    dump_operator(expr, buf);
    break;
  case TSPEC_AST_EXPR_SCAN:
    dump_scan(expr, buf);
    break;
  }
}

// ---- statements ----

static void dump_let(const tspec_ast_stmt_t *stmt, tspec_buf_t *buf) {
  const tspec_ast_type_t *type = stmt->u.let.type;
  const tspec_ast_sharding_t *sharding = stmt->u.let.sharding;
  tspec_buf_puts(buf, "(let ");
  if (stmt->u.let.is_tuple) {
    tspec_ast_dump_names("tuple", &stmt->u.let.names, buf);
  } else {
    bool is_list = type != NULL || sharding != NULL;
    tspec_buf_printf(buf, "%s%s", is_list ? "(" : "", stmt->u.let.names.items[0].text);
    if (type != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_type(type, buf);
    }
    if (sharding != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_sharding(sharding, NULL, buf);
    }
    tspec_buf_puts(buf, is_list ? ")" : "");
  }
  tspec_buf_puts(buf, " ");
  tspec_ast_dump_expr(stmt->u.let.value, buf);
  tspec_buf_puts(buf, ")");
}

static void dump_if(const tspec_ast_stmt_t *stmt, tspec_buf_t *buf) {
  size_t narms = stmt->u.cond.narms;
  size_t depth = 0;
  for (size_t i = 0; i < narms; i++) {
    const tspec_ast_arm_t *arm = &stmt->u.cond.arms[i];
    tspec_buf_puts(buf, i > 0 ? " " : "");
    if (arm->cond != NULL) {
      depth++;
      tspec_buf_puts(buf, "(if ");
      tspec_ast_dump_expr(arm->cond, buf);
      tspec_buf_puts(buf, " ");
    }
    tspec_ast_dump_block(&arm->body, buf);
  }
  for (; depth > 0; depth--) {
    tspec_buf_puts(buf, ")");
  }
}

static void dump_update(const tspec_ast_stmt_t *stmt, tspec_buf_t *buf) {
  tspec_buf_puts(buf, stmt->u.update.is_apply ? "(apply " : "(minimize ");
  tspec_ast_dump_expr(stmt->u.update.value, buf);
  for (size_t i = 0; i < stmt->u.update.nupdates; i++) {
    const tspec_ast_update_t *update = &stmt->u.update.updates[i];
    tspec_buf_printf(buf, " (with %s", update->optimizer.text);
    tspec_ast_dump_args(&update->args, buf);
    if (update->over != NULL) {
      tspec_buf_printf(buf, " (over \"%s\")", update->over);
    }
    tspec_buf_puts(buf, ")");
  }
  if (stmt->u.update.clip != NULL) {
    tspec_buf_puts(buf, " (clip ");
    tspec_ast_dump_expr(stmt->u.update.clip, buf);
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_stmt(const tspec_ast_stmt_t *stmt, tspec_buf_t *buf) {
  switch (stmt->kind) {
  case TSPEC_AST_STMT_LET:
    dump_let(stmt, buf);
    return;
  case TSPEC_AST_STMT_ASSIGN:
    tspec_buf_puts(buf, "(set ");
    tspec_ast_dump_expr(stmt->u.assign.target, buf);
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_expr(stmt->u.assign.value, buf);
    break;
  case TSPEC_AST_STMT_RETURN:
    tspec_buf_puts(buf, "(return");
    dump_exprs(&stmt->u.ret, buf);
    break;
  case TSPEC_AST_STMT_FOR:
    tspec_buf_printf(buf, "(for %s (range ", stmt->u.loop.var.text);
    tspec_ast_dump_expr(stmt->u.loop.lo, buf);
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_expr(stmt->u.loop.hi, buf);
    tspec_buf_puts(buf, ") ");
    tspec_ast_dump_block(&stmt->u.loop.body, buf);
    break;
  case TSPEC_AST_STMT_IF:
    dump_if(stmt, buf);
    return;
  case TSPEC_AST_STMT_UPDATE:
    dump_update(stmt, buf);
    return;
  case TSPEC_AST_STMT_NEXT:
    tspec_buf_puts(buf, "(next");
    dump_exprs(&stmt->u.next.next, buf);
    if (stmt->u.next.emit.count > 0) {
      tspec_buf_puts(buf, " (emit");
      dump_exprs(&stmt->u.next.emit, buf);
      tspec_buf_puts(buf, ")");
    }
    break;
  case TSPEC_AST_STMT_CALL:
    tspec_ast_dump_expr(stmt->u.call, buf);
    return;
  }
  tspec_buf_puts(buf, ")");
}

void tspec_ast_dump_block(const tspec_ast_block_t *block, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(block");
  for (size_t i = 0; i < block->count; i++) {
    tspec_buf_puts(buf, " ");
    dump_stmt(block->items[i], buf);
  }
  tspec_buf_puts(buf, ")");
}
