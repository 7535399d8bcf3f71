#include "passes/wire.h"

#include <string.h>

int64_t tspec_wire_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static double largest_bandwidth(const tspec_mesh_t *mesh) {
  double largest = 0;
  for (int i = 0; i < mesh->naxes; i++) {
    double stated = mesh->axes[i].bytes_per_second;
    largest = stated > largest ? stated : largest;
  }
  return largest;
}

static int64_t step_cost(const tspec_mesh_t *mesh, tspec_type_t type, const tspec_step_t *step) {
  int64_t bytes = tspec_step_cost_bytes(mesh, type, step);
  double largest = largest_bandwidth(mesh);
  double slowest = largest;
  for (int i = 0; i < step->naxes; i++) {
    double stated = mesh->axes[step->axes[i].axis].bytes_per_second;
    slowest = stated > 0 && stated < slowest ? stated : slowest;
  }
  if (slowest == largest) {
    return bytes;
  }
  double weighed = (double)bytes * (largest / slowest);
  return weighed < (double)INT64_MAX ? (int64_t)weighed : INT64_MAX;
}

static int64_t plan_cost(const tspec_mesh_t *mesh, tspec_type_t type, const tspec_sharding_t *from,
                         const tspec_sharding_t *to) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_steps_t steps = tspec_reshard_decompose(&work, mesh, type, from, to);
  int64_t sum = 0;
  for (int i = 0; i < steps.count; i++) {
    sum = tspec_wire_add(sum, step_cost(mesh, type, &steps.items[i]));
  }
  tspec_arena_deinit(&work);
  return sum;
}

int64_t tspec_wire_conversion(tspec_wire_t *wire, tspec_type_t type, const tspec_sharding_t *from,
                              const tspec_sharding_t *to) {
  if (tspec_sharding_same_layout(from, to)) {
    return 0;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  const char *key = tspec_arena_printf(&work, "%s %s %s", tspec_type_print(&work, type),
                                       tspec_sharding_print(&work, wire->mesh, from),
                                       tspec_sharding_print(&work, wire->mesh, to));
  int64_t *cost = tspec_names_get(&wire->known, key);
  if (cost == NULL) {
    cost = TSPEC_ARENA_NEW(wire->arena, int64_t, 1);
    *cost = plan_cost(wire->mesh, type, from, to);
    key = tspec_arena_strdup(wire->arena, key, strlen(key));
    tspec_names_set(wire->arena, &wire->known, key, cost);
  }
  tspec_arena_deinit(&work);
  return *cost;
}
