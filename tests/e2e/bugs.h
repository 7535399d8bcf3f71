// Reported bugs of other partitioners: one program each (tests/e2e/bugs/ID.tspec), the right
// values, where each rank's block lies, and how many bytes are enough (tests/data/bugs.jsonl).
#ifndef TSPEC_TESTS_E2E_BUGS_H
#define TSPEC_TESTS_E2E_BUGS_H

#include <jansson.h>
#include <stdbool.h>

#include "ir/base/diag.h"
#include "ir/eval/eval.h"
#include "ir/program.h"

/// One run of a row on one mesh.
typedef struct bugs_run_t {
  const char *id;
  const char *file;   ///< the program
  const json_t *json; ///< one of the row's "runs"
  const char *mesh;   ///< --mesh, or NULL
  bool reported;      ///< it is the report's own mesh, for which blocks and bytes are stated
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_program_t *global;
  tspec_program_t *local;
  const tspec_func_t *func; ///< the entry, in `local`
  int nfailed;
} bugs_run_t;

/// Counts a failure with a line on stderr.
void bugs_fail(bugs_run_t *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Runs "entry" of `json` in the evaluator, whole and on all ranks, and compares. Returns how many
/// things were wrong.
int bugs_run(const char *id, const char *file, const json_t *json, const char *mesh, bool reported);

/// A tensor from numbers: a list (nested or flat) of numbers, "nan", "inf" and "-inf"; or a formula
/// {"mod": m, "add": a, "mul": b}: element n is (n mod m + a) * b, all optional.
/// Ownership: the caller's. Errors: NULL after reporting a wrong number of elements.
tspec_dense_t *bugs_tensor(bugs_run_t *run, const char *name, const json_t *json,
                           tspec_type_t type);
/// Compares result `index` of both evaluations with each other and with "results", "sums" and
/// "begins" of the run. NaN equals NaN; "within" is the largest difference, relative to the
/// element or 1 (absent: none).
void bugs_compare(bugs_run_t *run, int index, tspec_eval_t *whole, tspec_eval_t *ranks);
/// The "shardings" and "blocks" ("dim", and per rank "sizes" and "offsets") that the run states for
/// result `index`; only on the report's own mesh.
void bugs_compare_blocks(bugs_run_t *run, int index, tspec_eval_t *ranks);

#endif
