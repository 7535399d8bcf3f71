// agree: one program, one mesh, three ways to run it - on whole tensors in the evaluator, on all
// ranks in the evaluator, natively - that must give the same numbers and the same bytes.
#ifndef TSPEC_TESTS_E2E_AGREE_H
#define TSPEC_TESTS_E2E_AGREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/eval/eval.h"
#include "ir/program.h"

enum { AGREE_MAX = 64 };

typedef struct agree_t {
  // the command
  const char *tspecc;
  const char *source;
  const char *entry;
  const char *mesh;
  const char *cpu;
  const char *steps;  ///< runs of the entry, so many that products go to the library; NULL: one
  const char *work;   ///< folder for files
  const char *golden; ///< exact numbers for parameters and inputs by formula, or NULL
  const char *sets[AGREE_MAX];
  size_t nsets;
  uint64_t seed;
  bool exact;   ///< results must be equal to the last bit
  bool ones;    ///< inputs are all ones
  bool special; ///< inputs are infinities, NaN, zeros of both signs and the like
  // the run
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_program_t *global;
  tspec_program_t *local;
  const tspec_func_t *func; ///< the entry, in `global`
  json_t *golden_json;
  tspec_dense_t *inputs[AGREE_MAX];
  tspec_dense_t *params[AGREE_MAX]; ///< with a golden: values by formula
  int nfailed;
} agree_t;

/// The program at levels global and local. False after reporting.
bool agree_load(agree_t *agree);
/// Inputs and, with a golden, parameters; written to files for the native run.
bool agree_make_inputs(agree_t *agree);
/// A file of the work folder; '/' in names becomes '.'.
const char *agree_file(agree_t *agree, const char *name, const char *ending);
/// Counts a failure with a line on stderr.
void agree_fail(agree_t *agree, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Compares two results; `what` names the pair.
void agree_compare(agree_t *agree, const char *what, const char *name, const tspec_dense_t *want,
                   const tspec_dense_t *got);
/// Compares a result with the golden's numbers.
void agree_compare_golden(agree_t *agree, const char *name, const tspec_dense_t *got);
/// Compiles and runs natively and compares results and bytes with those of `whole` and `ranks`.
void agree_native(agree_t *agree, tspec_eval_t *whole, tspec_eval_t *ranks);

#endif
