#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/parser.h"

// ---- imports ---------------------------------------------------------------------------------

// A file being put in place, and the files that import it.
typedef struct import_t {
  const struct import_t *by;
  const char *identity; ///< one for all spellings of a path
  tspec_range_t range;
} import_t;

typedef struct flatten_t {
  tspec_checker_t *c;
  tspec_home_t *home;
  tspec_items_t *items;
  tspec_names_t *seen;
} flatten_t;

static const char *identify(tspec_checker_t *c, const char *path) {
  char *real = realpath(path, NULL);
  const char *identity =
      tspec_arena_strdup(c->arena, real == NULL ? path : real, strlen(real == NULL ? path : real));
  free(real);
  return identity;
}

static const char *path_beside(tspec_checker_t *c, uint32_t file, const char *name) {
  const char *path = tspec_sources_get(c->sources, file)->path;
  const char *slash = strrchr(path, '/');
  if (name[0] == '/' || slash == NULL) {
    return name;
  }
  return tspec_arena_printf(c->arena, "%.*s/%s", (int)(slash - path), path, name);
}

static bool is_import_cycle(tspec_checker_t *c, const import_t *by, const char *identity,
                            tspec_range_t range) {
  for (const import_t *at = by; at != NULL; at = at->by) {
    if (strcmp(at->identity, identity) != 0) {
      continue;
    }
    tspec_check_error(c, range, "this import closes a cycle of files");
    for (const import_t *step = by; step != at; step = step->by) {
      tspec_check_note(c, step->range, "imported here");
    }
    return true;
  }
  return false;
}

static void flatten_file(flatten_t *f, const tspec_ast_file_t *file, int origin,
                         const import_t *by);

static void flatten_import(flatten_t *f, const tspec_ast_decl_t *decl, int origin,
                           const import_t *by) {
  tspec_checker_t *c = f->c;
  const char *name = decl->u.import.path;
  const char *path = path_beside(c, decl->range.file, name);
  const char *identity = identify(c, path);
  if (is_import_cycle(c, by, identity, decl->u.import.path_range) ||
      tspec_names_get(f->seen, identity) != NULL) {
    return;
  }
  tspec_names_set(c->arena, f->seen, identity, f);
  uint32_t number = tspec_sources_read(c->sources, path);
  if (number == 0) {
    tspec_check_error(c, decl->u.import.path_range, "cannot read '%s': %s", path, strerror(errno));
    return;
  }
  import_t here = {by, identity, decl->u.import.path_range};
  const tspec_ast_file_t *file = tspec_parse(c->arena, c->sources, number, c->diag);
  flatten_file(f, file, origin == 0 ? 1 : origin, &here);
}

static void flatten_file(flatten_t *f, const tspec_ast_file_t *file, int origin,
                         const import_t *by) {
  for (size_t i = 0; i < file->decls.count; ++i) {
    const tspec_ast_decl_t *decl = file->decls.items[i];
    if (decl->kind == TSPEC_AST_DECL_IMPORT) {
      flatten_import(f, decl, origin, by);
    } else {
      TSPEC_VEC_PUSH(f->c->arena, f->items, (tspec_item_t){decl, f->home, origin});
    }
  }
}

void tspec_check_flatten(tspec_checker_t *c, const tspec_ast_file_t *file, tspec_home_t *home,
                         int origin, tspec_items_t *out_items) {
  tspec_names_t seen = {0};
  const tspec_source_t *source = tspec_sources_get(c->sources, file->file);
  import_t main = {NULL, identify(c, source->path), {0}};
  tspec_names_set(c->arena, &seen, main.identity, c);
  flatten_t f = {c, home, out_items, &seen};
  flatten_file(&f, file, origin, &main);
}

// ---- global names ----------------------------------------------------------------------------

