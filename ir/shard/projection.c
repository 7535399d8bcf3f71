#include "ir/shard/projection.h"

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void tspec_projection_init(tspec_projection_t *projection, tspec_arena_t *arena,
                           const tspec_mesh_t *mesh) {
  *projection =
      (tspec_projection_t){.arena = arena, .mesh = mesh, .max_pieces = tspec_mesh_max_pieces(mesh)};
}

/// Two lists of every factor lie side by side in one pool.
static void reserve_factors(tspec_projection_t *projection, size_t count) {
  if (count <= projection->capacity) {
    return;
  }
  size_t capacity = 2 * count;
  size_t room = (size_t)projection->max_pieces;
  tspec_axis_t *pool = TSPEC_ARENA_NEW(projection->arena, tspec_axis_t, capacity * 2 * room);
  projection->factors = TSPEC_ARENA_NEW(projection->arena, tspec_factor_axes_t, capacity);
  for (size_t i = 0; i < capacity; i++) {
    projection->factors[i].axes = pool + 2 * i * room;
    projection->factors[i].overflow = pool + (2 * i + 1) * room;
  }
  projection->capacity = capacity;
}

static void reserve_tensors(tspec_projection_t *projection, int count) {
  if (count > projection->tensor_capacity) {
    projection->tensor_capacity = 2 * count;
    projection->shardings = TSPEC_ARENA_NEW(projection->arena, const tspec_sharding_t *, 2 * count);
  }
}

const tspec_factor_map_t *tspec_factor_rule_tensor(const tspec_factor_rule_t *rule, int tensor) {
  return tensor < rule->noperands ? &rule->operands[tensor]
                                  : &rule->results[tensor - rule->noperands];
}

int64_t tspec_factor_rule_elems(const tspec_factor_rule_t *rule, int tensor) {
  const tspec_factor_map_t *map = tspec_factor_rule_tensor(rule, tensor);
  int64_t elems = 1;
  for (int dim = 0; dim < map->rank; dim++) {
    for (int i = 0; i < map->dims[dim].nfactors; i++) {
      if (__builtin_mul_overflow(elems, rule->factors[map->dims[dim].factors[i]].size, &elems)) {
        return INT64_MAX;
      }
    }
  }
  return elems;
}

tspec_factor_axes_t *tspec_projection_at(const tspec_projection_t *projection, int tensor,
                                         int factor) {
  return &projection->factors[(size_t)tensor * (size_t)projection->nfactors + (size_t)factor];
}

void tspec_projection_start(tspec_projection_t *projection, const tspec_factor_rule_t *rule) {
  projection->rule = rule;
  projection->nfactors = rule->nfactors;
  projection->ntensors = rule->noperands + rule->nresults;
  size_t count = (size_t)projection->ntensors * (size_t)projection->nfactors;
  reserve_factors(projection, count);
  reserve_tensors(projection, projection->ntensors);
  for (size_t i = 0; i < count; i++) {
    tspec_factor_axes_t *factor = &projection->factors[i];
    *factor = (tspec_factor_axes_t){.axes = factor->axes, .overflow = factor->overflow};
  }
}

/// Axes of a dim that no factor has taken yet; `head` is what is left of the first.
typedef struct rest_t {
  tspec_axis_t head;
  const tspec_axis_t *tail;
  int count;
} rest_t;

static void drop_head(rest_t *rest) {
  rest->count--;
  if (rest->count > 0) {
    rest->head = *rest->tail++;
  }
}

static void take_all(rest_t *rest, tspec_axis_t *axes, int *naxes) {
  while (rest->count > 0) {
    axes[(*naxes)++] = rest->head;
    drop_head(rest);
  }
}

/// Gives a factor that is not the last of its dim as many axes as divide its size. Returns what is
/// left of the size.
static int64_t take_dividing(rest_t *rest, tspec_factor_axes_t *factor, int64_t size) {
  while (rest->count > 0) {
    int64_t common = gcd(size, rest->head.size);
    if (common == 1 && rest->head.size != 1) {
      break;
    }
    size /= common;
    if (common == rest->head.size) {
      factor->axes[factor->naxes++] = rest->head;
      drop_head(rest);
    } else {
      factor->axes[factor->naxes++] = tspec_axis_major(rest->head, common);
      rest->head = tspec_axis_minor(rest->head, rest->head.size / common);
    }
  }
  return size;
}

