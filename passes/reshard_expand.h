// Ops that a rank cannot compute along a split dim, taken apart into ops that it can: argmax (its
// partial results do not combine, as an index alone does not say which value it stands for), and
// reshapes whose blocks do not hold the same elements. Private to pass `reshard`.
#ifndef TSPEC_PASSES_RESHARD_EXPAND_H
#define TSPEC_PASSES_RESHARD_EXPAND_H

#include "ir/shard/choose.h"
#include "passes/pass.h"
#include "passes/wire.h"

/// Takes apart those ops of `func` along a split dim for which that sends less than making the dim
/// whole. The new ops have shardings as `propagate` would give them.
void tspec_expand_ops(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func);

/// An op that may be taken apart.
typedef struct tspec_expand_t {
  tspec_pass_run_t *run; ///< its scratch: until the op is done
  tspec_wire_t *wire;
  tspec_func_t *func;
  tspec_op_t *op;
} tspec_expand_t;

/// An op before the one that is taken apart, laid out as said; the place in the source is that
/// one's. `build` has kind, operands and attributes.
tspec_value_t *tspec_expand_emit(const tspec_expand_t *e, const tspec_sharding_t *sharding,
                                 tspec_op_build_t build);
/// What the op costs with each rank computing its block on its own (tspec_layout_cost_bytes).
/// `operand`: how it is read; `out_voted`: the choice by axes alone, in scratch, or NULL.
int64_t tspec_expand_whole_cost(const tspec_expand_t *e, const tspec_sharding_t *operand,
                                tspec_choice_t *out_voted);

/// The value of a reshape through padded blocks that do hold the same elements, and an exchange
/// between them. NULL if that does not send less. `e->op` has complete values.
tspec_value_t *tspec_expand_reshape(const tspec_expand_t *e);

#endif
