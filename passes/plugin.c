#include "passes/plugin.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "ir/mlir/export.h"
#include "ir/mlir/import.h"

// ---- what --pass-plugin says ----

/// One key=value.
typedef struct setting_t {
  const char *key;
  const char *value;
  bool used;
} setting_t;

typedef struct spec_t {
  const char *library; ///< as written
  size_t nsettings;
  setting_t *settings;
} spec_t;

static bool parse_spec(const char *text, tspec_arena_t *arena, tspec_diag_t *diag,
                       spec_t *out_spec) {
  TSPEC_VEC(setting_t) settings = {0};
  size_t length = strcspn(text, ",");
  *out_spec = (spec_t){.library = tspec_arena_strdup(arena, text, length)};
  for (const char *at = text + length; *at == ',';) {
    at++;
    length = strcspn(at, ",");
    const char *equals = memchr(at, '=', length);
    if (equals == NULL || equals == at) {
      tspec_diag_error(diag, (tspec_range_t){0},
                       "--pass-plugin: got '%.*s' after '%s', wanted "
                       "key=value",
                       (int)length, at, out_spec->library);
      return false;
    }
    setting_t setting = {
        .key = tspec_arena_strdup(arena, at, (size_t)(equals - at)),
        .value = tspec_arena_strdup(arena, equals + 1, (size_t)(at + length - equals - 1)),
    };
    TSPEC_VEC_PUSH(arena, &settings, setting);
    at += length;
  }
  out_spec->nsettings = settings.count;
  out_spec->settings = settings.items;
  return true;
}

// ---- the library ----

/// A file of the current folder comes before the loader's folders.
static const char *path_of(const char *library, tspec_arena_t *arena) {
  bool here = strchr(library, '/') == NULL && access(library, R_OK) == 0;
  return here ? tspec_arena_printf(arena, "./%s", library) : library;
}

/// The library's descriptor. Errors: NULL after reporting.
static const tspec_plugin_t *open_plugin(const char *library, tspec_arena_t *arena,
                                         tspec_diag_t *diag) {
  tspec_range_t nowhere = {0};
  void *handle = dlopen(path_of(library, arena), RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    tspec_diag_error(diag, nowhere, "--pass-plugin: '%s' cannot be loaded: %s", library, dlerror());
    return NULL;
  }
  // a function's address comes as an object pointer
  const tspec_plugin_t *(*get)(void) = NULL;
  void *symbol = dlsym(handle, TSPEC_PLUGIN_SYMBOL);
  memcpy((void *)&get, (const void *)&symbol, sizeof get);
  const tspec_plugin_t *plugin = get == NULL ? NULL : get();
  if (plugin == NULL) {
    tspec_diag_error(diag, nowhere, "--pass-plugin: '%s' is no plugin of tspec: %s '%s'", library,
                     get == NULL ? "it does not export" : "NULL comes from", TSPEC_PLUGIN_SYMBOL);
    return NULL;
  }
  // the first field is all that every version has
  if (plugin->abi_version != TSPEC_PLUGIN_ABI_VERSION) {
    tspec_diag_error(diag, nowhere,
                     "--pass-plugin: '%s' was built for version %u of the plugin interface, but "
                     "this tspecc has version %u",
                     library, (unsigned)plugin->abi_version, (unsigned)TSPEC_PLUGIN_ABI_VERSION);
    return NULL;
  }
  return plugin;
}

// ---- its passes ----

struct tspec_plugin_registry_t {
  const spec_t *spec;
  const char *name; ///< of the plugin
  tspec_arena_t *arena;
  tspec_diag_t *diag;
  tspec_extra_passes_t *extras;
  size_t nbefore; ///< passes of other plugins
  bool ok;
};

static void refuse(tspec_plugin_registry_t *registry, const char *pass, const char *why,
                   const char *what) {
  tspec_diag_error(registry->diag, (tspec_range_t){0}, "--pass-plugin: pass '%s' of '%s' %s '%s'",
                   pass, registry->spec->library, why, what);
  registry->ok = false;
}

static bool is_pass(const tspec_plugin_registry_t *registry, const char *name) {
  return tspec_pass_find(name) != NULL || tspec_extra_pass_find(registry->extras, name) != NULL;
}

static bool parse_level(const char *name, tspec_level_t *out_level) {
  for (int level = TSPEC_LEVEL_GLOBAL; level <= TSPEC_LEVEL_KERNELS; level++) {
    if (strcmp(name, tspec_level_name((tspec_level_t)level)) == 0) {
      *out_level = (tspec_level_t)level;
      return true;
    }
  }
  return false;
}

/// The pass's options with the values that are set. Each setting may serve several passes.
static tspec_extra_option_t *set_options(tspec_plugin_registry_t *registry,
                                         const tspec_plugin_pass_t *pass) {
  tspec_extra_option_t *options =
      TSPEC_ARENA_NEW(registry->arena, tspec_extra_option_t, pass->noptions);
  for (int i = 0; i < pass->noptions; i++) {
    const tspec_plugin_option_t *option = &pass->options[i];
    options[i] = (tspec_extra_option_t){option->key, option->value, option->summary};
    for (size_t j = 0; j < registry->spec->nsettings; j++) {
      setting_t *setting = &registry->spec->settings[j];
      if (strcmp(setting->key, option->key) == 0) {
        options[i].value = setting->value;
        setting->used = true;
      }
    }
  }
  return options;
}

