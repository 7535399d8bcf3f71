// Declarations but for functions, modules, optimizers (parser_fn.c) and rules (parser_rules.c).
#include "frontend/parser_internal.h"

tspec_ast_decl_t *tspec_parser_new_decl(tspec_parser_t *p, tspec_ast_decl_kind_t kind) {
  tspec_ast_decl_t *decl = TSPEC_ARENA_NEW(p->arena, tspec_ast_decl_t, 1);
  decl->kind = kind;
  return decl;
}

static void bandwidth(tspec_parser_t *p, tspec_ast_mesh_axis_t *axis) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (!tspec_parser_at(p, TSPEC_TOKEN_NUMBER)) {
    tspec_parser_expected(p, "a bandwidth such as 10 GB/s", "");
    return;
  }
  // A number's node has the text and the value.
  const tspec_ast_expr_t *number = tspec_parser_postfix(p);
  if (p->panic || number->kind != TSPEC_AST_EXPR_NUMBER) {
    tspec_parser_fail(p, token->range, "a bandwidth is a number and a unit, such as 10 GB/s");
    return;
  }
  axis->has_bandwidth = true;
  axis->bandwidth = number->u.number.value;
  axis->bandwidth_text = number->u.number.text;
  axis->unit = tspec_parser_name(p, "a unit");
  tspec_parser_need(p, TSPEC_TOKEN_SLASH);
  axis->per = tspec_parser_name(p, "a unit");
}

static tspec_ast_mesh_axis_t mesh_axis(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_mesh_axis_t axis = {.name = tspec_parser_name(p, "the name of a mesh axis")};
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
  const tspec_token_t *size = tspec_parser_token(p);
  if (tspec_parser_at(p, TSPEC_TOKEN_NAME)) {
    axis.size_name = tspec_parser_name(p, "a size");
  } else {
    bool negative = tspec_parser_take(p, TSPEC_TOKEN_MINUS);
    axis.size = tspec_parser_integer(p, "a size (an integer or a name)");
    axis.size = negative ? -axis.size : axis.size;
  }
  axis.size_range = tspec_parser_range(p, size);
  if (tspec_parser_take(p, TSPEC_TOKEN_AT)) {
    bandwidth(p, &axis);
  }
  axis.range = tspec_parser_range(p, first);
  return axis;
}

static void mesh(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_MESH;
  TSPEC_VEC(tspec_ast_mesh_axis_t) axes = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &axes, mesh_axis(p));
  } while (tspec_parser_take_comma(p));
  decl->u.mesh.axes = axes.items;
  decl->u.mesh.naxes = axes.count;
}

static void bindings(tspec_parser_t *p, tspec_ast_decl_t *decl, tspec_ast_decl_kind_t kind) {
  decl->kind = kind;
  TSPEC_VEC(tspec_ast_binding_t) items = {0};
  do {
    const tspec_token_t *first = tspec_parser_token(p);
    tspec_ast_binding_t item = {.name = tspec_parser_name(p, "a name")};
    tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
    item.value = tspec_parser_expr(p);
    item.range = tspec_parser_range(p, first);
    TSPEC_VEC_PUSH(p->arena, &items, item);
  } while (tspec_parser_take_comma(p));
  decl->u.bindings.items = items.items;
  decl->u.bindings.count = items.count;
}

static void precision(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  decl->kind = TSPEC_AST_DECL_PRECISION;
  TSPEC_VEC(tspec_ast_precision_t) items = {0};
  do {
    const tspec_token_t *first = tspec_parser_token(p);
    tspec_ast_precision_t item = {.name = tspec_parser_name(p, "'params', 'compute' or 'reduce'")};
    tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
    const tspec_token_t *token = tspec_parser_token(p);
    if (tspec_parser_take(p, TSPEC_TOKEN_DTYPE)) {
      tspec_dtype_parse(token->text, token->length, &item.dtype);
    } else {
      tspec_parser_expected(p, "an element type", "");
    }
    item.range = tspec_parser_range(p, first);
    TSPEC_VEC_PUSH(p->arena, &items, item);
  } while (tspec_parser_take_comma(p));
  decl->u.precision.items = items.items;
  decl->u.precision.count = items.count;
}

