#include "ir/shard/decompose.h"

#include <string.h>

#include "ir/base/str.h"
#include "ir/base/vec.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"

typedef TSPEC_VEC(tspec_step_t) steps_t;

static bool dims_equal(const tspec_dim_t *a, const tspec_dim_t *b) {
  return tspec_axes_equal(a->axes, a->naxes, b->axes, b->naxes);
}

static bool all_dims_equal(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  for (int d = 0; d < a->rank; d++) {
    if (!dims_equal(&a->dims[d], &b->dims[d])) {
      return false;
    }
  }
  return true;
}

// ---- locality ---------------------------------------------------------------------------------

static bool is_within(tspec_axis_t piece, const tspec_axis_t *axes, int naxes) {
  for (int i = 0; i < naxes; i++) {
    if (tspec_axis_contains(axes[i], piece)) {
      return true;
    }
  }
  return false;
}

// One dim of a step, its pieces cut alike: `from` is bound where it lies outside the group, so that
// a holder's coordinate must be the receiver's.
typedef struct dim_pair_t {
  int nfrom;
  int nto;
  tspec_axis_t from[TSPEC_MAX_ATOMS];
  tspec_axis_t to[TSPEC_MAX_ATOMS];
  bool bound[TSPEC_MAX_ATOMS];
  int match[TSPEC_MAX_ATOMS]; // index in `to`, or -1
  bool any_bound;
} dim_pair_t;

static bool cut_dim(const tspec_step_t *step, const tspec_dim_t *a, const tspec_dim_t *b,
                    const tspec_dim_t *dim, tspec_axis_t *out_atoms, int *count) {
  for (int i = 0; i < dim->naxes; i++) {
    tspec_axis_t piece = dim->axes[i];
    tspec_cuts_t cuts = {0};
    if (is_within(piece, step->axes, step->naxes)) {
      out_atoms[(*count)++] = piece;
      continue;
    }
    if (!tspec_cuts_add(&cuts, piece.axis, a->axes, a->naxes) ||
        !tspec_cuts_add(&cuts, piece.axis, b->axes, b->naxes) ||
        !tspec_cuts_add(&cuts, piece.axis, step->axes, step->naxes)) {
      return false;
    }
    *count += tspec_cuts_apply(&cuts, piece, out_atoms + *count);
  }
  return true;
}

static bool make_pair(const tspec_step_t *step, int d, dim_pair_t *pair) {
  const tspec_dim_t *a = &step->from->dims[d];
  const tspec_dim_t *b = &step->to->dims[d];
  *pair = (dim_pair_t){0};
  if (!cut_dim(step, a, b, a, pair->from, &pair->nfrom) ||
      !cut_dim(step, a, b, b, pair->to, &pair->nto)) {
    return false;
  }
  for (int i = 0; i < pair->nfrom; i++) {
    pair->bound[i] = !is_within(pair->from[i], step->axes, step->naxes);
    pair->any_bound |= pair->bound[i];
    pair->match[i] = -1;
    for (int j = 0; j < pair->nto; j++) {
      if (tspec_axis_equal(pair->from[i], pair->to[j])) {
        pair->match[i] = j;
      }
    }
  }
  return true;
}

static void digits_of(const tspec_axis_t *axes, int naxes, int64_t index, int64_t *out_digits) {
  for (int i = naxes - 1; i >= 0; i--) {
    out_digits[i] = index % axes[i].size;
    index /= axes[i].size;
  }
}

static bool is_holder_bound(const dim_pair_t *pair, int64_t from_index, const int64_t *to_digits) {
  int64_t from_digits[TSPEC_MAX_ATOMS];
  digits_of(pair->from, pair->nfrom, from_index, from_digits);
  for (int i = 0; i < pair->nfrom; i++) {
    if (pair->bound[i] && (pair->match[i] < 0 || from_digits[i] != to_digits[pair->match[i]])) {
      return false;
    }
  }
  return true;
}

// What the result shows in `need` lies in blocks of `from` whose bound coordinates are its own.
static bool is_block_local(const dim_pair_t *pair, const tspec_window_t *window, int64_t size,
                           tspec_block_t need, const int64_t *to_digits) {
  int64_t step = tspec_block(size, tspec_axes_product(pair->from, pair->nfrom), 0).end;
  int64_t last = tspec_window_source(window, need.end - 1) / step;
  for (int64_t f = tspec_window_source(window, need.begin) / step; f <= last; f++) {
    tspec_block_t held = {f * step, (f + 1) * step};
    tspec_block_t shown = tspec_block_common(tspec_window_shown(window, held), need);
    if (shown.begin < shown.end && !is_holder_bound(pair, f, to_digits)) {
      return false;
    }
  }
  return true;
}

