// A reshape whose blocks do not hold the same elements before and after, such as [5, 4] to [20]
// over 4 ranks. Dims fall into groups of equal products on both sides. If in each group only the
// first dim is split, a rank holds an interval of the group's elements; padded to blocks of one
// size, it is reshaped to that interval and back without moving, so only the interval itself has to
// be exchanged:
//
//   [5, 4]@[a, -]  pad   [8, 4]  reshape  [32]  slice  [20]@[a]
//
// A dim that is split and not the first of its group gives its axes to that one before, and gets
// them from it behind.
#include "ir/shard/axes.h"
#include "ir/shard/cost.h"
#include "passes/reshard_expand.h"
#include "passes/reshard_parts.h"

/// The operand's or the result's side.
typedef struct side_t {
  tspec_type_t type;
  const tspec_sharding_t *given;
  int ngroups;
  const int *groups;                ///< by dim
  const tspec_sharding_t *sharding; ///< in each group, only the first dim of more than one element
  tspec_type_t padded;              ///< every block as large as the largest
  tspec_type_t intervals;           ///< of the padded type: one dim per group
  const tspec_sharding_t *split;    ///< of those
} side_t;

// ---- groups ------------------------------------------------------------------------------------

/// Numbers the groups that the dims of both types belong to, from 0 on. Returns how many.
static int find_groups(tspec_type_t a, tspec_type_t b, int *out_a, int *out_b) {
  int i = 0;
  int j = 0;
  int ngroups = 0;
  while (i < a.rank && j < b.rank) {
    int64_t left = a.dims[i];
    int64_t right = b.dims[j];
    out_a[i++] = ngroups;
    out_b[j++] = ngroups;
    while (left != right) {
      if (left < right) {
        left *= a.dims[i];
        out_a[i++] = ngroups;
      } else {
        right *= b.dims[j];
        out_b[j++] = ngroups;
      }
    }
    ngroups++;
  }
  // What is left has one element.
  while (i < a.rank) {
    out_a[i++] = ngroups - 1;
  }
  while (j < b.rank) {
    out_b[j++] = ngroups - 1;
  }
  return ngroups;
}

/// The axes of each group: those of its first dim of more than one element, or with `all` those of
/// its dims, one behind the other.
static const tspec_dim_t *split_of_groups(tspec_arena_t *arena, const side_t *side, bool all) {
  tspec_dim_t *split = TSPEC_ARENA_NEW(arena, tspec_dim_t, side->ngroups);
  bool *begun = TSPEC_ARENA_NEW(arena, bool, side->ngroups);
  for (int d = 0; d < side->type.rank; d++) {
    int g = side->groups[d];
    const tspec_dim_t *dim = &side->given->dims[d];
    if (side->type.dims[d] == 1 || (begun[g] && !all)) {
      continue;
    }
    begun[g] = true;
    tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, split[g].naxes + dim->naxes);
    tspec_axes_copy(axes, split[g].axes, split[g].naxes);
    split[g].axes = axes;
    for (int i = 0; i < dim->naxes; i++) {
      tspec_axes_push(axes, &split[g].naxes, dim->axes[i]);
    }
  }
  return split;
}

/// Fills in how a side lies if its groups are split so.
static void lay_out(tspec_arena_t *arena, side_t *side, const tspec_dim_t *split) {
  int rank = side->type.rank;
  int64_t *padded = TSPEC_ARENA_NEW(arena, int64_t, rank);
  int64_t *intervals = TSPEC_ARENA_NEW(arena, int64_t, side->ngroups);
  bool *begun = TSPEC_ARENA_NEW(arena, bool, side->ngroups);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, rank);
  for (int g = 0; g < side->ngroups; g++) {
    intervals[g] = 1;
  }
  for (int d = 0; d < rank; d++) {
    int g = side->groups[d];
    padded[d] = side->type.dims[d];
    if (!begun[g] && padded[d] > 1) {
      begun[g] = true;
      dims[d] = split[g];
      int64_t nblocks = tspec_dim_nblocks(&dims[d]);
      padded[d] = tspec_block(padded[d], nblocks, 0).end * nblocks;
    }
    intervals[g] *= padded[d];
  }
  tspec_sharding_t shardings[] = {{.rank = rank, .dims = dims},
                                  {.rank = side->ngroups, .dims = split}};
  side->sharding = tspec_arena_copy(arena, &shardings[0], sizeof *shardings);
  side->split = tspec_arena_copy(arena, &shardings[1], sizeof *shardings);
  side->padded = tspec_type_make(arena, side->type.dtype, rank, padded);
  side->intervals = tspec_type_make(arena, side->type.dtype, side->ngroups, intervals);
}