tspec_fn_info_t *tspec_check_fn_info(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                                     tspec_home_t *home, const tspec_global_t *module) {
  const char *key =
      tspec_arena_printf(c->arena, "%u:%u:%u", decl->range.file, decl->range.line, decl->range.col);
  tspec_fn_info_t *info = tspec_names_get(&c->fn_places, key);
  if (info == NULL) {
    info = TSPEC_ARENA_NEW(c->arena, tspec_fn_info_t, 1);
    *info = (tspec_fn_info_t){&decl->u.fn, decl->range, home, module, false};
    tspec_names_set(c->arena, &c->fn_places, key, info);
    TSPEC_VEC_PUSH(c->arena, &c->fns, info);
  }
  return info;
}

static tspec_global_t *declare(tspec_checker_t *c, const tspec_item_t *item,
                               tspec_global_kind_t kind, tspec_ast_name_t name) {
  const tspec_global_t *old = tspec_names_get(&item->home->globals, name.text);
  if (old != NULL) {
    tspec_check_error(c, name.range, "'%s' is declared twice", name.text);
    tspec_check_note(c, old->name.range, "first declared here");
    return NULL;
  }
  tspec_global_t *global = TSPEC_ARENA_NEW(c->arena, tspec_global_t, 1);
  *global = (tspec_global_t){.kind = kind, .name = name, .home = item->home, .decl = item->decl};
  tspec_names_set(c->arena, &item->home->globals, name.text, global);
  TSPEC_VEC_PUSH(c->arena, &c->globals, global);
  return global;
}

static void declare_function(tspec_checker_t *c, const tspec_item_t *item) {
  const tspec_ast_fn_t *fn = &item->decl->u.fn;
  bool is_entry = fn->kind == TSPEC_AST_FN_ENTRY;
  tspec_global_t *global =
      declare(c, item, is_entry ? TSPEC_GLOBAL_ENTRY : TSPEC_GLOBAL_FUNCTION, fn->name);
  tspec_fn_info_t *info = tspec_check_fn_info(c, item->decl, item->home, NULL);
  if (global == NULL || is_entry) {
    return;
  }
  tspec_closure_t *closure = TSPEC_ARENA_NEW(c->arena, tspec_closure_t, 1);
  *closure = (tspec_closure_t){info, NULL, fn->name.text, false};
  global->cv = (tspec_cv_t){.kind = TSPEC_CV_FUNCTION, .u.function = closure};
}

static void declare_bindings(tspec_checker_t *c, const tspec_item_t *item,
                             tspec_global_kind_t kind) {
  for (size_t i = 0; i < item->decl->u.bindings.count; ++i) {
    const tspec_ast_binding_t *binding = &item->decl->u.bindings.items[i];
    tspec_global_t *global = declare(c, item, kind, binding->name);
    if (global != NULL) {
      global->expr = binding->value;
    }
  }
}

// What may stand in a rules file.
static bool is_rules_decl(tspec_ast_decl_kind_t kind) {
  return kind == TSPEC_AST_DECL_MESH || kind == TSPEC_AST_DECL_PRECISION ||
         kind == TSPEC_AST_DECL_EXPECT || kind == TSPEC_AST_DECL_SHARD_AXES ||
         kind == TSPEC_AST_DECL_SHARD_PARAMS || kind == TSPEC_AST_DECL_SHARD_VALUES;
}

static void declare_methods(tspec_checker_t *c, const tspec_ast_decls_t *decls, tspec_home_t *home,
                            const tspec_global_t *module) {
  for (size_t i = 0; i < decls->count; ++i) {
    const tspec_ast_decl_t *decl = decls->items[i];
    if (decl->kind == TSPEC_AST_DECL_FUNCTION) {
      tspec_check_fn_info(c, decl, home, module);
    } else if (decl->kind == TSPEC_AST_DECL_FOR) {
      declare_methods(c, &decl->u.loop.body, home, module);
    } else if (decl->kind == TSPEC_AST_DECL_IF) {
      for (size_t k = 0; k < decl->u.cond.narms; ++k) {
        declare_methods(c, &decl->u.cond.arms[k].body, home, module);
      }
    }
  }
}

