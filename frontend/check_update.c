// minimize, apply and the optimizers that they name. Not compiled.
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

// ---- an optimizer's parts --------------------------------------------------------------------

static const tspec_ast_opt_item_t *find_update(const tspec_ast_decl_t *decl) {
  for (size_t i = 0; i < decl->u.optimizer.nitems; ++i) {
    if (decl->u.optimizer.items[i].kind == TSPEC_AST_OPT_UPDATE) {
      return &decl->u.optimizer.items[i];
    }
  }
  return NULL;
}

void tspec_check_optimizers(tspec_checker_t *c) {
  for (size_t i = 0; i < c->globals.count; ++i) {
    const tspec_global_t *global = c->globals.items[i];
    if (global->kind != TSPEC_GLOBAL_OPTIMIZER) {
      continue;
    }
    size_t nupdates = 0;
    for (size_t k = 0; k < global->decl->u.optimizer.nitems; ++k) {
      nupdates += global->decl->u.optimizer.items[k].kind == TSPEC_AST_OPT_UPDATE;
    }
    if (nupdates != 1) {
      tspec_check_error(c, global->name.range, "optimizer '%s' has %zu 'update(p, g)', wanted one",
                        global->name.text, nupdates);
    }
  }
}

// A local that keeps its type, whatever is assigned.
static void add_kept(tspec_checker_t *c, tspec_ast_name_t name, tspec_type_t type) {
  tspec_site_t site = {name.range, name.text};
  tspec_frame_add(c, name, tspec_cv_tensor(tspec_emit_absent(c, site, type, 0, NULL)));
  tspec_named_t *local = tspec_frame_find(c->frame, name.text);
  if (local != NULL) {
    local->keeps_type = true;
  }
}

// A number, zeros, ones or full(v).
static bool check_slot_init(tspec_checker_t *c, const tspec_ast_opt_item_t *item,
                            tspec_type_t type) {
  tspec_param_t param = {0};
  if (!tspec_check_init(c, item->value, type, &param)) {
    return false;
  }
  if (param.init != TSPEC_INIT_FILL) {
    tspec_check_error(c, item->value->range,
                      "the slot '%s' starts as a number, zeros, ones or full(v)", item->name.text);
  }
  return param.init == TSPEC_INIT_FILL;
}

// The names that the update of a parameter of this type sees. A counter is a scalar f64 in it.
static bool add_parts(tspec_checker_t *c, const tspec_ast_decl_t *decl, tspec_type_t type) {
  bool ok = true;
  for (size_t i = 0; i < decl->u.optimizer.nitems; ++i) {
    const tspec_ast_opt_item_t *item = &decl->u.optimizer.items[i];
    if (item->kind == TSPEC_AST_OPT_SLOT) {
      ok = check_slot_init(c, item, type) && ok;
      add_kept(c, item->name, type);
    } else if (item->kind == TSPEC_AST_OPT_COUNTER) {
      add_kept(c, item->name, (tspec_type_t){.dtype = TSPEC_DTYPE_F64});
    }
  }
  const tspec_ast_opt_item_t *update = find_update(decl);
  add_kept(c, update->param, type);
  tspec_site_t site = {update->grad.range, update->grad.text};
  tspec_frame_add(c, update->grad, tspec_cv_tensor(tspec_emit_absent(c, site, type, 0, NULL)));
  return ok;
}

// Run-time arguments are scalars, widened to f64.
static bool widen_arguments(tspec_checker_t *c, const tspec_ast_formals_t *formals,
                            const char *name) {
  for (size_t i = 0; i < formals->count; ++i) {
    tspec_named_t *local = tspec_frame_find(c->frame, formals->items[i].name.text);
    if (local == NULL || local->cv.kind != TSPEC_CV_TENSOR) {
      continue;
    }
    tspec_value_t *value = local->cv.u.tensor;
    if (value->type.rank != 0) {
      tspec_check_error(c, c->frame->call_range,
                        "argument '%s' of '%s' must be a number or a scalar, but is %s",
                        local->name, name, tspec_type_print(c->arena, value->type));
      return false;
    }
    tspec_site_t site = {c->frame->call_range, local->name};
    local->cv = tspec_cv_tensor(tspec_emit_convert(c, site, value, TSPEC_DTYPE_F64));
  }
  return true;
}

// Checks the body for one parameter. In it tensors are f32, or f64 for f64 parameters.
static bool check_body_for(tspec_checker_t *c, tspec_global_t *optimizer,
                           const tspec_arg_values_t *args, const tspec_slot_t *slot) {
  tspec_type_t type = slot->type;
  type.dtype = type.dtype == TSPEC_DTYPE_F64 ? TSPEC_DTYPE_F64 : TSPEC_DTYPE_F32;
  const tspec_ast_decl_t *decl = optimizer->decl;
  const char *name = optimizer->name.text;
  const char *what = tspec_arena_printf(c->arena, "optimizer '%s'", name);
  int nerrors = c->nerrors;
  tspec_frame_t frame;
  tspec_frame_init(&frame, c->frame, optimizer->home, NULL);
  frame.call_range = args->range;
  frame.called = name;
  c->frame = &frame;
  c->in_update = true;
  bool bound = tspec_check_bind(c, &decl->u.optimizer.formals, optimizer->name.range, what, args) &&
               widen_arguments(c, &decl->u.optimizer.formals, name);
  if (bound && add_parts(c, decl, type)) {
    optimizer->reached = true;
    tspec_check_body(c, &find_update(decl)->body);
    if (frame.result.kind != TSPEC_CV_NONE && frame.result.kind != TSPEC_CV_ERROR) {
      tspec_check_error(c, find_update(decl)->range,
                        "'update' returns nothing: it assigns the parameter and the slots");
    }
  }
  c->in_update = false;
  tspec_check_flush_trace(c);
  c->frame = frame.caller;
  if (bound && c->nerrors != nerrors) {
    tspec_check_note(c, slot->range, "for the parameter '%s'", slot->path);
  }
  return c->nerrors == nerrors;
}