// Every block of `to` lies in blocks of `from` whose bound coordinates are its own.
static bool is_dim_local(const dim_pair_t *pair, const tspec_window_t *window, int64_t size) {
  int64_t nto = tspec_axes_product(pair->to, pair->nto);
  tspec_block_t all = {window->lo, window->lo + window->count};
  int64_t to_digits[TSPEC_MAX_ATOMS];
  for (int64_t t = 0; t < nto; t++) {
    tspec_block_t need = tspec_block_common(tspec_block(window->size, nto, t), all);
    digits_of(pair->to, pair->nto, t, to_digits);
    if (need.begin < need.end && !is_block_local(pair, window, size, need, to_digits)) {
      return false;
    }
  }
  return true;
}

static bool are_dims_local(tspec_type_t type, const tspec_step_t *step) {
  for (int d = 0; d < type.rank; d++) {
    dim_pair_t pair;
    int64_t size = type.dims[d];
    tspec_window_t window =
        step->windows != NULL ? step->windows[d] : tspec_window_make(size, size, 0, 0, 1);
    if (dims_equal(&step->from->dims[d], &step->to->dims[d]) &&
        tspec_window_is_identity(&window, size)) {
      continue;
    }
    if (!make_pair(step, d, &pair) || (pair.any_bound && !is_dim_local(&pair, &window, size))) {
      return false;
    }
  }
  return true;
}

// True if `more` has just the pending axes of `less` and `axes`.
static bool is_pending_sum(const tspec_sharding_t *more, const tspec_sharding_t *less,
                           const tspec_step_t *step) {
  tspec_axis_t rest[2 * TSPEC_MAX_ATOMS];
  int nrest = 0;
  if (!tspec_axes_subtract(more->pending, more->npending, less->pending, less->npending, rest,
                           &nrest)) {
    return false;
  }
  nrest = tspec_axes_sort(rest, nrest);
  return tspec_axes_equal(rest, nrest, step->axes, step->naxes) &&
         more->pending_kind == step->reduce &&
         (less->npending == 0 || less->pending_kind == more->pending_kind) &&
         tspec_axes_product(more->pending, more->npending) ==
             tspec_axes_product(less->pending, less->npending) *
                 tspec_axes_product(step->axes, step->naxes);
}

static bool is_pending_equal(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  return tspec_axes_equal(a->pending, a->npending, b->pending, b->npending) &&
         (a->npending == 0 || a->pending_kind == b->pending_kind);
}

bool tspec_step_is_local_to_axes(const tspec_mesh_t *mesh, tspec_type_t type,
                                 const tspec_step_t *step) {
  tspec_step_t without_group = *step;
  without_group.naxes = 0;
  switch (step->kind) {
  case TSPEC_COLLECTIVE_ALL_REDUCE:
    return all_dims_equal(step->from, step->to) && is_pending_sum(step->from, step->to, step);
  case TSPEC_COLLECTIVE_REDUCE_SCATTER:
    return is_pending_sum(step->from, step->to, step) && are_dims_local(type, &without_group);
  case TSPEC_COLLECTIVE_MAKE_PENDING:
    return all_dims_equal(step->from, step->to) && is_pending_sum(step->to, step->from, step);
  case TSPEC_COLLECTIVE_ALL_SLICE:
    if (step->windows != NULL) { // a rank that needs nothing in one dim needs nothing in the others
      return is_pending_equal(step->from, step->to) &&
             tspec_steps_joint_cost_bytes(mesh, 1, &type, step) == 0;
    }
    return is_pending_equal(step->from, step->to) && are_dims_local(type, &without_group);
  case TSPEC_COLLECTIVE_ALL_GATHER:
  case TSPEC_COLLECTIVE_ALL_TO_ALL:
  case TSPEC_COLLECTIVE_PERMUTE:
    return is_pending_equal(step->from, step->to) && are_dims_local(type, step);
  }
  return false;
}

// ---- dims -------------------------------------------------------------------------------------

// Adds a piece to a group, cut where one of the shardings cuts its axis; without a common
// refinement the whole axis.
static void add_to_group(const tspec_mesh_t *mesh, const tspec_sharding_t *const *shardings,
                         int nshardings, tspec_axis_t piece, tspec_axis_t *group, int *count) {
  tspec_cuts_t cuts = {0};
  tspec_axis_t atoms[TSPEC_MAX_ATOMS];
  int natoms = 1;
  bool refine = true;
  for (int i = 0; refine && i < nshardings; i++) {
    refine = tspec_cuts_add_dims(&cuts, piece.axis, shardings[i]);
  }
  if (refine) {
    natoms = tspec_cuts_apply(&cuts, piece, atoms);
  } else {
    atoms[0] = tspec_axis_full(mesh, piece.axis);
  }
  for (int i = 0; i < natoms; i++) {
    if (!tspec_axes_overlap(group, *count, atoms[i])) {
      group[(*count)++] = atoms[i];
    }
  }
}

