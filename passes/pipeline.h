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
  tspec_pass_fn_t run; ///< NULL: a plugin's
} tspec_pass_info_t;

/// An option of a plugin's pass with the value that holds.
typedef struct tspec_extra_option_t {
  const char *key;
  const char *value;
  const char *summary;
} tspec_extra_option_t;

/// A pass of a plugin (passes/plugin.h). A plain value.
typedef struct tspec_extra_pass_t {
  tspec_pass_info_t info;
  bool any_level;         ///< works at every level: those of `info` say nothing
  bool only_reads;        ///< leaves the program alone
  const char *run_before; ///< the pass before which it runs by default, or NULL
  const char *run_after;  ///< the pass after which it does, or NULL
  int noptions;
  tspec_extra_option_t *options;
  const char *library; ///< as --pass-plugin names it
  const void *plugin;  ///< its tspec_plugin_pass_t
} tspec_extra_pass_t;

/// All passes of plugins in the order of loading, known by name beside those of passes.def.
typedef TSPEC_VEC(const tspec_extra_pass_t *) tspec_extra_passes_t;

/// All passes in the order of the default pipeline.
int tspec_pass_count(void);
const tspec_pass_info_t *tspec_pass_info(int index);
/// The pass with that name, or NULL.
const tspec_pass_info_t *tspec_pass_find(const char *name);
/// The same among the passes of plugins (`extras` may be NULL).
const tspec_extra_pass_t *tspec_extra_pass_find(const tspec_extra_passes_t *extras,
                                                const char *name);
/// A pass of ours or a plugin's that `name` may be a slip of, or NULL.
const char *tspec_pass_nearest(tspec_arena_t *arena, const tspec_extra_passes_t *extras,
                               const char *name);

/// One pass of ours or a plugin's, or the text of an upstream one
/// ("canonicalize{max-iterations=1}").
typedef struct tspec_pipeline_step_t {
  const tspec_pass_info_t *pass;   ///< NULL: upstream. Of a plugin's: with the levels of its place
  const tspec_extra_pass_t *extra; ///< a plugin's, or NULL
  const char *upstream;
} tspec_pipeline_step_t;

typedef struct tspec_pipeline_t {
  int nsteps;
  const tspec_pipeline_step_t *steps;
} tspec_pipeline_t;

/// The passes that take a program from level `from` to the end of level `to`. In `arena`.
tspec_pipeline_t tspec_pipeline_default(tspec_arena_t *arena, tspec_level_t from, tspec_level_t to);

/// The pipeline with the passes of plugins at the places that they ask for; several at one place
/// run in the order of loading. In `arena`. One whose place is not in the pipeline is left out with
/// a warning to `diag`.
tspec_pipeline_t tspec_pipeline_place(tspec_arena_t *arena, const tspec_pipeline_t *pipeline,
                                      const tspec_extra_passes_t *extras, tspec_diag_t *diag);

/// Parses "propagate,reshard,cse": names separated by commas outside of brackets; "" is no pass at
/// all. What is no pass of ours or of `extras` (may be NULL) is taken for one of upstream. In
/// `arena`. Errors: false after reporting at `range` (an empty name, unbalanced brackets, a name
/// that is nearly one of ours).
bool tspec_pipeline_parse(tspec_arena_t *arena, const char *text,
                          const tspec_extra_passes_t *extras, tspec_range_t range,
                          tspec_diag_t *diag, tspec_pipeline_t *out_pipeline);

/// The name under which a step is known: of its pass, or the upstream text.
const char *tspec_pipeline_step_name(const tspec_pipeline_step_t *step);

/// What happens around passes. Every function may be NULL; `user` is handed to each.
typedef struct tspec_pipeline_hooks_t {
  void *user;
  /// Before a pass, with its name. Errors: false after reporting; the pipeline then ends.
  bool (*before)(void *user, const char *name, tspec_program_t *program);
  /// After a pass and its verification.
  bool (*after)(void *user, const char *name, tspec_program_t *program);
  /// Runs upstream passes on the program's module and reads it back into `*program`.
  bool (*upstream)(void *user, const char *text, tspec_program_t **program);
  /// The same for a plugin's pass.
  bool (*extra)(void *user, const tspec_extra_pass_t *pass, tspec_program_t **program);
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
