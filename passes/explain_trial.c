#include "passes/explain_trial.h"

#include <string.h>

#include "ir/shard/axes.h"

// ---- sets ----

tspec_seed_set_t tspec_seed_set_copy(const tspec_explain_t *explain, const uint64_t *seeds) {
  return tspec_arena_copy(explain->arena, seeds, sizeof *seeds * (size_t)explain->nwords);
}

tspec_seed_set_t tspec_seed_set_all(const tspec_explain_t *explain) {
  tspec_seed_set_t set = TSPEC_ARENA_NEW(explain->arena, uint64_t, explain->nwords);
  for (size_t i = 0; i < explain->seeds.count; i++) {
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

// ---- seeds of a run ----

static int first_seed(const tspec_explain_t *explain, int declaration) {
  return (size_t)declaration < explain->first_seed.count ? explain->first_seed.items[declaration]
                                                         : -1;
}

// Notes the seeds of a place when it is met for the first time.
static const tspec_sharding_t *collect_seeds(void *user, const tspec_prop_start_t *start) {
  tspec_explain_t *explain = user;
  const tspec_sharding_t *sharding = start->sharding;
  if (first_seed(explain, start->declaration) >= 0) {
    return sharding;
  }
  while (explain->first_seed.count <= (size_t)start->declaration) {
    TSPEC_VEC_PUSH(explain->arena, &explain->first_seed, -1);
  }
  explain->first_seed.items[start->declaration] = (int)explain->seeds.count;
  for (int d = 0; d < sharding->rank; d++) {
    for (int i = 0; i < sharding->dims[d].naxes; i++) {
      tspec_seed_t seed = {.declaration = start->declaration,
                           .value = start->value,
                           .dim = d,
                           .axis = sharding->dims[d].axes[i]};
      if (sharding->said != NULL) {
        seed.said = sharding->said[d];
      }
      TSPEC_VEC_PUSH(explain->arena, &explain->seeds, seed);
    }
  }
  return sharding;
}

typedef struct selection_t {
  const tspec_explain_t *explain;
  const uint64_t *seeds;
  tspec_arena_t *arena;
} selection_t;

// The axes of a dim whose seeds (from `seed` on) are selected; without one of them it is open.
static tspec_dim_t select_axes(const selection_t *selection, const tspec_dim_t *dim, int seed) {
  tspec_axis_t *axes = TSPEC_ARENA_NEW(selection->arena, tspec_axis_t, dim->naxes);
  tspec_dim_t kept = {.axes = axes, .open = dim->open, .priority = dim->priority};
  for (int i = 0; i < dim->naxes; i++) {
    if (tspec_seed_set_has(selection->seeds, seed + i)) {
      axes[kept.naxes++] = dim->axes[i];
    }
  }
  if (kept.naxes < dim->naxes) {
    kept.open = true;
    kept.priority = kept.naxes == 0 ? 0 : dim->priority;
  }
  return kept;
}

static const tspec_sharding_t *select_seeds(void *user, const tspec_prop_start_t *start) {
  const selection_t *selection = user;
  int seed = first_seed(selection->explain, start->declaration);
  int rank = start->sharding->rank;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(selection->arena, tspec_dim_t, rank);
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(selection->arena, tspec_sharding_t, 1);
  *sharding = *start->sharding;
  sharding->dims = dims;
  for (int d = 0; d < rank; d++) {
    dims[d] = select_axes(selection, &start->sharding->dims[d], seed);
    seed += start->sharding->dims[d].naxes;
  }
  return sharding;
}

tspec_prop_map_t *tspec_explain_run(tspec_explain_t *explain, const uint64_t *seeds,
                                    tspec_arena_t *arena) {
  selection_t selection = {explain, seeds, arena};
  tspec_prop_map_t *map =
      seeds == NULL ? tspec_prop_map_create(arena, explain->program, collect_seeds, explain)
                    : tspec_prop_map_create(arena, explain->program, select_seeds, &selection);
  tspec_prop_run(map->graph,
                 &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL, .trial = seeds != NULL});
  explain->nruns++;
  return map;
}

// ---- what came of it ----

// True if all of `axis` lies on the dim, maybe in several pieces.
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

static tspec_trial_t try_seeds(tspec_explain_t *explain, const uint64_t *seeds, int effect) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_prop_map_t *map = tspec_explain_run(explain, seeds, &work);
  uint64_t *bits = TSPEC_ARENA_NEW(explain->arena, uint64_t, (explain->effects.count + 63) / 64);
  for (size_t i = 0; i < explain->effects.count; i++) {
    const tspec_effect_t *at = &explain->effects.items[i];
    const tspec_sharding_t *sharding = tspec_prop_sharding(map->graph, at->value);
    if (covers(&sharding->dims[at->dim], at->axis)) {
      bits[i / 64] |= UINT64_C(1) << (i % 64);
    }
  }
  tspec_trial_t trial = {tspec_seed_set_copy(explain, seeds), bits, effect, {.seed = -1}};
  if (tspec_seed_set_has(bits, effect)) {
    trial.chain = tspec_explain_walk(explain, map, seeds, effect, explain->arena);
  }
  tspec_arena_deinit(&work);
  return trial;
}

static size_t hash_set(const tspec_explain_t *explain, const uint64_t *seeds) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int i = 0; i < explain->nwords; i++) {
    hash = (hash ^ seeds[i]) * UINT64_C(1099511628211);
    hash ^= hash >> 29;
  }
  return (size_t)hash;
}

static int *find_slot(const tspec_explain_t *explain, const uint64_t *seeds) {
  size_t slot = hash_set(explain, seeds) % explain->nslots;
  while (explain->slots[slot] != 0 && memcmp(explain->trials.items[explain->slots[slot] - 1].seeds,
                                             seeds, sizeof *seeds * (size_t)explain->nwords) != 0) {
    slot = (slot + 1) % explain->nslots;
  }
  return &explain->slots[slot];
}

static void grow_slots(tspec_explain_t *explain) {
  explain->nslots = explain->nslots == 0 ? 64 : 2 * explain->nslots;
  explain->slots = TSPEC_ARENA_NEW(explain->arena, int, explain->nslots);
  for (size_t i = 0; i < explain->trials.count; i++) {
    *find_slot(explain, explain->trials.items[i].seeds) = (int)i + 1;
  }
}

int tspec_explain_trial(tspec_explain_t *explain, const uint64_t *seeds, int effect) {
  if (2 * (explain->trials.count + 1) > explain->nslots) {
    grow_slots(explain);
  }
  int *slot = find_slot(explain, seeds);
  if (*slot == 0) {
    tspec_trial_t trial = try_seeds(explain, seeds, effect);
    TSPEC_VEC_PUSH(explain->arena, &explain->trials, trial);
    *slot = (int)explain->trials.count;
  }
  return *slot - 1;
}

bool tspec_explain_holds(tspec_explain_t *explain, const uint64_t *seeds, int effect) {
  int trial = tspec_explain_trial(explain, seeds, effect);
  return tspec_seed_set_has(explain->trials.items[trial].effects, effect);
}
