// The parts of tspecc: driver.c reads the command and runs the pipeline, driver_backend.c opens
// libtspec.so and plugins, driver_crash.c ends after internal errors, driver_dump.c prints
// programs, driver_report.c the reports, driver_explain*.c explanations, driver_list.c the lists,
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
  bool reproduces;             ///< the command comes from a reproducer
  uint32_t file;               ///< the input
  const char *name;            ///< its name without folder and ending
  const tspec_ast_file_t *ast; ///< NULL for an .mlir file
  tspec_program_t *program;
  tspec_program_t *whole;      ///< a copy from before `partition`, for --check; else NULL
  tspec_program_t *propagated; ///< a copy from before `propagate`, for --explain; else NULL
  const char *tspecc_dir;      ///< folder of the running tspecc
  void *library;               ///< libtspec.so once it is open
  const tspec_backend_t *backend;
  tspec_backend_context_t *context;
  tspec_extra_passes_t extras;         ///< of plugins
  int ndumps;                          ///< printed so far
  int npasses;                         ///< that ran or run
  bool ended[TSPEC_LEVEL_KERNELS + 1]; ///< levels that were left or reached last
  tspec_buf_t shardings;               ///< --shardings, filled at the end of level sharded
  tspec_buf_t annotated;               ///< --emit=tspec, likewise
  tspec_buf_t report;                  ///< --report, at the end of level local
  tspec_buf_t collectives;             ///< of --explain, at the end of level local
  tspec_buf_t explanation;             ///< --explain, after all passes
} tspec_driver_t;

// ---- driver_backend.c ----

/// The backend with a context; opens libtspec.so at the first call. Errors: NULL after reporting.
const tspec_backend_t *tspec_driver_backend(tspec_driver_t *driver);
void tspec_driver_close_backend(tspec_driver_t *driver);
/// Loads the command's plugins. Errors: false after reporting.
bool tspec_driver_load_plugins(tspec_driver_t *driver);
/// The pass with that name, ours or a plugin's, or NULL.
const tspec_pass_info_t *tspec_driver_find_pass(const tspec_driver_t *driver, const char *name);

// ---- driver_crash.c ----

/// From here on a failed check and a fatal signal end the process with TSPEC_EXIT_INTERNAL.
void tspec_driver_catch_crashes(void);
/// What a failed check does, in tspecc and in libtspec.so.
void tspec_driver_internal_error(const char *message);
/// What a reproducer tells: the command's words (borrowed, as long as the process runs), and, once
/// it is known, the driver (NULL: no longer). One command at a time, since a signal has no
/// argument.
void tspec_driver_watch(int argc, const char *const *argv, const tspec_driver_t *driver);
/// The pass that runs now (borrowed), or NULL.
void tspec_driver_watch_pass(const char *name);

/// A reproducer as a command line: the words that it holds, then those of argv without its path.
/// Its files are added to `sources`. Ownership: in `arena`. Errors: false if `path` is no
/// reproducer; then nothing is changed.
bool tspec_driver_open_reproducer(tspec_arena_t *arena, const char *path, int *argc,
                                  const char *const **argv, tspec_sources_t *sources);

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
void tspec_driver_shardings(const tspec_driver_t *driver, const tspec_program_t *program, bool json,
                            tspec_buf_t *buf);
void tspec_driver_annotate(const tspec_driver_t *driver, const tspec_program_t *program,
                           tspec_buf_t *buf);

// ---- driver_explain.c ----

/// Appends what --explain tells of collectives.
void tspec_driver_explain_collectives(tspec_driver_t *driver, tspec_buf_t *buf);
/// Appends --explain, with `collectives` as they are. Errors: false after reporting: a value that
/// there is not, or a program that was not propagated here.
bool tspec_driver_explain(tspec_driver_t *driver, tspec_buf_t *buf);

// ---- driver_header.c ----

/// The C header of the object file `object`, beside it: "gpt.h" for "gpt.o". Errors: false after
/// reporting.
bool tspec_driver_write_header(tspec_driver_t *driver, const char *object);

// ---- driver_list.c ----

/// `extras`: those of plugins.
void tspec_driver_list_passes(const tspec_extra_passes_t *extras, FILE *stream);
void tspec_driver_list_ops(FILE *stream);
/// The same as docs/passes.md and docs/ops.md.
void tspec_driver_list_passes_md(FILE *stream);
void tspec_driver_list_ops_md(FILE *stream);
/// The factor rule of each op of the program.
void tspec_driver_list_rules(const tspec_driver_t *driver, FILE *stream);

#endif
