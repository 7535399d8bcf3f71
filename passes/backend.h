// What of the compiler needs MLIR and LLVM, behind one table. libMLIR takes longer to load than
// most programs take to compile, so tspecc itself is linked without it and opens libtspec.so only
// for a command that needs one of these.
#ifndef TSPEC_PASSES_BACKEND_H
#define TSPEC_PASSES_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/program.h"
#include "passes/codegen.h"
#include "passes/pipeline.h"

/// An MLIR context, see ir/mlir/context.h. Programs that keep attributes of others need it as long
/// as they live.
typedef struct tspec_backend_context_t tspec_backend_context_t;

typedef struct tspec_backend_t {
  const char *version; ///< of tspec: the library must be of the same build as tspecc
  /// The library has its own copy of ir/base: what a failed check does must be said to both.
  void (*set_check_handler)(void (*handler)(const char *message));

  /// A context that reports to `diag` (borrowed). Ownership: destroy_context.
  tspec_backend_context_t *(*create_context)(tspec_diag_t *diag);
  void (*destroy_context)(tspec_backend_context_t *context);

  /// Appends the program's text as MLIR (ir/mlir/export.h). Errors: false after reporting.
  bool (*print)(tspec_backend_context_t *context, tspec_program_t *program,
                const tspec_sources_t *sources, tspec_buf_t *buf);
  /// Reads a program from a file of `diag->sources` (ir/mlir/import.h). Errors: NULL after
  /// reporting.
  tspec_program_t *(*read)(tspec_backend_context_t *context, uint32_t file, tspec_arena_t *arena,
                           tspec_diag_t *diag);
  /// Runs a pipeline of upstream passes over the program's module and reads it back, in the same
  /// arena. Errors: false after reporting (no such pass, a pass that failed, a module that is no
  /// program any more).
  bool (*run_upstream)(tspec_backend_context_t *context, const char *pipeline,
                       tspec_program_t **program, tspec_diag_t *diag);

  /// Loads "LIB[,key=value...]" and runs a pass of it (passes/plugin.h). Errors: false after
  /// reporting.
  bool (*load_plugin)(const char *spec, tspec_arena_t *arena, tspec_diag_t *diag,
                      tspec_extra_passes_t *extras);
  bool (*run_plugin)(tspec_backend_context_t *context, const tspec_extra_pass_t *pass,
                     tspec_program_t **program, tspec_diag_t *diag);

  /// passes/codegen.h.
  bool (*check_cpu)(const char *cpu, tspec_range_t range, tspec_diag_t *diag);
  bool (*codegen)(const tspec_program_t *program, const tspec_codegen_t *options,
                  tspec_diag_t *diag);
} tspec_backend_t;

/// The name of the function below in libtspec.so.
#define TSPEC_BACKEND_SYMBOL "tspec_backend_get"

/// The table. Static storage.
const tspec_backend_t *tspec_backend_get(void);

#endif
