#include <dlfcn.h>
#include <string.h>

#include "frontend/driver.h"

static const tspec_backend_t *open_library(tspec_driver_t *driver) {
  const char *path = tspec_arena_printf(driver->arena, "%s/../lib/libtspec.so", driver->tspecc_dir);
  driver->library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL); // plugins link against its symbols
  if (driver->library == NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "libtspec.so cannot be loaded: %s",
                     dlerror());
    return NULL;
  }
  // a function's address comes as an object pointer
  const tspec_backend_t *(*get)(void) = NULL;
  void *symbol = dlsym(driver->library, TSPEC_BACKEND_SYMBOL);
  memcpy((void *)&get, (const void *)&symbol, sizeof get);
  const tspec_backend_t *backend = get == NULL ? NULL : get();
  if (backend == NULL || strcmp(backend->version, TSPEC_VERSION) != 0) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "'%s' is of version %s, wanted %s", path,
                     backend == NULL ? "?" : backend->version, TSPEC_VERSION);
    return NULL;
  }
  backend->set_check_handler(tspec_driver_internal_error);
  return backend;
}

const tspec_backend_t *tspec_driver_backend(tspec_driver_t *driver) {
  if (driver->backend == NULL) {
    driver->backend = open_library(driver);
  }
  if (driver->backend != NULL && driver->context == NULL) {
    driver->context = driver->backend->create_context(&driver->diag);
  }
  return driver->backend;
}

void tspec_driver_close_backend(tspec_driver_t *driver) {
  if (driver->context != NULL) {
    driver->backend->destroy_context(driver->context);
    driver->context = NULL;
  }
  // The library stays: libLLVM's destructors run at exit.
}

bool tspec_driver_load_plugins(tspec_driver_t *driver) {
  const tspec_words_t *plugins = &driver->command->plugins;
  for (size_t i = 0; i < plugins->count; i++) {
    const tspec_backend_t *backend = tspec_driver_backend(driver);
    if (backend == NULL ||
        !backend->load_plugin(plugins->items[i], driver->arena, &driver->diag, &driver->extras)) {
      return false;
    }
  }
  return true;
}

const tspec_pass_info_t *tspec_driver_find_pass(const tspec_driver_t *driver, const char *name) {
  const tspec_extra_pass_t *extra = tspec_extra_pass_find(&driver->extras, name);
  return extra != NULL ? &extra->info : tspec_pass_find(name);
}
