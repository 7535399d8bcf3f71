// One consistent split of an op: after propagation an op's tensors may disagree; each rank can only
// compute its block of the result if every factor lies alike in all of them.
// Source: Shardy's insertion of explicit reshards (`propagation.md` 3.1).
//
//   tspec_choice_t choice = tspec_choose(arena, mesh, &(tspec_choose_op_t){.rule = rule, ...});
//   // operand i: convert from its sharding to choice.tensors[i], where they differ
//   // result j:  is computed as choice.tensors[noperands + j], convert to what it should be
#ifndef TSPEC_IR_SHARD_CHOOSE_H
#define TSPEC_IR_SHARD_CHOOSE_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/type.h"
#include "ir/shard/factor.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// A split of one factor that stands to the vote, with the elements of the tensors that have it.
typedef struct tspec_voted_t {
  int factor;
  int naxes;
  const tspec_axis_t *axes;
  int64_t nelems;
} tspec_voted_t;

/// An op whose tensors lie as propagation left them.
typedef struct tspec_choose_op_t {
  const tspec_factor_rule_t *rule;
  const tspec_type_t *types;                ///< operands, then results
  const tspec_sharding_t *const *shardings; ///< operands, then results; NULL: not split
  bool keeps_elements; ///< reshape, transpose: a rank's block holds the same elements before and
                       ///< after
  bool executable;     ///< also unsplit what a rank cannot compute from blocks alone: permutation
                   ///< factors, reductions without a known operator, one-sided factors, blocks of a
                   ///< reshape that do not align. False: the choice of Shardy, by axes alone
  const tspec_voted_t
      *begin; ///< the vote begins with this one, whatever it weighs; NULL: by weight
} tspec_choose_op_t;

/// A dim that had to be made whole for the op to run.
typedef struct tspec_unsplit_t {
  int tensor;
  int dim;
  int factor;
  int naxes; ///< over which it was split
  const tspec_axis_t *axes;
} tspec_unsplit_t;

typedef struct tspec_choice_t {
  int ntensors;
  const tspec_sharding_t **tensors; ///< operands as the op needs them, then results as it computes
                                    ///< them: pending over `reduced` and what pending operands keep
  int nreduced;                     ///< axes of split reduction factors
  const tspec_axis_t *reduced;      ///< mesh order, merged
  tspec_reduce_t reduce;
  int nvoted;                     ///< what stood to the vote when it began; 0 where none was needed
  const tspec_voted_t *voted;     ///< operands before results
  int nunsplit;                   ///< `executable` only
  const tspec_unsplit_t *unsplit; ///< operands before results
} tspec_choice_t;

/// The choice for one op. Pending axes of an operand stay if the first result is pending over them,
/// too; the caller sees to it that the op is linear in that operand. Ownership: in `arena`.
tspec_choice_t tspec_choose(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                            const tspec_choose_op_t *op);

#endif
