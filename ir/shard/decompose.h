// A change of sharding as a sequence of collectives. Source of the plan: Shardy's reshard to
// collectives (`propagation.md` 3.3, 3.4); blocks of different sizes are our own.
#ifndef TSPEC_IR_SHARD_DECOMPOSE_H
#define TSPEC_IR_SHARD_DECOMPOSE_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/type.h"
#include "ir/shard/cost.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// Collectives in order: each one's `to` is the next one's `from`.
typedef struct tspec_steps_t {
  int count;
  const tspec_step_t *items; ///< in an arena
} tspec_steps_t;

/// The steps from one sharding to another of a tensor of the global type `type`, dims closed. None
/// if both lay data out alike (axes of size 1 aside). Every step is executable along its axes
/// whatever the sizes. The cheapest in bytes (cost.h), then in steps that send, of
///   - tspec_reshard_plan, unless a block on the way is larger than both the first and the last or
///     rank 0 receives more than by gathering (uneven blocks);
///   - one general all_to_all that gives each rank what it lacks;
///   - where blocks are uneven, the same to one of the ranks that need an element, and an
///     all_gather from there.
/// Pending axes that `to` lacks are reduced before, whole or scattered over some dim, after a slice
/// by axes that are idle and a reduce_scatter over those that split `to`; those that `from` lacks
/// are made pending. Time: that of a few costs
/// (cost.h), for reductions times the rank. Ownership: in `arena`.
tspec_steps_t tspec_reshard_decompose(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                      tspec_type_t type, const tspec_sharding_t *from,
                                      const tspec_sharding_t *to);

/// The sharding without axes of size 1, which say nothing about where data lies; dims keep their
/// openness and priorities. In `arena`.
const tspec_sharding_t *tspec_sharding_drop_ones(tspec_arena_t *arena,
                                                 const tspec_sharding_t *sharding);

/// The plan by axes alone, as if every size divided: equal to Shardy's, step by step, wherever that
/// ends within its two rounds. Pending axes stay as they are in `from`. Ownership: in `arena`.
/// Errors: false if no plan came out (the axes do not refine each other, or it went in circles).
bool tspec_reshard_plan(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                        const tspec_sharding_t *from, const tspec_sharding_t *to,
                        tspec_steps_t *out_steps);

/// True if each rank's block of step->to is held by ranks that differ from it only along step->axes
/// (all_slice and make_pending: by the rank itself), and reductions have the pending axes to
/// reduce.
bool tspec_step_is_local_to_axes(const tspec_mesh_t *mesh, tspec_type_t type,
                                 const tspec_step_t *step);

/// Gives the steps of one result's operands (cost.h: tspec_steps_joint_cost_bytes; all have
/// windows) the axes along which what they place may have to move: those of every dim that is split
/// otherwise, or shows other elements, than in some operand. Ownership: in `arena`.
void tspec_steps_join_axes(tspec_arena_t *arena, const tspec_mesh_t *mesh, int count,
                           const tspec_type_t *types, tspec_step_t *steps);

/// Forms a reduce_scatter (and an all_slice for the rest) from an all_reduce and the all_slice that
/// reads it: possible if every reduced axis is consumed by a prefix of the slicing axes of some dim
/// and blocks nest. Writes one or two steps. Returns how many, 0 if the two must stay.
int tspec_steps_form_reduce_scatter(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                    tspec_type_t type, const tspec_step_t *reduce,
                                    const tspec_step_t *slice, tspec_step_t out_steps[2]);

/// Sum of the steps' costs in bytes.
int64_t tspec_steps_cost_bytes(const tspec_mesh_t *mesh, tspec_type_t type, tspec_steps_t steps);

/// "all_slice [x, -] -> permute [y, -]", for messages and tests. In `arena`.
const char *tspec_steps_print(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_steps_t steps);

#endif
