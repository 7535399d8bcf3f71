// Functions that no entry reaches have no arguments to be inlined with; their names and the number
// of their arguments are checked all the same.
#include <string.h>

#include "frontend/check_ops.h"

typedef struct walk_t {
  tspec_checker_t *c;
  const tspec_home_t *home;
  tspec_names_t members; ///< names that the module declares anywhere
} walk_t;

static void walk_block(walk_t *w, const tspec_ast_block_t *block);
static void walk_expr(walk_t *w, const tspec_ast_expr_t *expr);

static void add_local(walk_t *w, tspec_ast_name_t name) {
  tspec_checker_t *c = w->c;
  if (strcmp(name.text, "_") == 0 || tspec_frame_find(c->frame, name.text) != NULL) {
    return;
  }
  tspec_frame_add(c, name, tspec_cv_error());
}

// ---- expressions -----------------------------------------------------------------------------

// A global function or module by name, if nothing nearer hides it.
static const tspec_global_t *find_callee(walk_t *w, const tspec_ast_expr_t *expr) {
  if (expr->kind != TSPEC_AST_EXPR_NAME || tspec_frame_find(w->c->frame, expr->u.name) != NULL ||
      tspec_names_get(&w->members, expr->u.name) != NULL) {
    return NULL;
  }
  return tspec_home_find(w->home, expr->u.name);
}

static void walk_name(walk_t *w, const char *name, tspec_range_t range) {
  tspec_checker_t *c = w->c;
  bool known = tspec_frame_find(c->frame, name) != NULL ||
               tspec_names_get(&w->members, name) != NULL ||
               tspec_home_find(w->home, name) != NULL ||
               tspec_names_get(&c->builtins, name) != NULL || strcmp(name, "params") == 0;
  if (!known) {
    tspec_check_undeclared(c, name, range);
  }
}

static void check_arity(walk_t *w, const tspec_ast_expr_t *call) {
  const tspec_global_t *global = find_callee(w, call->u.call.callee);
  if (global == NULL || global->kind != TSPEC_GLOBAL_FUNCTION) {
    return;
  }
  const tspec_ast_fn_t *fn = &global->decl->u.fn;
  size_t nargs = call->u.call.args.count, nrequired = 0;
  for (size_t i = 0; i < fn->formals.count; ++i) {
    nrequired += fn->formals.items[i].value == NULL;
  }
  if (nargs > fn->formals.count || nargs < nrequired) {
    tspec_check_error(w->c, call->range, "'%s' takes %zu argument%s, but gets %zu", fn->name.text,
                      fn->formals.count, fn->formals.count == 1 ? "" : "s", nargs);
    tspec_check_note(w->c, fn->name.range, "declared here");
  }
}

static void walk_args(walk_t *w, const tspec_ast_args_t *args) {
  for (size_t i = 0; i < args->count; ++i) {
    walk_expr(w, args->items[i].value);
  }
}

// Mesh axes of collectives have a namespace of their own.
static void walk_call_args(walk_t *w, const tspec_ast_expr_t *call) {
  const tspec_ast_expr_t *callee = call->u.call.callee;
  bool is_hidden = callee->kind != TSPEC_AST_EXPR_NAME || find_callee(w, callee) != NULL ||
                   tspec_frame_find(w->c->frame, callee->u.name) != NULL ||
                   tspec_names_get(&w->members, callee->u.name) != NULL;
  const tspec_builtin_t *builtin =
      is_hidden ? NULL : tspec_names_get(&w->c->builtins, callee->u.name);
  for (size_t i = 0; i < call->u.call.args.count; ++i) {
    const tspec_ast_arg_t *arg = &call->u.call.args.items[i];
    if (builtin != NULL && tspec_builtin_is_mesh_axis(builtin, i, arg->name.text)) {
      tspec_builtin_eval_arg(w->c, builtin, i, arg);
    } else {
      walk_expr(w, arg->value);
    }
  }
}

static void walk_indices(walk_t *w, const tspec_ast_expr_t *expr) {
  for (size_t i = 0; i < expr->u.index.nindices; ++i) {
    const tspec_ast_index_t *index = &expr->u.index.indices[i];
    const tspec_ast_expr_t *parts[] = {index->lo, index->hi, index->step};
    for (int k = 0; k < 3; ++k) {
      if (parts[k] != NULL) {
        walk_expr(w, parts[k]);
      }
    }
  }
}

static void walk_scan(walk_t *w, const tspec_ast_expr_t *expr) {
  tspec_frame_t *frame = w->c->frame;
  for (size_t i = 0; i < expr->u.scan.nins; ++i) {
    walk_expr(w, expr->u.scan.ins[i].value);
    if (expr->u.scan.ins[i].hi != NULL) {
      walk_expr(w, expr->u.scan.ins[i].hi);
    }
  }
  size_t nlive = frame->live.count;
  for (size_t i = 0; i < expr->u.scan.nins; ++i) {
    add_local(w, expr->u.scan.ins[i].name);
  }
  walk_block(w, &expr->u.scan.body);
  tspec_frame_trim(w->c, nlive);
}

