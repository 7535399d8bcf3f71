// Declarations of the printer.
#include <inttypes.h>
#include <string.h>

#include "frontend/print.h"
#include "frontend/print_internal.h"

static void put_decl(tspec_printer_t *p, const tspec_ast_decl_t *decl);

static void put_pad(tspec_printer_t *p, size_t length, size_t width) {
  for (; length < width; length++) {
    tspec_printer_put(p, " ");
  }
}

static void put_decls_block(tspec_printer_t *p, const tspec_ast_decls_t *decls) {
  tspec_printer_put(p, " ");
  if (decls->count == 0) {
    tspec_printer_put(p, "{ }");
    return;
  }
  tspec_printer_begin_block(p);
  for (size_t i = 0; i < decls->count; i++) {
    put_decl(p, decls->items[i]);
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

static void put_mesh(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, "mesh ");
  for (size_t i = 0; i < decl->u.mesh.naxes; i++) {
    const tspec_ast_mesh_axis_t *axis = &decl->u.mesh.axes[i];
    tspec_printer_comma(p, i);
    if (axis->size_name.text != NULL) {
      tspec_buf_printf(&p->line, "%s = %s", axis->name.text, axis->size_name.text);
    } else {
      tspec_buf_printf(&p->line, "%s = %" PRId64, axis->name.text, axis->size);
    }
    if (axis->has_bandwidth) {
      tspec_buf_printf(&p->line, " @ %s %s/%s", axis->bandwidth_text, axis->unit.text,
                       axis->per.text);
    }
  }
}

static void put_bindings(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, decl->kind == TSPEC_AST_DECL_AXIS ? "axis " : "const ");
  for (size_t i = 0; i < decl->u.bindings.count; i++) {
    tspec_printer_comma(p, i);
    tspec_printer_put(p, decl->u.bindings.items[i].name.text);
    tspec_printer_put(p, " = ");
    tspec_printer_expr(p, decl->u.bindings.items[i].value, 1);
  }
}

static void put_precision(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, "precision ");
  for (size_t i = 0; i < decl->u.precision.count; i++) {
    const tspec_ast_precision_t *item = &decl->u.precision.items[i];
    tspec_printer_comma(p, i);
    tspec_buf_printf(&p->line, "%s = %s", item->name.text, tspec_dtype_name(item->dtype));
  }
}

static void put_param(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, decl->kind == TSPEC_AST_DECL_PARAM ? "param " : "state ");
  tspec_printer_put(p, decl->u.param.name.text);
  tspec_printer_put(p, ": ");
  if (decl->u.param.is_tree) {
    tspec_printer_put(p, "params");
  } else {
    tspec_printer_type(p, decl->u.param.type);
  }
  if (decl->u.param.storage.stored != NULL) {
    tspec_printer_put(p, " @ ");
    tspec_printer_storage(p, &decl->u.param.storage);
  }
  tspec_printer_assign(p);
  tspec_printer_expr(p, decl->u.param.value, 1);
}

static void put_instance(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, decl->u.instance.name.text);
  if (decl->u.instance.index != NULL) {
    tspec_printer_open(p, "[");
    tspec_printer_expr(p, decl->u.instance.index, 1);
    tspec_printer_close(p, "]");
  }
  tspec_printer_assign(p);
  tspec_printer_put(p, decl->u.instance.remat ? "remat " : "");
  if (decl->u.instance.stack != NULL) {
    tspec_printer_put(p, "stack");
    tspec_printer_open(p, "[");
    tspec_printer_expr(p, decl->u.instance.stack, 1);
    tspec_printer_close(p, "]");
    tspec_printer_put(p, " ");
  }
  tspec_printer_put(p, decl->u.instance.module.text);
  tspec_printer_args(p, &decl->u.instance.args);
}

static void put_formals(tspec_printer_t *p, const tspec_ast_formals_t *formals) {
  tspec_printer_open(p, "(");
  for (size_t i = 0; i < formals->count; i++) {
    const tspec_ast_formal_t *formal = &formals->items[i];
    tspec_printer_comma(p, i);
    tspec_printer_put(p, formal->name.text);
    if (formal->is_axis) {
      tspec_printer_put(p, ": axis");
    } else if (formal->type != NULL) {
      tspec_printer_put(p, ": ");
      tspec_printer_type(p, formal->type);
    }
    if (formal->sharding != NULL) {
      tspec_printer_put(p, " @ ");
      tspec_printer_sharding(p, formal->sharding);
    }
    if (formal->value != NULL) {
      tspec_printer_put(p, " = ");
      tspec_printer_expr(p, formal->value, 1);
    }
  }
  tspec_printer_close(p, ")");
}

