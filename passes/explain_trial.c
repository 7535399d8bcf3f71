#include "passes/explain_trial.h"

#include <string.h>

#include "ir/shard/axes.h"
#include "ir/shard/prop_graph.h"

// ---- sets ----

tspec_seed_set_t tspec_seed_set_none(const tspec_explain_t *explain, const tspec_part_t *part) {
  return TSPEC_ARENA_NEW(explain->arena, uint64_t, part->nwords);
}

tspec_seed_set_t tspec_seed_set_copy(const tspec_explain_t *explain, const tspec_part_t *part,
                                     const uint64_t *seeds) {
  return tspec_arena_copy(explain->arena, seeds, sizeof *seeds * (size_t)part->nwords);
}

tspec_seed_set_t tspec_seed_set_all(const tspec_explain_t *explain, const tspec_part_t *part) {
  tspec_seed_set_t set = tspec_seed_set_none(explain, part);
  for (int i = 0; i < part->nseeds; i++) {
    set[i / 64] |= UINT64_C(1) << (i % 64);
  }
  return set;
}

void tspec_seed_set_add(tspec_seed_set_t set, int count, const int *seeds) {
  for (int i = 0; i < count; i++) {
    set[seeds[i] / 64] |= UINT64_C(1) << (seeds[i] % 64);
  }
}

void tspec_seed_set_remove(tspec_seed_set_t set, int count, const int *seeds) {
  for (int i = 0; i < count; i++) {
    set[seeds[i] / 64] &= ~(UINT64_C(1) << (seeds[i] % 64));
  }
}

// ---- runs ----

/// The axes of a dim whose seeds (from `seed` on) are selected; without one of them it is open.
static tspec_dim_t select_axes(const uint64_t *seeds, tspec_arena_t *arena, const tspec_dim_t *dim,
                               int seed) {
  tspec_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_axis_t, dim->naxes);
  tspec_dim_t kept = {.axes = axes, .open = dim->open, .priority = dim->priority};
  for (int i = 0; i < dim->naxes; i++) {
    if (tspec_seed_set_has(seeds, seed + i)) {
      axes[kept.naxes++] = dim->axes[i];
    }
  }
  if (kept.naxes < dim->naxes) {
    kept.open = true;
    kept.priority = kept.naxes == 0 ? 0 : dim->priority;
  }
  return kept;
}

static const tspec_sharding_t *select_seeds(const uint64_t *seeds, tspec_arena_t *arena,
                                            const tspec_sharding_t *start, int seed) {
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, start->rank);
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *sharding = *start;
  sharding->dims = dims;
  for (int d = 0; d < start->rank; d++) {
    dims[d] = select_axes(seeds, arena, &start->dims[d], seed);
    seed += start->dims[d].naxes;
  }
  return sharding;
}

tspec_part_run_t tspec_part_run(tspec_explain_t *explain, const tspec_part_t *part,
                                const uint64_t *seeds, tspec_arena_t *arena) {
  tspec_prop_graph_t *graph = tspec_prop_copy(part->graph, arena);
  for (size_t i = 0; i < part->starts.count; i++) {
    const tspec_part_start_t *start = &part->starts.items[i];
    const tspec_sharding_t **initial = &graph->values.items[start->value].initial;
    *initial = select_seeds(seeds, arena, *initial, start->seed);
  }
  tspec_prop_run(graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL, .trial = true});
  explain->nruns++;
  return (tspec_part_run_t){part, seeds, graph};
}

// ---- what came of it ----

/// True if all of `axis` lies on the dim, maybe in several pieces.
static bool covers(const tspec_dim_t *dim, tspec_axis_t axis) {
  int64_t covered = 1;
  for (int i = 0; i < dim->naxes; i++) {
    tspec_axis_t part;
    if (tspec_axis_intersect(dim->axes[i], axis, &part)) {
      covered *= part.size;
    }
  }
  return covered == axis.size;
}

static tspec_trial_t try_seeds(tspec_explain_t *explain, const tspec_part_t *part,
                               const uint64_t *seeds, int effect) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_part_run_t run = tspec_part_run(explain, part, seeds, &work);
  uint64_t *bits = TSPEC_ARENA_NEW(explain->arena, uint64_t, (part->effects.count + 63) / 64);
  for (size_t i = 0, value = 0; i < part->effects.count; i++) {
    const tspec_effect_t *at = &explain->effects.items[part->effects.items[i]];
    while (part->values[value] != at->value) { // both ascend
      value++;
    }
    if (covers(&tspec_prop_sharding(run.graph, (int)value)->dims[at->dim], at->axis)) {
      bits[i / 64] |= UINT64_C(1) << (i % 64);
    }
  }
  tspec_trial_t trial = {.seeds = tspec_seed_set_copy(explain, part, seeds),
                         .effects = bits,
                         .effect = effect,
                         .chain = {.seed = -1}};
  if (tspec_seed_set_has(bits, explain->place_of[effect])) {
    trial.chain = tspec_explain_walk(explain, &run, effect, explain->arena);
  }
  tspec_arena_deinit(&work);
  return trial;
}

static size_t hash_set(const tspec_part_t *part, const uint64_t *seeds) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int i = 0; i < part->nwords; i++) {
    hash = (hash ^ seeds[i]) * UINT64_C(1099511628211);
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

static int *find_slot(const tspec_part_t *part, const uint64_t *seeds) {
  size_t slot = hash_set(part, seeds) % part->nslots;
  while (part->slots[slot] != 0 && memcmp(part->trials.items[part->slots[slot] - 1].seeds, seeds,
                                          sizeof *seeds * (size_t)part->nwords) != 0) {
    slot = (slot + 1) % part->nslots;
  }
  return &part->slots[slot];
}

static void grow_slots(const tspec_explain_t *explain, tspec_part_t *part) {
  part->nslots = part->nslots == 0 ? 64 : 2 * part->nslots;
  part->slots = TSPEC_ARENA_NEW(explain->arena, int, part->nslots);
  for (size_t i = 0; i < part->trials.count; i++) {
    *find_slot(part, part->trials.items[i].seeds) = (int)i + 1;
  }
}

int tspec_explain_trial(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                        int effect) {
  if (2 * (part->trials.count + 1) > part->nslots) {
    grow_slots(explain, part);
  }
  int *slot = find_slot(part, seeds);
  if (*slot == 0) {
    tspec_trial_t trial = try_seeds(explain, part, seeds, effect);
    TSPEC_VEC_PUSH(explain->arena, &part->trials, trial);
    *slot = (int)part->trials.count;
  }
  return *slot - 1;
}

bool tspec_explain_holds(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                         int effect) {
  int trial = tspec_explain_trial(explain, part, seeds, effect);
  return tspec_seed_set_has(part->trials.items[trial].effects, explain->place_of[effect]);
}
