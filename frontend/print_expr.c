// Types, shardings, expressions and statements of the printer.
#include <inttypes.h>

#include "frontend/print_internal.h"

enum { ANY = 1, SUM = 4, UNARY = 6, POSTFIX = 8 };

void tspec_printer_names(tspec_printer_t *p, const tspec_ast_names_t *names) {
  for (size_t i = 0; i < names->count; i++) {
    tspec_printer_comma(p, i);
    tspec_printer_put(p, names->items[i].text);
  }
}

// ---- types and shardings ----

void tspec_printer_type(tspec_printer_t *p, const tspec_ast_type_t *type) {
  if (type->bind.text != NULL) {
    tspec_printer_put(p, "$");
    tspec_printer_put(p, type->bind.text);
  } else {
    tspec_printer_put(p, tspec_dtype_name(type->dtype));
  }
  if (type->ndims == 0) {
    return;
  }
  tspec_printer_open(p, "[");
  for (size_t i = 0; i < type->ndims; i++) {
    const tspec_ast_dim_t *dim = &type->dims[i];
    tspec_printer_comma(p, i);
    if (dim->kind == TSPEC_AST_DIM_ELLIPSIS) {
      tspec_printer_put(p, "...");
    } else if (dim->kind == TSPEC_AST_DIM_BIND) {
      tspec_printer_put(p, "$");
      tspec_printer_put(p, dim->name.text);
    } else {
      tspec_printer_expr(p, dim->expr, ANY);
    }
  }
  tspec_printer_close(p, "]");
}

void tspec_printer_entry(tspec_printer_t *p, const tspec_ast_entry_t *entry) {
  if (entry->is_ellipsis) {
    tspec_printer_put(p, "...");
  } else if (entry->nrefs == 0 && !entry->open) {
    tspec_printer_put(p, "-");
  }
  for (size_t i = 0; i < entry->nrefs; i++) {
    const tspec_ast_mesh_ref_t *ref = &entry->refs[i];
    tspec_printer_put(p, i > 0 ? "*" : "");
    tspec_printer_put(p, ref->axis.text);
    if (ref->is_sub) {
      tspec_buf_printf(&p->line, ":(%" PRId64 ")%" PRId64, ref->pre, ref->size);
    }
  }
  tspec_printer_put(p, entry->open ? "?" : "");
  if (entry->has_priority) {
    tspec_buf_printf(&p->line, "!%" PRId64, entry->priority);
  }
}

void tspec_printer_sharding(tspec_printer_t *p, const tspec_ast_sharding_t *sharding) {
  tspec_printer_open(p, "[");
  for (size_t i = 0; i < sharding->nentries; i++) {
    tspec_printer_comma(p, i);
    tspec_printer_entry(p, &sharding->entries[i]);
  }
  tspec_printer_close(p, "]");
  for (size_t i = 0; i < sharding->npending; i++) {
    tspec_printer_put(p, " ");
    tspec_printer_put(p, tspec_reduce_name(sharding->pending[i].kind));
    tspec_printer_open(p, "(");
    tspec_printer_names(p, &sharding->pending[i].axes);
    tspec_printer_close(p, ")");
  }
}

void tspec_printer_storage(tspec_printer_t *p, const tspec_ast_storage_t *storage) {
  if (storage->stored != NULL) {
    tspec_printer_sharding(p, storage->stored);
  }
  if (storage->use != NULL) {
    tspec_printer_put(p, " use ");
    tspec_printer_sharding(p, storage->use);
  }
}

// ---- expressions ----

void tspec_printer_exprs(tspec_printer_t *p, const tspec_ast_exprs_t *exprs) {
  for (size_t i = 0; i < exprs->count; i++) {
    tspec_printer_comma(p, i);
    tspec_printer_expr(p, exprs->items[i], ANY);
  }
}

void tspec_printer_args(tspec_printer_t *p, const tspec_ast_args_t *args) {
  tspec_printer_open(p, "(");
  for (size_t i = 0; i < args->count; i++) {
    const tspec_ast_arg_t *arg = &args->items[i];
    tspec_printer_comma(p, i);
    if (arg->name.text != NULL) {
      tspec_printer_put(p, arg->name.text);
      tspec_printer_put(p, " = ");
    }
    tspec_printer_expr(p, arg->value, ANY);
  }
  tspec_printer_close(p, ")");
}

static void put_optional(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  if (expr != NULL) {
    tspec_printer_expr(p, expr, ANY);
  }
}

static void put_index(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  tspec_printer_expr(p, expr->u.index.base, POSTFIX);
  tspec_printer_open(p, "[");
  for (size_t i = 0; i < expr->u.index.nindices; i++) {
    const tspec_ast_index_t *index = &expr->u.index.indices[i];
    tspec_printer_comma(p, i);
    tspec_printer_put(p, index->kind == TSPEC_AST_INDEX_ELLIPSIS ? "..." : "");
    put_optional(p, index->lo);
    tspec_printer_put(p, index->kind == TSPEC_AST_INDEX_SLICE ? ":" : "");
    put_optional(p, index->hi);
    tspec_printer_put(p, index->step != NULL ? ":" : "");
    put_optional(p, index->step);
  }
  tspec_printer_close(p, "]");
}