static void put_results(tspec_printer_t *p, const tspec_ast_fn_t *fn) {
  if (!fn->has_results) {
    return;
  }
  tspec_printer_put(p, " ");
  tspec_printer_break(p, TSPEC_PRINT_ARROW);
  tspec_printer_put(p, "-> ");
  bool parens = fn->results_in_parens;
  if (parens) {
    tspec_printer_open(p, "(");
  }
  for (size_t i = 0; i < fn->nresults; i++) {
    const tspec_ast_result_t *result = &fn->results[i];
    tspec_printer_comma(p, i);
    if (result->name.text != NULL) {
      tspec_printer_put(p, result->name.text);
      tspec_printer_put(p, ": ");
    }
    tspec_printer_type(p, result->type);
    if (result->sharding != NULL) {
      tspec_printer_put(p, " @ ");
      tspec_printer_sharding(p, result->sharding);
    }
  }
  if (parens) {
    tspec_printer_close(p, ")");
  }
}

static void put_fn(tspec_printer_t *p, const tspec_ast_fn_t *fn) {
  if (fn->kind == TSPEC_AST_FN_ENTRY) {
    tspec_printer_put(p, "entry ");
  } else if (fn->kind == TSPEC_AST_FN_MANUAL) {
    tspec_printer_put(p, "manual");
    tspec_printer_open(p, "(");
    tspec_printer_names(p, &fn->manual_axes);
    tspec_printer_close(p, ")");
    tspec_printer_put(p, " ");
  }
  tspec_printer_put(p, "fn ");
  tspec_printer_put(p, fn->name.text != NULL ? fn->name.text : "");
  put_formals(p, &fn->formals);
  put_results(p, fn);
  tspec_printer_block(p, &fn->body, true);
}