static void walk_expr(walk_t *w, const tspec_ast_expr_t *expr) {
  switch (expr->kind) {
  case TSPEC_AST_EXPR_NUMBER:
  case TSPEC_AST_EXPR_STRING:
  case TSPEC_AST_EXPR_BOOL:
  case TSPEC_AST_EXPR_DTYPE:
    break;
  case TSPEC_AST_EXPR_NAME:
    walk_name(w, expr->u.name, expr->range);
    break;
  case TSPEC_AST_EXPR_LIST:
    for (size_t i = 0; i < expr->u.list.count; ++i) {
      walk_expr(w, expr->u.list.items[i]);
    }
    break;
  case TSPEC_AST_EXPR_CALL:
    walk_expr(w, expr->u.call.callee);
    walk_call_args(w, expr);
    check_arity(w, expr);
    break;
  case TSPEC_AST_EXPR_INDEX:
    walk_expr(w, expr->u.index.base);
    walk_indices(w, expr);
    break;
  case TSPEC_AST_EXPR_MEMBER:
    walk_expr(w, expr->u.member.base);
    break;
  case TSPEC_AST_EXPR_UNARY:
    walk_expr(w, expr->u.unary.operand);
    break;
  case TSPEC_AST_EXPR_BINARY:
    walk_expr(w, expr->u.binary.lhs);
    walk_expr(w, expr->u.binary.rhs);
    break;
  case TSPEC_AST_EXPR_SCAN:
    walk_scan(w, expr);
    break;
  }
}

// ---- types and statements --------------------------------------------------------------------

static void bind_type_names(walk_t *w, const tspec_ast_type_t *type) {
  if (type->bind.text != NULL) {
    add_local(w, type->bind);
  }
  for (size_t i = 0; i < type->ndims; ++i) {
    if (type->dims[i].kind == TSPEC_AST_DIM_BIND) {
      add_local(w, type->dims[i].name);
    }
  }
}

static void walk_type(walk_t *w, const tspec_ast_type_t *type) {
  for (size_t i = 0; i < type->ndims; ++i) {
    if (type->dims[i].kind == TSPEC_AST_DIM_EXPR) {
      walk_expr(w, type->dims[i].expr);
    }
  }
}

static void walk_exprs(walk_t *w, const tspec_ast_exprs_t *exprs) {
  for (size_t i = 0; i < exprs->count; ++i) {
    walk_expr(w, exprs->items[i]);
  }
}

static void walk_update(walk_t *w, const tspec_ast_stmt_t *stmt) {
  walk_expr(w, stmt->u.update.value);
  for (size_t i = 0; i < stmt->u.update.nupdates; ++i) {
    const tspec_ast_update_t *update = &stmt->u.update.updates[i];
    walk_name(w, update->optimizer.text, update->optimizer.range);
    walk_args(w, &update->args);
  }
  if (stmt->u.update.clip != NULL) {
    walk_expr(w, stmt->u.update.clip);
  }
}

static void walk_loop(walk_t *w, const tspec_ast_stmt_t *stmt) {
  size_t nlive = w->c->frame->live.count;
  walk_expr(w, stmt->u.loop.lo);
  walk_expr(w, stmt->u.loop.hi);
  add_local(w, stmt->u.loop.var);
  walk_block(w, &stmt->u.loop.body);
  tspec_frame_trim(w->c, nlive);
}

static void walk_let(walk_t *w, const tspec_ast_stmt_t *stmt) {
  walk_expr(w, stmt->u.let.value);
  if (stmt->u.let.type != NULL) {
    bind_type_names(w, stmt->u.let.type);
    walk_type(w, stmt->u.let.type);
  }
  for (size_t i = 0; i < stmt->u.let.names.count; ++i) {
    add_local(w, stmt->u.let.names.items[i]);
  }
}

static void walk_stmt(walk_t *w, const tspec_ast_stmt_t *stmt) {
  switch (stmt->kind) {
  case TSPEC_AST_STMT_LET:
    walk_let(w, stmt);
    break;
  case TSPEC_AST_STMT_ASSIGN:
    walk_expr(w, stmt->u.assign.value);
    walk_expr(w, stmt->u.assign.target);
    break;
  case TSPEC_AST_STMT_RETURN:
    walk_exprs(w, &stmt->u.ret);
    break;
  case TSPEC_AST_STMT_FOR:
    walk_loop(w, stmt);
    break;
  case TSPEC_AST_STMT_IF:
    for (size_t i = 0; i < stmt->u.cond.narms; ++i) {
      if (stmt->u.cond.arms[i].cond != NULL) {
        walk_expr(w, stmt->u.cond.arms[i].cond);
      }
      walk_block(w, &stmt->u.cond.arms[i].body);
    }
    break;
  case TSPEC_AST_STMT_UPDATE:
    walk_update(w, stmt);
    break;
  case TSPEC_AST_STMT_NEXT:
    walk_exprs(w, &stmt->u.next.next);
    walk_exprs(w, &stmt->u.next.emit);
    break;
  case TSPEC_AST_STMT_CALL:
    walk_expr(w, stmt->u.call);
    break;
  }
}