void tspec_plugin_add_pass(tspec_plugin_registry_t *registry, const tspec_plugin_pass_t *pass) {
  const char *place = pass->before != NULL ? pass->before : pass->after;
  tspec_level_t level = TSPEC_LEVEL_GLOBAL;
  if (is_pass(registry, pass->name)) {
    refuse(registry, pass->name, "has a name that is taken:", pass->name);
  } else if (pass->level != NULL && !parse_level(pass->level, &level)) {
    refuse(registry, pass->name, "works at no level of tspec:", pass->level);
  } else if (pass->before != NULL && pass->after != NULL) {
    refuse(registry, pass->name, "has two places, also before", pass->before);
  } else if (place != NULL && !is_pass(registry, place)) {
    refuse(registry, pass->name, "is placed at a pass that does not exist:", place);
  } else {
    tspec_extra_pass_t *extra = TSPEC_ARENA_NEW(registry->arena, tspec_extra_pass_t, 1);
    *extra = (tspec_extra_pass_t){
        .info = {.name = pass->name, .before = level, .after = level, .summary = pass->summary},
        .any_level = pass->level == NULL,
        .only_reads = pass->only_reads,
        .run_before = pass->before,
        .run_after = pass->after,
        .noptions = pass->noptions,
        .options = set_options(registry, pass),
        .library = registry->spec->library,
        .plugin = pass,
    };
    TSPEC_VEC_PUSH(registry->arena, registry->extras, extra);
  }
}

/// Reports keys that no pass of the library has.
static bool check_settings(const tspec_plugin_registry_t *registry) {
  tspec_names_t keys = {0};
  for (size_t i = registry->nbefore; i < registry->extras->count; i++) {
    const tspec_extra_pass_t *pass = registry->extras->items[i];
    for (int j = 0; j < pass->noptions; j++) {
      tspec_names_set(registry->arena, &keys, pass->options[j].key, &pass->options[j]);
    }
  }
  bool ok = true;
  for (size_t i = 0; i < registry->spec->nsettings; i++) {
    const setting_t *setting = &registry->spec->settings[i];
    if (setting->used) {
      continue;
    }
    const char *nearest = tspec_names_nearest(&keys, setting->key);
    tspec_diag_error(registry->diag, (tspec_range_t){0},
                     "--pass-plugin: '%s' has no option '%s'%s%s%s", registry->spec->library,
                     setting->key, nearest == NULL ? "" : "; did you mean '",
                     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
    ok = false;
  }
  return ok;
}

bool tspec_plugin_load(const char *spec, tspec_arena_t *arena, tspec_diag_t *diag,
                       tspec_extra_passes_t *extras) {
  spec_t parsed;
  if (!parse_spec(spec, arena, diag, &parsed)) {
    return false;
  }
  const tspec_plugin_t *plugin = open_plugin(parsed.library, arena, diag);
  if (plugin == NULL) {
    return false;
  }
  tspec_plugin_registry_t registry = {.spec = &parsed,
                                      .name = plugin->name,
                                      .arena = arena,
                                      .diag = diag,
                                      .extras = extras,
                                      .nbefore = extras->count,
                                      .ok = true};
  plugin->add_passes(&registry);
  if (registry.ok && extras->count == registry.nbefore) {
    tspec_diag_error(diag, (tspec_range_t){0}, "--pass-plugin: '%s' has no passes", parsed.library);
    return false;
  }
  return registry.ok && check_settings(&registry);
}

// ---- a run ----

/// Reads the module back. Errors: NULL after reporting.
static tspec_program_t *read_back(const tspec_plugin_run_t *run, tspec_program_t *before) {
  const char *name = run->pass->info.name;
  tspec_program_t *after = NULL;
  if (mlirOperationVerify(mlirModuleGetOperation(run->module))) {
    after = tspec_program_import(run->module, before->arena, run->diag);
  }
  if (after == NULL) {
    tspec_diag_note(run->diag, (tspec_range_t){0}, "pass '%s' left a module that is no program",
                    name);
    return NULL;
  }
  if (after->level != before->level) {
    tspec_diag_error(run->diag, (tspec_range_t){0}, "pass '%s' changed the level from %s to %s",
                     name, tspec_level_name(before->level), tspec_level_name(after->level));
    return NULL;
  }
  return after;
}

static bool call(tspec_plugin_run_t *run) {
  const tspec_plugin_pass_t *pass = run->pass->plugin;
  int nerrors = run->diag->nerrors;
  tspec_check_context_set(pass->name); // this library's copy, see passes/backend.h
  bool ok = pass->run(run);
  tspec_check_context_set(NULL);
  if (!ok && run->diag->nerrors == nerrors) {
    tspec_diag_error(run->diag, (tspec_range_t){0}, "pass '%s' failed", pass->name);
  }
  return ok && run->diag->nerrors == nerrors;
}

bool tspec_plugin_run_pass(MlirContext context, const tspec_extra_pass_t *pass,
                           tspec_program_t **program, tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_plugin_run_t run = {
      .pass = pass,
      .context = context,
      .module = tspec_program_export(context, *program, diag->sources),
      .diag = diag,
      .arena = &arena,
      .reader = {.program = *program, .arena = &arena, .diag = diag},
  };
  bool ok = !mlirModuleIsNull(run.module) && call(&run);
  if (ok && !pass->only_reads) {
    tspec_program_t *after = read_back(&run, *program);
    ok = after != NULL;
    *program = ok ? after : *program;
  }
  if (!mlirModuleIsNull(run.module)) {
    mlirModuleDestroy(run.module);
  }
  tspec_arena_deinit(&arena);
  return ok;
}
