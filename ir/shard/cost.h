// What a collective costs: the bytes that the rank which sends most hands to the network, by ring
// algorithms (design.md's convention), exact for blocks of different sizes.
#ifndef TSPEC_IR_SHARD_COST_H
#define TSPEC_IR_SHARD_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/type.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"
#include "ir/shard/window.h"

/// One way to change a sharding. The first six stand in the order of runtime/image.h.
typedef enum tspec_collective_t {
  TSPEC_COLLECTIVE_ALL_REDUCE,
  TSPEC_COLLECTIVE_ALL_GATHER,
  TSPEC_COLLECTIVE_REDUCE_SCATTER,
  TSPEC_COLLECTIVE_ALL_TO_ALL,
  TSPEC_COLLECTIVE_PERMUTE,
  TSPEC_COLLECTIVE_ALL_SLICE,    ///< local
  TSPEC_COLLECTIVE_MAKE_PENDING, ///< local
} tspec_collective_t;

/// "all_reduce", "all_gather", ...
const char *tspec_collective_name(tspec_collective_t kind);

/// One collective. Its meaning is `from` and `to`: each rank holds its block of `from` before and
/// gets its block of `to`. With windows (permute, all_slice) the two are blocks of different
/// tensors: the result shows elements of the operand. A plain value; pointers lie in an arena.
typedef struct tspec_step_t {
  tspec_collective_t kind;
  tspec_reduce_t reduce; ///< all_reduce, reduce_scatter, make_pending; else SUM
  int naxes;
  const tspec_axis_t *axes; ///< ranks that differ only along these take part; mesh order, merged
  const tspec_sharding_t *from;
  const tspec_sharding_t *to;
  int src_dim;                   ///< all_to_all that moves axes from the end of one dim ...
  int dst_dim;                   ///< ... to the end of another; else both -1
  const tspec_window_t *windows; ///< per dim; NULL: the result is the operand
} tspec_step_t;

/// Bytes that the busiest rank sends in `step` on an operand of the global type `type`; a fraction
/// of a byte rounds up. Saturates at INT64_MAX. With k ranks along the axes:
///   all_reduce                  2 (k - 1) / k of the largest block
///   all_gather, reduce_scatter  the whole that a group holds, minus its smallest block
///   all_to_all, permute         what the busiest rank sends away
///   all_slice, make_pending     0
/// A rank that holds an element itself receives nothing. Where several ranks of a group hold what a
/// receiver lacks, they share the sending: with F the axes of the group that `from` does not use
/// and T those that `to` does not use, both in mesh order and flattened to one index, the rank
/// whose F index is f sends part (f - receiver's T index) mod (size of F) of its block
/// (tspec_step_sharing).
/// Time: independent of axes that do not matter to the dims that change; at worst linear in the
/// ranks along those that do (blocks of `from` times their copies), without windows.
int64_t tspec_step_cost_bytes(const tspec_mesh_t *mesh, tspec_type_t type,
                              const tspec_step_t *step);

/// The same for one call of `count` tensors; `steps` are of one kind over the same axes. Payloads
/// are added up first: a fraction rounds up once. The rank that sends most of one tensor does so of
/// all.
int64_t tspec_steps_combined_cost_bytes(const tspec_mesh_t *mesh, int count,
                                        const tspec_type_t *types, const tspec_step_t *steps);

/// The same for a permute that puts parts of `count` operands into one result: what a rank sends of
/// each is added up before the busiest is found. `steps` are those of the operands, with equal
/// `axes` and `to`.
int64_t tspec_steps_joint_cost_bytes(const tspec_mesh_t *mesh, int count, const tspec_type_t *types,
                                     const tspec_step_t *steps);

/// Into how many parts the ranks that hold a block of `step->from` share it, and along which dim:
/// the one where the smaller of the blocks of `from` and `to` is longest, as there the parts are
/// equal, and each receiver takes from all; the first of several.
typedef struct tspec_sharing_t {
  int64_t count; ///< 1: no copies
  int dim;       ///< 0 for a scalar
} tspec_sharing_t;

tspec_sharing_t tspec_step_sharing(tspec_type_t type, const tspec_step_t *step);
/// Part `part` of a block along the dim that is shared: as tspec_block cuts its elements.
tspec_block_t tspec_block_part(tspec_block_t block, int64_t nparts, int64_t part);

/// The rank from which `receiver` gets that part of the block of `step->from` with these indices
/// (one per dim), by the rule above; `receiver` itself if it holds them.
int64_t tspec_step_sender(const tspec_mesh_t *mesh, const tspec_step_t *step, int64_t receiver,
                          const int64_t *block_indices, int64_t part);

#endif