// ---- what it sends -----------------------------------------------------------------------------

/// Intervals of each group that both sides have.
static tspec_type_t common_intervals(tspec_arena_t *arena, const side_t *from, const side_t *to) {
  int rank = from->intervals.rank;
  int64_t *dims = TSPEC_ARENA_NEW(arena, int64_t, rank);
  for (int g = 0; g < rank; g++) {
    int64_t a = from->intervals.dims[g];
    int64_t b = to->intervals.dims[g];
    dims[g] = a < b ? a : b;
  }
  return tspec_type_make(arena, from->type.dtype, rank, dims);
}

/// From intervals of one size, split so, to those of another one.
static int64_t exchange_cost(const tspec_expand_t *e, tspec_type_t from,
                             const tspec_sharding_t *from_split, tspec_type_t to,
                             const tspec_sharding_t *to_split) {
  const tspec_mesh_t *mesh = &e->run->program->mesh;
  tspec_window_t *windows = TSPEC_ARENA_NEW(e->run->scratch, tspec_window_t, from.rank);
  for (int g = 0; g < from.rank; g++) {
    windows[g] = tspec_window_make(to.dims[g], from.dims[g], 0, 0, 1);
  }
  tspec_step_t step = {.kind = TSPEC_COLLECTIVE_PERMUTE,
                       .from = from_split,
                       .to = to_split,
                       .src_dim = -1,
                       .dst_dim = -1,
                       .windows = windows};
  tspec_steps_join_axes(e->run->scratch, mesh, 1, &from, &step);
  return tspec_steps_joint_cost_bytes(mesh, 1, &from, &step);
}

// ---- making ops --------------------------------------------------------------------------------

static tspec_value_t *emit_reshape(const tspec_expand_t *e, tspec_value_t *x, tspec_type_t type,
                                   const tspec_sharding_t *sharding) {
  if (tspec_type_equal(x->type, type)) {
    return x;
  }
  tspec_attr_t attr = tspec_attr_ints("shape", type.rank, type.dims);
  return tspec_expand_emit(
      e, sharding,
      (tspec_op_build_t){
          .kind = TSPEC_OP_reshape, .noperands = 1, .operands = &x, .nattrs = 1, .attrs = &attr});
}

/// The value cut, or filled up with zeros, at the end of each dim.
static tspec_value_t *emit_resized(const tspec_expand_t *e, tspec_op_kind_t kind, tspec_value_t *x,
                                   tspec_type_t type, const tspec_sharding_t *sharding) {
  if (tspec_type_equal(x->type, type)) {
    return x;
  }
  int64_t *zeros = TSPEC_ARENA_NEW(e->run->scratch, int64_t, type.rank);
  int64_t *ones = TSPEC_ARENA_NEW(e->run->scratch, int64_t, type.rank);
  int64_t *more = TSPEC_ARENA_NEW(e->run->scratch, int64_t, type.rank);
  for (int d = 0; d < type.rank; d++) {
    ones[d] = 1;
    more[d] = type.dims[d] - x->type.dims[d];
  }
  tspec_attr_t pad[] = {tspec_attr_ints("lo", type.rank, zeros),
                        tspec_attr_ints("hi", type.rank, more), tspec_attr_float("value", 0)};
  tspec_attr_t slice[] = {tspec_attr_ints("starts", type.rank, zeros),
                          tspec_attr_ints("ends", type.rank, type.dims),
                          tspec_attr_ints("steps", type.rank, ones)};
  return tspec_expand_emit(e, sharding,
                           (tspec_op_build_t){.kind = kind,
                                              .noperands = 1,
                                              .operands = &x,
                                              .nattrs = 3,
                                              .attrs = kind == TSPEC_OP_pad ? pad : slice});
}

static tspec_value_t *emit_conversion(const tspec_expand_t *e, tspec_value_t *x,
                                      const tspec_sharding_t *sharding) {
  if (tspec_sharding_same_layout(x->sharding, sharding)) {
    return x;
  }
  tspec_attr_t attr = tspec_attr_sharding("sharding", sharding);
  return tspec_expand_emit(
      e, sharding,
      (tspec_op_build_t){
          .kind = TSPEC_OP_reshard, .noperands = 1, .operands = &x, .nattrs = 1, .attrs = &attr});
}

