// Where elements lie: mesh coordinates, the block of each rank as a box of the global index space,
// and copies between dense row-major blocks. Ranks: everything here is local.
#ifndef TSPEC_RUNTIME_LAYOUT_H
#define TSPEC_RUNTIME_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/dtype.h"
#include "runtime/image.h"

/// Most dims that a tensor of an image may have.
enum { TSPEC_RT_MAX_DIMS = 24 };

/// The mesh: rank = row-major index of its coordinates, the first axis major. Borrows the image's
/// axes.
typedef struct tspec_rt_mesh_t {
  int naxes;
  const tspec_image_axis_t *axes;
  int64_t nranks; ///< product of the sizes; no axes: 1
} tspec_rt_mesh_t;

/// A list of pieces, major first. Borrows the image.
typedef struct tspec_rt_pieces_t {
  int count;
  const tspec_image_piece_t *pieces;
} tspec_rt_pieces_t;

int64_t tspec_rt_mesh_coordinate(const tspec_rt_mesh_t *mesh, int64_t rank, int axis);
/// Product of the pieces' sizes; none: 1.
int64_t tspec_rt_pieces_size(tspec_rt_pieces_t pieces);
/// The flattened coordinate of `rank` along the pieces, 0 .. size - 1.
int64_t tspec_rt_pieces_coordinate(const tspec_rt_mesh_t *mesh, tspec_rt_pieces_t pieces,
                                   int64_t rank);
/// The rank that agrees with `rank` in everything but the pieces, along which it stands at
/// `coordinate`.
int64_t tspec_rt_pieces_move(const tspec_rt_mesh_t *mesh, tspec_rt_pieces_t pieces, int64_t rank,
                             int64_t coordinate);

/// Elements [begin, end) of each dim of a tensor. No dims: one element.
typedef struct tspec_rt_box_t {
  int ndims;
  int64_t begin[TSPEC_RT_MAX_DIMS];
  int64_t end[TSPEC_RT_MAX_DIMS];
} tspec_rt_box_t;

/// A tensor's shape and its sharding, borrowed from the image.
typedef struct tspec_rt_layout_t {
  int ndims;
  const tspec_image_dim_t *dims;
  const tspec_rt_pieces_t *splits; ///< per dim
  tspec_rt_pieces_t pending;
} tspec_rt_layout_t;

/// A tensor of a program and this rank's block of it.
typedef struct tspec_rt_tensor_t {
  tspec_rt_dtype_t dtype;
  tspec_rt_layout_t layout;
  const int64_t *sizes; ///< of the whole tensor, per dim
  tspec_rt_box_t box;   ///< what this rank holds
  int64_t elems;        ///< in this rank's block
  int64_t bytes;        ///< of this rank's block
} tspec_rt_tensor_t;

/// Block `index` of `nblocks` over `size` elements: [index * c, (index + 1) * c) with c = ceil(size
/// / nblocks), cut at size.
void tspec_rt_block(int64_t size, int64_t nblocks, int64_t index, int64_t *out_begin,
                    int64_t *out_end);
/// What `rank` holds.
tspec_rt_box_t tspec_rt_layout_box(const tspec_rt_mesh_t *mesh, const tspec_rt_layout_t *layout,
                                   int64_t rank);
/// Number of the block that `rank` holds, row-major in the grid of blocks: equal numbers hold the
/// same elements, different ones none in common. Below the number of ranks.
int64_t tspec_rt_layout_block_number(const tspec_rt_mesh_t *mesh, const tspec_rt_layout_t *layout,
                                     int64_t rank);
/// The whole tensor.
tspec_rt_box_t tspec_rt_layout_whole(const tspec_rt_layout_t *layout);

/// Elements in it. No overflow: images are checked for it.
int64_t tspec_rt_box_elems(const tspec_rt_box_t *box);
bool tspec_rt_box_equal(const tspec_rt_box_t *a, const tspec_rt_box_t *b);
/// What both hold; empty boxes have no elements. Both have the same number of dims.
tspec_rt_box_t tspec_rt_box_intersect(const tspec_rt_box_t *a, const tspec_rt_box_t *b);

/// Elements of one box laid out densely in another, as one strided move between two buffers.
/// Neighbouring dims that lie together on both sides are merged; the innermost run is contiguous on
/// both sides.
typedef struct tspec_rt_copy_t {
  int ndims; ///< outer dims, around the run
  int64_t extent[TSPEC_RT_MAX_DIMS];
  int64_t from_stride[TSPEC_RT_MAX_DIMS]; ///< bytes
  int64_t to_stride[TSPEC_RT_MAX_DIMS];   ///< bytes
  int64_t from_offset;                    ///< bytes
  int64_t to_offset;                      ///< bytes
  int64_t run_bytes;                      ///< 0: nothing to copy
} tspec_rt_copy_t;

/// How `part`, inside both boxes, goes from a dense buffer of `from` to a dense buffer of `to`.
tspec_rt_copy_t tspec_rt_copy_plan(const tspec_rt_box_t *from, const tspec_rt_box_t *to,
                                   const tspec_rt_box_t *part, int64_t elem_bytes);
/// The same if dim d of `to` and `part` shows windows[d] of `from`; NULL: they are of one tensor.
/// `part` lies inside `to` and the windows.
tspec_rt_copy_t tspec_rt_copy_plan_window(const tspec_rt_box_t *from,
                                          const tspec_image_window_t *windows,
                                          const tspec_rt_box_t *to, const tspec_rt_box_t *part,
                                          int64_t elem_bytes);
/// The indices that show elements of the operand's `box` through the windows; NULL: these.
tspec_rt_box_t tspec_rt_box_shown(const tspec_rt_box_t *box, const tspec_image_window_t *windows);
/// True if it is one run (or nothing).
bool tspec_rt_copy_is_run(const tspec_rt_copy_t *copy);
void tspec_rt_copy_execute(const tspec_rt_copy_t *copy, const void *from, void *to);

/// Calls `visit` for each run, in row-major order, with its byte offsets on both sides; stops at
/// the first false and returns it.
bool tspec_rt_copy_for_each(const tspec_rt_copy_t *copy,
                            bool (*visit)(void *user, int64_t from_offset, int64_t to_offset,
                                          int64_t bytes),
                            void *user);

#endif
