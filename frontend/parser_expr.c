// Expressions, by precedence climbing. Binary operators bind to the left, '^' to the right.
#include <stdlib.h>
#include <string.h>

#include "frontend/parser_internal.h"

enum { PRECEDENCE_COMPARE = 3, PRECEDENCE_SUM = 4, PRECEDENCE_POW = 7 };

tspec_ast_expr_t *tspec_parser_new_expr(tspec_parser_t *p, tspec_ast_expr_kind_t kind,
                                        const tspec_token_t *first) {
  tspec_ast_expr_t *expr = TSPEC_ARENA_NEW(p->arena, tspec_ast_expr_t, 1);
  expr->kind = kind;
  expr->range = first->range;
  expr->height = 1;
  return expr;
}

/// Ends a node at the last token passed.
static tspec_ast_expr_t *finish(tspec_parser_t *p, tspec_ast_expr_t *expr,
                                const tspec_token_t *first) {
  expr->range = tspec_parser_range(p, first);
  return expr;
}

/// Makes `child` (NULL after an error) a child of `expr`, which grows with it.
static void adopt(tspec_parser_t *p, tspec_ast_expr_t *expr, const tspec_ast_expr_t *child) {
  if (child == NULL || child->height < expr->height) {
    return;
  }
  expr->height = child->height + 1;
  if (expr->height > TSPEC_PARSER_MAX_HEIGHT) {
    tspec_parser_fail(p, tspec_parser_token(p)->range,
                      "an expression of more than %d operators on top of each other",
                      TSPEC_PARSER_MAX_HEIGHT);
  }
}

tspec_ast_binary_t tspec_parser_binary_op(tspec_token_kind_t kind) {
  switch ((int)kind) {
  case TSPEC_TOKEN_OR:
    return TSPEC_AST_BINARY_OR;
  case TSPEC_TOKEN_AND:
    return TSPEC_AST_BINARY_AND;
  case TSPEC_TOKEN_EQUAL:
    return TSPEC_AST_BINARY_EQ;
  case TSPEC_TOKEN_UNEQUAL:
    return TSPEC_AST_BINARY_NE;
  case TSPEC_TOKEN_LESS:
    return TSPEC_AST_BINARY_LT;
  case TSPEC_TOKEN_LESS_EQUAL:
    return TSPEC_AST_BINARY_LE;
  case TSPEC_TOKEN_GREATER:
    return TSPEC_AST_BINARY_GT;
  case TSPEC_TOKEN_GREATER_EQUAL:
    return TSPEC_AST_BINARY_GE;
  case TSPEC_TOKEN_PLUS:
    return TSPEC_AST_BINARY_ADD;
  case TSPEC_TOKEN_MINUS:
    return TSPEC_AST_BINARY_SUB;
  case TSPEC_TOKEN_STAR:
    return TSPEC_AST_BINARY_MUL;
  case TSPEC_TOKEN_SLASH:
    return TSPEC_AST_BINARY_DIV;
  case TSPEC_TOKEN_PERCENT:
    return TSPEC_AST_BINARY_REM;
  case TSPEC_TOKEN_AT:
    return TSPEC_AST_BINARY_MATMUL;
  case TSPEC_TOKEN_CARET:
    return TSPEC_AST_BINARY_POW;
  default:
    return TSPEC_AST_BINARY_COUNT;
  }
}

// ---- primary ----

static tspec_ast_expr_t *number(tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_NUMBER, token);
  expr->u.number.text = tspec_parser_token_text(p, token);
  expr->u.number.value = strtod(expr->u.number.text, NULL);
  tspec_parser_bump(p);
  return expr;
}

