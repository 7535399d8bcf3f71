// Private to the evaluator's files.
#ifndef TSPEC_IR_EVAL_EVAL_INTERNAL_H
#define TSPEC_IR_EVAL_EVAL_INTERNAL_H

#include "ir/eval/eval.h"

/// A value of the run: one block per rank, NULL after its last read.
typedef struct tspec_eval_value_t {
  tspec_dense_t **blocks;
  int64_t nreads; ///< reads to come
} tspec_eval_value_t;

struct tspec_eval_t {
  const tspec_program_t *program;
  tspec_diag_t *diag;
  bool is_local;
  int64_t nranks;
  tspec_arena_t scratch; ///< reset after every op
  tspec_arena_t kept;    ///< as long as the evaluator
  tspec_names_t param_names;
  tspec_dense_t **params;  ///< [param * nranks + rank]
  const tspec_func_t *ran; ///< of the last run, or NULL
  tspec_dense_t **results; ///< [result * nranks + rank] of the last run
  int64_t ntraffic;
  int64_t traffic_capacity;
  tspec_eval_traffic_t *traffic;
};

void *tspec_eval_allocate(size_t bytes);

/// The elements that a rank holds, per dim, in scratch memory: all of them if tensors are whole.
tspec_block_t *tspec_eval_blocks(tspec_eval_t *eval, tspec_type_t type,
                                 const tspec_sharding_t *sharding, int64_t rank);
/// An empty (zero) block of a rank.
tspec_dense_t *tspec_eval_new_block(tspec_eval_t *eval, const tspec_value_t *value, int64_t rank);
/// Ranks that hold the same block, and the same part of a pending sum, share the number; it is less
/// than the number of ranks.
int64_t tspec_eval_holder_key(const tspec_eval_t *eval, const tspec_sharding_t *sharding,
                              int64_t rank);

/// A collective or make_pending: computes every rank's block of each result from those of the
/// operands and counts the traffic.
/// Errors: false after reporting that a rank does not hold what another one needs.
bool tspec_eval_collective(tspec_eval_t *eval, const tspec_op_t *op,
                           tspec_dense_t *const *const *operands,
                           tspec_dense_t **const *out_blocks);

#endif