static void set_dim(tspec_projection_t *projection, int tensor, int dim, const tspec_dim_t *axes) {
  const tspec_factor_dim_t *map = &tspec_factor_rule_tensor(projection->rule, tensor)->dims[dim];
  for (int i = 0; i < map->nfactors; i++) {
    tspec_factor_axes_t *factor = tspec_projection_at(projection, tensor, map->factors[i]);
    factor->present = true;
    factor->open = axes == NULL || axes->open;
    factor->minor_most = i + 1 == map->nfactors;
    factor->dim = dim;
  }
  if (axes == NULL || axes->naxes == 0) {
    return;
  }
  rest_t rest = {.head = axes->axes[0], .tail = axes->axes + 1, .count = axes->naxes};
  for (int i = 0; i < map->nfactors && rest.count > 0; i++) {
    tspec_factor_axes_t *factor = tspec_projection_at(projection, tensor, map->factors[i]);
    if (factor->minor_most) {
      take_all(&rest, factor->axes, &factor->naxes);
      break;
    }
    int64_t left = take_dividing(&rest, factor, projection->rule->factors[map->factors[i]].size);
    if (left > 1 && rest.count > 0) {
      take_all(&rest, factor->overflow, &factor->noverflow);
      tspec_projection_at(projection, tensor, map->factors[i + 1])->open = false;
    }
  }
}

void tspec_projection_set(tspec_projection_t *projection, int tensor,
                          const tspec_sharding_t *sharding) {
  const tspec_factor_map_t *map = tspec_factor_rule_tensor(projection->rule, tensor);
  TSPEC_CHECK(sharding == NULL || sharding->rank == map->rank);
  projection->shardings[tensor] = sharding;
  for (int dim = 0; dim < map->rank; dim++) {
    set_dim(projection, tensor, dim, sharding == NULL ? NULL : &sharding->dims[dim]);
  }
}

static void append(tspec_axis_t *axes, int *naxes, const tspec_axis_t *more, int nmore) {
  for (int i = 0; i < nmore; i++) {
    tspec_axes_push(axes, naxes, more[i]);
  }
}

static tspec_dim_t get_dim(const tspec_projection_t *projection, int tensor,
                           const tspec_factor_dim_t *map, tspec_arena_t *arena) {
  int room = 0;
  for (int i = 0; i < map->nfactors; i++) {
    const tspec_factor_axes_t *factor = tspec_projection_at(projection, tensor, map->factors[i]);
    room += factor->naxes + factor->noverflow;
  }
  tspec_dim_t dim = {.open = true};
  tspec_axis_t *axes = room == 0 ? NULL : TSPEC_ARENA_NEW(arena, tspec_axis_t, room);
  for (int i = 0; i < map->nfactors; i++) {
    const tspec_factor_axes_t *factor = tspec_projection_at(projection, tensor, map->factors[i]);
    append(axes, &dim.naxes, factor->axes, factor->naxes);
    dim.open = dim.open && factor->open;
    if (factor->noverflow > 0) {
      append(axes, &dim.naxes, factor->overflow, factor->noverflow);
      break;
    }
    // Splitting a more minor factor of a factor that is not wholly split would give strided blocks.
    if (tspec_axes_product(factor->axes, factor->naxes) !=
        projection->rule->factors[map->factors[i]].size) {
      break;
    }
  }
  dim.axes = axes;
  return dim;
}

tspec_dim_t *tspec_projection_get(const tspec_projection_t *projection, int tensor,
                                  tspec_arena_t *arena) {
  const tspec_factor_map_t *map = tspec_factor_rule_tensor(projection->rule, tensor);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, map->rank);
  for (int dim = 0; dim < map->rank; dim++) {
    dims[dim] = get_dim(projection, tensor, &map->dims[dim], arena);
  }
  return dims;
}

void tspec_projection_assign(const tspec_projection_t *projection, int tensor, int factor,
                             const tspec_axis_t *axes, int naxes) {
  TSPEC_CHECK(naxes <= projection->max_pieces);
  tspec_factor_axes_t *slot = tspec_projection_at(projection, tensor, factor);
  tspec_axes_copy(slot->axes, axes, naxes);
  slot->naxes = naxes;
}