static tspec_ast_expr_t *parenthesized(tspec_parser_t *p) {
  const tspec_token_t *open = tspec_parser_token(p);
  tspec_parser_bump(p);
  tspec_ast_expr_t *expr = tspec_parser_expr(p);
  if (tspec_parser_at(p, TSPEC_TOKEN_COMMA)) {
    tspec_parser_fail(p, tspec_parser_token(p)->range,
                      "there are no tuples in expressions: 'return a, b' and 'let (a, b) = f(x)' "
                      "need no others");
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
  return expr;
}

static tspec_ast_expr_t *list(tspec_parser_t *p) {
  const tspec_token_t *open = tspec_parser_token(p);
  tspec_parser_bump(p);
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_LIST, open);
  TSPEC_VEC(tspec_ast_expr_t *) items = {0};
  if (!tspec_parser_at(p, TSPEC_TOKEN_RBRACKET)) {
    do {
      TSPEC_VEC_PUSH(p->arena, &items, tspec_parser_expr(p));
      adopt(p, expr, items.items[items.count - 1]);
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RBRACKET));
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  expr->u.list.items = items.items;
  expr->u.list.count = items.count;
  return finish(p, expr, open);
}

static tspec_ast_expr_t *name_expr(tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (tspec_parser_at_scan(p)) {
    tspec_parser_fail(p, token->range, "a scan stands alone after '=' or 'return'");
    return NULL;
  }
  if (tspec_parser_at(p, TSPEC_TOKEN_DOT)) {
    tspec_parser_expected(p, "an expression", " (a number starts with a digit: 0.5)");
    return NULL;
  }
  tspec_ast_name_t name = tspec_parser_name(p, "an expression");
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_NAME, token);
  expr->u.name = name.text;
  return expr;
}

static tspec_ast_expr_t *primary(tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  tspec_ast_expr_t *expr = NULL;
  switch ((int)tspec_parser_peek(p)) {
  case TSPEC_TOKEN_NUMBER:
    return number(p);
  case TSPEC_TOKEN_STRING:
    expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_STRING, token);
    expr->u.string = tspec_parser_string(p, &expr->range);
    return expr;
  case TSPEC_TOKEN_TRUE:
  case TSPEC_TOKEN_FALSE:
    expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_BOOL, token);
    expr->u.boolean = token->kind == TSPEC_TOKEN_TRUE;
    tspec_parser_bump(p);
    return expr;
  case TSPEC_TOKEN_DTYPE:
    expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_DTYPE, token);
    tspec_dtype_parse(token->text, token->length, &expr->u.dtype);
    tspec_parser_bump(p);
    return expr;
  case TSPEC_TOKEN_LPAREN:
    return parenthesized(p);
  case TSPEC_TOKEN_LBRACKET:
    return list(p);
  default:
    return name_expr(p);
  }
}

// ---- postfix ----

/// Any word may name an argument.
static bool at_named_arg(const tspec_parser_t *p) {
  tspec_token_kind_t kind = tspec_parser_peek(p);
  return (kind == TSPEC_TOKEN_NAME || tspec_token_is_reserved(kind)) &&
         tspec_parser_peek_next(p) == TSPEC_TOKEN_ASSIGN;
}

static tspec_ast_arg_t arg(tspec_parser_t *p, const tspec_ast_arg_t *before) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_arg_t arg = {0};
  if (at_named_arg(p)) {
    arg.name = (tspec_ast_name_t){tspec_parser_token_text(p, first), first->range};
    tspec_parser_bump(p);
    tspec_parser_bump(p);
  }
  arg.value = tspec_parser_expr(p);
  arg.range = tspec_parser_range(p, first);
  if (before != NULL && before->name.text != NULL && arg.name.text == NULL && !p->panic) {
    tspec_parser_fail(p, arg.range, "an argument by position after one by name");
    tspec_diag_note(p->diag, before->range, "'%s' is given by name here", before->name.text);
  }
  return arg;
}

