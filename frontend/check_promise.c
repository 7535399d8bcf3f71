#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

static bool is_size(const char *what) {
  return strcmp(what, "bytes") == 0 || strcmp(what, "memory") == 0;
}

static bool check_what(tspec_checker_t *c, tspec_ast_name_t what) {
  static const char *const kKnown[] = {"all_reduce", "all_gather",  "reduce_scatter", "all_to_all",
                                       "permute",    "collectives", "bytes",          "memory"};
  tspec_names_t names = {0};
  for (size_t i = 0; i < sizeof kKnown / sizeof kKnown[0]; ++i) {
    tspec_names_set(c->arena, &names, kKnown[i], c);
  }
  if (tspec_names_get(&names, what.text) != NULL) {
    return true;
  }
  const char *nearest = tspec_names_nearest(&names, what.text);
  tspec_check_error(c, what.range,
                    "'%s' cannot be counted%s%s%s; it is one of all_reduce, all_gather, "
                    "reduce_scatter, all_to_all, permute, collectives, bytes, memory",
                    what.text, nearest != NULL ? " (did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?)" : "");
  return false;
}

static bool apply_unit(tspec_checker_t *c, const tspec_ast_promise_t *promise, double *value) {
  static const struct {
    const char *name;
    double bytes;
  } kUnits[] = {{"B", 1},      {"KB", 1e3},      {"MB", 1e6},          {"GB", 1e9},
                {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.0}};
  if (promise->unit.text == NULL) {
    return true;
  }
  if (!is_size(promise->what.text)) {
    tspec_check_error(c, promise->unit.range, "'%s' is a count and has no unit",
                      promise->what.text);
    return false;
  }
  for (size_t i = 0; i < sizeof kUnits / sizeof kUnits[0]; ++i) {
    if (strcmp(kUnits[i].name, promise->unit.text) == 0) {
      *value *= kUnits[i].bytes;
      return true;
    }
  }
  tspec_check_error(c, promise->unit.range,
                    "'%s' is no unit; it is one of B, KB, MB, GB, KiB, MiB, GiB",
                    promise->unit.text);
  return false;
}

static bool check_over(tspec_checker_t *c, const tspec_ast_promise_t *promise,
                       tspec_promise_t *out) {
  if (promise->over.count > 0 && is_size(promise->what.text)) {
    tspec_check_error(c, promise->over.items[0].range, "'%s' is of the whole entry: no 'over'",
                      promise->what.text);
    return false;
  }
  out->nover = (int)promise->over.count;
  out->over = TSPEC_ARENA_NEW(c->arena, const char *, promise->over.count);
  for (size_t i = 0; i < promise->over.count; ++i) {
    tspec_ast_name_t axis = promise->over.items[i];
    if (tspec_check_mesh_axis(c, axis, "'over'", -1) < 0) {
      return false;
    }
    out->over[i] = axis.text;
  }
  return true;
}

static bool check_promise(tspec_checker_t *c, const tspec_ast_promise_t *promise,
                          tspec_promise_t *out) {
  double value = 0;
  bool ok = check_what(c, promise->what);
  ok = check_over(c, promise, out) && ok;
  ok = tspec_cv_real(c, tspec_check_expr(c, promise->value), promise->value->range,
                     "what a promise compares with", &value) &&
       apply_unit(c, promise, &value) && ok;
  out->what = promise->what.text;
  out->compare = tspec_ast_binary_name(promise->op);
  out->value = value;
  out->text = tspec_check_text(c, promise->range);
  out->range = promise->range;
  return ok;
}

// The entry that is promised about, or NULL after a report.
static const tspec_entry_t *find_entry(tspec_checker_t *c, tspec_ast_name_t name) {
  const char *entry_name = NULL;
  if (!tspec_check_rule_entry(c, name, &entry_name)) {
    return NULL;
  }
  for (size_t i = 0; i < c->entries.count; ++i) {
    if (strcmp(c->entries.items[i]->fn->name.text, entry_name) == 0) {
      return c->entries.items[i];
    }
  }
  return NULL;
}

static void check_expect(tspec_checker_t *c, const tspec_item_t *item, tspec_promise_t *promises,
                         int *npromises) {
  const tspec_ast_decl_t *decl = item->decl;
  const tspec_entry_t *entry = find_entry(c, decl->u.expect.entry);
  for (size_t i = 0; i < decl->u.expect.npromises; ++i) {
    tspec_promise_t promise = {.entry = decl->u.expect.entry.text};
    // A rules file's promises were written for the mesh that it brings.
    bool foreign =
        item->origin == 2 ? c->options->mesh != NULL || c->options->nsets > 0 : c->mesh_overridden;
    promise.warn_only = foreign && !c->options->strict;
    bool ok = check_promise(c, &decl->u.expect.promises[i], &promise);
    if (ok && entry != NULL && entry->func != NULL) {
      promises[(*npromises)++] = promise;
    }
  }
}

void tspec_check_promises(tspec_checker_t *c, const tspec_items_t *items) {
  size_t count = 0;
  for (size_t i = 0; i < items->count; ++i) {
    if (items->items[i].decl->kind == TSPEC_AST_DECL_EXPECT) {
      count += items->items[i].decl->u.expect.npromises;
    }
  }
  tspec_frame_t frame;
  tspec_frame_init(&frame, NULL, &c->user, NULL);
  c->frame = &frame;
  c->program->promises = TSPEC_ARENA_NEW(c->arena, tspec_promise_t, count);
  for (size_t i = 0; i < items->count; ++i) {
    if (items->items[i].decl->kind == TSPEC_AST_DECL_EXPECT) {
      check_expect(c, &items->items[i], c->program->promises, &c->program->npromises);
    }
  }
  tspec_check_flush_trace(c);
  c->frame = NULL;
}
