// One op on whole tensors or on one rank's blocks: the plain meaning of docs/dialect.md.
#ifndef TSPEC_IR_EVAL_OPS_H
#define TSPEC_IR_EVAL_OPS_H

#include "ir/eval/dense.h"
#include "ir/program.h"

/// An op about to be computed. Attributes are global ones; operands are the blocks that the rank
/// holds. All dims that the op cannot compute apart (`program.h`: the verifier's factor checks) are
/// whole.
typedef struct tspec_eval_call_t {
  const tspec_op_t *op;
  const tspec_dense_t *const *operands;
  const tspec_block_t *blocks; ///< of the result in the whole tensor, per dim
  tspec_dense_t *result;       ///< of the block's size, zero
  tspec_arena_t *scratch;
} tspec_eval_call_t;

/// Computes the result. Sums and dot products of floats accumulate in double, in increasing index
/// order, and round once. Blocks that do not fit together are a bug of the compiler and end it.
void tspec_eval_op(const tspec_eval_call_t *call);

/// Combines two elements of partial results; floats as numbers, not rounded.
double tspec_eval_combine_float(tspec_reduce_t kind, double a, double b);
int64_t tspec_eval_combine_int(tspec_reduce_t kind, int64_t a, int64_t b);
/// What a reduction of nothing gives: 0, 1, the smallest, the largest, true, false.
double tspec_eval_identity_float(tspec_reduce_t kind);
int64_t tspec_eval_identity_int(tspec_reduce_t kind, tspec_dtype_t dtype);

#endif
