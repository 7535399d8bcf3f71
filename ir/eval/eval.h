// The reference evaluator: runs a program plainly and slowly, as the oracle of tests, fuzzing and
// --check. At levels `global` and `sharded` it computes whole tensors; at `local` it plays all
// ranks in one process in lockstep, each on its own blocks.
#ifndef TSPEC_IR_EVAL_EVAL_H
#define TSPEC_IR_EVAL_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/eval/dense.h"
#include "ir/program.h"

typedef struct tspec_eval_t tspec_eval_t;

/// Starts with every parameter and state zero. `program` (verified) and `diag` are borrowed.
/// Ownership: tspec_eval_destroy. Errors: NULL after reporting that the level cannot be run.
tspec_eval_t *tspec_eval_create(const tspec_program_t *program, tspec_diag_t *diag);
void tspec_eval_destroy(tspec_eval_t *eval);
/// Ranks that it plays: 1 for whole tensors.
int64_t tspec_eval_nranks(const tspec_eval_t *eval);

/// Gives every parameter and state its initial value (docs/numbers.md).
void tspec_eval_init_params(tspec_eval_t *eval, uint64_t seed);
/// Sets a parameter or state from a whole tensor, which is copied.
/// Errors: false after reporting an unknown path or a wrong type.
bool tspec_eval_set_param(tspec_eval_t *eval, const char *path, const tspec_dense_t *whole);
/// The whole parameter, put together from the ranks' blocks. Ownership: the caller's. NULL after
/// reporting an unknown path.
tspec_dense_t *tspec_eval_get_param(tspec_eval_t *eval, const char *path);

/// One input of a run.
typedef struct tspec_eval_input_t {
  const char *name;
  const tspec_dense_t *whole; ///< borrowed
} tspec_eval_input_t;

/// Runs an entry once; assigned parameters have their new values afterwards.
/// Errors: false after reporting an unknown entry, a missing or wrong input, or ranks that disagree
/// about a block that they both hold, with the value and the ranks.
bool tspec_eval_run(tspec_eval_t *eval, const char *entry, const tspec_eval_input_t *inputs,
                    int ninputs);
/// A named result of the last run, whole. Ownership: the caller's. NULL if there is none of that
/// name (assigned parameters are read with tspec_eval_get_param).
tspec_dense_t *tspec_eval_result(tspec_eval_t *eval, const char *name);
/// The same by its place among the entry's results, assigned parameters included.
tspec_dense_t *tspec_eval_result_at(tspec_eval_t *eval, int index);
/// One rank's block of a result of the last run, by its place; borrowed until the next run.
const tspec_dense_t *tspec_eval_result_block(const tspec_eval_t *eval, int index, int64_t rank);

/// What one collective moved, counted by the evaluator itself.
typedef struct tspec_eval_traffic_t {
  const tspec_op_t *op;
  int64_t bytes; ///< sent by the busiest rank, ring convention, a fraction rounded up
} tspec_eval_traffic_t;

/// The collectives of the last run (all_slice, which moves nothing, is not one), in order.
const tspec_eval_traffic_t *tspec_eval_traffic(const tspec_eval_t *eval, int64_t *out_count);

#endif