/// Between the two intervals, what is longer than the result's is cut.
static tspec_value_t *emit_all(const tspec_expand_t *e, const side_t *from, const side_t *to) {
  tspec_type_t common = common_intervals(e->run->scratch, from, to);
  tspec_value_t *x = emit_conversion(e, e->op->operands[0], from->sharding);
  bool is_local = tspec_sharding_same_layout(from->split, to->split) &&
                  tspec_type_equal(from->type, from->padded) &&
                  tspec_type_equal(to->type, to->padded);
  if (is_local) {
    x = emit_reshape(e, x, to->type, to->sharding);
    return emit_conversion(e, x, to->given);
  }
  x = emit_resized(e, TSPEC_OP_pad, x, from->padded, from->sharding);
  x = emit_reshape(e, x, from->intervals, from->split);
  x = emit_resized(e, TSPEC_OP_slice, x, common, to->split);
  x = emit_resized(e, TSPEC_OP_pad, x, to->intervals, to->split);
  x = emit_conversion(e, x, to->split);
  x = emit_reshape(e, x, to->padded, to->sharding);
  x = emit_resized(e, TSPEC_OP_slice, x, to->type, to->sharding);
  return emit_conversion(e, x, to->given);
}

// ---- which way ---------------------------------------------------------------------------------

static int64_t cost_of(const tspec_expand_t *e, const side_t *from, const side_t *to) {
  tspec_type_t common = common_intervals(e->run->scratch, from, to);
  int64_t costs[] = {tspec_wire_bytes(e->wire, from->type, from->given, from->sharding),
                     exchange_cost(e, from->intervals, from->split, common, to->split),
                     exchange_cost(e, common, to->split, to->intervals, to->split),
                     tspec_wire_bytes(e->wire, to->type, to->sharding, to->given)};
  int64_t sum = 0;
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    sum = tspec_wire_add(sum, costs[i]);
  }
  return sum;
}

enum { kNsplits = 4 }; ///< of the operand and of the result, of first dims and of all

/// Lays both sides out by that pair of ways to split groups, of which the cheapest is kept. False
/// if none sends less than `limit`.
static bool find_cheapest(const tspec_expand_t *e, side_t *from, side_t *to, int64_t limit) {
  tspec_arena_t *arena = e->run->scratch;
  const tspec_dim_t *splits[kNsplits] = {
      split_of_groups(arena, from, false), split_of_groups(arena, from, true),
      split_of_groups(arena, to, false), split_of_groups(arena, to, true)};
  int best = -1;
  for (int i = 0; i < kNsplits * kNsplits; i++) {
    lay_out(e->run->scratch, from, splits[i / kNsplits]);
    lay_out(e->run->scratch, to, splits[i % kNsplits]);
    int64_t cost = cost_of(e, from, to);
    if (cost < limit) {
      limit = cost;
      best = i;
    }
  }
  if (best >= 0) {
    lay_out(arena, from, splits[best / kNsplits]);
    lay_out(arena, to, splits[best % kNsplits]);
  }
  return best >= 0;
}

tspec_value_t *tspec_expand_reshape(const tspec_expand_t *e) {
  const tspec_value_t *x = e->op->operands[0];
  const tspec_value_t *result = e->op->results[0];
  if (x->type.rank == 0 || result->type.rank == 0 || x->sharding->npending > 0 ||
      result->sharding->npending > 0) {
    return NULL;
  }
  int64_t whole = tspec_expand_whole_cost(e, x->sharding, NULL);
  if (whole == 0) {
    return NULL;
  }
  int *from_groups = TSPEC_ARENA_NEW(e->run->scratch, int, x->type.rank);
  int *to_groups = TSPEC_ARENA_NEW(e->run->scratch, int, result->type.rank);
  int ngroups = find_groups(x->type, result->type, from_groups, to_groups);
  side_t from = {.type = x->type, .given = x->sharding, .ngroups = ngroups, .groups = from_groups};
  side_t to = {
      .type = result->type, .given = result->sharding, .ngroups = ngroups, .groups = to_groups};
  return find_cheapest(e, &from, &to, whole) ? emit_all(e, &from, &to) : NULL;
}
