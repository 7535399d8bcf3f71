// What layouts of an op cost, and which one an op that places elements (slice, pad, concat) gets.
// For pass `reshard`.
#ifndef TSPEC_PASSES_RESHARD_PARTS_H
#define TSPEC_PASSES_RESHARD_PARTS_H

#include "ir/program.h"
#include "ir/shard/choose.h"
#include "passes/wire.h"

/// What a layout of an op's tensors (operands, then results) sends in all: conversions of operands
/// from how they lie, the exchange if the op places elements and is one so, conversions of results
/// to `wanted`. Saturates at INT64_MAX.
int64_t tspec_layout_cost_bytes(tspec_wire_t *wire, const tspec_op_t *op,
                                const tspec_sharding_t *const *wanted,
                                const tspec_sharding_t *const *tensors);

/// What an op that places elements costs by itself, laid out so: that of its exchange
/// (tspec_wire_weigh), 0 if it is none, INT64_MAX if the tensors cut axes so that it cannot be.
int64_t tspec_layout_exchange_cost(const tspec_wire_t *wire, const tspec_op_t *op,
                                   const tspec_sharding_t *const *tensors);

/// Replaces `choice`, with which each rank computes its block on its own, by shardings between
/// which one exchange moves just what is needed, where that sends less in all: conversions of
/// operands before, the exchange, the conversion of the result behind. `voted`: the choice by axes
/// alone; `wanted`: what the result's readers find. Ownership: in `arena`.
void tspec_choose_parts(tspec_arena_t *arena, tspec_wire_t *wire, const tspec_op_t *op,
                        const tspec_sharding_t *wanted, const tspec_choice_t *voted,
                        tspec_choice_t *choice);

#endif
