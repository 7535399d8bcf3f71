#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/driver.h"
#include "frontend/print.h"

bool tspec_driver_write(tspec_driver_t *driver, const char *path, const char *text) {
  bool is_stdout = strcmp(path, "-") == 0;
  FILE *file = is_stdout ? stdout : fopen(path, "w");
  bool ok = file != NULL && fputs(text, file) >= 0;
  if (file != NULL && (is_stdout ? fflush(file) : fclose(file)) != 0) {
    ok = false;
  }
  if (!ok) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "'%s' cannot be written: %s", path,
                     strerror(errno));
  }
  return ok;
}

bool tspec_driver_write_program(tspec_driver_t *driver, const char *path) {
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  if (backend == NULL) {
    return false;
  }
  tspec_buf_t buf = {0};
  bool ok = backend->print(driver->context, driver->program, &driver->sources, &buf) &&
            tspec_driver_write(driver, path, tspec_buf_get(&buf));
  tspec_buf_deinit(&buf);
  return ok;
}

// ---- which dumps are due ----

static bool wants(const tspec_driver_t *driver, tspec_dump_kind_t kind, const char *pass) {
  const tspec_command_t *command = driver->command;
  for (size_t i = 0; i < command->dumps.count; i++) {
    const tspec_dump_t *dump = &command->dumps.items[i];
    if (dump->kind == kind && (pass == NULL || strcmp(dump->pass, pass) == 0)) {
      return true;
    }
  }
  return false;
}

static bool wants_level(const tspec_driver_t *driver, tspec_level_t level) {
  const tspec_command_t *command = driver->command;
  for (size_t i = 0; i < command->dumps.count; i++) {
    const tspec_dump_t *dump = &command->dumps.items[i];
    if (dump->kind == TSPEC_DUMP_LEVEL && dump->level == level) {
      return true;
    }
  }
  return false;
}

static bool prints_several(const tspec_driver_t *driver) {
  return driver->command->dumps.count > 1 || wants(driver, TSPEC_DUMP_ALL, NULL);
}

/// Where the dump `what` ("local", "after-propagate") goes. NULL after reporting. Several dumps on
/// standard output are separated as MLIR's --split-input-file wants it.
static const char *dump_path(tspec_driver_t *driver, const char *what, const char *ending) {
  const char *dir = driver->command->dump_dir;
  if (dir != NULL) {
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
      tspec_diag_error(&driver->diag, (tspec_range_t){0}, "--dump-dir: '%s' cannot be made: %s",
                       dir, strerror(errno));
      return NULL;
    }
    return tspec_arena_printf(driver->arena, "%s/%s.%s.%s", dir, driver->name, what, ending);
  }
  if (prints_several(driver)) {
    printf("%s// %s\n", driver->ndumps > 0 ? "// -----\n" : "", what);
  }
  driver->ndumps++;
  return "-";
}

static bool dump_program(tspec_driver_t *driver, const char *what) {
  const char *path = dump_path(driver, what, "mlir");
  return path != NULL && tspec_driver_write_program(driver, path);
}

bool tspec_driver_dump_source(tspec_driver_t *driver) {
  if (!wants(driver, TSPEC_DUMP_SOURCE, NULL) && !wants(driver, TSPEC_DUMP_ALL, NULL)) {
    return true;
  }
  const char *path = dump_path(driver, "source", "tspec");
  if (path == NULL) {
    return false;
  }
  tspec_buf_t buf = {0};
  tspec_print_file(driver->ast, &buf);
  bool ok = tspec_driver_write(driver, path, tspec_buf_get(&buf));
  tspec_buf_deinit(&buf);
  return ok;
}

bool tspec_driver_ends_level(const tspec_driver_t *driver, const char *next) {
  if (next == NULL) {
    return true;
  }
  const tspec_pass_info_t *pass = tspec_pass_find(next); // a plugin's stays at its level
  return pass != NULL && (pass->after > driver->program->level || strcmp(next, "reshard") == 0);
}

bool tspec_driver_dump_level(tspec_driver_t *driver) {
  tspec_level_t level = driver->program->level;
  return !wants_level(driver, level) || dump_program(driver, tspec_level_name(level));
}

/// The dump at a pass, numbered in a folder so that files sort as passes run.
static bool dump_pass(tspec_driver_t *driver, const char *when, const char *pass) {
  tspec_arena_t *arena = driver->arena;
  const char *what = tspec_arena_printf(arena, "%s-%s", when, pass);
  return dump_program(driver, driver->command->dump_dir == NULL
                                  ? what
                                  : tspec_arena_printf(arena, "%02d-%s", driver->npasses, what));
}

bool tspec_driver_dump_before(tspec_driver_t *driver, const char *pass) {
  return !wants(driver, TSPEC_DUMP_BEFORE, pass) || dump_pass(driver, "before", pass);
}

bool tspec_driver_dump_after(tspec_driver_t *driver, const char *pass) {
  return (!wants(driver, TSPEC_DUMP_AFTER, pass) && !wants(driver, TSPEC_DUMP_ALL, NULL)) ||
         dump_pass(driver, "after", pass);
}
