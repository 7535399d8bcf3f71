// Cutting pieces of one mesh axis so that any two that overlap become equal.
#ifndef TSPEC_IR_SHARD_CUTS_H
#define TSPEC_IR_SHARD_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// Pieces of at least two parts that do not overlap: their product is at most the number of ranks,
/// an int64, so one tensor cannot have more.
enum { TSPEC_MAX_ATOMS = 64 };

/// Where pieces of one axis start and end, each a divisor of the next. All zero is the empty one.
typedef struct tspec_cuts_t {
  int count;
  int64_t at[TSPEC_MAX_ATOMS + 1];
} tspec_cuts_t;

/// Adds the ends of those pieces that lie on `axis`. Errors: false if no common refinement exists.
bool tspec_cuts_add(tspec_cuts_t *cuts, int axis, const tspec_axis_t *pieces, int npieces);
/// The same for all dims of a sharding.
bool tspec_cuts_add_dims(tspec_cuts_t *cuts, int axis, const tspec_sharding_t *sharding);

/// The parts of `piece` between cuts, major first, into `out_atoms` (room for TSPEC_MAX_ATOMS).
/// Returns how many; none for a piece of size 1.
int tspec_cuts_apply(const tspec_cuts_t *cuts, tspec_axis_t piece, tspec_axis_t *out_atoms);

/// The parts of `pieces` that no piece of `others` overlaps, appended to `out_rest` at `*count`.
/// The lists may be cut anywhere. Errors: false if no common refinement exists.
bool tspec_axes_subtract(const tspec_axis_t *pieces, int npieces, const tspec_axis_t *others,
                         int nothers, tspec_axis_t *out_rest, int *count);

#endif
