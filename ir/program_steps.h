// Collectives as ops and as steps (ir/shard/cost.h), and ops that become collectives because they
// place elements (op_rules.h: `windows`): slice, pad, concat.
#ifndef TSPEC_IR_PROGRAM_STEPS_H
#define TSPEC_IR_PROGRAM_STEPS_H

#include "ir/program.h"
#include "ir/shard/cost.h"

/// True for collectives and make_pending.
bool tspec_op_is_step(const tspec_op_t *op);
/// True for a collective that puts parts of its operands into its result.
bool tspec_op_has_parts(const tspec_op_t *op);
/// What such an op does with operand `index`, without windows; pointers are the op's.
tspec_step_t tspec_step_of_op(const tspec_op_t *op, int index);

/// What makes the op of such a step on `value`, without windows: its result's sharding is to be
/// `step->to`. No place in the source; arrays lie in `arena`, axes are the step's.
tspec_op_build_t tspec_step_build(tspec_arena_t *arena, tspec_value_t *value,
                                  const tspec_step_t *step);

/// True for an op that places elements and whose shardings let no rank compute its block of the
/// result from its blocks of the operands. `reshard` leaves such ops, `partition` makes collectives
/// of them.
bool tspec_op_is_exchanged(const tspec_op_t *op);
/// Where the op's result shows elements of its operands (op_rules.h: `windows`); NULL: it does not.
const tspec_window_t *tspec_op_windows(const tspec_op_t *op, tspec_arena_t *arena);
/// Gives the steps of one result's operands, which have windows, the axes that they need and a
/// kind: all_slice if every rank holds what it needs, else permute. Ownership: in `arena`.
void tspec_steps_find_form(const tspec_mesh_t *mesh, int count, const tspec_type_t *types,
                           tspec_step_t *steps, tspec_arena_t *arena);
/// Operand by operand, the steps that an op stands for which places elements, or is a collective
/// with parts. A collective's have its kind and axes. Those of others have the axes that they need,
/// and are of kind all_slice if every rank holds what it needs, else permute; nothing else is
/// looked at than types, attributes and shardings. NULL if the op is neither. In `arena`.
tspec_step_t *tspec_op_parts(const tspec_op_t *op, const tspec_mesh_t *mesh, tspec_arena_t *arena);

/// Bytes that the busiest rank sends (cost.h) in all steps of a collective, or of one that the op
/// becomes.
int64_t tspec_op_cost_bytes(const tspec_mesh_t *mesh, const tspec_op_t *op);

#endif
