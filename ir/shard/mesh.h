// The device mesh: named axes, major to minor. Rank = row-major index of its coordinates.
#ifndef TSPEC_IR_SHARD_MESH_H
#define TSPEC_IR_SHARD_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"

typedef struct tspec_mesh_axis_t {
  const char *name;
  int64_t size;            ///< at least 1
  double bytes_per_second; ///< what one rank can send along it; 0: not stated
} tspec_mesh_axis_t;

/// No axes: one rank.
typedef struct tspec_mesh_t {
  int naxes;
  const tspec_mesh_axis_t *axes;
} tspec_mesh_t;

/// A mesh axis or a piece of one. View the axis of size n as (pre, size, n / (pre * size)),
/// row-major: this is the middle part. The whole axis is pre = 1, size = n. Source:
/// `propagation.md` 1 (Shardy's sub-axes).
typedef struct tspec_axis_t {
  int32_t axis; ///< index into the mesh
  int64_t pre;
  int64_t size;
} tspec_axis_t;

int64_t tspec_mesh_nranks(const tspec_mesh_t *mesh);
/// True if it has at most INT32_MAX ranks, as MPI has; sizes below 1 (not known
/// yet) count as 1. Every other function here wants that.
bool tspec_mesh_fits(const tspec_mesh_t *mesh);
/// Index of the axis with that name, or -1.
int tspec_mesh_find(const tspec_mesh_t *mesh, const char *name);
/// Coordinate of `rank` along a mesh axis.
int64_t tspec_mesh_coordinate(const tspec_mesh_t *mesh, int64_t rank, int axis);
/// Coordinate of `rank` along a piece of an axis: 0 .. piece.size - 1.
int64_t tspec_axis_coordinate(const tspec_mesh_t *mesh, int64_t rank, tspec_axis_t piece);

tspec_axis_t tspec_axis_full(const tspec_mesh_t *mesh, int axis);
bool tspec_axis_is_full(const tspec_mesh_t *mesh, tspec_axis_t piece);
bool tspec_axis_equal(tspec_axis_t a, tspec_axis_t b);
/// True if the two share a part of an axis, so that no tensor can be split by both.
bool tspec_axis_overlap(tspec_axis_t a, tspec_axis_t b);
/// True if both are cuts of one common refinement of the axis; else, too, no tensor can be split by
/// both.
bool tspec_axis_can_coexist(tspec_axis_t a, tspec_axis_t b);
/// True if no tensor can be split by both, for either reason.
bool tspec_axis_clash(tspec_axis_t a, tspec_axis_t b);
/// a directly followed by b as one piece; false if they are not neighbours of one axis.
bool tspec_axis_merge(tspec_axis_t a, tspec_axis_t b, tspec_axis_t *out_merged);
/// Product of the sizes.
int64_t tspec_axes_product(const tspec_axis_t *axes, int naxes);
/// "data", "model:(2)4"; lists are joined by '*'. In `arena`.
const char *tspec_axes_print(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                             const tspec_axis_t *axes, int naxes);
/// "data=2, model=4"; no axes: "".
const char *tspec_mesh_print(tspec_arena_t *arena, const tspec_mesh_t *mesh);

#endif
