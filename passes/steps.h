// Making collectives of steps, and replacing ops.
#ifndef TSPEC_PASSES_STEPS_H
#define TSPEC_PASSES_STEPS_H

#include <stdbool.h>

#include "ir/program.h"
#include "ir/program_steps.h"
#include "passes/pass.h"

/// Makes an op of `step` on `value` before `reason`, which it stands for: it takes over its place
/// in the source and, in its `because`, its spelling. Never NULL.
tspec_op_t *tspec_step_emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *reason,
                            tspec_value_t *value, const tspec_step_t *step);

/// Parts of operands that one collective puts into its result.
typedef struct tspec_parts_t {
  int count;
  tspec_value_t *const *operands;
  const tspec_step_t *steps; ///< per operand, with windows and of one form (tspec_op_parts)
  const tspec_attr_t *value; ///< of elements that lie in no part; NULL: 0
} tspec_parts_t;

/// Makes the collective whose result is that of `op`, which it stands for, before it. Never NULL.
tspec_op_t *tspec_parts_emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *op,
                             const tspec_parts_t *parts);

/// Takes the op out; `value` stands for its only result, with its name if it has none. Readers are
/// told by the two below, so that a walk over a function that replaces many values stays linear.
void tspec_op_replace(tspec_func_t *func, tspec_op_t *op, tspec_value_t *value);
/// Makes an op read what stands for its operands: first thing in a walk that replaces.
void tspec_op_settle(tspec_op_t *op);
/// The same for all ops and results: after the walk.
void tspec_func_settle(tspec_func_t *func);

/// How often each value is read, by id: by operands and as a result. Numbers the values.
int *tspec_func_count_reads(tspec_arena_t *arena, tspec_func_t *func);

#endif