tspec_ast_args_t tspec_parser_args(tspec_parser_t *p) {
  const tspec_token_t *open = tspec_parser_token(p);
  TSPEC_VEC(tspec_ast_arg_t) args = {0};
  if (tspec_parser_need(p, TSPEC_TOKEN_LPAREN) && !tspec_parser_at(p, TSPEC_TOKEN_RPAREN)) {
    do {
      const tspec_ast_arg_t *before = args.count > 0 ? &args.items[args.count - 1] : NULL;
      TSPEC_VEC_PUSH(p->arena, &args, arg(p, before));
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RPAREN));
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
  return (tspec_ast_args_t){args.items, args.count};
}

static bool at_index_end(const tspec_parser_t *p) {
  return tspec_parser_at(p, TSPEC_TOKEN_COMMA) || tspec_parser_at(p, TSPEC_TOKEN_RBRACKET);
}

static tspec_ast_index_t index_item(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_index_t index = {.kind = TSPEC_AST_INDEX_EXPR};
  if (tspec_parser_take(p, TSPEC_TOKEN_ELLIPSIS)) {
    index.kind = TSPEC_AST_INDEX_ELLIPSIS;
  } else {
    if (!tspec_parser_at(p, TSPEC_TOKEN_COLON)) {
      index.lo = tspec_parser_expr(p);
    }
    if (tspec_parser_take(p, TSPEC_TOKEN_COLON)) {
      index.kind = TSPEC_AST_INDEX_SLICE;
      if (!tspec_parser_at(p, TSPEC_TOKEN_COLON) && !at_index_end(p)) {
        index.hi = tspec_parser_expr(p);
      }
      if (tspec_parser_take(p, TSPEC_TOKEN_COLON) && !at_index_end(p)) {
        index.step = tspec_parser_expr(p);
      }
    }
  }
  index.range = tspec_parser_range(p, first);
  return index;
}

static tspec_ast_expr_t *indexed(tspec_parser_t *p, tspec_ast_expr_t *base,
                                 const tspec_token_t *first) {
  const tspec_token_t *open = tspec_parser_token(p);
  tspec_parser_bump(p);
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_INDEX, first);
  TSPEC_VEC(tspec_ast_index_t) indices = {0};
  adopt(p, expr, base);
  do {
    tspec_ast_index_t index = index_item(p);
    adopt(p, expr, index.lo);
    adopt(p, expr, index.hi);
    adopt(p, expr, index.step);
    TSPEC_VEC_PUSH(p->arena, &indices, index);
  } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RBRACKET));
  tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  expr->u.index.base = base;
  expr->u.index.indices = indices.items;
  expr->u.index.nindices = indices.count;
  return finish(p, expr, first);
}

static tspec_ast_expr_t *called(tspec_parser_t *p, tspec_ast_expr_t *callee,
                                const tspec_token_t *first) {
  tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_CALL, first);
  expr->u.call.callee = callee;
  expr->u.call.args = tspec_parser_args(p);
  adopt(p, expr, callee);
  for (size_t i = 0; i < expr->u.call.args.count; i++) {
    adopt(p, expr, expr->u.call.args.items[i].value);
  }
  return finish(p, expr, first);
}

tspec_ast_expr_t *tspec_parser_postfix(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_expr_t *base = primary(p);
  while (true) {
    if (tspec_parser_at(p, TSPEC_TOKEN_LPAREN)) {
      base = called(p, base, first);
    } else if (tspec_parser_at(p, TSPEC_TOKEN_LBRACKET)) {
      base = indexed(p, base, first);
    } else if (tspec_parser_take(p, TSPEC_TOKEN_DOT)) {
      tspec_ast_expr_t *expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_MEMBER, first);
      expr->u.member.base = base;
      expr->u.member.name = tspec_parser_name(p, "a name after '.'");
      adopt(p, expr, base);
      base = finish(p, expr, first);
    } else {
      return base;
    }
  }
}

// ---- operators ----

static tspec_ast_expr_t *binary(tspec_parser_t *p, int min_precedence);

