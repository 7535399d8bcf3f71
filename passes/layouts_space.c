#include "passes/layouts_space.h"

#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"
#include "ir/shard/decompose.h"

tspec_space_t *tspec_space_of(tspec_names_t *spaces, tspec_wire_t *wire, tspec_type_t type) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const char *key = tspec_type_print(&work, type);
  tspec_space_t *space = tspec_names_get(spaces, key);
  if (space == NULL) {
    space = TSPEC_ARENA_NEW(wire->arena, tspec_space_t, 1);
    *space = (tspec_space_t){.wire = wire, .type = type};
    key = tspec_arena_printf(wire->arena, "%s", key);
    tspec_names_set(wire->arena, spaces, key, space);
  }
  tspec_arena_deinit(&work);
  return space;
}

int tspec_space_number(tspec_space_t *space, const tspec_sharding_t *sharding) {
  for (size_t i = 0; i < space->layouts.count; i++) {
    if (tspec_sharding_same_layout(space->layouts.items[i].sharding, sharding)) {
      return (int)i;
    }
  }
  tspec_arena_t *arena = space->wire->arena;
  const tspec_sharding_t *copy = tspec_sharding_drop_ones(arena, sharding);
  int number = (int)space->layouts.count;
  TSPEC_VEC_PUSH(arena, &space->layouts, (tspec_layout_t){.sharding = copy, .complete = number});
  if (copy->npending > 0) {
    int complete = tspec_space_number(space, tspec_sharding_complete(arena, copy));
    space->layouts.items[number].complete = complete;
  }
  return number;
}

const tspec_sharding_t *tspec_space_sharding(const tspec_space_t *space, int layout) {
  return space->layouts.items[layout].sharding;
}

int tspec_space_complete(const tspec_space_t *space, int layout) {
  return space->layouts.items[layout].complete;
}

bool tspec_space_uses(const tspec_space_t *space, int layout, tspec_axis_t axis) {
  const tspec_sharding_t *sharding = tspec_space_sharding(space, layout);
  bool used = tspec_axes_overlap(sharding->pending, sharding->npending, axis);
  for (int d = 0; !used && d < sharding->rank; d++) {
    used = tspec_axes_overlap(sharding->dims[d].axes, sharding->dims[d].naxes, axis);
  }
  return used;
}

int tspec_space_split(tspec_space_t *space, int layout, int dim, const tspec_axis_t *axes,
                      int naxes) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t *sharding = tspec_space_sharding(space, layout);
  tspec_sharding_t more = *sharding;
  tspec_dim_t *dims =
      tspec_arena_copy(&work, sharding->dims, sizeof *dims * (size_t)sharding->rank);
  tspec_axis_t *all = TSPEC_ARENA_NEW(&work, tspec_axis_t, dims[dim].naxes + naxes);
  tspec_axes_copy(all, dims[dim].axes, dims[dim].naxes);
  dims[dim].axes = all;
  more.dims = dims;
  bool fits = true;
  for (int i = 0; i < naxes; i++) {
    fits = fits && !tspec_space_uses(space, layout, axes[i]);
    tspec_axes_push(all, &dims[dim].naxes, axes[i]);
  }
  for (int i = 0; fits && i < naxes; i++) {
    tspec_cuts_t cuts = {0};
    fits = tspec_cuts_add_dims(&cuts, axes[i].axis, &more);
  }
  fits = fits && tspec_dim_nblocks(&dims[dim]) <= space->type.dims[dim];
  int number = fits ? tspec_space_number(space, &more) : -1;
  tspec_arena_deinit(&work);
  return number;
}

int64_t tspec_space_cost(tspec_space_t *space, int from, int to) {
  if (from == to) {
    return 0;
  }
  tspec_costs_t *costs = &space->layouts.items[from].costs;
  while (costs->count <= (size_t)to) {
    TSPEC_VEC_PUSH(space->wire->arena, costs, -1);
  }
  if (costs->items[to] < 0) {
    costs->items[to] =
        tspec_wire_conversion(space->wire, space->type, space->layouts.items[from].sharding,
                              space->layouts.items[to].sharding);
  }
  return costs->items[to];
}