static void put_optimizer(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_printer_put(p, "optimizer ");
  tspec_printer_put(p, decl->u.optimizer.name.text);
  put_formals(p, &decl->u.optimizer.formals);
  tspec_printer_put(p, " ");
  tspec_printer_begin_block(p);
  for (size_t i = 0; i < decl->u.optimizer.nitems; i++) {
    const tspec_ast_opt_item_t *item = &decl->u.optimizer.items[i];
    switch (item->kind) {
    case TSPEC_AST_OPT_SLOT:
      tspec_buf_printf(&p->line, "slot %s", item->name.text);
      tspec_printer_assign(p);
      tspec_printer_expr(p, item->value, 1);
      break;
    case TSPEC_AST_OPT_COUNTER:
      tspec_buf_printf(&p->line, "counter %s", item->name.text);
      break;
    case TSPEC_AST_OPT_UPDATE:
      tspec_buf_printf(&p->line, "update(%s, %s)", item->param.text, item->grad.text);
      tspec_printer_block(p, &item->body, true);
      break;
    }
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

// ---- rules and promises ----

static void put_shard_head(tspec_printer_t *p, const char *what, const tspec_ast_name_t *entry) {
  tspec_buf_printf(&p->line, "shard %s ", what);
  if (entry->text != NULL) {
    tspec_buf_printf(&p->line, "in %s ", entry->text);
  }
  tspec_printer_begin_block(p);
}

static void put_axis_rules(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  put_shard_head(p, "axes", &decl->u.shard_axes.entry);
  size_t width = 0;
  for (size_t i = 0; i < decl->u.shard_axes.nrules; i++) {
    size_t length = strlen(decl->u.shard_axes.rules[i].axis.text);
    width = length > width ? length : width;
  }
  for (size_t i = 0; i < decl->u.shard_axes.nrules; i++) {
    const tspec_ast_axis_rule_t *rule = &decl->u.shard_axes.rules[i];
    tspec_printer_put(p, rule->axis.text);
    put_pad(p, strlen(rule->axis.text), width);
    tspec_printer_put(p, " -> ");
    tspec_printer_entry(p, &rule->entry);
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

static size_t pattern_length(const tspec_ast_path_rule_t *rule) {
  return rule->pattern != NULL ? strlen(rule->pattern) + 2 : strlen("otherwise");
}

static void put_path_rule(tspec_printer_t *p, const tspec_ast_path_rule_t *rule, size_t width) {
  tspec_printer_put(p, rule->pattern != NULL ? "\"" : "otherwise");
  if (rule->pattern != NULL) {
    tspec_printer_put(p, rule->pattern);
    tspec_printer_put(p, "\"");
  }
  put_pad(p, pattern_length(rule), width);
  tspec_printer_put(p, " -> ");
  tspec_printer_break(p, TSPEC_PRINT_ARROW);
  if (rule->policy.text == NULL) {
    tspec_printer_storage(p, &rule->storage);
    return;
  }
  tspec_printer_put(p, rule->policy.text);
  if (rule->has_args) {
    tspec_printer_args(p, &rule->args);
  }
}

static void put_path_rules(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  put_shard_head(p, decl->kind == TSPEC_AST_DECL_SHARD_PARAMS ? "params" : "values",
                 &decl->u.shard_paths.entry);
  size_t width = 0;
  for (size_t i = 0; i < decl->u.shard_paths.nrules; i++) {
    size_t length = pattern_length(&decl->u.shard_paths.rules[i]);
    width = length > width ? length : width;
  }
  for (size_t i = 0; i < decl->u.shard_paths.nrules; i++) {
    put_path_rule(p, &decl->u.shard_paths.rules[i], width);
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

static void put_expect(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_buf_printf(&p->line, "expect %s ", decl->u.expect.entry.text);
  tspec_printer_begin_block(p);
  for (size_t i = 0; i < decl->u.expect.npromises; i++) {
    const tspec_ast_promise_t *promise = &decl->u.expect.promises[i];
    tspec_printer_put(p, promise->what.text);
    for (size_t k = 0; k < promise->over.count; k++) {
      tspec_printer_put(p, k > 0 ? "*" : " over ");
      tspec_printer_put(p, promise->over.items[k].text);
    }
    tspec_buf_printf(&p->line, " %s ", tspec_ast_binary_name(promise->op));
    tspec_printer_expr(p, promise->value, tspec_ast_binary_precedence(TSPEC_AST_BINARY_ADD));
    tspec_printer_put(p, promise->unit.text != NULL ? " " : "");
    tspec_printer_put(p, promise->unit.text != NULL ? promise->unit.text : "");
    tspec_printer_end_line(p);
  }
  tspec_printer_end_block(p);
}

// ---- all kinds ----

static void put_if(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  for (size_t i = 0; i < decl->u.cond.narms; i++) {
    const tspec_ast_decl_arm_t *arm = &decl->u.cond.arms[i];
    tspec_printer_put(p, i > 0 ? " else" : "");
    if (arm->cond != NULL) {
      tspec_printer_put(p, i > 0 ? " if " : "if ");
      tspec_printer_expr(p, arm->cond, 1);
    }
    put_decls_block(p, &arm->body);
  }
}

static void put_for(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  tspec_buf_printf(&p->line, "for %s in ", decl->u.loop.var.text);
  tspec_printer_expr(p, decl->u.loop.lo, 1);
  tspec_printer_put(p, "..");
  tspec_printer_expr(p, decl->u.loop.hi, 1);
  put_decls_block(p, &decl->u.loop.body);
}

static void put_decl(tspec_printer_t *p, const tspec_ast_decl_t *decl) {
  switch (decl->kind) {
  case TSPEC_AST_DECL_MESH:
    put_mesh(p, decl);
    break;
  case TSPEC_AST_DECL_AXIS:
  case TSPEC_AST_DECL_CONST:
    put_bindings(p, decl);
    break;
  case TSPEC_AST_DECL_IMPORT:
    tspec_buf_printf(&p->line, "import \"%s\"", decl->u.import.path);
    break;
  case TSPEC_AST_DECL_PRECISION:
    put_precision(p, decl);
    break;
  case TSPEC_AST_DECL_PARAM:
  case TSPEC_AST_DECL_STATE:
    put_param(p, decl);
    break;
  case TSPEC_AST_DECL_INSTANCE:
    put_instance(p, decl);
    break;
  case TSPEC_AST_DECL_MODULE:
    tspec_buf_printf(&p->line, "module %s", decl->u.module.name.text);
    put_formals(p, &decl->u.module.formals);
    put_decls_block(p, &decl->u.module.members);
    break;
  case TSPEC_AST_DECL_FUNCTION:
    put_fn(p, &decl->u.fn);
    break;
  case TSPEC_AST_DECL_OPTIMIZER:
    put_optimizer(p, decl);
    break;
  case TSPEC_AST_DECL_SHARD_AXES:
    put_axis_rules(p, decl);
    break;
  case TSPEC_AST_DECL_SHARD_PARAMS:
  case TSPEC_AST_DECL_SHARD_VALUES:
    put_path_rules(p, decl);
    break;
  case TSPEC_AST_DECL_EXPECT:
    put_expect(p, decl);
    break;
  case TSPEC_AST_DECL_FOR:
    put_for(p, decl);
    break;
  case TSPEC_AST_DECL_IF:
    put_if(p, decl);
    break;
  }
}

/// Declarations of one group stand without a blank line between them. 0: alone.
static int group(const tspec_ast_decl_t *decl) {
  switch ((int)decl->kind) {
  case TSPEC_AST_DECL_AXIS:
  case TSPEC_AST_DECL_CONST:
    return 1;
  case TSPEC_AST_DECL_PARAM:
  case TSPEC_AST_DECL_STATE:
  case TSPEC_AST_DECL_INSTANCE:
    return 2;
  case TSPEC_AST_DECL_MESH:
  case TSPEC_AST_DECL_IMPORT:
  case TSPEC_AST_DECL_PRECISION:
    return 3;
  default:
    return 0;
  }
}

void tspec_print_file(const tspec_ast_file_t *file, tspec_buf_t *buf) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_printer_t printer = {.arena = &arena, .out = buf};
  for (size_t i = 0; i < file->decls.count; i++) {
    const tspec_ast_decl_t *decl = file->decls.items[i];
    if (i > 0 && (group(decl) == 0 || group(decl) != group(file->decls.items[i - 1]))) {
      tspec_printer_end_line(&printer);
    }
    put_decl(&printer, decl);
    tspec_printer_end_line(&printer);
  }
  tspec_buf_deinit(&printer.line);
  tspec_arena_deinit(&arena);
}