// ---- which parameters ------------------------------------------------------------------------

/// The parameters of one `with`.
typedef struct group_t {
  const tspec_ast_update_t *update;
  tspec_global_t *optimizer; ///< NULL after a report
  tspec_arg_values_t args;
  bool has_args;
  bool has_regex;
  regex_t regex;
  size_t nmatched;
  tspec_names_t types; ///< those whose update was checked
} group_t;

static void open_group(tspec_checker_t *c, const tspec_ast_update_t *update, group_t *group) {
  *group = (group_t){.update = update};
  tspec_global_t *global = tspec_home_find(c->frame->home, update->optimizer.text);
  if (global == NULL) {
    tspec_check_undeclared(c, update->optimizer.text, update->optimizer.range);
  } else if (global->kind != TSPEC_GLOBAL_OPTIMIZER) {
    tspec_check_error(c, update->optimizer.range, "'%s' is no optimizer", global->name.text);
  } else if (find_update(global->decl) != NULL) {
    group->optimizer = global;
  }
  group->has_args = tspec_check_args(c, &update->args, update->range, &group->args);
  group->has_regex = update->over != NULL &&
                     tspec_check_pattern(c, update->over, update->over_range, &group->regex);
}

static bool takes(const group_t *group, const char *path) {
  return group->update->over == NULL ||
         (group->has_regex && regexec(&group->regex, path, 0, NULL, 0) == 0);
}

// Each parameter goes to the first group that takes it; a group checks each type once.
static void check_groups(tspec_checker_t *c, group_t *groups, size_t count) {
  for (size_t i = 0; i < c->trained.count; ++i) {
    const tspec_slot_t *slot = c->trained.items[i];
    size_t k = 0;
    while (k < count && !takes(&groups[k], slot->path)) {
      ++k;
    }
    if (k == count) {
      continue;
    }
    group_t *group = &groups[k];
    ++group->nmatched;
    const char *key = tspec_type_print(c->arena, slot->type);
    if (group->optimizer == NULL || !group->has_args ||
        tspec_names_get(&group->types, key) != NULL) {
      continue;
    }
    tspec_names_set(c->arena, &group->types, key, group);
    if (!check_body_for(c, group->optimizer, &group->args, slot)) {
      group->optimizer = NULL; // other types would only say the same
    }
  }
}

static void close_group(tspec_checker_t *c, group_t *group) {
  if (group->nmatched == 0) {
    tspec_range_t range =
        group->update->over == NULL ? group->update->range : group->update->over_range;
    tspec_check_warning(c, range, "'%s' updates nothing here: no parameter is left for it",
                        group->update->optimizer.text);
  }
  if (group->has_regex) {
    regfree(&group->regex);
  }
}

// ---- statements ------------------------------------------------------------------------------

static void check_clip(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  tspec_cv_t cv = tspec_check_expr(c, expr);
  if (cv.kind == TSPEC_CV_NUMBER && cv.u.number <= 0) {
    tspec_check_error(c, expr->range, "'clip' needs a norm above 0, but this is %s",
                      tspec_number_text(c->arena, cv.u.number));
  } else if (cv.kind != TSPEC_CV_NUMBER) {
    tspec_site_t site = {expr->range, "clip"};
    const tspec_value_t *x = tspec_check_tensor(c, site, (tspec_operand_t){cv, expr->range});
    if (x != NULL && (x->type.rank != 0 || !tspec_dtype_is_float(x->type.dtype))) {
      tspec_check_error(c, expr->range, "'clip' needs a number or a scalar float, but this is %s",
                        tspec_type_print(c->arena, x->type));
    }
  }
}

void tspec_check_update(tspec_checker_t *c, const tspec_ast_stmt_t *stmt) {
  bool is_apply = stmt->u.update.is_apply;
  tspec_site_t site = {stmt->range, is_apply ? "apply" : "minimize"};
  tspec_check_absent(c, stmt->range, is_apply ? "'apply'" : "'minimize'");
  if (c->frame->caller != NULL || c->frame->scan != NULL) {
    tspec_check_error(c, stmt->range, "'%s' stands directly in an entry", site.spelling);
    return;
  }
  tspec_operand_t value = {tspec_check_expr(c, stmt->u.update.value), stmt->u.update.value->range};
  if (is_apply) {
    tspec_check_like_params(c, value, "what 'apply' takes");
  } else {
    tspec_check_loss(c, site, value);
  }
  size_t count = stmt->u.update.nupdates;
  group_t *groups = TSPEC_ARENA_NEW(c->arena, group_t, count);
  for (size_t i = 0; i < count; ++i) {
    open_group(c, &stmt->u.update.updates[i], &groups[i]);
  }
  check_groups(c, groups, count);
  for (size_t i = 0; i < count; ++i) {
    close_group(c, &groups[i]);
  }
  if (stmt->u.update.clip != NULL) {
    check_clip(c, stmt->u.update.clip);
  }
}
