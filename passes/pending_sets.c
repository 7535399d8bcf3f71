#include "passes/pending_sets.h"

#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"

typedef tspec_pending_set_t set_t;

set_t tspec_pending_set_of(const tspec_sharding_t *sharding) {
  return (set_t){sharding->pending_kind, sharding->npending, sharding->pending};
}

set_t tspec_pending_set_copy(tspec_arena_t *arena, set_t set) {
  set.axes = set.count == 0
                 ? NULL
                 : tspec_arena_copy(arena, set.axes, sizeof *set.axes * (size_t)set.count);
  return set;
}

set_t tspec_pending_set_subtract(tspec_arena_t *arena, set_t a, const tspec_axis_t *axes,
                                 int naxes) {
  if (a.count == 0 || naxes == 0) {
    return a;
  }
  tspec_axis_t *rest = TSPEC_ARENA_NEW(arena, tspec_axis_t, TSPEC_MAX_ATOMS);
  int count = 0;
  if (!tspec_axes_subtract(a.axes, a.count, axes, naxes, rest, &count)) {
    return (set_t){.kind = a.kind};
  }
  return (set_t){a.kind, tspec_axes_sort(rest, count), rest};
}

set_t tspec_pending_set_intersect(tspec_arena_t *arena, set_t a, set_t b) {
  if (a.count == 0 || b.count == 0 || a.kind != b.kind) {
    return (set_t){0};
  }
  set_t lost = tspec_pending_set_subtract(arena, a, b.axes, b.count);
  return lost.count == 0 ? a : tspec_pending_set_subtract(arena, a, lost.axes, lost.count);
}

set_t tspec_pending_set_join(tspec_arena_t *arena, set_t a, set_t b) {
  if (a.count == 0 || b.count == 0) {
    return a.count == 0 ? b : a;
  }
  if (a.kind != b.kind) {
    return a;
  }
  set_t more = tspec_pending_set_subtract(arena, b, a.axes, a.count);
  tspec_axis_t *all = TSPEC_ARENA_NEW(arena, tspec_axis_t, a.count + more.count);
  tspec_axes_copy(all, a.axes, a.count);
  tspec_axes_copy(all + a.count, more.axes, more.count);
  return (set_t){a.kind, tspec_axes_sort(all, a.count + more.count), all};
}

set_t tspec_pending_set_without_splits(tspec_arena_t *arena, set_t set,
                                       const tspec_sharding_t *sharding) {
  for (int d = 0; d < sharding->rank && set.count > 0; d++) {
    set = tspec_pending_set_subtract(arena, set, sharding->dims[d].axes, sharding->dims[d].naxes);
  }
  return set;
}

const tspec_sharding_t *tspec_pending_set_strip(tspec_arena_t *arena,
                                                const tspec_sharding_t *sharding, set_t set) {
  const tspec_sharding_t *complete = tspec_sharding_complete(arena, sharding);
  if (set.count == 0) {
    return complete;
  }
  tspec_sharding_t *stripped = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, complete->rank);
  *stripped = *complete;
  stripped->dims = dims;
  for (int d = 0; d < complete->rank; d++) {
    dims[d] = complete->dims[d];
    if (dims[d].naxes == 0) {
      continue;
    }
    tspec_axis_t *rest = TSPEC_ARENA_NEW(arena, tspec_axis_t, TSPEC_MAX_ATOMS);
    tspec_axis_t *merged = TSPEC_ARENA_NEW(arena, tspec_axis_t, TSPEC_MAX_ATOMS);
    int nrest = 0;
    dims[d].axes = merged;
    if (!tspec_axes_subtract(complete->dims[d].axes, complete->dims[d].naxes, set.axes, set.count,
                             rest, &nrest)) {
      nrest = 0; // no common refinement: not split at all
    }
    dims[d].naxes = 0;
    for (int i = 0; i < nrest; i++) {
      tspec_axes_push(merged, &dims[d].naxes, rest[i]);
    }
  }
  return stripped;
}

bool tspec_pending_set_covers(tspec_arena_t *arena, set_t a, set_t b) {
  if (b.count == 0) {
    return true;
  }
  set_t common = tspec_pending_set_intersect(arena, b, a);
  return tspec_axes_equal(common.axes, common.count, b.axes, b.count);
}
