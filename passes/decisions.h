// Why a conversion exists: the op that asked for it, the layouts that were open to that op, and
// what each would have cost. Recorded by `reshard` where options->explain asks for it, kept in
// memory by the conversions and by the collectives that they become; the written form does not
// carry it.
#ifndef TSPEC_PASSES_DECISIONS_H
#define TSPEC_PASSES_DECISIONS_H

#include "ir/program.h"
#include "ir/shard/choose.h"
#include "passes/wire.h"

/// One layout of an op's tensors.
typedef struct tspec_candidate_t {
  const char *what;                       ///< "chosen", "all as 'h' lies", "nothing split",
                                          ///< "by vote", "first k on model"
  const tspec_sharding_t *const *tensors; ///< operands as the op reads them, then results as it
                                          ///< computes them
  int64_t bytes;  ///< of all conversions of operands and results, and of the exchange that an op
                  ///< which places elements becomes, by the rank that sends most
  int64_t nelems; ///< of the tensors that have the split which the vote would have begun with; -1:
                  ///< not by another beginning
} tspec_candidate_t;

/// One choice of an op's layout.
typedef struct tspec_decision_t {
  const char *spelling;
  tspec_range_t range;
  int noperands;
  int nresults;
  const char *const *names; ///< operands, then results; NULL: no name
  const tspec_type_t *types;
  const tspec_sharding_t *const *given;    ///< operands as they come, results as they are to be
  TSPEC_VEC(tspec_candidate_t) candidates; ///< the chosen one first; no two alike
} tspec_decision_t;

/// Which conversion an op is, or is part of.
typedef struct tspec_decided_t {
  const tspec_decision_t *decision; ///< NULL: a result that is returned
  const char *value;                ///< the name of what is converted, or NULL
} tspec_decided_t;

/// A decision about `op`, whose operands are as they come; `wanted`: its results as they are to be.
/// In `arena`; strings and shardings are borrowed.
tspec_decision_t *tspec_decision_create(tspec_arena_t *arena, const tspec_op_t *op,
                                        const tspec_sharding_t *const *wanted);
/// Adds a candidate for `op`, which the decision was made for, with its cost, unless it is like one
/// before.
void tspec_decision_consider(tspec_decision_t *decision, tspec_arena_t *arena, tspec_wire_t *wire,
                             const tspec_op_t *op, const char *what,
                             const tspec_sharding_t *const *tensors);
/// What was chosen, what the vote chooses, and what it would have chosen with the split of one
/// tensor alone, with none, or with each split that stood to it in the place of the one that
/// weighed most. `choose`: what it was asked. NULL if the choice moves nothing.
const tspec_decision_t *tspec_decision_of_vote(tspec_arena_t *arena, tspec_wire_t *wire,
                                               const tspec_op_t *op,
                                               const tspec_choose_op_t *choose,
                                               const tspec_sharding_t *const *wanted,
                                               const tspec_choice_t *choice);

#endif
