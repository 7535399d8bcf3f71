// Passes: one file each, one row in passes/passes.def. A pass rewrites the program from one level
// to the same or the next.
#ifndef TSPEC_PASSES_PASS_H
#define TSPEC_PASSES_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/program.h"

/// Choices that the driver makes for all passes.
typedef struct tspec_options_t {
  const char *cpu; ///< "native", "x86-64-v3", ...
  bool lint;       ///< print warnings about costs
  bool explain;    ///< record decisions (passes/decisions.h)
  bool strict;     ///< warnings are errors
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