static void walk_block(walk_t *w, const tspec_ast_block_t *block) {
  size_t nlive = w->c->frame->live.count;
  for (size_t i = 0; i < block->count; ++i) {
    walk_stmt(w, block->items[i]);
  }
  tspec_frame_trim(w->c, nlive);
}

// ---- functions -------------------------------------------------------------------------------

static void add_member(walk_t *w, const tspec_ast_decl_t *decl) {
  const char *name = NULL;
  if (decl->kind == TSPEC_AST_DECL_PARAM || decl->kind == TSPEC_AST_DECL_STATE) {
    name = decl->u.param.name.text;
  } else if (decl->kind == TSPEC_AST_DECL_INSTANCE) {
    name = decl->u.instance.name.text;
  } else if (decl->kind == TSPEC_AST_DECL_FUNCTION) {
    name = decl->u.fn.name.text;
  }
  if (name != NULL) {
    tspec_names_set(w->c->arena, &w->members, name, w);
  }
}

static void add_members(walk_t *w, const tspec_ast_decls_t *decls) {
  for (size_t i = 0; i < decls->count; ++i) {
    const tspec_ast_decl_t *decl = decls->items[i];
    add_member(w, decl);
    if (decl->kind == TSPEC_AST_DECL_FOR) {
      add_members(w, &decl->u.loop.body);
    } else if (decl->kind == TSPEC_AST_DECL_IF) {
      for (size_t k = 0; k < decl->u.cond.narms; ++k) {
        add_members(w, &decl->u.cond.arms[k].body);
      }
    }
  }
}

static void walk_formals(walk_t *w, const tspec_ast_formals_t *formals) {
  for (size_t i = 0; i < formals->count; ++i) {
    const tspec_ast_formal_t *formal = &formals->items[i];
    if (formal->value != NULL) {
      walk_expr(w, formal->value);
    }
    add_local(w, formal->name);
    if (formal->type != NULL) {
      bind_type_names(w, formal->type);
    }
  }
}

static void walk_signature(walk_t *w, const tspec_ast_fn_t *fn) {
  walk_formals(w, &fn->formals);
  for (size_t i = 0; i < fn->formals.count; ++i) {
    if (fn->formals.items[i].type != NULL) {
      walk_type(w, fn->formals.items[i].type);
    }
  }
  for (size_t i = 0; i < fn->nresults; ++i) {
    bind_type_names(w, fn->results[i].type);
    walk_type(w, fn->results[i].type);
  }
}

static void walk_function(tspec_checker_t *c, const tspec_fn_info_t *info) {
  walk_t w = {.c = c, .home = info->home};
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, info->home, NULL);
  c->frame = &frame;
  if (info->module != NULL) {
    add_members(&w, &info->module->decl->u.module.members);
    const tspec_ast_formals_t *formals = &info->module->decl->u.module.formals;
    for (size_t i = 0; i < formals->count; ++i) {
      tspec_names_set(c->arena, &w.members, formals->items[i].name.text, &w);
    }
  }
  walk_signature(&w, info->fn);
  walk_block(&w, &info->fn->body);
  tspec_check_flush_trace(c);
  c->frame = NULL;
}

static void walk_optimizer(tspec_checker_t *c, const tspec_global_t *optimizer) {
  walk_t w = {.c = c, .home = optimizer->home};
  const tspec_ast_decl_t *decl = optimizer->decl;
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, optimizer->home, NULL);
  c->frame = &frame;
  walk_formals(&w, &decl->u.optimizer.formals);
  for (size_t i = 0; i < decl->u.optimizer.nitems; ++i) {
    if (decl->u.optimizer.items[i].kind != TSPEC_AST_OPT_UPDATE) {
      add_local(&w, decl->u.optimizer.items[i].name);
    }
  }
  for (size_t i = 0; i < decl->u.optimizer.nitems; ++i) {
    const tspec_ast_opt_item_t *item = &decl->u.optimizer.items[i];
    if (item->kind == TSPEC_AST_OPT_UPDATE) {
      add_local(&w, item->param);
      add_local(&w, item->grad);
      walk_block(&w, &item->body);
    }
  }
  tspec_check_flush_trace(c);
  c->frame = NULL;
}

void tspec_check_unreached(tspec_checker_t *c) {
  for (size_t i = 0; i < c->globals.count; ++i) {
    const tspec_global_t *global = c->globals.items[i];
    if (global->kind == TSPEC_GLOBAL_OPTIMIZER && !global->reached && global->home == &c->user) {
      walk_optimizer(c, global);
    }
  }
  for (size_t i = 0; i < c->fns.count; ++i) {
    if (!c->fns.items[i]->reached && c->fns.items[i]->home == &c->user) {
      walk_function(c, c->fns.items[i]);
    }
  }
}
