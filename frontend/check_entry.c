#include <stdlib.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"
#include "frontend/print.h"

// ---- inputs ----------------------------------------------------------------------------------

static bool check_input(tspec_checker_t *c, const tspec_ast_formal_t *formal) {
  const char *name = formal->name.text;
  const char *what = tspec_arena_printf(c->arena, "input '%s'", name);
  if (formal->type == NULL || formal->is_axis || formal->value != NULL) {
    tspec_check_error(c, formal->range, "input '%s' of an entry needs a type%s", name,
                      formal->value != NULL ? " and no default" : ": x: f32[batch, embed]");
    tspec_frame_add(c, formal->name, tspec_cv_error());
    return false;
  }
  tspec_type_t type;
  const char *const *axes = NULL;
  if (!tspec_check_concrete_type(c, formal->type, what, &type, &axes)) {
    tspec_frame_add(c, formal->name, tspec_cv_error());
    return false;
  }
  tspec_value_t *arg = tspec_func_add_arg(c->program, c->entry->func, TSPEC_SLOT_INPUT, name, type,
                                          formal->name.range);
  tspec_declared_t declared = {.kind = TSPEC_DECLARED_INPUT,
                               .path = name,
                               .type = type,
                               .axes = axes,
                               .written = formal->sharding,
                               .range = formal->name.range};
  arg->sharding = tspec_check_starting_sharding(c, &declared);
  tspec_site_t site = {formal->name.range, NULL};
  tspec_value_t *value =
      type.dtype == TSPEC_DTYPE_F32 ? tspec_emit_convert(c, site, arg, c->compute_dtype) : arg;
  tspec_frame_add(c, formal->name, tspec_cv_tensor(value));
  return true;
}

// ---- results ---------------------------------------------------------------------------------

// A value as the entry gives it: checked, and converted from the compute dtype to a written f32.
static tspec_value_t *fit_result(tspec_checker_t *c, const tspec_ast_result_t *result,
                                 tspec_cv_t cv, tspec_type_t type) {
  const char *what = tspec_arena_printf(c->arena, "result '%s'", result->name.text);
  cv = tspec_check_fits(c, result->type, (tspec_operand_t){cv, result->range}, what, NULL);
  if (cv.kind != TSPEC_CV_TENSOR) {
    return NULL;
  }
  return tspec_emit_convert(c, (tspec_site_t){result->range, NULL}, cv.u.tensor, type.dtype);
}

// A constant made like x lies as x where it is returned: each reader of a constant has a copy of
// its own, which only the reader would split.
static tspec_value_t *tie_to_model(tspec_checker_t *c, const tspec_ast_result_t *result,
                                   const tspec_value_t *returned, tspec_value_t *value) {
  tspec_site_t site = {result->range, "zeros_like"};
  for (size_t i = 0; i < c->entry->likes.count; ++i) {
    tspec_like_t like = c->entry->likes.items[i];
    if (like.constant == returned) {
      int64_t group = c->ngroups++;
      tspec_emit_same_sharding(c, site, like.value, group);
      return tspec_emit_same_sharding(c, site, value, group);
    }
  }
  return value;
}

static void check_result(tspec_checker_t *c, const tspec_ast_result_t *result, tspec_cv_t cv) {
  tspec_type_t type;
  const char *const *axes = NULL;
  const char *what = tspec_arena_printf(c->arena, "result '%s'", result->name.text);
  if (!tspec_check_concrete_type(c, result->type, what, &type, &axes)) {
    return;
  }
  tspec_value_t *value = fit_result(c, result, cv, type);
  if (value == NULL) {
    return;
  }
  tspec_declared_t declared = {.kind = TSPEC_DECLARED_RESULT,
                               .path = result->name.text,
                               .type = type,
                               .axes = axes,
                               .written = result->sharding,
                               .range = result->name.range};
  const tspec_sharding_t *sharding = tspec_check_starting_sharding(c, &declared);
  if (sharding == NULL && cv.kind == TSPEC_CV_TENSOR) {
    value = tie_to_model(c, result, cv.u.tensor, value);
  }
  tspec_func_t *func = c->entry->func;
  func->results[func->nresults++] = (tspec_result_t){.kind = TSPEC_SLOT_RESULT,
                                                     .name = result->name.text,
                                                     .value = value,
                                                     .sharding = sharding,
                                                     .range = result->name.range};
}

static bool check_result_names(tspec_checker_t *c, const tspec_ast_fn_t *fn) {
  tspec_names_t names = {0};
  bool ok = true;
  for (size_t i = 0; i < fn->nresults; ++i) {
    tspec_ast_name_t name = fn->results[i].name;
    if (tspec_names_get(&names, name.text) != NULL) {
      tspec_check_error(c, name.range, "result '%s' stands twice", name.text);
      ok = false;
    }
    tspec_names_set(c->arena, &names, name.text, c);
  }
  return ok;
}

static void check_results(tspec_checker_t *c, const tspec_ast_fn_t *fn, tspec_cv_t returned) {
  if (!check_result_names(c, fn) || returned.kind == TSPEC_CV_ERROR) {
    return;
  }
  size_t count = returned.kind == TSPEC_CV_TUPLE  ? returned.u.list->count
                 : returned.kind == TSPEC_CV_NONE ? 0
                                                  : 1;
  if (count != fn->nresults) {
    tspec_check_error(c, fn->nresults > 0 ? fn->results[0].range : fn->name.range,
                      "entry '%s' declares %zu result%s, but returns %zu", fn->name.text,
                      fn->nresults, fn->nresults == 1 ? "" : "s", count);
    return;
  }
  c->entry->func->results = TSPEC_ARENA_NEW(c->arena, tspec_result_t, count);
  for (size_t i = 0; i < count; ++i) {
    check_result(c, &fn->results[i],
                 returned.kind == TSPEC_CV_TUPLE ? returned.u.list->items[i] : returned);
  }
}

