// N ranks against one: the engine behind --check. Runs a program at level `local` on all its ranks
// and the `global` one it came from on whole tensors, with the same inputs, and compares.
#ifndef TSPEC_IR_EVAL_CHECK_H
#define TSPEC_IR_EVAL_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/program.h"

typedef struct tspec_check_ranks_options_t {
  uint64_t seed;     ///< of inputs and initial parameters
  bool small_ints;   ///< inputs and parameters are whole numbers of -4 .. 4, so that sums are exact
  double tolerance;  ///< largest difference, relative to the largest size in the result; 0: by the
                     ///< dtype. Integers and bool must be equal. Negative: floats must be, too
  int ncalls;        ///< how often each entry runs, parameters kept between calls; 0: once
  const char *entry; ///< NULL: every entry
} tspec_check_ranks_options_t;

/// One result, or assigned parameter, of one entry after its last call.
typedef struct tspec_check_row_t {
  const char *entry;
  const char *name;
  tspec_type_t type;
  bool ok;
  const int64_t *index; ///< the worst element, one number per dim
  double wanted;        ///< on whole tensors
  double got;           ///< on ranks
  double difference;    ///< between the two; NaN against a number: infinite
  double allowed;
} tspec_check_row_t;

typedef struct tspec_check_report_t {
  int nrows;
  tspec_check_row_t *rows; ///< in order of entries and their results
} tspec_check_report_t;

/// Compares. Ownership: the report lies in `arena`. Errors: false after reporting a run that
/// failed, or every result that differs, with its worst element.
bool tspec_check_ranks(const tspec_program_t *global, const tspec_program_t *local,
                       const tspec_check_ranks_options_t *options, tspec_arena_t *arena,
                       tspec_diag_t *diag, tspec_check_report_t *out_report);

#endif