// The axes of both shardings in the dims where they differ; `whole`: those that a common start of
// the two splits shares, too.
static void group_axes(tspec_arena_t *arena, const tspec_mesh_t *mesh, const tspec_sharding_t *a,
                       const tspec_sharding_t *b, bool whole, tspec_step_t *step) {
  const tspec_sharding_t *both[] = {a, b};
  tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, 4 * TSPEC_MAX_ATOMS);
  int count = 0;
  for (int d = 0; d < a->rank; d++) {
    const tspec_dim_t *from = &a->dims[d];
    const tspec_dim_t *to = &b->dims[d];
    int same = 0;
    while (!whole && same < from->naxes && same < to->naxes &&
           tspec_axis_equal(from->axes[same], to->axes[same])) {
      same++;
    }
    if (dims_equal(from, to)) {
      continue;
    }
    for (int i = same; i < from->naxes; i++) {
      add_to_group(mesh, both, 2, from->axes[i], axes, &count);
    }
    for (int i = same; i < to->naxes; i++) {
      add_to_group(mesh, both, 2, to->axes[i], axes, &count);
    }
  }
  step->naxes = tspec_axes_sort(axes, count);
  step->axes = axes;
}

void tspec_steps_join_axes(tspec_arena_t *arena, const tspec_mesh_t *mesh, int count,
                           const tspec_type_t *types, tspec_step_t *steps) {
  const tspec_sharding_t **all = TSPEC_ARENA_NEW(arena, const tspec_sharding_t *, count + 1);
  for (int k = 0; k < count; k++) {
    all[k] = steps[k].from;
  }
  all[count] = steps[0].to;
  tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, (count + 1) * 2 * TSPEC_MAX_ATOMS);
  int naxes = 0;
  for (int d = 0; d < types[0].rank; d++) {
    bool changed = false;
    for (int k = 0; k < count; k++) {
      changed |= !dims_equal(&steps[k].from->dims[d], &steps[k].to->dims[d]) ||
                 !tspec_window_is_identity(&steps[k].windows[d], types[k].dims[d]);
    }
    for (int i = 0; changed && i <= count; i++) {
      for (int a = 0; a < all[i]->dims[d].naxes; a++) {
        add_to_group(mesh, all, count + 1, all[i]->dims[d].axes[a], axes, &naxes);
      }
    }
  }
  naxes = tspec_axes_sort(axes, naxes);
  for (int k = 0; k < count; k++) {
    steps[k].naxes = naxes;
    steps[k].axes = axes;
  }
}

// Everything at once: each rank gets what it lacks.
static tspec_step_t direct_step(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                                const tspec_sharding_t *from, const tspec_sharding_t *to) {
  tspec_step_t step = {
      .kind = TSPEC_COLLECTIVE_ALL_TO_ALL, .from = from, .to = to, .src_dim = -1, .dst_dim = -1};
  group_axes(arena, mesh, from, to, false, &step);
  if (!tspec_step_is_local_to_axes(mesh, type, &step)) {
    group_axes(arena, mesh, from, to, true, &step);
  }
  return step;
}

static bool are_local(const tspec_mesh_t *mesh, tspec_type_t type, tspec_steps_t steps) {
  for (int i = 0; i < steps.count; i++) {
    if (!tspec_step_is_local_to_axes(mesh, type, &steps.items[i])) {
      return false;
    }
  }
  return true;
}

// Elements that rank 0, whose blocks are the first and largest ones, holds of both; of `a` alone if
// they are the same. Saturates.
static int64_t first_elems(tspec_type_t type, const tspec_sharding_t *a,
                           const tspec_sharding_t *b) {
  int64_t elems = 1;
  for (int d = 0; d < type.rank; d++) {
    int64_t of_a = tspec_block(type.dims[d], tspec_dim_nblocks(&a->dims[d]), 0).end;
    int64_t of_b = tspec_block(type.dims[d], tspec_dim_nblocks(&b->dims[d]), 0).end;
    int64_t block = of_a < of_b ? of_a : of_b;
    elems = __builtin_mul_overflow(elems, block, &elems) ? INT64_MAX : elems;
  }
  return elems;
}

static const tspec_sharding_t *gather_changed(tspec_arena_t *arena, const tspec_sharding_t *from,
                                              const tspec_sharding_t *to) {
  tspec_sharding_t *gathered = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = tspec_arena_copy(arena, from->dims, sizeof *dims * (size_t)from->rank);
  *gathered = *from;
  gathered->dims = dims;
  for (int d = 0; d < from->rank; d++) {
    dims[d].naxes = dims_equal(&from->dims[d], &to->dims[d]) ? dims[d].naxes : 0;
  }
  return gathered;
}