// ---- one entry -------------------------------------------------------------------------------

static int compare_reads(const void *a, const void *b) {
  const tspec_slot_t *x = *(tspec_slot_t *const *)a, *y = *(tspec_slot_t *const *)b;
  return (x->order > y->order) - (x->order < y->order);
}

// Arguments are the inputs, then the parameters read in order of declaration; they were added in
// the order of their first read.
static void sort_args(tspec_checker_t *c, tspec_entry_t *entry) {
  tspec_func_t *func = entry->func;
  size_t count = entry->reads.count;
  int ninputs = func->nargs - (int)count;
  tspec_slot_t **sorted =
      tspec_arena_copy(c->arena, entry->reads.items, count * sizeof(tspec_slot_t *));
  tspec_arg_t *args =
      tspec_arena_copy(c->arena, func->args, (size_t)func->nargs * sizeof *func->args);
  tspec_names_t by_path = {0};
  for (size_t i = 0; i < count; ++i) {
    tspec_names_set(c->arena, &by_path, args[ninputs + (int)i].name, &args[ninputs + (int)i]);
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_reads);
  }
  for (size_t i = 0; i < count; ++i) {
    func->args[ninputs + (int)i] = *(tspec_arg_t *)tspec_names_get(&by_path, sorted[i]->path);
    func->args[ninputs + (int)i].value->index = ninputs + (int)i;
  }
}

static void check_entry(tspec_checker_t *c, tspec_entry_t *entry) {
  const tspec_ast_fn_t *fn = entry->fn;
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, entry->home, NULL);
  frame.fn = fn;
  entry->func = tspec_program_add_func(c->program, fn->name.text, fn->name.range);
  c->entry = entry;
  c->frame = &frame;
  tspec_check_rules_enter(c);
  bool ok = true;
  int nerrors = c->nerrors;
  for (size_t i = 0; i < fn->formals.count; ++i) {
    ok = check_input(c, &fn->formals.items[i]) && ok;
  }
  if (ok) {
    tspec_check_body(c, &fn->body);
    check_results(c, fn, frame.result);
    sort_args(c, entry);
  }
  tspec_check_flush_trace(c);
  c->frame = NULL;
  c->entry = NULL;
  entry->failed = c->nerrors > nerrors;
  if (entry->absent != NULL) {
    --c->program->nfuncs; // it is the last one
    entry->func = NULL;
  }
}

// ---- what is left out ------------------------------------------------------------------------

static bool is_wanted(const tspec_checker_t *c, const tspec_entry_t *entry) {
  for (size_t i = 0; i < c->options->nentries; ++i) {
    if (strcmp(c->options->entries[i], entry->fn->name.text) == 0) {
      return true;
    }
  }
  return false;
}

static void report_absent(tspec_checker_t *c) {
  size_t nleft = 0;
  for (size_t i = 0; i < c->entries.count; ++i) {
    nleft += c->entries.items[i]->absent == NULL;
  }
  for (size_t i = 0; i < c->entries.count; ++i) {
    const tspec_entry_t *entry = c->entries.items[i];
    const char *name = entry->fn->name.text;
    if (entry->absent == NULL || entry->failed) {
      continue;
    }
    if (nleft == 0 || is_wanted(c, entry)) {
      tspec_check_error(c, entry->absent_range,
                        "entry '%s' needs %s: not available in this version", name, entry->absent);
    } else {
      tspec_check_warning(c, entry->absent_range,
                          "entry '%s' is left out: it needs %s, which is not available in this "
                          "version",
                          name, entry->absent);
    }
  }
}

static void check_wanted(tspec_checker_t *c) {
  tspec_names_t names = {0};
  for (size_t i = 0; i < c->entries.count; ++i) {
    tspec_names_set(c->arena, &names, c->entries.items[i]->fn->name.text, c);
  }
  for (size_t i = 0; i < c->options->nentries; ++i) {
    const char *name = c->options->entries[i];
    if (tspec_names_get(&names, name) == NULL) {
      const char *nearest = tspec_names_nearest(&names, name);
      tspec_check_error(c, (tspec_range_t){0}, "--entry %s: there is no such entry%s%s%s", name,
                        nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "'?" : "");
    }
  }
}

void tspec_check_entries(tspec_checker_t *c, const tspec_items_t *items) {
  tspec_check_optimizers(c);
  for (size_t i = 0; i < items->count; ++i) {
    const tspec_item_t *item = &items->items[i];
    if (item->decl->kind != TSPEC_AST_DECL_FUNCTION ||
        item->decl->u.fn.kind != TSPEC_AST_FN_ENTRY || item->origin == 2) {
      continue;
    }
    tspec_entry_t *entry = TSPEC_ARENA_NEW(c->arena, tspec_entry_t, 1);
    entry->fn = &item->decl->u.fn;
    entry->range = item->decl->range;
    entry->home = item->home;
    TSPEC_VEC_PUSH(c->arena, &c->entries, entry);
    check_entry(c, entry);
    tspec_check_fn_info(c, item->decl, item->home, NULL)->reached = true;
  }
  check_wanted(c);
  if (c->entries.count == 0 && c->diag->nerrors == 0) {
    tspec_check_error(c, (tspec_range_t){0},
                      "the program has no entry: 'entry fn NAME(..)' declares one");
  }
  report_absent(c);
}
