// A cheapest cut of a graph between what may be on one side and what must be on the other, found
// region by region with a bound on the work. Source: Ford and Fulkerson's augmenting paths, by
// breadth-first search (Edmonds and Karp); after the last one, what the sources still reach is
// the smallest of the cheapest source sides.
//
//   tspec_cut_t *cut = tspec_cut_create(arena, nnodes);
//   tspec_cut_edge(cut, u, v, TSPEC_CUT_NEVER);   // with u, v is on the source side, too
//   tspec_cut_source(cut, u, 96);                 // costs 96 unless u is on the source side
//   tspec_cut_sink(cut, v, 24);                   // costs 24 if v is on the source side
//   const bool *sides = tspec_cut_solve(cut);     // true: source side
#ifndef TSPEC_PASSES_CUT_H
#define TSPEC_PASSES_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"

typedef struct tspec_cut_t tspec_cut_t;

/// More than any cost.
#define TSPEC_CUT_NEVER (INT64_MAX / 4)

/// A graph of `nnodes` nodes without edges. Ownership: in `arena`.
tspec_cut_t *tspec_cut_create(tspec_arena_t *arena, int nnodes);
/// Costs are not negative; several between the same two add up, at most to TSPEC_CUT_NEVER.
void tspec_cut_edge(tspec_cut_t *cut, int from, int to, int64_t cost); ///< if only `from` is source
void tspec_cut_source(tspec_cut_t *cut, int node, int64_t cost);
void tspec_cut_sink(tspec_cut_t *cut, int node, int64_t cost);

/// By node, true on the source side of a cheapest cut, of several the one with the fewest nodes on
/// it. A region (nodes that edges connect) whose search takes more than a constant times its edges
/// keeps all its nodes on the sink side, so the whole is linear. Ownership: in the arena. Once.
const bool *tspec_cut_solve(tspec_cut_t *cut);

#endif