// True if a block on the way is larger than both the first and the last, or rank 0 receives more
// than by gathering the dims that differ: what plans by axes do only where blocks are uneven.
static bool is_wasteful(tspec_arena_t *arena, tspec_type_t type, tspec_steps_t steps) {
  const tspec_sharding_t *from = steps.items[0].from;
  const tspec_sharding_t *to = steps.items[steps.count - 1].to;
  const tspec_sharding_t *gathered = gather_changed(arena, from, to);
  int64_t first = first_elems(type, from, from);
  int64_t last = first_elems(type, to, to);
  int64_t limit = first_elems(type, gathered, gathered) - first;
  for (int i = 0; i < steps.count; i++) {
    const tspec_step_t *step = &steps.items[i];
    int64_t made = first_elems(type, step->to, step->to);
    if (made > first && made > last) {
      return true;
    }
    limit -= made - first_elems(type, step->from, step->to);
  }
  return limit < 0;
}

// Steps in which anything is sent.
static int count_sending(tspec_steps_t steps) {
  int count = 0;
  for (int i = 0; i < steps.count; i++) {
    count += steps.items[i].kind < TSPEC_COLLECTIVE_ALL_SLICE;
  }
  return count;
}

// True if `a` sends fewer bytes than `b`, or as many in fewer steps.
static bool is_cheaper(const tspec_mesh_t *mesh, tspec_type_t type, tspec_steps_t a,
                       tspec_steps_t b) {
  int64_t a_bytes = tspec_steps_cost_bytes(mesh, type, a);
  int64_t b_bytes = tspec_steps_cost_bytes(mesh, type, b);
  return a_bytes < b_bytes || (a_bytes == b_bytes && count_sending(a) < count_sending(b));
}

static const tspec_sharding_t *with_dims(tspec_arena_t *arena, const tspec_sharding_t *base,
                                         const tspec_dim_t *dims) {
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *sharding = *base;
  sharding->dims = dims;
  return sharding;
}

// The sharding with dim d split by `axes`, too, as the minor ones.
static const tspec_sharding_t *with_split(tspec_arena_t *arena, const tspec_sharding_t *base, int d,
                                          const tspec_axis_t *axes, int naxes) {
  tspec_dim_t *dims = tspec_arena_copy(arena, base->dims, sizeof *dims * (size_t)base->rank);
  tspec_axis_t *all = TSPEC_ARENA_NEW(arena, tspec_axis_t, dims[d].naxes + naxes);
  tspec_axes_copy(all, dims[d].axes, dims[d].naxes);
  dims[d].axes = all;
  for (int i = 0; i < naxes; i++) {
    tspec_axes_push(all, &dims[d].naxes, axes[i]);
  }
  return with_dims(arena, base, dims);
}

// Everything at once, but each element to one of the ranks that need it, which pass it on in a
// gather: cheaper where few ranks hold what many need. dim d: the one split between those ranks.
// None if that is not possible.
static tspec_steps_t spread_steps(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                                  const tspec_step_t *direct, int d) {
  tspec_axis_t spare[4 * TSPEC_MAX_ATOMS];
  int nspare = direct->naxes;
  tspec_axes_copy(spare, direct->axes, nspare);
  for (int i = 0; i < type.rank; i++) {
    const tspec_dim_t *used = &direct->to->dims[i];
    tspec_axis_t rest[4 * TSPEC_MAX_ATOMS];
    int nrest = 0;
    if (!tspec_axes_subtract(spare, nspare, used->axes, used->naxes, rest, &nrest)) {
      return (tspec_steps_t){0};
    }
    tspec_axes_copy(spare, rest, nrest);
    nspare = nrest;
  }
  if (nspare == 0) {
    return (tspec_steps_t){0};
  }
  const tspec_sharding_t *middle = with_split(arena, direct->to, d, spare, nspare);
  tspec_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_step_t, 2);
  steps[0] = direct_step(arena, mesh, type, direct->from, middle);
  steps[1] = (tspec_step_t){.kind = TSPEC_COLLECTIVE_ALL_GATHER,
                            .naxes = tspec_axes_sort(spare, nspare),
                            .axes = tspec_arena_copy(arena, spare, sizeof *spare * (size_t)nspare),
                            .from = middle,
                            .to = direct->to,
                            .src_dim = -1,
                            .dst_dim = -1};
  return (tspec_steps_t){2, steps};
}

