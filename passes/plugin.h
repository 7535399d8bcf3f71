// Passes of shared libraries (include/tspec/plugin.h): loading them and running one. Part of
// libtspec.so, with which they are linked.
#ifndef TSPEC_PASSES_PLUGIN_H
#define TSPEC_PASSES_PLUGIN_H

#include <mlir-c/IR.h>

#include "include/tspec/plugin.h"
#include "ir/mlir/reader.h"
#include "passes/pipeline.h"

/// Loads a library and appends its passes, with the options that are set, to `extras`.
/// `spec`: "LIB[,key=value...]"; a LIB without '/' is looked for in the current folder, then where
/// the system's loader looks. The library stays loaded.
///
/// Ownership: in `arena`.
/// Errors:    false after reporting: a library that cannot be loaded, is no plugin or one of
///            another version; an unknown key; a pass whose name is taken or whose place is none.
bool tspec_plugin_load(const char *spec, tspec_arena_t *arena, tspec_diag_t *diag,
                       tspec_extra_passes_t *extras);

/// Runs a plugin's pass on the program's module in `context` and reads it back, in the same arena.
/// Errors: false after reporting (the pass failed, or left a module that is no program).
bool tspec_plugin_run_pass(MlirContext context, const tspec_extra_pass_t *pass,
                           tspec_program_t **program, tspec_diag_t *diag);

/// What stands behind a run; for plugin.c and plugin_api.c alone.
struct tspec_plugin_run_t {
  const tspec_extra_pass_t *pass;
  MlirContext context;
  MlirModule module;
  tspec_diag_t *diag;
  tspec_arena_t *arena;  ///< of the run
  tspec_reader_t reader; ///< its program is the one from before the pass
};

#endif
