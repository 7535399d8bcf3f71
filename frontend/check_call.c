#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

// ---- arguments -------------------------------------------------------------------------------

// Arguments of a built-in op may be of kinds of their own.
static bool check_args_of(tspec_checker_t *c, const tspec_builtin_t *builtin,
                          const tspec_ast_args_t *args, tspec_range_t range,
                          tspec_arg_values_t *out_args) {
  tspec_arg_value_t *values = TSPEC_ARENA_NEW(c->arena, tspec_arg_value_t, args->count);
  bool ok = true;
  for (size_t i = 0; i < args->count; ++i) {
    const tspec_ast_arg_t *arg = &args->items[i];
    tspec_cv_t cv = builtin != NULL ? tspec_builtin_eval_arg(c, builtin, i, arg)
                                    : tspec_check_expr(c, arg->value);
    values[i] = (tspec_arg_value_t){arg->name.text, cv, arg->value->range, arg->name.range};
    ok = ok && !tspec_cv_is_error(values[i].cv);
  }
  *out_args = (tspec_arg_values_t){args->count, values, range};
  return ok;
}

bool tspec_check_args(tspec_checker_t *c, const tspec_ast_args_t *args, tspec_range_t range,
                      tspec_arg_values_t *out_args) {
  return check_args_of(c, NULL, args, range, out_args);
}

static void note_declared(tspec_checker_t *c, tspec_range_t declared) {
  if (declared.line > 0) {
    tspec_check_note(c, declared, "declared here");
  }
}

static const tspec_ast_formal_t *find_formal(const tspec_ast_formals_t *formals, const char *name) {
  for (size_t i = 0; i < formals->count; ++i) {
    if (strcmp(formals->items[i].name.text, name) == 0) {
      return &formals->items[i];
    }
  }
  return NULL;
}