// Both with equal pending axes: Shardy's plan if it is not wasteful and nothing is cheaper;
// everything at once, or spread.
static tspec_steps_t dims_steps(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                                const tspec_sharding_t *from, const tspec_sharding_t *to) {
  tspec_step_t *direct = TSPEC_ARENA_NEW(arena, tspec_step_t, 1);
  tspec_steps_t plan = {0};
  if (all_dims_equal(from, to)) {
    return plan;
  }
  *direct = direct_step(arena, mesh, type, from, to);
  tspec_step_t local = *direct;
  local.kind = TSPEC_COLLECTIVE_ALL_SLICE;
  tspec_steps_t best = {1, direct};
  if (tspec_step_is_local_to_axes(mesh, type, &local)) {
    *direct = local;
    return best;
  }
  if (tspec_reshard_plan(arena, mesh, type, from, to, &plan) && are_local(mesh, type, plan) &&
      !is_wasteful(arena, type, plan) && !is_cheaper(mesh, type, best, plan)) {
    best = plan;
  }
  bool even = tspec_sharding_is_even(from, type) && tspec_sharding_is_even(to, type);
  for (int d = 0; d < type.rank && !even; d++) {
    tspec_steps_t spread = spread_steps(arena, mesh, type, direct, d);
    if (spread.count > 0 && are_local(mesh, type, spread) && is_cheaper(mesh, type, spread, best)) {
      best = spread;
    }
  }
  return best;
}

// ---- reduce_scatter ---------------------------------------------------------------------------

// Slicing pieces of dim d, cut where the reduced axes are; false if `to` does not extend `from`.
static bool slicing_atoms(const tspec_step_t *reduce, const tspec_dim_t *from,
                          const tspec_dim_t *to, tspec_axis_t *out_atoms, int *out_natoms) {
  int same = from->naxes;
  tspec_axis_t rest = {0};
  *out_natoms = 0;
  if (!tspec_axes_is_prefix(from->axes, from->naxes, to->axes, to->naxes)) {
    return false;
  }
  bool partly = same > 0 && !tspec_axis_equal(from->axes[same - 1], to->axes[same - 1]);
  if (partly) {
    rest =
        tspec_axis_minor(to->axes[same - 1], to->axes[same - 1].size / from->axes[same - 1].size);
  }
  for (int i = partly ? same - 1 : same; i < to->naxes; i++) {
    tspec_axis_t piece = i < same ? rest : to->axes[i];
    tspec_cuts_t cuts = {0};
    if (!tspec_cuts_add(&cuts, piece.axis, &piece, 1) ||
        !tspec_cuts_add(&cuts, piece.axis, reduce->axes, reduce->naxes)) {
      return false;
    }
    *out_natoms += tspec_cuts_apply(&cuts, piece, out_atoms + *out_natoms);
  }
  return true;
}

int tspec_steps_form_reduce_scatter(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                    tspec_type_t type, const tspec_step_t *reduce,
                                    const tspec_step_t *slice, tspec_step_t out_steps[2]) {
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, type.rank);
  tspec_axis_t *rest = TSPEC_ARENA_NEW(arena, tspec_axis_t, 4 * TSPEC_MAX_ATOMS);
  int nrest = 0;
  int64_t consumed = 1;
  for (int d = 0; d < type.rank; d++) {
    const tspec_dim_t *from = &slice->from->dims[d];
    tspec_axis_t atoms[2 * TSPEC_MAX_ATOMS];
    int natoms = 0;
    if (!slicing_atoms(reduce, from, &slice->to->dims[d], atoms, &natoms)) {
      return 0;
    }
    tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, from->naxes + natoms);
    if (from->naxes > 0) {
      memcpy(axes, from->axes, sizeof *axes * (size_t)from->naxes);
    }
    dims[d] = (tspec_dim_t){.naxes = from->naxes, .axes = axes};
    int i = 0;
    for (; i < natoms && is_within(atoms[i], reduce->axes, reduce->naxes); i++) {
      tspec_axes_push(axes, &dims[d].naxes, atoms[i]);
      consumed *= atoms[i].size;
    }
    for (; i < natoms; i++) {
      rest[nrest++] = atoms[i];
    }
  }
  if (consumed != tspec_axes_product(reduce->axes, reduce->naxes)) {
    return 0;
  }
  out_steps[0] = *reduce;
  out_steps[0].kind = TSPEC_COLLECTIVE_REDUCE_SCATTER;
  out_steps[0].to = nrest == 0 ? slice->to : with_dims(arena, slice->to, dims);
  out_steps[1] = *slice;
  out_steps[1].from = out_steps[0].to;
  out_steps[1].axes = rest;
  out_steps[1].naxes = tspec_axes_sort(rest, nrest);
  if (!tspec_step_is_local_to_axes(mesh, type, &out_steps[0]) ||
      !tspec_step_is_local_to_axes(mesh, type, &out_steps[1])) {
    return 0;
  }
  return nrest == 0 ? 1 : 2;
}

// ---- pending axes -----------------------------------------------------------------------------

static const tspec_sharding_t *with_pending(tspec_arena_t *arena, const tspec_sharding_t *base,
                                            const tspec_sharding_t *like) {
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *sharding = *base;
  sharding->npending = like->npending;
  sharding->pending = like->pending;
  sharding->pending_kind = like->pending_kind;
  return sharding;
}

