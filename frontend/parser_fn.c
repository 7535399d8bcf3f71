// Functions, modules and optimizers: what has a signature and a body.
//
// An error in a signature does not hide those in the body: it is read all the same, and the whole
// is dropped after.
#include "frontend/parser_internal.h"

static tspec_ast_formal_t formal(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_formal_t formal = {.name = tspec_parser_name(p, "the name of a parameter")};
  if (tspec_parser_take(p, TSPEC_TOKEN_COLON)) {
    if (tspec_parser_take(p, TSPEC_TOKEN_AXIS)) {
      formal.is_axis = true;
    } else {
      formal.type = tspec_parser_type(p);
      formal.sharding = tspec_parser_at_sharding(p);
    }
  }
  if (tspec_parser_take(p, TSPEC_TOKEN_ASSIGN)) {
    formal.value = tspec_parser_expr(p);
  }
  formal.range = tspec_parser_range(p, first);
  return formal;
}

static tspec_ast_formals_t formals(tspec_parser_t *p) {
  const tspec_token_t *open = tspec_parser_token(p);
  TSPEC_VEC(tspec_ast_formal_t) items = {0};
  tspec_parser_need(p, TSPEC_TOKEN_LPAREN);
  if (!p->panic && !tspec_parser_at(p, TSPEC_TOKEN_RPAREN)) {
    do {
      TSPEC_VEC_PUSH(p->arena, &items, formal(p));
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RPAREN));
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
  return (tspec_ast_formals_t){items.items, items.count, tspec_parser_range(p, open)};
}

static tspec_ast_result_t result(tspec_parser_t *p, bool need_name) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_result_t result = {0};
  if (need_name || tspec_parser_peek_next(p) == TSPEC_TOKEN_COLON) {
    result.name = tspec_parser_name(p, "the name of a result");
    tspec_parser_need(p, TSPEC_TOKEN_COLON);
  }
  result.type = tspec_parser_type(p);
  result.sharding = tspec_parser_at_sharding(p);
  result.range = tspec_parser_range(p, first);
  return result;
}

static void results(tspec_parser_t *p, tspec_ast_fn_t *fn) {
  fn->has_results = tspec_parser_take_after_newline(p, TSPEC_TOKEN_ARROW);
  if (!fn->has_results) {
    return;
  }
  tspec_parser_skip_newline(p);
  bool is_entry = fn->kind == TSPEC_AST_FN_ENTRY;
  const tspec_token_t *open = tspec_parser_token(p);
  fn->results_in_parens = tspec_parser_take(p, TSPEC_TOKEN_LPAREN);
  if (is_entry && !fn->results_in_parens) {
    tspec_parser_expected(p, "the results of an entry as in (y: f32[n])", "");
  }
  TSPEC_VEC(tspec_ast_result_t) items = {0};
  if (!fn->results_in_parens) {
    TSPEC_VEC_PUSH(p->arena, &items, result(p, false));
  } else {
    if (!tspec_parser_at(p, TSPEC_TOKEN_RPAREN)) {
      do {
        TSPEC_VEC_PUSH(p->arena, &items, result(p, is_entry));
      } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RPAREN));
    }
    tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
  }
  fn->results = items.items;
  fn->nresults = items.count;
}

/// Ends a header: after an error in it, true if the body follows all the same.
static bool header_was_bad(tspec_parser_t *p) {
  return p->panic && tspec_parser_resume_at_brace(p);
}

/// What was read is to be dropped, without another report.
static void drop(tspec_parser_t *p, bool bad) {
  p->panic = p->panic || bad;
}

void tspec_parser_function(tspec_parser_t *p, tspec_ast_decl_t *decl, bool is_method) {
  tspec_ast_fn_t *fn = &decl->u.fn;
  decl->kind = TSPEC_AST_DECL_FUNCTION;
  fn->kind = is_method ? TSPEC_AST_FN_METHOD : TSPEC_AST_FN_PLAIN;
  if (tspec_parser_take(p, TSPEC_TOKEN_ENTRY)) {
    fn->kind = TSPEC_AST_FN_ENTRY;
  } else if (tspec_parser_take(p, TSPEC_TOKEN_MANUAL)) {
    fn->kind = TSPEC_AST_FN_MANUAL;
    const tspec_token_t *open = tspec_parser_token(p);
    tspec_parser_need(p, TSPEC_TOKEN_LPAREN);
    fn->manual_axes = tspec_parser_names(p, "a mesh axis");
    tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
  }
  tspec_parser_need(p, TSPEC_TOKEN_FN);
  if (!is_method || !tspec_parser_at(p, TSPEC_TOKEN_LPAREN)) {
    fn->name = tspec_parser_name(p, "the name of the function");
  }
  fn->formals = formals(p);
  results(p, fn);
  bool bad = header_was_bad(p);
  fn->body = tspec_parser_block(p);
  drop(p, bad);
}

void tspec_parser_module(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_MODULE;
  decl->u.module.name = tspec_parser_name(p, "the name of the module");
  decl->u.module.formals = formals(p);
  bool bad = header_was_bad(p);
  decl->u.module.members = tspec_parser_decls(p, TSPEC_PARSER_SCOPE_MODULE);
  drop(p, bad);
}

static tspec_ast_opt_item_t opt_item(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_opt_item_t item = {0};
  if (tspec_parser_take_word(p, "slot")) {
    item.kind = TSPEC_AST_OPT_SLOT;
    item.name = tspec_parser_name(p, "the name of a slot");
    tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
    item.value = tspec_parser_expr(p);
  } else if (tspec_parser_take_word(p, "counter")) {
    item.kind = TSPEC_AST_OPT_COUNTER;
    item.name = tspec_parser_name(p, "the name of a counter");
  } else if (tspec_parser_take_word(p, "update")) {
    item.kind = TSPEC_AST_OPT_UPDATE;
    const tspec_token_t *open = tspec_parser_token(p);
    tspec_parser_need(p, TSPEC_TOKEN_LPAREN);
    item.param = tspec_parser_name(p, "a name for the parameter");
    tspec_parser_need(p, TSPEC_TOKEN_COMMA);
    item.grad = tspec_parser_name(p, "a name for the gradient");
    tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
    item.body = tspec_parser_block(p);
  } else {
    tspec_parser_expected(p, "slot, counter or update", "");
  }
  item.range = tspec_parser_range(p, first);
  return item;
}

void tspec_parser_optimizer(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_OPTIMIZER;
  decl->u.optimizer.name = tspec_parser_name(p, "the name of the optimizer");
  decl->u.optimizer.formals = formals(p);
  bool bad = header_was_bad(p);
  TSPEC_VEC(tspec_ast_opt_item_t) opt_items = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, true, false);
  while (tspec_parser_items_next(p, &items)) {
    tspec_ast_opt_item_t item = opt_item(p);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &opt_items, item);
    }
  }
  decl->u.optimizer.items = opt_items.items;
  decl->u.optimizer.nitems = opt_items.count;
  drop(p, bad);
}
