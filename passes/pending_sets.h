// Sets of axes over which a value is pending.
#ifndef TSPEC_PASSES_PENDING_SETS_H
#define TSPEC_PASSES_PENDING_SETS_H

#include "ir/shard/sharding.h"

/// Axes over which partial results are combined by `kind`; of an empty set the kind says nothing.
typedef struct tspec_pending_set_t {
  tspec_reduce_t kind;
  int count;
  const tspec_axis_t *axes; ///< mesh order
} tspec_pending_set_t;

/// What the sharding is pending over.
tspec_pending_set_t tspec_pending_set_of(const tspec_sharding_t *sharding);
/// A copy in `arena`.
tspec_pending_set_t tspec_pending_set_copy(tspec_arena_t *arena, tspec_pending_set_t set);

// The results of what follows lie in `arena`, or are borrowed from the arguments.

/// Without these axes. Nothing if they are not cuts of one refinement.
tspec_pending_set_t tspec_pending_set_subtract(tspec_arena_t *arena, tspec_pending_set_t a,
                                               const tspec_axis_t *axes, int naxes);
/// Common axes; none where the kinds differ.
tspec_pending_set_t tspec_pending_set_intersect(tspec_arena_t *arena, tspec_pending_set_t a,
                                                tspec_pending_set_t b);
/// All axes of both; `a` alone where the kinds differ.
tspec_pending_set_t tspec_pending_set_join(tspec_arena_t *arena, tspec_pending_set_t a,
                                           tspec_pending_set_t b);
/// Without axes that split a dim.
tspec_pending_set_t tspec_pending_set_without_splits(tspec_arena_t *arena, tspec_pending_set_t set,
                                                     const tspec_sharding_t *sharding);
/// Complete, and not split over the axes of `set`, either.
const tspec_sharding_t *tspec_pending_set_strip(tspec_arena_t *arena,
                                                const tspec_sharding_t *sharding,
                                                tspec_pending_set_t set);
/// True if `a` has all axes of `b`, combined alike; of an empty `b` always.
bool tspec_pending_set_covers(tspec_arena_t *arena, tspec_pending_set_t a, tspec_pending_set_t b);

#endif
