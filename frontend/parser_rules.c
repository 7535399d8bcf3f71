// Rules for shardings, and promises.
#include "frontend/parser_internal.h"

/// [ 'in' NAME ]: rules of one entry.
static tspec_ast_name_t only_in(tspec_parser_t *p) {
  return tspec_parser_take(p, TSPEC_TOKEN_IN) ? tspec_parser_name(p, "the name of an entry")
                                              : (tspec_ast_name_t){0};
}

static tspec_ast_axis_rule_t axis_rule(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_axis_rule_t rule = {.axis = tspec_parser_name(p, "a logical axis")};
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ARROW);
  rule.entry = tspec_parser_entry(p);
  if (rule.entry.is_ellipsis) {
    tspec_parser_fail(p, rule.entry.range, "'...' stands for dims, an axis has no use for it");
  }
  rule.range = tspec_parser_range(p, first);
  return rule;
}

static void axis_rules(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_SHARD_AXES;
  decl->u.shard_axes.entry = only_in(p);
  TSPEC_VEC(tspec_ast_axis_rule_t) rules = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, false, false);
  while (tspec_parser_items_next(p, &items)) {
    tspec_ast_axis_rule_t rule = axis_rule(p);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &rules, rule);
    }
  }
  decl->u.shard_axes.rules = rules.items;
  decl->u.shard_axes.nrules = rules.count;
}

static tspec_ast_path_rule_t path_rule(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_path_rule_t rule = {.pattern_range = first->range};
  if (tspec_parser_at(p, TSPEC_TOKEN_STRING)) {
    rule.pattern = tspec_parser_string(p, &rule.pattern_range);
  } else if (!tspec_parser_take_word(p, "otherwise")) {
    tspec_parser_expected(p, "a pattern in '\"' or 'otherwise'", "");
  }
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ARROW);
  if (tspec_parser_at(p, TSPEC_TOKEN_LBRACKET)) {
    rule.storage = tspec_parser_storage(p);
  } else {
    rule.policy = tspec_parser_name(p, "a sharding or a policy");
    rule.has_args = tspec_parser_at(p, TSPEC_TOKEN_LPAREN);
    if (rule.has_args) {
      rule.args = tspec_parser_args(p);
    }
  }
  rule.range = tspec_parser_range(p, first);
  return rule;
}

static void path_rules(tspec_parser_t *p, tspec_ast_decl_t *decl, tspec_ast_decl_kind_t kind) {
  decl->kind = kind;
  if (kind == TSPEC_AST_DECL_SHARD_VALUES) {
    decl->u.shard_paths.entry = only_in(p);
  }
  TSPEC_VEC(tspec_ast_path_rule_t) rules = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, false, false);
  while (tspec_parser_items_next(p, &items)) {
    tspec_ast_path_rule_t rule = path_rule(p);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &rules, rule);
    }
  }
  decl->u.shard_paths.rules = rules.items;
  decl->u.shard_paths.nrules = rules.count;
}

void tspec_parser_shard(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  if (tspec_parser_take_word(p, "axes")) {
    axis_rules(p, decl);
  } else if (tspec_parser_take_word(p, "params")) {
    path_rules(p, decl, TSPEC_AST_DECL_SHARD_PARAMS);
  } else if (tspec_parser_take_word(p, "values")) {
    path_rules(p, decl, TSPEC_AST_DECL_SHARD_VALUES);
  } else {
    tspec_parser_expected(p, "'axes', 'params' or 'values'", "");
  }
}

static bool is_promise_op(tspec_ast_binary_t op) {
  return op == TSPEC_AST_BINARY_EQ || op == TSPEC_AST_BINARY_LE || op == TSPEC_AST_BINARY_LT ||
         op == TSPEC_AST_BINARY_GE || op == TSPEC_AST_BINARY_GT;
}

static tspec_ast_promise_t promise(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_promise_t promise = {.what = tspec_parser_name(p, "a collective, bytes or memory")};
  if (tspec_parser_take_word(p, "over")) {
    TSPEC_VEC(tspec_ast_name_t) over = {0};
    do {
      TSPEC_VEC_PUSH(p->arena, &over, tspec_parser_name(p, "a mesh axis"));
    } while (tspec_parser_take(p, TSPEC_TOKEN_STAR));
    promise.over = (tspec_ast_names_t){over.items, over.count};
  }
  promise.op = tspec_parser_binary_op(tspec_parser_peek(p));
  if (is_promise_op(promise.op)) {
    tspec_parser_bump(p);
    tspec_parser_skip_newline(p);
  } else {
    tspec_parser_expected(p, "'==', '<=', '<', '>=' or '>'", "");
  }
  promise.value = tspec_parser_sum(p);
  if (tspec_parser_at(p, TSPEC_TOKEN_NAME)) {
    promise.unit = tspec_parser_name(p, "a unit");
  }
  promise.range = tspec_parser_range(p, first);
  return promise;
}

void tspec_parser_expect(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_EXPECT;
  decl->u.expect.entry = tspec_parser_name(p, "the name of an entry");
  TSPEC_VEC(tspec_ast_promise_t) promises = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, false, false);
  while (tspec_parser_items_next(p, &items)) {
    tspec_ast_promise_t item = promise(p);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &promises, item);
    }
  }
  decl->u.expect.promises = promises.items;
  decl->u.expect.npromises = promises.count;
}