static int precedence(const tspec_ast_expr_t *expr) {
  switch ((int)expr->kind) {
  case TSPEC_AST_EXPR_UNARY:
    return UNARY;
  case TSPEC_AST_EXPR_BINARY:
    return tspec_ast_binary_precedence(expr->u.binary.op);
  default:
    return POSTFIX;
  }
}

static bool is_right_associative(tspec_ast_binary_t op) {
  return op == TSPEC_AST_BINARY_POW;
}

/// True if the text of the expression starts with '[', which after '@' would be taken for a
/// sharding.
static bool starts_with_list(const tspec_ast_expr_t *expr) {
  while (true) {
    switch ((int)expr->kind) {
    case TSPEC_AST_EXPR_LIST:
      return true;
    case TSPEC_AST_EXPR_CALL:
      expr = expr->u.call.callee;
      break;
    case TSPEC_AST_EXPR_INDEX:
      expr = expr->u.index.base;
      break;
    case TSPEC_AST_EXPR_MEMBER:
      expr = expr->u.member.base;
      break;
    case TSPEC_AST_EXPR_BINARY:
      expr = expr->u.binary.lhs;
      break;
    default:
      return false;
    }
  }
}

static void put_binary(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  tspec_ast_binary_t op = expr->u.binary.op;
  int own = tspec_ast_binary_precedence(op);
  int lhs_min = own < SUM && own > 2 ? own + 1 : own; // comparisons do not chain
  int rhs_min = own + 1;
  if (is_right_associative(op)) {
    lhs_min = POSTFIX;
    rhs_min = UNARY;
  }
  if (op == TSPEC_AST_BINARY_MATMUL && starts_with_list(expr->u.binary.rhs)) {
    rhs_min = POSTFIX + 1;
  }
  tspec_printer_expr(p, expr->u.binary.lhs, lhs_min);
  tspec_printer_put(p, " ");
  tspec_printer_put(p, tspec_ast_binary_name(op));
  tspec_printer_put(p, " ");
  tspec_printer_break(p, own);
  tspec_printer_expr(p, expr->u.binary.rhs, rhs_min);
}

static void put_scan_header(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  tspec_printer_put(p, expr->u.scan.remat ? "remat scan " : "scan ");
  for (size_t i = 0; i < expr->u.scan.nins; i++) {
    const tspec_ast_scan_in_t *in = &expr->u.scan.ins[i];
    tspec_printer_comma(p, i);
    tspec_printer_put(p, in->name.text);
    tspec_printer_put(p, in->kind == TSPEC_AST_SCAN_CARRY ? " = " : " in ");
    tspec_printer_expr(p, in->value, ANY);
    if (in->hi != NULL) {
      tspec_printer_put(p, "..");
      tspec_printer_expr(p, in->hi, ANY);
    }
  }
}

static void put_bare_expr(tspec_printer_t *p, const tspec_ast_expr_t *expr) {
  switch (expr->kind) {
  case TSPEC_AST_EXPR_NUMBER:
    tspec_printer_put(p, expr->u.number.text);
    break;
  case TSPEC_AST_EXPR_STRING:
    tspec_printer_put(p, "\"");
    tspec_printer_put(p, expr->u.string);
    tspec_printer_put(p, "\"");
    break;
  case TSPEC_AST_EXPR_BOOL:
    tspec_printer_put(p, expr->u.boolean ? "true" : "false");
    break;
  case TSPEC_AST_EXPR_DTYPE:
    tspec_printer_put(p, tspec_dtype_name(expr->u.dtype));
    break;
  case TSPEC_AST_EXPR_NAME:
    tspec_printer_put(p, expr->u.name);
    break;
  case TSPEC_AST_EXPR_LIST:
    tspec_printer_open(p, "[");
    tspec_printer_exprs(p, &expr->u.list);
    tspec_printer_close(p, "]");
    break;
  case TSPEC_AST_EXPR_CALL:
    tspec_printer_expr(p, expr->u.call.callee, POSTFIX);
    tspec_printer_args(p, &expr->u.call.args);
    break;
  case TSPEC_AST_EXPR_INDEX:
    put_index(p, expr);
    break;
  case TSPEC_AST_EXPR_MEMBER:
    tspec_printer_expr(p, expr->u.member.base, POSTFIX);
    tspec_printer_put(p, ".");
    tspec_printer_put(p, expr->u.member.name.text);
    break;
  case TSPEC_AST_EXPR_UNARY:
    tspec_printer_put(p, expr->u.unary.op == TSPEC_AST_UNARY_NEG ? "-" : "!");
    tspec_printer_expr(p, expr->u.unary.operand, UNARY);
    break;
  case TSPEC_AST_EXPR_BINARY:
    put_binary(p, expr);
    break;
  case TSPEC_AST_EXPR_SCAN:
    put_scan_header(p, expr);
    break;
  }
}

void tspec_printer_expr(tspec_printer_t *p, const tspec_ast_expr_t *expr, int min_precedence) {
  bool parens = precedence(expr) < min_precedence;
  if (parens) {
    tspec_printer_open(p, "(");
  }
  put_bare_expr(p, expr);
  if (parens) {
    tspec_printer_close(p, ")");
  }
}
