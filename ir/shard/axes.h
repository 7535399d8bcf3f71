// Algebra of axis pieces and of lists of them, major first: what projection, propagation and
// conversion rest on. For a piece a = (axis, pre, size): next(a) = pre * size, where a directly
// following piece starts. Source: `propagation.md` 1.
#ifndef TSPEC_IR_SHARD_AXES_H
#define TSPEC_IR_SHARD_AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/shard/mesh.h"

int64_t tspec_axis_next(tspec_axis_t piece);
/// True if every cut of `inner` lies within `outer` (equal ones included).
bool tspec_axis_contains(tspec_axis_t outer, tspec_axis_t inner);
/// True if `piece` is a major part of `whole` (equal ones included).
bool tspec_axis_is_prefix(tspec_axis_t piece, tspec_axis_t whole);
/// True if `piece` is a major part of `whole` and smaller.
bool tspec_axis_is_strict_prefix(tspec_axis_t piece, tspec_axis_t whole);
/// The largest major part of `piece` that does not overlap `other`; false if nothing is left, or if
/// the two are cuts that no refinement of the axis has in common.
bool tspec_axis_prefix_without(tspec_axis_t piece, tspec_axis_t other, tspec_axis_t *out_prefix);
/// The same for a list of others.
bool tspec_axis_prefix_without_all(tspec_axis_t piece, const tspec_axis_t *others, int nothers,
                                   tspec_axis_t *out_prefix);
/// The common part of two pieces of one axis that are cuts of one refinement; false if there is
/// none.
bool tspec_axis_intersect(tspec_axis_t a, tspec_axis_t b, tspec_axis_t *out_part);
/// The major part of `size` elements (which divides the piece's size), and what follows it.
tspec_axis_t tspec_axis_major(tspec_axis_t piece, int64_t size);
tspec_axis_t tspec_axis_minor(tspec_axis_t piece, int64_t size);
/// Order of the mesh: by axis, then by start.
int tspec_axis_compare(tspec_axis_t a, tspec_axis_t b);

/// Appends a piece to a list with room for one more; merges it with the last one if they are
/// neighbours.
void tspec_axes_push(tspec_axis_t *axes, int *naxes, tspec_axis_t piece);
/// Copies pieces; the lists may overlap, and be empty.
void tspec_axes_copy(tspec_axis_t *to, const tspec_axis_t *from, int naxes);
/// True if the lists are equal piece by piece.
bool tspec_axes_equal(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb);
/// True if `a` is a prefix of `b`, equal ones included; the last piece of `a` may be a major part
/// of b's.
bool tspec_axes_is_prefix(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb);
/// True if `a` is a prefix of `b` and shorter.
bool tspec_axes_is_strict_prefix(const tspec_axis_t *a, int na, const tspec_axis_t *b, int nb);
/// Sorts into mesh order and merges neighbours in place; returns the new length.
int tspec_axes_sort(tspec_axis_t *axes, int naxes);
/// True if `piece` overlaps one of the list.
bool tspec_axes_overlap(const tspec_axis_t *axes, int naxes, tspec_axis_t piece);
/// Most pieces that one value can hold: no two of a list overlap.
int tspec_mesh_max_pieces(const tspec_mesh_t *mesh);

#endif