// The pending axes that `from` and `to` share, as a sharding with `from`'s dims.
static const tspec_sharding_t *keep_shared(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                           const tspec_sharding_t *from,
                                           const tspec_sharding_t *to) {
  tspec_axis_t lacking[TSPEC_MAX_ATOMS];
  tspec_axis_t shared[2 * TSPEC_MAX_ATOMS];
  int nlacking = 0;
  int nshared = 0;
  const tspec_sharding_t *complete = tspec_sharding_complete(arena, from);
  if (from->pending_kind != to->pending_kind ||
      !tspec_axes_subtract(from->pending, from->npending, to->pending, to->npending, lacking,
                           &nlacking) ||
      !tspec_axes_subtract(from->pending, from->npending, lacking, nlacking, shared, &nshared) ||
      nshared == 0) {
    return complete;
  }
  return tspec_sharding_with_pending(arena, mesh, complete, from->pending_kind, shared, nshared);
}

static tspec_step_t pending_step(tspec_arena_t *arena, tspec_collective_t kind,
                                 const tspec_sharding_t *from, const tspec_sharding_t *to) {
  bool makes = kind == TSPEC_COLLECTIVE_MAKE_PENDING;
  const tspec_sharding_t *more = makes ? to : from;
  const tspec_sharding_t *less = makes ? from : to;
  tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, TSPEC_MAX_ATOMS);
  int count = 0;
  bool ok = tspec_axes_subtract(more->pending, more->npending, less->pending, less->npending, axes,
                                &count);
  TSPEC_CHECK(ok, "pending axes must refine each other");
  return (tspec_step_t){.kind = kind,
                        .reduce = more->pending_kind,
                        .naxes = tspec_axes_sort(axes, count),
                        .axes = axes,
                        .from = from,
                        .to = to,
                        .src_dim = -1,
                        .dst_dim = -1};
}

// A conversion that starts with a reduction, and the cheapest way found so far.
typedef struct search_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  tspec_type_t type;
  const tspec_sharding_t *reduced; // `from` without the axes to reduce
  const tspec_sharding_t *placed;  // the end, with the pending axes of `reduced`
  steps_t best;
} search_t;

// Adds what is left to do behind `steps`, and keeps the whole if it is cheaper.
static void offer(search_t *search, steps_t steps) {
  const tspec_sharding_t *at = steps.items[steps.count - 1].to;
  tspec_steps_t rest = dims_steps(search->arena, search->mesh, search->type, at, search->placed);
  for (int i = 0; i < rest.count; i++) {
    TSPEC_VEC_PUSH(search->arena, &steps, rest.items[i]);
  }
  tspec_steps_t found = {(int)steps.count, steps.items};
  tspec_steps_t best = {(int)search->best.count, search->best.items};
  if (are_local(search->mesh, search->type, found) &&
      (best.count == 0 || is_cheaper(search->mesh, search->type, found, best))) {
    search->best = steps;
  }
}

// True if the partial results do not use the piece at all.
static bool is_idle(const tspec_step_t *reduce, tspec_axis_t piece) {
  const tspec_sharding_t *partial = reduce->from;
  bool clash = false;
  for (int d = 0; d <= partial->rank; d++) {
    bool is_dim = d < partial->rank;
    const tspec_axis_t *axes = is_dim ? partial->dims[d].axes : partial->pending;
    int naxes = is_dim ? partial->dims[d].naxes : partial->npending;
    for (int i = 0; i < naxes; i++) {
      clash |= tspec_axis_clash(axes[i], piece);
    }
  }
  return !clash;
}

static bool is_reduced(const tspec_step_t *reduce, tspec_axis_t piece) {
  return is_within(piece, reduce->axes, reduce->naxes);
}

// Splits partial results as they will be in the end, by those axes that `picks` takes: the dims and
// the axes, in mesh order, of a step in front of the rest of the reduction. False if there are
// none.
static bool split_first(const search_t *search, const tspec_step_t *reduce,
                        bool (*picks)(const tspec_step_t *reduce, tspec_axis_t piece),
                        tspec_step_t *out_split) {
  const tspec_sharding_t *from = reduce->from;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(search->arena, tspec_dim_t, from->rank);
  tspec_axis_t *taken = TSPEC_ARENA_NEW(search->arena, tspec_axis_t, 4 * TSPEC_MAX_ATOMS);
  int ntaken = 0;
  for (int d = 0; d < from->rank; d++) {
    tspec_axis_t atoms[2 * TSPEC_MAX_ATOMS];
    int natoms = 0;
    dims[d] = from->dims[d];
    if (!slicing_atoms(reduce, &from->dims[d], &search->placed->dims[d], atoms, &natoms)) {
      continue;
    }
    tspec_axis_t *axes = TSPEC_ARENA_NEW(search->arena, tspec_axis_t, dims[d].naxes + natoms);
    tspec_axes_copy(axes, dims[d].axes, dims[d].naxes);
    dims[d].axes = axes;
    for (int i = 0; i < natoms && picks(reduce, atoms[i]); i++) {
      tspec_axes_push(axes, &dims[d].naxes, atoms[i]);
      taken[ntaken++] = atoms[i];
    }
  }
  *out_split = (tspec_step_t){.kind = TSPEC_COLLECTIVE_ALL_SLICE,
                              .axes = taken,
                              .naxes = tspec_axes_sort(taken, ntaken),
                              .from = from,
                              .to = with_dims(search->arena, from, dims),
                              .src_dim = -1,
                              .dst_dim = -1};
  return ntaken > 0;
}

