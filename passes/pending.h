// Which values stay pending: a reduction moves along linear ops to where it sends the fewest bytes,
// and up to a value that is written as pending.
#ifndef TSPEC_PASSES_PENDING_H
#define TSPEC_PASSES_PENDING_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/program.h"
#include "passes/layouts.h"
#include "passes/wire.h"

/// True if each op on partial results of that type would round them once more.
bool tspec_pending_rounds(tspec_dtype_t dtype);

/// The analysis of one function. Values must not be renumbered while it is read.
typedef struct tspec_pending_t tspec_pending_t;

/// Works out, forward, over which axes each value could be pending (split reductions, and linear
/// ops on what could be), backward from constraints with pending axes over which it should be, and
/// where else reductions cost the least bytes (passes/travel.c). bf16 and f16, and
/// sums that accumulate in another dtype than their result's, stay pending only where that is
/// written: each further op on partial results would round them once more. All values have
/// shardings. `layouts` (may be NULL) says how ops are computed. Numbers the function's values.
/// Ownership: in the wire's arena.
const tspec_pending_t *tspec_pending_analyze(tspec_wire_t *wire, const tspec_program_t *program,
                                             tspec_func_t *func, const tspec_layouts_t *layouts);

/// How the op's result `value`, which is split as `sharding`, should come out of the op: pending
/// over what its operands bring along; those axes split nothing. Its own split reductions come on
/// top. In `arena`.
const tspec_sharding_t *tspec_pending_made(const tspec_pending_t *pending,
                                           const tspec_value_t *value,
                                           const tspec_sharding_t *sharding, tspec_arena_t *arena);
/// How readers find the value: as propagated, and pending over what stays so. In `arena`.
const tspec_sharding_t *tspec_pending_wanted(const tspec_pending_t *pending,
                                             const tspec_value_t *value, tspec_arena_t *arena);

/// How the op should find its operand `index`, which is split as `sharding`: pending over what it
/// or others bring along (a complete one is made so), and not split over that. In `arena`.
const tspec_sharding_t *tspec_pending_entering(const tspec_pending_t *pending, const tspec_op_t *op,
                                               int index, const tspec_sharding_t *sharding,
                                               tspec_arena_t *arena);

#endif
