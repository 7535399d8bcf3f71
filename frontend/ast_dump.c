#include "frontend/ast_dump.h"

#include <inttypes.h>

static void dump_decl(const tspec_ast_decl_t *decl, tspec_buf_t *buf);

static void dump_decls(const tspec_ast_decls_t *decls, tspec_buf_t *buf) {
  for (size_t i = 0; i < decls->count; i++) {
    tspec_buf_puts(buf, " ");
    dump_decl(decls->items[i], buf);
  }
}

static void dump_mesh(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(mesh");
  for (size_t i = 0; i < decl->u.mesh.naxes; i++) {
    const tspec_ast_mesh_axis_t *axis = &decl->u.mesh.axes[i];
    tspec_buf_printf(buf, " (%s ", axis->name.text);
    if (axis->size_name.text != NULL) {
      tspec_buf_puts(buf, axis->size_name.text);
    } else {
      tspec_buf_printf(buf, "%" PRId64, axis->size);
    }
    if (axis->has_bandwidth) {
      tspec_buf_printf(buf, " (bandwidth %s %s/%s)", axis->bandwidth_text, axis->unit.text,
                       axis->per.text);
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_bindings(const char *head, const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(%s", head);
  for (size_t i = 0; i < decl->u.bindings.count; i++) {
    tspec_buf_printf(buf, " (%s ", decl->u.bindings.items[i].name.text);
    tspec_ast_dump_expr(decl->u.bindings.items[i].value, buf);
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_precision(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(precision");
  for (size_t i = 0; i < decl->u.precision.count; i++) {
    tspec_buf_printf(buf, " (%s %s)", decl->u.precision.items[i].name.text,
                     tspec_dtype_name(decl->u.precision.items[i].dtype));
  }
  tspec_buf_puts(buf, ")");
}

static void dump_param(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  bool is_state = decl->kind == TSPEC_AST_DECL_STATE;
  tspec_buf_printf(buf, "(%s %s ", is_state ? "state" : "param", decl->u.param.name.text);
  if (decl->u.param.is_tree) {
    tspec_buf_puts(buf, "params");
  } else {
    tspec_ast_dump_type(decl->u.param.type, buf);
  }
  tspec_buf_puts(buf, " ");
  if (decl->u.param.storage.stored != NULL) {
    tspec_ast_dump_sharding(decl->u.param.storage.stored, decl->u.param.storage.use, buf);
  } else {
    tspec_buf_puts(buf, "()");
  }
  tspec_buf_puts(buf, " ");
  tspec_ast_dump_expr(decl->u.param.value, buf);
  tspec_buf_puts(buf, ")");
}

static void dump_instance(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(instance ");
  if (decl->u.instance.index != NULL) {
    tspec_buf_printf(buf, "(%s ", decl->u.instance.name.text);
    tspec_ast_dump_expr(decl->u.instance.index, buf);
    tspec_buf_puts(buf, ")");
  } else {
    tspec_buf_puts(buf, decl->u.instance.name.text);
  }
  tspec_buf_puts(buf, decl->u.instance.remat ? " (remat " : " ");
  if (decl->u.instance.stack != NULL) {
    tspec_buf_puts(buf, "(stack ");
    tspec_ast_dump_expr(decl->u.instance.stack, buf);
    tspec_buf_puts(buf, " ");
  }
  tspec_buf_printf(buf, "(new %s", decl->u.instance.module.text);
  tspec_ast_dump_args(&decl->u.instance.args, buf);
  tspec_buf_puts(buf, decl->u.instance.stack != NULL ? "))" : ")");
  tspec_buf_puts(buf, decl->u.instance.remat ? "))" : ")");
}

static void dump_formals(const tspec_ast_formals_t *formals, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(formals");
  for (size_t i = 0; i < formals->count; i++) {
    const tspec_ast_formal_t *formal = &formals->items[i];
    tspec_buf_printf(buf, " (%s%s", formal->name.text, formal->is_axis ? " axis" : "");
    if (formal->type != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_type(formal->type, buf);
    }
    if (formal->sharding != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_sharding(formal->sharding, NULL, buf);
    }
    if (formal->value != NULL) {
      tspec_buf_puts(buf, " (default ");
      tspec_ast_dump_expr(formal->value, buf);
      tspec_buf_puts(buf, ")");
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_fn(const tspec_ast_fn_t *fn, tspec_buf_t *buf) {
  static const char *const heads[] = {
      [TSPEC_AST_FN_PLAIN] = "fn",
      [TSPEC_AST_FN_ENTRY] = "entry",
      [TSPEC_AST_FN_MANUAL] = "manual",
      [TSPEC_AST_FN_METHOD] = "method",
  };
  tspec_buf_printf(buf, "(%s ", heads[fn->kind]);
  if (fn->kind == TSPEC_AST_FN_MANUAL) {
    tspec_ast_dump_names("", &fn->manual_axes, buf);
    tspec_buf_puts(buf, " ");
  }
  tspec_buf_printf(buf, "%s ", fn->name.text != NULL ? fn->name.text : "()");
  dump_formals(&fn->formals, buf);
  tspec_buf_puts(buf, " (results");
  for (size_t i = 0; i < fn->nresults; i++) {
    const tspec_ast_result_t *result = &fn->results[i];
    tspec_buf_printf(buf, " (%s%s", result->name.text != NULL ? result->name.text : "",
                     result->name.text != NULL ? " " : "");
    tspec_ast_dump_type(result->type, buf);
    if (result->sharding != NULL) {
      tspec_buf_puts(buf, " ");
      tspec_ast_dump_sharding(result->sharding, NULL, buf);
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ") ");
  tspec_ast_dump_block(&fn->body, buf);
  tspec_buf_puts(buf, ")");
}

static void dump_optimizer(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(optimizer %s ", decl->u.optimizer.name.text);
  dump_formals(&decl->u.optimizer.formals, buf);
  for (size_t i = 0; i < decl->u.optimizer.nitems; i++) {
    const tspec_ast_opt_item_t *item = &decl->u.optimizer.items[i];
    switch (item->kind) {
    case TSPEC_AST_OPT_SLOT:
      tspec_buf_printf(buf, " (slot %s ", item->name.text);
      tspec_ast_dump_expr(item->value, buf);
      break;
    case TSPEC_AST_OPT_COUNTER:
      tspec_buf_printf(buf, " (counter %s", item->name.text);
      break;
    case TSPEC_AST_OPT_UPDATE:
      tspec_buf_printf(buf, " (update %s %s ", item->param.text, item->grad.text);
      tspec_ast_dump_block(&item->body, buf);
      break;
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_in(const tspec_ast_name_t *entry, tspec_buf_t *buf) {
  if (entry->text != NULL) {
    tspec_buf_printf(buf, " (in %s)", entry->text);
  }
}

static void dump_axis_rules(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(shard-axes");
  dump_in(&decl->u.shard_axes.entry, buf);
  for (size_t i = 0; i < decl->u.shard_axes.nrules; i++) {
    tspec_buf_printf(buf, " (%s ", decl->u.shard_axes.rules[i].axis.text);
    tspec_ast_dump_entry(&decl->u.shard_axes.rules[i].entry, buf);
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_path_rules(const char *head, const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(%s", head);
  dump_in(&decl->u.shard_paths.entry, buf);
  for (size_t i = 0; i < decl->u.shard_paths.nrules; i++) {
    const tspec_ast_path_rule_t *rule = &decl->u.shard_paths.rules[i];
    if (rule->pattern != NULL) {
      tspec_buf_printf(buf, " (\"%s\" ", rule->pattern);
    } else {
      tspec_buf_puts(buf, " ((otherwise) ");
    }
    if (rule->policy.text == NULL) {
      tspec_ast_dump_sharding(rule->storage.stored, rule->storage.use, buf);
    } else {
      tspec_buf_printf(buf, "(policy %s", rule->policy.text);
      tspec_ast_dump_args(&rule->args, buf);
      tspec_buf_puts(buf, ")");
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_expect(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(expect %s", decl->u.expect.entry.text);
  for (size_t i = 0; i < decl->u.expect.npromises; i++) {
    const tspec_ast_promise_t *promise = &decl->u.expect.promises[i];
    tspec_buf_printf(buf, " (%s ", tspec_ast_binary_name(promise->op));
    tspec_ast_dump_names(promise->what.text, &promise->over, buf);
    tspec_buf_puts(buf, " ");
    tspec_ast_dump_expr(promise->value, buf);
    if (promise->unit.text != NULL) {
      tspec_buf_printf(buf, " %s", promise->unit.text);
    }
    tspec_buf_puts(buf, ")");
  }
  tspec_buf_puts(buf, ")");
}

static void dump_for(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  tspec_buf_printf(buf, "(for %s (range ", decl->u.loop.var.text);
  tspec_ast_dump_expr(decl->u.loop.lo, buf);
  tspec_buf_puts(buf, " ");
  tspec_ast_dump_expr(decl->u.loop.hi, buf);
  tspec_buf_puts(buf, ")");
  dump_decls(&decl->u.loop.body, buf);
  tspec_buf_puts(buf, ")");
}

static void dump_if(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  size_t depth = 0;
  for (size_t i = 0; i < decl->u.cond.narms; i++) {
    const tspec_ast_decl_arm_t *arm = &decl->u.cond.arms[i];
    tspec_buf_puts(buf, i > 0 ? " " : "");
    if (arm->cond != NULL) {
      depth++;
      tspec_buf_puts(buf, "(if ");
      tspec_ast_dump_expr(arm->cond, buf);
      tspec_buf_puts(buf, " ");
    }
    tspec_buf_puts(buf, "(");
    dump_decls(&arm->body, buf);
    tspec_buf_puts(buf, ")");
  }
  for (; depth > 0; depth--) {
    tspec_buf_puts(buf, ")");
  }
}

static void dump_decl(const tspec_ast_decl_t *decl, tspec_buf_t *buf) {
  switch (decl->kind) {
  case TSPEC_AST_DECL_MESH:
    dump_mesh(decl, buf);
    break;
  case TSPEC_AST_DECL_AXIS:
    dump_bindings("axis", decl, buf);
    break;
  case TSPEC_AST_DECL_CONST:
    dump_bindings("const", decl, buf);
    break;
  case TSPEC_AST_DECL_IMPORT:
    tspec_buf_printf(buf, "(import \"%s\")", decl->u.import.path);
    break;
  case TSPEC_AST_DECL_PRECISION:
    dump_precision(decl, buf);
    break;
  case TSPEC_AST_DECL_PARAM:
  case TSPEC_AST_DECL_STATE:
    dump_param(decl, buf);
    break;
  case TSPEC_AST_DECL_INSTANCE:
    dump_instance(decl, buf);
    break;
  case TSPEC_AST_DECL_MODULE:
    tspec_buf_printf(buf, "(module %s ", decl->u.module.name.text);
    dump_formals(&decl->u.module.formals, buf);
    dump_decls(&decl->u.module.members, buf);
    tspec_buf_puts(buf, ")");
    break;
  case TSPEC_AST_DECL_FUNCTION:
    dump_fn(&decl->u.fn, buf);
    break;
  case TSPEC_AST_DECL_OPTIMIZER:
    dump_optimizer(decl, buf);
    break;
  case TSPEC_AST_DECL_SHARD_AXES:
    dump_axis_rules(decl, buf);
    break;
  case TSPEC_AST_DECL_SHARD_PARAMS:
    dump_path_rules("shard-params", decl, buf);
    break;
  case TSPEC_AST_DECL_SHARD_VALUES:
    dump_path_rules("shard-values", decl, buf);
    break;
  case TSPEC_AST_DECL_EXPECT:
    dump_expect(decl, buf);
    break;
  case TSPEC_AST_DECL_FOR:
    dump_for(decl, buf);
    break;
  case TSPEC_AST_DECL_IF:
    dump_if(decl, buf);
    break;
  }
}

void tspec_ast_dump(const tspec_ast_file_t *file, tspec_buf_t *buf) {
  tspec_buf_puts(buf, "(program");
  dump_decls(&file->decls, buf);
  tspec_buf_puts(buf, ")");
}