// By axes that are idle: less is left to reduce.
static bool slice_first(const search_t *search, const tspec_step_t *reduce,
                        tspec_step_t *out_slice) {
  return split_first(search, reduce, is_idle, out_slice) &&
         tspec_step_is_local_to_axes(search->mesh, search->type, out_slice);
}

// By axes that are to be reduced: these are then, and the others find a smaller block.
static bool scatter_first(const search_t *search, const tspec_step_t *reduce,
                          tspec_step_t *out_scatter) {
  tspec_axis_t rest[2 * TSPEC_MAX_ATOMS];
  int nrest = 0;
  const tspec_sharding_t *from = reduce->from;
  if (!split_first(search, reduce, is_reduced, out_scatter) ||
      !tspec_axes_subtract(from->pending, from->npending, out_scatter->axes, out_scatter->naxes,
                           rest, &nrest)) {
    return false;
  }
  out_scatter->kind = TSPEC_COLLECTIVE_REDUCE_SCATTER;
  out_scatter->reduce = reduce->reduce;
  out_scatter->to = nrest == 0
                        ? tspec_sharding_complete(search->arena, out_scatter->to)
                        : tspec_sharding_with_pending(search->arena, search->mesh, out_scatter->to,
                                                      reduce->reduce, rest, nrest);
  return tspec_step_is_local_to_axes(search->mesh, search->type, out_scatter);
}

static steps_t copy_steps(tspec_arena_t *arena, const steps_t *steps) {
  steps_t copy = {0};
  for (size_t i = 0; i < steps->count; i++) {
    TSPEC_VEC_PUSH(arena, &copy, steps->items[i]);
  }
  return copy;
}

// The reduction whole, and scattered over each dim.
static void offer_reductions(search_t *search, const steps_t *before, tspec_step_t reduce) {
  tspec_arena_t *arena = search->arena;
  const tspec_sharding_t *whole = with_pending(arena, reduce.from, search->reduced);
  for (int d = -1; d < whole->rank; d++) {
    steps_t steps = copy_steps(arena, before);
    reduce.to = whole;
    if (d >= 0) {
      reduce.kind = TSPEC_COLLECTIVE_REDUCE_SCATTER;
      reduce.to = with_split(arena, whole, d, reduce.axes, reduce.naxes);
    }
    TSPEC_VEC_PUSH(arena, &steps, reduce);
    offer(search, steps);
  }
}

// The reduction in the all_slice that Shardy's plan starts with.
static void offer_formed(search_t *search, const tspec_step_t *reduce) {
  tspec_steps_t plan = {0};
  tspec_step_t formed[2];
  if (!tspec_reshard_plan(search->arena, search->mesh, search->type, search->reduced,
                          search->placed, &plan) ||
      plan.count == 0 || plan.items[0].kind != TSPEC_COLLECTIVE_ALL_SLICE) {
    return;
  }
  int nformed = tspec_steps_form_reduce_scatter(search->arena, search->mesh, search->type, reduce,
                                                &plan.items[0], formed);
  steps_t steps = {0};
  for (int i = 0; i < nformed; i++) {
    TSPEC_VEC_PUSH(search->arena, &steps, formed[i]);
  }
  if (nformed > 0) {
    offer(search, steps);
  }
}

// What is left to reduce of `from`: at once, and behind a step that splits as in the end.
static void offer_all(search_t *search, const steps_t *before, const tspec_sharding_t *from) {
  tspec_step_t reduce =
      pending_step(search->arena, TSPEC_COLLECTIVE_ALL_REDUCE, from, search->reduced);
  if (reduce.naxes == 0) {
    offer(search, *before);
    return;
  }
  bool (*const firsts[])(const search_t *, const tspec_step_t *, tspec_step_t *) = {slice_first,
                                                                                    scatter_first};
  for (int i = 0; i < 2; i++) {
    tspec_step_t first;
    if (firsts[i](search, &reduce, &first)) {
      steps_t steps = copy_steps(search->arena, before);
      TSPEC_VEC_PUSH(search->arena, &steps, first);
      offer_all(search, &steps, first.to);
    }
  }
  offer_reductions(search, before, reduce);
}

