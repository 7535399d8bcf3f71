// Which passes run, in which order: the default pipeline, `--passes=`, and what happens around each
// pass (verification, times, dumps). Works on programs; a step of upstream MLIR is run by a
// callback, so that nothing here needs MLIR.
#ifndef TSPEC_PASSES_PIPELINE_H
#define TSPEC_PASSES_PIPELINE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/vec.h"
#include "passes/pass.h"

/// A row of passes/passes.def.
typedef struct tspec_pass_info_t {
  const char *name;
  tspec_level_t before; ///< the level that it works on
  tspec_level_t after;  ///< the level that it leaves
  const char *summary;
  tspec_pass_fn_t run;
} tspec_pass_info_t;

/// All passes in the order of the default pipeline.
int tspec_pass_count(void);
const tspec_pass_info_t *tspec_pass_info(int index);
/// The pass with that name, or NULL.
const tspec_pass_info_t *tspec_pass_find(const char *name);

/// One pass of ours, or the text of an upstream one ("canonicalize{max-iterations=1}").
typedef struct tspec_pipeline_step_t {
  const tspec_pass_info_t *pass; ///< NULL: upstream
  const char *upstream;
} tspec_pipeline_step_t;

typedef struct tspec_pipeline_t {
  int nsteps;
  const tspec_pipeline_step_t *steps;
} tspec_pipeline_t;

/// The passes that take a program from level `from` to the end of level `to`. In `arena`.
tspec_pipeline_t tspec_pipeline_default(tspec_arena_t *arena, tspec_level_t from, tspec_level_t to);

/// Parses "propagate,reshard,cse": names separated by commas outside of brackets; "" is no pass at
/// all. What is no pass of ours is taken for one of upstream. In `arena`. Errors: false after
/// reporting at `range` (an empty name, unbalanced brackets, a name that is nearly one of ours).
bool tspec_pipeline_parse(tspec_arena_t *arena, const char *text, tspec_range_t range,
                          tspec_diag_t *diag, tspec_pipeline_t *out_pipeline);

/// What happens around passes. Every function may be NULL; `user` is handed to each.
typedef struct tspec_pipeline_hooks_t {
  void *user;
  /// Before a pass, with its name. Errors: false after reporting; the pipeline then ends.
  bool (*before)(void *user, const char *name, tspec_program_t *program);
  /// After a pass and its verification.
  bool (*after)(void *user, const char *name, tspec_program_t *program);
  /// Runs upstream passes on the program's module and reads it back into `*program`.
  bool (*upstream)(void *user, const char *text, tspec_program_t **program);
} tspec_pipeline_hooks_t;

typedef struct tspec_pass_time_t {
  const char *name;
  double seconds;
} tspec_pass_time_t;

/// One run over a program.
typedef struct tspec_pipeline_run_t {
  tspec_program_t *program; ///< in and out
  tspec_diag_t *diag;
  const tspec_options_t *options;
  tspec_pipeline_hooks_t hooks;
  const char *stop_after;             ///< the name of the last step to run; NULL: all
  TSPEC_VEC(tspec_pass_time_t) times; ///< one per step that ran, in the program's arena
} tspec_pipeline_run_t;

/// Runs the steps, verifying the program after each (with options->verify_each). Errors: false
/// after reporting: a pass that failed, one whose level the program is not at, a broken program
/// (then the pass is named).
bool tspec_pipeline_run(const tspec_pipeline_t *pipeline, tspec_pipeline_run_t *run);

/// The table of times: seconds, share, name; and the total.
void tspec_pipeline_print_times(const tspec_pipeline_run_t *run, FILE *stream);

#endif
