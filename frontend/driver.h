// The parts of tspecc: driver.c reads the command and runs the pipeline, driver_backend.c opens
// libtspec.so, driver_dump.c prints programs, driver_report.c the reports, driver_list.c the lists,
// driver_header.c the header of an object file.
#ifndef TSPEC_FRONTEND_DRIVER_H
#define TSPEC_FRONTEND_DRIVER_H

#include "frontend/ast.h"
#include "frontend/options.h"
#include "ir/base/diag.h"
#include "passes/backend.h"
#include "passes/pipeline.h"

enum {
  TSPEC_EXIT_OK = 0,
  TSPEC_EXIT_DIAGNOSTICS = 1,
  TSPEC_EXIT_USAGE = 2,
  TSPEC_EXIT_INTERNAL = 70,
};

/// One run of tspecc.
typedef struct tspec_driver_t {
  const tspec_command_t *command;
  tspec_arena_t *arena; ///< of the whole run
  tspec_sources_t sources;
  tspec_diag_t diag;
  uint32_t file;               ///< the input
  const char *name;            ///< its name without folder and ending
  const tspec_ast_file_t *ast; ///< NULL for an .mlir file
  tspec_program_t *program;
  tspec_program_t *whole; ///< a copy from before `partition`, for --check; else NULL
  const char *tspecc_dir; ///< folder of the running tspecc
  void *library;          ///< libtspec.so once it is open
  const tspec_backend_t *backend;
  tspec_backend_context_t *context;
  int ndumps;                          ///< printed so far
  bool ended[TSPEC_LEVEL_KERNELS + 1]; ///< levels that were left or reached last
  tspec_buf_t shardings;               ///< --shardings, filled at the end of level sharded
  tspec_buf_t annotated;               ///< --emit=tspec, likewise
  tspec_buf_t report;                  ///< --report, at the end of level local
} tspec_driver_t;

// ---- driver_backend.c ----

/// The backend with a context; opens libtspec.so at the first call. Errors: NULL after reporting.
const tspec_backend_t *tspec_driver_backend(tspec_driver_t *driver);
void tspec_driver_close_backend(tspec_driver_t *driver);

// ---- driver_dump.c ----

/// Writes `text` to the file `path`, "-" being standard output. Errors: false after reporting.
bool tspec_driver_write(tspec_driver_t *driver, const char *path, const char *text);
/// The program as MLIR to `path`. Errors: false after reporting.
bool tspec_driver_write_program(tspec_driver_t *driver, const char *path);
/// The source as it was read back from its tree (--dump-ir=source), if it is asked for.
bool tspec_driver_dump_source(tspec_driver_t *driver);
/// True if the program is as its level's dump shows it: before the first pass that leaves the
/// level, at the end (`next` NULL); but level `sharded` before `reshard`.
bool tspec_driver_ends_level(const tspec_driver_t *driver, const char *next);
/// The dump of the program's level, if it is asked for. Errors, as of the next two: false after
/// reporting.
bool tspec_driver_dump_level(tspec_driver_t *driver);
bool tspec_driver_dump_before(tspec_driver_t *driver, const char *pass);
bool tspec_driver_dump_after(tspec_driver_t *driver, const char *pass);

// ---- driver_check.c ----

/// Evaluates each selected entry of the local program on all ranks against `whole` and prints how
/// far results are apart. Errors: false after reporting.
bool tspec_driver_check(tspec_driver_t *driver);

// ---- driver_report.c ----

/// Appends --report, --shardings and --emit=tspec.
void tspec_driver_report(const tspec_driver_t *driver, bool json, tspec_buf_t *buf);
void tspec_driver_shardings(const tspec_driver_t *driver, bool json, tspec_buf_t *buf);
void tspec_driver_annotate(const tspec_driver_t *driver, tspec_buf_t *buf);

// ---- driver_header.c ----

/// The C header of the object file `object`, beside it: "gpt.h" for "gpt.o". Errors: false after
/// reporting.
bool tspec_driver_write_header(tspec_driver_t *driver, const char *object);

// ---- driver_list.c ----

void tspec_driver_list_passes(FILE *stream);
void tspec_driver_list_ops(FILE *stream);
/// The same as docs/passes.md and docs/ops.md.
void tspec_driver_list_passes_md(FILE *stream);
void tspec_driver_list_ops_md(FILE *stream);
/// The factor rule of each op of the program.
void tspec_driver_list_rules(const tspec_driver_t *driver, FILE *stream);

#endif
