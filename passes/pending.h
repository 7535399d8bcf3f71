// Which values may stay pending: a reduction moves along linear ops up to a value that is written
// as pending.
#ifndef TSPEC_PASSES_PENDING_H
#define TSPEC_PASSES_PENDING_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/program.h"

/// The analysis of one function. Values must not be renumbered while it is read.
typedef struct tspec_pending_t tspec_pending_t;

/// Works out, forward, over which axes each value could be pending (split reductions, and linear
/// ops on what could be), then, backward from constraints with pending axes, over which it should
/// be. All values have shardings. Numbers the function's values. Ownership: in `arena`.
const tspec_pending_t *tspec_pending_analyze(tspec_arena_t *arena, const tspec_program_t *program,
                                             tspec_func_t *func);

/// The sharding of the op's result `value`, pending over what comes out of the op and is asked for.
/// In `arena`.
const tspec_sharding_t *tspec_pending_kept(const tspec_pending_t *pending,
                                           const tspec_value_t *value, tspec_arena_t *arena);
/// The same, and over what its own sharding says: how its readers find it. In `arena`.
const tspec_sharding_t *tspec_pending_wanted(const tspec_pending_t *pending,
                                             const tspec_value_t *value, tspec_arena_t *arena);

/// True if `op` may read its operand `index` while that is pending (over what its result keeps).
bool tspec_pending_may_enter(const tspec_pending_t *pending, const tspec_op_t *op, int index);

#endif
