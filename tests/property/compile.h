// From text through the real parser, checker and passes.
#ifndef TSPEC_TESTS_PROPERTY_COMPILE_H
#define TSPEC_TESTS_PROPERTY_COMPILE_H

#include "ir/base/diag.h"
#include "ir/program.h"
#include "passes/pass.h"
#include "tests/property/check.h"

typedef struct prop_compiled_t {
  tspec_arena_t *arena;
  tspec_sources_t *sources;
  tspec_diag_t *diag;
  tspec_cost_model_t model;
  tspec_program_t *global;
  tspec_program_t *local;
  tspec_program_t *kernels;
  bool ops[TSPEC_OP_COUNT]; ///< whether any pass met such an op, or the last one left it
} prop_compiled_t;

/// The program at three levels, layouts chosen by `model`; everything lies in `arena`. Passes are
/// verified one by one. False: the outcome says why.
bool prop_compile(const char *text, tspec_cost_model_t model, tspec_arena_t *arena,
                  prop_compiled_t *out_compiled, prop_outcome_t *outcome);
const char *prop_first_error(const tspec_diag_t *diag);
const char *prop_first_message(const tspec_diag_t *diag);

#endif