static void collect_item(tspec_checker_t *c, const tspec_item_t *item) {
  const tspec_ast_decl_t *decl = item->decl;
  if (item->origin == 2 && !is_rules_decl(decl->kind)) {
    tspec_check_error(c, decl->range,
                      "a rules file holds 'shard', 'mesh', 'precision' and 'expect' alone");
    return;
  }
  if (decl->kind == TSPEC_AST_DECL_FUNCTION) {
    declare_function(c, item);
  } else if (decl->kind == TSPEC_AST_DECL_AXIS) {
    declare_bindings(c, item, TSPEC_GLOBAL_AXIS);
  } else if (decl->kind == TSPEC_AST_DECL_CONST) {
    declare_bindings(c, item, TSPEC_GLOBAL_CONST);
  } else if (decl->kind == TSPEC_AST_DECL_MODULE) {
    const tspec_global_t *module = declare(c, item, TSPEC_GLOBAL_MODULE, decl->u.module.name);
    if (module != NULL) {
      declare_methods(c, &decl->u.module.members, item->home, module);
    }
  } else if (decl->kind == TSPEC_AST_DECL_OPTIMIZER) {
    declare(c, item, TSPEC_GLOBAL_OPTIMIZER, decl->u.optimizer.name);
  } else if (decl->kind == TSPEC_AST_DECL_PARAM || decl->kind == TSPEC_AST_DECL_STATE) {
    tspec_names_set(c->arena, &c->late, decl->u.param.name.text, (void *)(uintptr_t)decl);
  } else if (decl->kind == TSPEC_AST_DECL_INSTANCE) {
    tspec_names_set(c->arena, &c->late, decl->u.instance.name.text, (void *)(uintptr_t)decl);
  }
}

void tspec_check_collect(tspec_checker_t *c, const tspec_items_t *items) {
  for (size_t i = 0; i < items->count; ++i) {
    collect_item(c, &items->items[i]);
  }
}

// ---- --set -----------------------------------------------------------------------------------

static const char *nearest_number(const tspec_checker_t *c, const char *name) {
  tspec_names_t names = {0};
  for (size_t i = 0; i < c->globals.count; ++i) {
    tspec_global_t *global = c->globals.items[i];
    if (global->expr != NULL && global->home == &c->user) {
      tspec_names_set(c->arena, &names, global->name.text, global);
    }
  }
  return tspec_names_nearest(&names, name);
}

static bool parse_number(const char *text, double *out_number) {
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
    *out_number = text[0] == 't';
    return true;
  }
  char *end = NULL;
  *out_number = strtod(text, &end);
  return end != text && *end == '\0';
}

static void apply_set(tspec_checker_t *c, const char *text) {
  const char *equals = strchr(text, '=');
  double number = 0;
  if (equals == NULL || !parse_number(equals + 1, &number)) {
    tspec_check_error(c, (tspec_range_t){0}, "--set wants NAME=NUMBER, not '%s'", text);
    return;
  }
  const char *name = tspec_arena_strdup(c->arena, text, (size_t)(equals - text));
  tspec_global_t *global = tspec_names_get(&c->user.globals, name);
  if (global == NULL || global->expr == NULL) {
    const char *nearest = nearest_number(c, name);
    tspec_check_error(c, (tspec_range_t){0}, "--set %s: no const or axis has this name%s%s%s", name,
                      nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "'?" : "");
    return;
  }
  global->is_set = true;
  global->number = number;
  c->mesh_overridden = true;
}

void tspec_check_numbers(tspec_checker_t *c) {
  for (size_t i = 0; i < c->options->nsets; ++i) {
    apply_set(c, c->options->sets[i]);
  }
  for (size_t i = 0; i < c->globals.count; ++i) {
    tspec_global_t *global = c->globals.items[i];
    if (global->expr != NULL) {
      tspec_check_global_number(c, global, global->name.range);
    }
  }
}