static void report_no_formal(tspec_checker_t *c, const tspec_ast_formals_t *formals,
                             tspec_range_t declared, const char *what,
                             const tspec_arg_value_t *arg) {
  tspec_names_t names = {0};
  for (size_t i = 0; i < formals->count; ++i) {
    tspec_names_set(c->arena, &names, formals->items[i].name.text, c);
  }
  const char *nearest = tspec_names_nearest(&names, arg->name);
  tspec_check_error(c, arg->name_range, "%s has no argument '%s'%s%s%s", what, arg->name,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
  note_declared(c, declared);
}

// True if an argument before `index` is for `formal`, too.
static bool is_given_before(const tspec_arg_values_t *args, size_t index,
                            const tspec_ast_formals_t *formals, const tspec_ast_formal_t *formal) {
  for (size_t i = 0; i < index; ++i) {
    const char *name = args->items[i].name;
    if (name != NULL ? strcmp(name, formal->name.text) == 0 : formal == &formals->items[i]) {
      return true;
    }
  }
  return false;
}

// Arguments by name must exist and not be given by position, too.
static bool check_arg_names(tspec_checker_t *c, const tspec_ast_formals_t *formals,
                            tspec_range_t declared, const char *what,
                            const tspec_arg_values_t *args) {
  bool ok = true;
  for (size_t i = 0; i < args->count; ++i) {
    const tspec_arg_value_t *arg = &args->items[i];
    if (arg->name == NULL) {
      continue;
    }
    const tspec_ast_formal_t *formal = find_formal(formals, arg->name);
    if (formal == NULL) {
      report_no_formal(c, formals, declared, what, arg);
      ok = false;
    } else if (is_given_before(args, i, formals, formal)) {
      tspec_check_error(c, arg->name_range, "argument '%s' of %s is given twice", arg->name, what);
      ok = false;
    }
  }
  return ok;
}

static const tspec_arg_value_t *find_arg(const tspec_arg_values_t *args, size_t index,
                                         const char *name) {
  if (index < args->count && args->items[index].name == NULL) {
    return &args->items[index];
  }
  for (size_t i = 0; i < args->count; ++i) {
    if (args->items[i].name != NULL && strcmp(args->items[i].name, name) == 0) {
      return &args->items[i];
    }
  }
  return NULL;
}

// The meaning of one formal: its argument, or its default, which may use those before it.
static bool bind_formal(tspec_checker_t *c, const tspec_ast_formal_t *formal,
                        const tspec_arg_value_t *arg, tspec_range_t declared, const char *what,
                        tspec_range_t call_range) {
  tspec_cv_t cv;
  if (arg != NULL) {
    cv = arg->cv;
  } else if (formal->value != NULL) {
    cv = tspec_check_expr(c, formal->value);
  } else {
    tspec_check_error(c, call_range, "argument '%s' of %s is missing", formal->name.text, what);
    note_declared(c, declared);
    return false;
  }
  if (formal->is_axis) {
    int64_t size = 0;
    tspec_range_t range = arg != NULL ? arg->range : formal->range;
    const char *text = tspec_arena_printf(c->arena, "the axis '%s' of %s", formal->name.text, what);
    if (!tspec_cv_whole(c, cv, range, text, &size)) {
      return false;
    }
  } else {
    cv.axis = NULL; // only an 'axis' parameter keeps the caller's name
  }
  tspec_frame_add(c, formal->name, cv);
  return !tspec_cv_is_error(cv);
}

bool tspec_check_bind(tspec_checker_t *c, const tspec_ast_formals_t *formals,
                      tspec_range_t declared, const char *what, const tspec_arg_values_t *args) {
  size_t npositional = 0;
  while (npositional < args->count && args->items[npositional].name == NULL) {
    ++npositional;
  }
  if (npositional > formals->count) {
    tspec_check_error(c, args->range, "%s takes %zu argument%s, but gets %zu", what, formals->count,
                      formals->count == 1 ? "" : "s", args->count);
    note_declared(c, declared);
    return false;
  }
  bool ok = check_arg_names(c, formals, declared, what, args);
  for (size_t i = 0; ok && i < formals->count; ++i) {
    const tspec_ast_formal_t *formal = &formals->items[i];
    ok = bind_formal(c, formal, find_arg(args, i, formal->name.text), declared, what, args->range);
  }
  return ok;
}

// ---- inlining --------------------------------------------------------------------------------

static bool is_recursion(tspec_checker_t *c, const tspec_closure_t *closure, tspec_range_t range) {
  if (!closure->is_active) {
    return false;
  }
  tspec_check_error(c, range, "'%s' calls itself: calls are inlined, so recursion never ends",
                    closure->name);
  for (const tspec_frame_t *at = c->frame; at != NULL && at->closure != closure; at = at->caller) {
    if (at->closure != NULL) {
      tspec_check_note(c, at->call_range, "through this call of '%s'", at->closure->name);
    }
  }
  note_declared(c, closure->info->range);
  c->trace = NULL; // the calls are named
  return true;
}

static tspec_cv_t constrain(tspec_checker_t *c, tspec_cv_t cv, const tspec_ast_sharding_t *written,
                            const char *path, tspec_range_t range) {
  if (cv.kind != TSPEC_CV_TENSOR || written == NULL) {
    return cv;
  }
  tspec_declared_t declared = {.kind = TSPEC_DECLARED_CHECKED,
                               .path = path,
                               .type = cv.u.tensor->type,
                               .written = written,
                               .range = range};
  const tspec_sharding_t *sharding = tspec_check_starting_sharding(c, &declared);
  tspec_site_t site = {range, NULL};
  return tspec_cv_tensor(tspec_emit_constraint(c, site, cv.u.tensor, sharding, path));
}

// Types of arguments, in order: '$' names bind from left to right.
static bool check_formal_types(tspec_checker_t *c, const tspec_ast_fn_t *fn, const char *name,
                               const tspec_arg_values_t *args) {
  bool ok = true;
  for (size_t i = 0; i < fn->formals.count; ++i) {
    const tspec_ast_formal_t *formal = &fn->formals.items[i];
    if (formal->type == NULL) {
      continue;
    }
    tspec_named_t *local = tspec_frame_find(c->frame, formal->name.text);
    const tspec_arg_value_t *arg = find_arg(args, i, formal->name.text);
    tspec_operand_t operand = {local->cv, arg != NULL ? arg->range : formal->range};
    const char *what =
        tspec_arena_printf(c->arena, "argument '%s' of '%s'", formal->name.text, name);
    const char *path = tspec_check_join_path(c, c->frame->path, formal->name.text);
    local->cv = tspec_check_fits(c, formal->type, operand, what, NULL);
    local->cv = constrain(c, local->cv, formal->sharding, path, formal->range);
    ok = ok && !tspec_cv_is_error(local->cv);
  }
  return ok;
}

static tspec_cv_t check_one_result(tspec_checker_t *c, const tspec_closure_t *closure,
                                   const tspec_ast_result_t *result, tspec_cv_t cv) {
  const char *label = result->name.text != NULL ? result->name.text : closure->info->fn->name.text;
  const char *what = tspec_arena_printf(c->arena, "the result of '%s'", closure->name);
  cv = tspec_check_fits(c, result->type, (tspec_operand_t){cv, result->range}, what, NULL);
  const char *path =
      label == NULL ? c->frame->path : tspec_check_join_path(c, c->frame->path, label);
  return constrain(c, cv, result->sharding, path, result->range);
}

// The declared results check the returned values.
static tspec_cv_t check_results(tspec_checker_t *c, const tspec_closure_t *closure,
                                tspec_cv_t returned) {
  const tspec_ast_fn_t *fn = closure->info->fn;
  if (!fn->has_results || returned.kind == TSPEC_CV_ERROR) {
    return returned;
  }
  size_t count = returned.kind == TSPEC_CV_TUPLE  ? returned.u.list->count
                 : returned.kind == TSPEC_CV_NONE ? 0
                                                  : 1;
  if (count != fn->nresults) {
    tspec_check_error(c, fn->nresults > 0 ? fn->results[0].range : closure->info->range,
                      "'%s' declares %zu result%s, but returns %zu", closure->name, fn->nresults,
                      fn->nresults == 1 ? "" : "s", count);
    return tspec_cv_error();
  }
  if (returned.kind != TSPEC_CV_TUPLE) {
    return count == 0 ? returned : check_one_result(c, closure, &fn->results[0], returned);
  }
  for (size_t i = 0; i < count; ++i) {
    returned.u.list->items[i] =
        check_one_result(c, closure, &fn->results[i], returned.u.list->items[i]);
  }
  return returned;
}

static tspec_cv_t run_function(tspec_checker_t *c, const tspec_closure_t *closure) {
  if (closure->info->fn->kind == TSPEC_AST_FN_MANUAL) {
    return tspec_check_manual_body(c, closure);
  }
  tspec_check_body(c, &closure->info->fn->body);
  return c->frame->result;
}

tspec_cv_t tspec_check_call_closure(tspec_checker_t *c, tspec_closure_t *closure,
                                    const tspec_arg_values_t *args) {
  tspec_range_t range = args->range;
  if (is_recursion(c, closure, range) || !tspec_check_enter(c, range, "calls")) {
    return tspec_cv_error();
  }
  const tspec_ast_fn_t *fn = closure->info->fn;
  tspec_frame_t frame;
  tspec_frame_init(&frame, c->frame, closure->info->home, closure->self);
  frame.closure = closure;
  frame.fn = fn;
  frame.call_range = range;
  frame.path = closure->self != NULL ? closure->self->path : c->frame->path;
  const char *what = tspec_arena_printf(c->arena, "'%s'", closure->name);
  tspec_range_t declared = fn->name.text != NULL ? fn->name.range : closure->info->range;
  c->frame = &frame;
  closure->is_active = true;
  tspec_cv_t result = tspec_cv_error();
  if (tspec_check_bind(c, &fn->formals, declared, what, args) &&
      check_formal_types(c, fn, closure->name, args)) {
    closure->info->reached = true;
    result = check_results(c, closure, run_function(c, closure));
  }
  closure->is_active = false;
  tspec_check_flush_trace(c);
  c->frame = frame.caller;
  tspec_check_leave(c);
  return result;
}

// `shard values` may speak of what a call of an instance returns; of several, the first.
static tspec_cv_t constrain_call(tspec_checker_t *c, const tspec_closure_t *closure,
                                 tspec_cv_t result, tspec_range_t range) {
  tspec_cv_t *first = result.kind == TSPEC_CV_TUPLE ? &result.u.list->items[0] : &result;
  if (closure->self == NULL || first->kind != TSPEC_CV_TENSOR) {
    return result;
  }
  const char *name = closure->info->fn->name.text;
  const char *path = closure->self->path;
  path = name == NULL ? path : tspec_check_join_path(c, path, name);
  const tspec_sharding_t *sharding =
      tspec_check_call_sharding(c, path, first->u.tensor->type, range);
  if (sharding != NULL) {
    tspec_site_t site = {range, NULL};
    *first = tspec_cv_tensor(tspec_emit_constraint(c, site, first->u.tensor, sharding, path));
  }
  return result;
}

static tspec_cv_t call_instance(tspec_checker_t *c, const tspec_instance_t *instance,
                                const tspec_arg_values_t *args) {
  tspec_range_t range = args->range;
  if (instance->call == NULL) {
    tspec_check_error(c, range, "'%s' cannot be called: module '%s' has no 'fn (..)'",
                      instance->path, instance->module->name.text);
    tspec_check_note(c, instance->module->name.range, "the module is declared here");
    return tspec_cv_error();
  }
  if (instance->is_remat) {
    tspec_check_absent(c, range, instance->is_stack ? "a call of a stack" : "'remat'");
  }
  tspec_cv_t result = instance->is_stack ? tspec_check_call_stack(c, instance->call, args)
                                         : tspec_check_call_closure(c, instance->call, args);
  return constrain_call(c, instance->call, result, range);
}

/// A conversion of the leaves of a tree.
typedef struct convert_leaf_t {
  tspec_site_t site;
  tspec_dtype_t dtype;
} convert_leaf_t;

static tspec_cv_t convert_leaf(tspec_checker_t *c, const void *context, const tspec_operand_t *x) {
  const convert_leaf_t *leaf = context;
  return tspec_cv_tensor(tspec_emit_convert(c, leaf->site, x->cv.u.tensor, leaf->dtype));
}

static tspec_cv_t call_dtype(tspec_checker_t *c, tspec_dtype_t dtype,
                             const tspec_arg_values_t *values) {
  const tspec_arg_value_t *args = values->items;
  size_t nargs = values->count;
  tspec_range_t range = values->range;
  const char *name = tspec_dtype_name(dtype);
  if (nargs != 1 || args[0].name != NULL) {
    tspec_check_error(c, range, "'%s' takes one value to convert, but gets %zu", name, nargs);
    return tspec_cv_error();
  }
  tspec_site_t site = {range, name};
  if (args[0].cv.kind == TSPEC_CV_TREE) {
    tspec_operand_t operand = {args[0].cv, args[0].range};
    convert_leaf_t leaf = {site, dtype};
    return tspec_check_map_tree(c, site, 1, &operand, convert_leaf, &leaf);
  }
  if (args[0].cv.kind == TSPEC_CV_NUMBER) {
    double number = args[0].cv.u.number;
    tspec_type_t type = tspec_type_make(c->arena, dtype, 0, NULL);
    return tspec_cv_tensor(tspec_emit_constant(c, site, type, tspec_number_convert(dtype, number)));
  }
  tspec_value_t *x = tspec_check_tensor(c, site, (tspec_operand_t){args[0].cv, args[0].range});
  return tspec_cv_tensor(tspec_emit_convert(c, site, x, dtype));
}

static bool is_named_method(const tspec_closure_t *closure) {
  return closure->self != NULL && closure->info->fn->name.text != NULL;
}

tspec_cv_t tspec_check_call_value(tspec_checker_t *c, tspec_cv_t callee,
                                  const tspec_arg_values_t *args) {
  if (callee.kind == TSPEC_CV_FUNCTION) {
    tspec_closure_t *closure = callee.u.function;
    bool of_stack =
        is_named_method(closure) && closure->self->is_stack && c->frame->self != closure->self;
    tspec_cv_t result = of_stack ? tspec_check_call_stack(c, closure, args)
                                 : tspec_check_call_closure(c, closure, args);
    return constrain_call(c, closure, result, args->range);
  }
  if (callee.kind == TSPEC_CV_INSTANCE) {
    return call_instance(c, callee.u.instance, args);
  }
  if (callee.kind == TSPEC_CV_DTYPE) {
    return call_dtype(c, callee.u.dtype, args);
  }
  return tspec_check_builtin(c, callee.u.builtin, args);
}

static bool is_callable(tspec_checker_t *c, tspec_cv_t callee, const tspec_ast_expr_t *expr) {
  if (callee.kind == TSPEC_CV_FUNCTION || callee.kind == TSPEC_CV_INSTANCE ||
      callee.kind == TSPEC_CV_DTYPE || callee.kind == TSPEC_CV_BUILTIN) {
    return true;
  }
  if (callee.kind == TSPEC_CV_MODULE) {
    tspec_check_error(c, expr->range,
                      "'%s' is a module: instances are made by declarations ('m = %s(..)'), then "
                      "called",
                      callee.u.module->name.text, callee.u.module->name.text);
  } else if (callee.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, expr->range, "%s cannot be called", tspec_check_describe(c, callee));
  }
  return false;
}

tspec_cv_t tspec_check_call(tspec_checker_t *c, const tspec_ast_expr_t *expr) {
  const tspec_ast_expr_t *callee_expr = expr->u.call.callee;
  tspec_cv_t callee = tspec_check_reference(c, callee_expr);
  bool callable = is_callable(c, callee, callee_expr);
  const tspec_builtin_t *builtin =
      callable && callee.kind == TSPEC_CV_BUILTIN ? callee.u.builtin : NULL;
  if (builtin != NULL && builtin->kind == TSPEC_BUILTIN_ABSENT &&
      c->entry != NULL) { // before those in its arguments
    tspec_check_absent(c, expr->range, tspec_arena_printf(c->arena, "'%s'", builtin->name));
  }
  tspec_arg_values_t args;
  bool ok = check_args_of(c, builtin, &expr->u.call.args, expr->range, &args);
  if (!callable || !ok) {
    return tspec_cv_error();
  }
  return tspec_check_call_value(c, callee, &args);
}
