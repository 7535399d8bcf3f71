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

int64_t tspec_wire_weigh(const tspec_mesh_t *mesh, const tspec_axis_t *axes, int naxes,
                         int64_t bytes) {
  double largest = largest_bandwidth(mesh);
  double slowest = largest;
  for (int i = 0; i < naxes; i++) {
    double stated = mesh->axes[axes[i].axis].bytes_per_second;
    slowest = stated > 0 && stated < slowest ? stated : slowest;
  }
  if (slowest == largest) {
    return bytes;
  }
  double weighed = (double)bytes * (largest / slowest);
  return weighed < (double)INT64_MAX ? (int64_t)weighed : INT64_MAX;
}

static tspec_wire_plan_t *make_plan(const tspec_wire_t *wire, tspec_type_t type,
                                    const tspec_sharding_t *from, const tspec_sharding_t *to) {
  tspec_wire_plan_t *plan = TSPEC_ARENA_NEW(wire->arena, tspec_wire_plan_t, 1);
  plan->steps = tspec_reshard_decompose(wire->arena, wire->mesh, type, from, to);
  for (int i = 0; i < plan->steps.count; i++) {
    const tspec_step_t *step = &plan->steps.items[i];
    int64_t bytes = tspec_step_cost_bytes(wire->mesh, type, step);
    plan->bytes = tspec_wire_add(plan->bytes, bytes);
    plan->cost =
        tspec_wire_add(plan->cost, tspec_wire_weigh(wire->mesh, step->axes, step->naxes, bytes));
  }
  return plan;
}

const tspec_wire_plan_t *tspec_wire_plan(tspec_wire_t *wire, tspec_type_t type,
                                         const tspec_sharding_t *from, const tspec_sharding_t *to) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const char *key = tspec_arena_printf(&work, "%s %s %s", tspec_type_print(&work, type),
                                       tspec_sharding_print(&work, wire->mesh, from),
                                       tspec_sharding_print(&work, wire->mesh, to));
  tspec_wire_plan_t *plan = tspec_names_get(&wire->known, key);
  if (plan == NULL) {
    plan = make_plan(wire, type, from, to);
    key = tspec_arena_strdup(wire->arena, key, strlen(key));
    tspec_names_set(wire->arena, &wire->known, key, plan);
  }
  tspec_arena_deinit(&work);
  return plan;
}

int64_t tspec_wire_bytes(tspec_wire_t *wire, tspec_type_t type, const tspec_sharding_t *from,
                         const tspec_sharding_t *to) {
  return tspec_sharding_same_layout(from, to) ? 0 : tspec_wire_plan(wire, type, from, to)->bytes;
}

int64_t tspec_wire_conversion(tspec_wire_t *wire, tspec_type_t type, const tspec_sharding_t *from,
                              const tspec_sharding_t *to) {
  return tspec_sharding_same_layout(from, to) ? 0 : tspec_wire_plan(wire, type, from, to)->cost;
}
