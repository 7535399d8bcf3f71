// Passes: one file each, one row in passes/passes.def. A pass rewrites the program from one level
// to the same or the next.
#ifndef TSPEC_PASSES_PASS_H
#define TSPEC_PASSES_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/program.h"

/// By what pass `reshard` chooses layouts.
typedef enum tspec_cost_model_t {
  TSPEC_COST_BYTES, ///< by cost of all conversions of an entry (passes/layouts.h), if that is less
                    ///< than what the vote leads to
  TSPEC_COST_VOTES, ///< by elements, op by op, as Shardy does
} tspec_cost_model_t;

/// Choices that the driver makes for all passes.
typedef struct tspec_options_t {
  const char *cpu; ///< "native", "x86-64-v3", ...
  tspec_cost_model_t cost_model;
  bool lint;    ///< print warnings about costs
  bool explain; ///< record decisions (passes/decisions.h)
  bool strict;  ///< warnings are errors
  bool verify_each;
  int64_t nranks; ///< of the mesh
} tspec_options_t;

/// What a pass works on.
typedef struct tspec_pass_run_t {
  const char *name;
  tspec_program_t *program; ///< rewritten in place (or replaced by another one in the same arena)
  tspec_arena_t *scratch;   ///< reset after the pass
  tspec_diag_t *diag;
  const tspec_options_t *options;
} tspec_pass_run_t;

/// Errors: false after reporting.
typedef bool (*tspec_pass_fn_t)(tspec_pass_run_t *run);

#define TSPEC_PASS(id, name, ...) bool tspec_pass_##id(tspec_pass_run_t *run);
#include "passes/passes.def"
#undef TSPEC_PASS

#endif