/// After 'param' or 'state'.
static void param(tspec_parser_t *p, tspec_ast_decl_t *decl, tspec_ast_decl_kind_t kind) {
  decl->kind = kind;
  decl->u.param.name = tspec_parser_name(p, "a name");
  tspec_parser_need(p, TSPEC_TOKEN_COLON);
  if (kind == TSPEC_AST_DECL_STATE && tspec_parser_take_word(p, "params")) {
    decl->u.param.is_tree = true;
  } else {
    decl->u.param.type = tspec_parser_type(p);
    if (tspec_parser_take(p, TSPEC_TOKEN_AT)) {
      decl->u.param.storage = tspec_parser_storage(p);
    }
  }
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
  decl->u.param.value = tspec_parser_expr(p);
}

/// "a module, got '3' (...)": what else the writer may have wanted.
static const char *instance_hint(const tspec_parser_t *p) {
  return tspec_parser_at(p, TSPEC_TOKEN_NUMBER) || tspec_parser_at(p, TSPEC_TOKEN_MINUS)
             ? " (a number is declared with 'const')"
             : "";
}

static void instance(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  static const char *const keywords[] = {
      "mesh",   "axis", "const", "import", "precision", "shard", "param",  "state",
      "module", "fn",   "entry", "manual", "optimizer", "for",   "expect", NULL};
  const char *meant = tspec_parser_meant(p, keywords);
  decl->kind = TSPEC_AST_DECL_INSTANCE;
  decl->u.instance.name = tspec_parser_name(p, "a declaration");
  const tspec_token_t *open = tspec_parser_token(p);
  if (tspec_parser_take(p, TSPEC_TOKEN_LBRACKET)) {
    decl->u.instance.index = tspec_parser_expr(p);
    tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  } else if (meant != NULL && !tspec_parser_at(p, TSPEC_TOKEN_ASSIGN)) {
    tspec_parser_expected(p, "'='", tspec_arena_printf(p->arena, " (did you mean '%s'?)", meant));
  }
  tspec_parser_need_then_newline(p, TSPEC_TOKEN_ASSIGN);
  if (tspec_parser_at_word(p, "remat") && tspec_parser_peek_next(p) == TSPEC_TOKEN_NAME) {
    tspec_parser_bump(p);
    decl->u.instance.remat = true;
  }
  if (tspec_parser_at_word(p, "stack") && tspec_parser_peek_next(p) == TSPEC_TOKEN_LBRACKET) {
    tspec_parser_bump(p);
    open = tspec_parser_token(p);
    tspec_parser_bump(p);
    decl->u.instance.stack = tspec_parser_expr(p);
    tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  }
  if (!tspec_parser_at(p, TSPEC_TOKEN_NAME)) {
    tspec_parser_expected(p, "a module", instance_hint(p));
  }
  decl->u.instance.module = tspec_parser_name(p, "a module");
  decl->u.instance.args = tspec_parser_args(p);
}

tspec_ast_decls_t tspec_parser_decls(tspec_parser_t *p, tspec_parser_scope_t scope) {
  const tspec_token_t *first = tspec_parser_token(p);
  TSPEC_VEC(tspec_ast_decl_t *) decls = {0};
  tspec_parser_items_t items;
  tspec_parser_items_begin(p, &items, true, false);
  while (tspec_parser_items_next(p, &items)) {
    tspec_ast_decl_t *decl = tspec_parser_decl(p, scope);
    if (tspec_parser_item_end(p, &items)) {
      TSPEC_VEC_PUSH(p->arena, &decls, decl);
    }
  }
  return (tspec_ast_decls_t){decls.items, decls.count, tspec_parser_range(p, first)};
}

/// After 'for'.
static void for_decl(tspec_parser_t *p, tspec_ast_decl_t *decl, tspec_parser_scope_t scope) {
  decl->kind = TSPEC_AST_DECL_FOR;
  tspec_parser_for_header(p, &decl->u.loop.var, &decl->u.loop.lo, &decl->u.loop.hi);
  decl->u.loop.body = tspec_parser_decls(p, scope);
}