static tspec_ast_expr_t *join(tspec_parser_t *p, tspec_ast_binary_t op, tspec_ast_expr_t *lhs,
                              tspec_range_t op_range) {
  tspec_ast_expr_t *expr = TSPEC_ARENA_NEW(p->arena, tspec_ast_expr_t, 1);
  expr->kind = TSPEC_AST_EXPR_BINARY;
  expr->height = 1;
  expr->u.binary.op = op;
  expr->u.binary.op_range = op_range;
  expr->u.binary.lhs = lhs;
  adopt(p, expr, lhs);
  return expr;
}

static tspec_ast_expr_t *unary(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_expr_t *expr = NULL;
  tspec_parser_enter(p);
  bool is_minus = tspec_parser_take(p, TSPEC_TOKEN_MINUS);
  if (is_minus || tspec_parser_take(p, TSPEC_TOKEN_NOT)) {
    tspec_parser_skip_newline(p);
    expr = tspec_parser_new_expr(p, TSPEC_AST_EXPR_UNARY, first);
    expr->u.unary.op = is_minus ? TSPEC_AST_UNARY_NEG : TSPEC_AST_UNARY_NOT;
    expr->u.unary.operand = unary(p);
    adopt(p, expr, expr->u.unary.operand);
    finish(p, expr, first);
  } else {
    expr = tspec_parser_postfix(p);
    tspec_range_t op_range = tspec_parser_token(p)->range;
    if (tspec_parser_take(p, TSPEC_TOKEN_CARET)) {
      tspec_parser_skip_newline(p);
      expr = join(p, TSPEC_AST_BINARY_POW, expr, op_range);
      expr->u.binary.rhs = unary(p);
      adopt(p, expr, expr->u.binary.rhs);
      finish(p, expr, first);
    }
  }
  tspec_parser_leave(p);
  return expr;
}

/// Takes the operator at the cursor and the newline after it.
static void take_operator(tspec_parser_t *p, tspec_ast_binary_t op) {
  tspec_range_t range = tspec_parser_token(p)->range;
  tspec_parser_bump(p);
  if (op == TSPEC_AST_BINARY_MATMUL && tspec_parser_at(p, TSPEC_TOKEN_LBRACKET)) {
    tspec_parser_fail(p, range,
                      "a sharding follows a type or the name in a let, as in 'let h @ [data] = x': "
                      "in an expression '@' is a matrix product");
  }
  tspec_parser_skip_newline(p);
}

static tspec_ast_expr_t *binary(tspec_parser_t *p, int min_precedence) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_expr_t *lhs = unary(p);
  bool compared = false;
  while (true) {
    tspec_ast_binary_t op = tspec_parser_binary_op(tspec_parser_peek(p));
    int precedence = op == TSPEC_AST_BINARY_COUNT ? 0 : tspec_ast_binary_precedence(op);
    if (precedence < min_precedence || precedence == PRECEDENCE_POW) {
      return lhs;
    }
    tspec_range_t op_range = tspec_parser_token(p)->range;
    if (compared && precedence == PRECEDENCE_COMPARE) {
      tspec_parser_fail(p, op_range, "comparisons do not chain: write a < b && b < c");
      return lhs;
    }
    compared = precedence == PRECEDENCE_COMPARE;
    take_operator(p, op);
    tspec_ast_expr_t *expr = join(p, op, lhs, op_range);
    expr->u.binary.rhs = binary(p, precedence + 1);
    adopt(p, expr, expr->u.binary.rhs);
    lhs = finish(p, expr, first);
  }
}

tspec_ast_expr_t *tspec_parser_expr(tspec_parser_t *p) {
  return binary(p, 1);
}

tspec_ast_expr_t *tspec_parser_sum(tspec_parser_t *p) {
  return binary(p, PRECEDENCE_SUM);
}

tspec_ast_exprs_t tspec_parser_exprs(tspec_parser_t *p) {
  TSPEC_VEC(tspec_ast_expr_t *) exprs = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &exprs, tspec_parser_expr(p));
  } while (tspec_parser_take_comma(p));
  return (tspec_ast_exprs_t){exprs.items, exprs.count};
}