static steps_t reduce_steps(search_t search, const tspec_sharding_t *from) {
  tspec_step_t reduce =
      pending_step(search.arena, TSPEC_COLLECTIVE_ALL_REDUCE, from, search.reduced);
  offer_formed(&search, &reduce);
  offer_all(&search, &(steps_t){0}, from);
  return search.best;
}

const tspec_sharding_t *tspec_sharding_drop_ones(tspec_arena_t *arena,
                                                 const tspec_sharding_t *sharding) {
  tspec_sharding_t *copy = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, sharding->rank);
  *copy = *sharding;
  copy->dims = dims;
  for (int d = 0; d <= sharding->rank; d++) {
    bool is_dim = d < sharding->rank;
    int count = is_dim ? sharding->dims[d].naxes : sharding->npending;
    const tspec_axis_t *axes = is_dim ? sharding->dims[d].axes : sharding->pending;
    tspec_axis_t *kept = TSPEC_ARENA_NEW(arena, tspec_axis_t, count);
    int nkept = 0;
    for (int i = 0; i < count; i++) {
      if (axes[i].size > 1) {
        tspec_axes_push(kept, &nkept, axes[i]);
      }
    }
    if (is_dim) {
      dims[d] = sharding->dims[d];
      dims[d].naxes = nkept;
      dims[d].axes = kept;
    } else {
      copy->npending = nkept;
      copy->pending = kept;
      copy->pending_kind = nkept > 0 ? sharding->pending_kind : TSPEC_REDUCE_SUM;
    }
  }
  return copy;
}

// The steps, and all that was tried on the way to them, in the arena.
static tspec_steps_t find_steps(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_type_t type,
                                const tspec_sharding_t *from, const tspec_sharding_t *to) {
  from = tspec_sharding_drop_ones(arena, from);
  to = tspec_sharding_drop_ones(arena, to);
  steps_t steps = {0};
  const tspec_sharding_t *reduced = keep_shared(arena, mesh, from, to);
  const tspec_sharding_t *placed = with_pending(arena, to, reduced);
  if (is_pending_equal(from, reduced)) {
    tspec_steps_t rest = dims_steps(arena, mesh, type, reduced, placed);
    for (int i = 0; i < rest.count; i++) {
      TSPEC_VEC_PUSH(arena, &steps, rest.items[i]);
    }
  } else {
    steps = reduce_steps(
        (search_t){
            .arena = arena, .mesh = mesh, .type = type, .reduced = reduced, .placed = placed},
        from);
  }
  if (!is_pending_equal(placed, to)) {
    TSPEC_VEC_PUSH(arena, &steps, pending_step(arena, TSPEC_COLLECTIVE_MAKE_PENDING, placed, to));
  }
  return (tspec_steps_t){(int)steps.count, steps.items};
}

static tspec_steps_t keep_steps(tspec_arena_t *arena, tspec_steps_t steps) {
  tspec_step_t *items = tspec_arena_copy(arena, steps.items, sizeof *items * (size_t)steps.count);
  for (int i = 0; i < steps.count; i++) {
    tspec_step_t *step = &items[i];
    TSPEC_CHECK(step->windows == NULL);
    step->axes = tspec_arena_copy(arena, step->axes, sizeof *step->axes * (size_t)step->naxes);
    step->from = tspec_sharding_copy(arena, step->from);
    step->to = tspec_sharding_copy(arena, step->to);
  }
  return (tspec_steps_t){steps.count, items};
}

tspec_steps_t tspec_reshard_decompose(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                      tspec_type_t type, const tspec_sharding_t *from,
                                      const tspec_sharding_t *to) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_steps_t steps = keep_steps(arena, find_steps(&work, mesh, type, from, to));
  tspec_arena_deinit(&work);
  return steps;
}

int64_t tspec_steps_cost_bytes(const tspec_mesh_t *mesh, tspec_type_t type, tspec_steps_t steps) {
  int64_t sum = 0;
  for (int i = 0; i < steps.count; i++) {
    int64_t cost = tspec_step_cost_bytes(mesh, type, &steps.items[i]);
    if (__builtin_add_overflow(sum, cost, &sum)) {
      return INT64_MAX;
    }
  }
  return sum;
}

const char *tspec_steps_print(tspec_arena_t *arena, const tspec_mesh_t *mesh, tspec_steps_t steps) {
  tspec_buf_t buf = {0};
  for (int i = 0; i < steps.count; i++) {
    tspec_buf_printf(&buf, "%s%s %s", i == 0 ? "" : " -> ",
                     tspec_collective_name(steps.items[i].kind),
                     tspec_sharding_print(arena, mesh, steps.items[i].to));
  }
  char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}