/// After 'if'.
static void if_decl(tspec_parser_t *p, tspec_ast_decl_t *decl, tspec_parser_scope_t scope) {
  decl->kind = TSPEC_AST_DECL_IF;
  TSPEC_VEC(tspec_ast_decl_arm_t) arms = {0};
  bool more = true;
  while (more) {
    tspec_ast_decl_arm_t arm = {.cond = tspec_parser_expr(p)};
    arm.body = tspec_parser_decls(p, scope);
    TSPEC_VEC_PUSH(p->arena, &arms, arm);
    more = false;
    if (tspec_parser_take_after_newline(p, TSPEC_TOKEN_ELSE)) {
      more = tspec_parser_take(p, TSPEC_TOKEN_IF);
      if (!more) {
        tspec_ast_decl_arm_t last = {.body = tspec_parser_decls(p, scope)};
        TSPEC_VEC_PUSH(p->arena, &arms, last);
      }
    }
  }
  decl->u.cond.arms = arms.items;
  decl->u.cond.narms = arms.count;
}

/// What may stand at top level, in modules, and in for and if of both. False if nothing of it is
/// here.
static bool declared_anywhere(tspec_parser_t *p, tspec_ast_decl_t *decl,
                              tspec_parser_scope_t scope) {
  tspec_parser_scope_t inner = scope == TSPEC_PARSER_SCOPE_FILE ? TSPEC_PARSER_SCOPE_NESTED : scope;
  if (tspec_parser_take(p, TSPEC_TOKEN_PARAM)) {
    param(p, decl, TSPEC_AST_DECL_PARAM);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_STATE)) {
    param(p, decl, TSPEC_AST_DECL_STATE);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_FOR)) {
    for_decl(p, decl, inner);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_IF)) {
    if_decl(p, decl, inner);
  } else if (tspec_parser_at(p, TSPEC_TOKEN_NAME)) {
    instance(p, decl);
  } else {
    return false;
  }
  return true;
}

/// What may stand in a file only.
static bool declared_in_file(tspec_parser_t *p, tspec_ast_decl_t *decl) {
  if (tspec_parser_take(p, TSPEC_TOKEN_MESH)) {
    mesh(p, decl);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_AXIS)) {
    bindings(p, decl, TSPEC_AST_DECL_AXIS);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_CONST)) {
    bindings(p, decl, TSPEC_AST_DECL_CONST);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_IMPORT)) {
    decl->kind = TSPEC_AST_DECL_IMPORT;
    decl->u.import.path = tspec_parser_string(p, &decl->u.import.path_range);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_PRECISION)) {
    precision(p, decl);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_SHARD)) {
    tspec_parser_shard(p, decl);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_EXPECT)) {
    tspec_parser_expect(p, decl);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_MODULE)) {
    tspec_parser_module(p, decl);
  } else if (tspec_parser_take(p, TSPEC_TOKEN_OPTIMIZER)) {
    tspec_parser_optimizer(p, decl);
  } else if (tspec_parser_at(p, TSPEC_TOKEN_FN) || tspec_parser_at(p, TSPEC_TOKEN_ENTRY) ||
             tspec_parser_at(p, TSPEC_TOKEN_MANUAL)) {
    tspec_parser_function(p, decl, false);
  } else {
    return false;
  }
  return true;
}

static void no_declaration(tspec_parser_t *p, tspec_parser_scope_t scope) {
  static const char *const whats[] = {
      [TSPEC_PARSER_SCOPE_FILE] = "a declaration",
      [TSPEC_PARSER_SCOPE_NESTED] = "param, state, an instance, for or if",
      [TSPEC_PARSER_SCOPE_MODULE] = "a member: param, state, an instance, fn, for or if",
  };
  tspec_token_kind_t kind = tspec_parser_peek(p);
  bool is_statement = kind == TSPEC_TOKEN_LET || kind == TSPEC_TOKEN_RETURN ||
                      kind == TSPEC_TOKEN_MINIMIZE || kind == TSPEC_TOKEN_APPLY;
  tspec_parser_expected(p, whats[scope],
                        is_statement ? " (statements stand inside functions)"
                                     : tspec_parser_line_hint(p));
}

tspec_ast_decl_t *tspec_parser_decl(tspec_parser_t *p, tspec_parser_scope_t scope) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_decl_t *decl = TSPEC_ARENA_NEW(p->arena, tspec_ast_decl_t, 1);
  if (scope == TSPEC_PARSER_SCOPE_MODULE && tspec_parser_at(p, TSPEC_TOKEN_FN)) {
    tspec_parser_function(p, decl, true);
  } else if (!declared_anywhere(p, decl, scope) &&
             !(scope == TSPEC_PARSER_SCOPE_FILE && declared_in_file(p, decl))) {
    no_declaration(p, scope);
  }
  decl->range = tspec_parser_range(p, first);
  return decl;
}
