#include "passes/explain.h"

#include "passes/explain_trial.h"

// ---- effects ----

static void note_effects(tspec_explain_t *explain) {
  size_t nvalues = explain->map->sites.count;
  explain->first_effect = TSPEC_ARENA_NEW(explain->arena, int, nvalues + 1);
  for (size_t v = 0; v < nvalues; v++) {
    const tspec_sharding_t *sharding = tspec_prop_sharding(explain->map->graph, (int)v);
    explain->first_effect[v] = (int)explain->effects.count;
    for (int d = 0; d < sharding->rank; d++) {
      for (int i = 0; i < sharding->dims[d].naxes; i++) {
        TSPEC_VEC_PUSH(explain->arena, &explain->effects,
                       (tspec_effect_t){(int)v, d, sharding->dims[d].axes[i]});
      }
    }
  }
  explain->first_effect[nvalues] = (int)explain->effects.count;
}

// ---- seeds ----

/// Twice as many trials of all that acts on each other are made at most for a value.
enum { MANY_SEEDS = 256 };

static void grow_to(tspec_explain_t *explain, size_t ndeclarations, size_t nvalues) {
  while (explain->first_seed.count < ndeclarations) {
    TSPEC_VEC_PUSH(explain->arena, &explain->first_seed, -1);
    TSPEC_VEC_PUSH(explain->arena, &explain->nseeds_of, 0);
  }
  while (explain->declared.count < nvalues) {
    TSPEC_VEC_PUSH(explain->arena, &explain->declared, 0);
  }
}

/// Notes the seeds of a place when it is met for the first time.
static const tspec_sharding_t *collect_seeds(void *user, const tspec_prop_start_t *start) {
  tspec_explain_t *explain = user;
  const tspec_sharding_t *sharding = start->sharding;
  grow_to(explain, (size_t)start->declaration + 1, (size_t)start->value + 1);
  explain->declared.items[start->value] = start->declaration + 1;
  if (explain->first_seed.items[start->declaration] >= 0) {
    return sharding;
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
      explain->nseeds_of.items[start->declaration]++;
    }
  }
  return sharding;
}

void tspec_explain_set_many(tspec_explain_t *explain, int nseeds) {
  explain->many = nseeds;
}

tspec_explain_t *tspec_explain_create(tspec_arena_t *arena, tspec_program_t *program) {
  TSPEC_CHECK(program->level == TSPEC_LEVEL_GLOBAL, "explanations begin with a global program");
  tspec_explain_t *explain = TSPEC_ARENA_NEW(arena, tspec_explain_t, 1);
  explain->arena = arena;
  explain->program = program;
  explain->many = MANY_SEEDS;
  explain->map = tspec_prop_map_create(arena, program, collect_seeds, explain);
  tspec_prop_run(explain->map->graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL});
  explain->nruns = 1;
  explain->links = tspec_prop_link_dims(explain->map->graph, arena);
  note_effects(explain);
  explain->recorded = TSPEC_ARENA_NEW(arena, tspec_recorded_t, explain->effects.count);
  tspec_explain_divide(explain);
  return explain;
}

const tspec_prop_map_t *tspec_explain_map(const tspec_explain_t *explain) {
  return explain->map;
}

int tspec_explain_nseeds(const tspec_explain_t *explain) {
  return (int)explain->seeds.count;
}

const tspec_seed_t *tspec_explain_seed(const tspec_explain_t *explain, int seed) {
  return &explain->seeds.items[seed];
}

int tspec_explain_neffects(const tspec_explain_t *explain) {
  return (int)explain->effects.count;
}

const tspec_effect_t *tspec_explain_effect(const tspec_explain_t *explain, int effect) {
  return &explain->effects.items[effect];
}

int tspec_explain_first_effect(const tspec_explain_t *explain, int value) {
  return explain->first_effect[value];
}

int tspec_explain_nruns(const tspec_explain_t *explain) {
  return explain->nruns;
}

// ---- the search ----

typedef TSPEC_VEC(int) ids_t;

/// Seeds are numbers of the part.
typedef struct search_t {
  tspec_explain_t *explain;
  tspec_part_t *part;
  const uint64_t *given; ///< the seeds of the program that is explained; the effect is there
  int effect;
  TSPEC_VEC(tspec_reason_t) reasons;
  tspec_seed_set_t rest; ///< `given` without the seeds of the reasons
} search_t;

static bool holds(const search_t *search, const uint64_t *seeds) {
  return tspec_explain_holds(search->explain, search->part, seeds, search->effect);
}

static bool holds_with(const search_t *search, const uint64_t *set, int count, const int *seeds) {
  tspec_seed_set_t more = tspec_seed_set_copy(search->explain, search->part, set);
  tspec_seed_set_add(more, count, seeds);
  return holds(search, more);
}

static void add_reason(search_t *search, int count, const int *seeds) {
  tspec_arena_t *arena = search->explain->arena;
  int *sorted = tspec_arena_copy(arena, seeds, sizeof *seeds * (size_t)count);
  for (int i = 1; i < count; i++) {
    for (int k = i; k > 0 && sorted[k] < sorted[k - 1]; k--) {
      int swapped = sorted[k];
      sorted[k] = sorted[k - 1];
      sorted[k - 1] = swapped;
    }
  }
  TSPEC_VEC_PUSH(arena, &search->reasons, (tspec_reason_t){count, sorted});
  tspec_seed_set_remove(search->rest, count, seeds);
}

static void forget_reasons(search_t *search) {
  search->reasons.count = 0;
  search->rest = tspec_seed_set_copy(search->explain, search->part, search->given);
}

/// True if the seed's axis could flow to the effect: same mesh axis, and dims that are linked.
static bool is_near(const search_t *search, int seed) {
  const tspec_explain_t *explain = search->explain;
  const tspec_seed_t *from = &explain->seeds.items[search->part->seeds[seed]];
  const tspec_effect_t *to = &explain->effects.items[search->effect];
  const tspec_prop_links_t *links = &explain->links;
  return from->axis.axis == to->axis.axis && links->group[links->first[from->value] + from->dim] ==
                                                 links->group[links->first[to->value] + to->dim];
}

static ids_t near_seeds(const search_t *search) {
  ids_t ids = {0};
  for (int i = 0; i < search->part->nseeds; i++) {
    if (tspec_seed_set_has(search->given, i) && is_near(search, i)) {
      TSPEC_VEC_PUSH(search->explain->arena, &ids, i);
    }
  }
  return ids;
}

// ---- one seed is enough ----

static void find_single_seeds(search_t *search) {
  ids_t near = near_seeds(search);
  tspec_seed_set_t none = tspec_seed_set_none(search->explain, search->part);
  for (size_t i = 0; i < near.count; i++) {
    if (holds_with(search, none, 1, &near.items[i])) {
      add_reason(search, 1, &near.items[i]);
    }
  }
}

// ---- several together ----
// The smallest set, by halves: what of the second half is needed beside the first, then what of the
// first beside that. Source: Junker, QuickXplain (AAAI 2004).

typedef struct halves_t {
  search_t *search;
  ids_t found;
} halves_t;

static void find_needed(halves_t *halves, const uint64_t *base, bool base_is_new, int count,
                        const int *seeds) {
  search_t *search = halves->search;
  if (base_is_new && holds(search, base)) {
    return;
  }
  if (count == 1) {
    TSPEC_VEC_PUSH(search->explain->arena, &halves->found, seeds[0]);
    return;
  }
  int half = count / 2;
  size_t before = halves->found.count;
  tspec_seed_set_t more = tspec_seed_set_copy(search->explain, search->part, base);
  tspec_seed_set_add(more, half, seeds);
  find_needed(halves, more, true, count - half, seeds + half);
  int nfound = (int)(halves->found.count - before);
  more = tspec_seed_set_copy(search->explain, search->part, base);
  tspec_seed_set_add(more, nfound, halves->found.items + before);
  find_needed(halves, more, nfound > 0, half, seeds);
}

/// A set out of what is left that is enough by itself; false if the search finds none.
static bool find_joint_seeds(search_t *search) {
  ids_t left = {0};
  for (int near = 1; near >= 0; near--) {
    for (int i = 0; i < search->part->nseeds; i++) {
      if (tspec_seed_set_has(search->rest, i) && is_near(search, i) == (near == 1)) {
        TSPEC_VEC_PUSH(search->explain->arena, &left, i);
      }
    }
  }
  halves_t halves = {.search = search};
  tspec_seed_set_t none = tspec_seed_set_none(search->explain, search->part);
  if (left.count > 0) {
    find_needed(&halves, none, true, (int)left.count, left.items);
  }
  if (halves.found.count == 0 ||
      !holds_with(search, none, (int)halves.found.count, halves.found.items)) {
    return false;
  }
  add_reason(search, (int)halves.found.count, halves.found.items);
  return true;
}

// ---- in this program ----

/// Drops reasons that would be enough in another program, but here something is in their way.
static bool drop_blocked(search_t *search) {
  size_t kept = 0;
  size_t count = search->reasons.count;
  bool *blocked = TSPEC_ARENA_NEW(search->explain->arena, bool, count);
  for (size_t i = 0; i < count; i++) {
    const tspec_reason_t *reason = &search->reasons.items[i];
    blocked[i] = !holds_with(search, search->rest, reason->nseeds, reason->seeds);
  }
  for (size_t i = 0; i < count; i++) {
    tspec_reason_t reason = search->reasons.items[i];
    if (blocked[i]) {
      tspec_seed_set_add(search->rest, reason.nseeds, reason.seeds);
    } else {
      search->reasons.items[kept++] = reason;
    }
  }
  search->reasons.count = kept;
  return kept < count;
}

/// Seeds whose absence ends the effect, as few as that takes.
static ids_t find_vital_seeds(search_t *search) {
  ids_t ids = near_seeds(search);
  tspec_seed_set_t rest = tspec_seed_set_copy(search->explain, search->part, search->given);
  tspec_seed_set_remove(rest, (int)ids.count, ids.items);
  for (int seed = 0; holds(search, rest) && seed < search->part->nseeds; seed++) {
    if (tspec_seed_set_has(rest, seed)) {
      TSPEC_VEC_PUSH(search->explain->arena, &ids, seed);
      tspec_seed_set_remove(rest, 1, &seed);
    }
  }
  ids_t vital = {0};
  for (size_t i = 0; i < ids.count; i++) {
    if (holds_with(search, rest, 1, &ids.items[i])) {
      TSPEC_VEC_PUSH(search->explain->arena, &vital, ids.items[i]);
    } else {
      tspec_seed_set_add(rest, 1, &ids.items[i]);
    }
  }
  return vital;
}

static tspec_reasons_t find_reasons(tspec_explain_t *explain, tspec_part_t *part,
                                    const uint64_t *given, int effect);

static bool same_reason(tspec_reason_t a, tspec_reason_t b) {
  bool same = a.nseeds == b.nseeds;
  for (int i = 0; same && i < a.nseeds; i++) {
    same = a.seeds[i] == b.seeds[i];
  }
  return same;
}

/// True if each reason is the only one while the others are left out.
static bool each_alone(const search_t *search) {
  for (size_t i = 0; search->reasons.count > 1 && i < search->reasons.count; i++) {
    tspec_reason_t reason = search->reasons.items[i];
    tspec_seed_set_t alone = tspec_seed_set_copy(search->explain, search->part, search->rest);
    tspec_seed_set_add(alone, reason.nseeds, reason.seeds);
    if (!holds(search, alone)) {
      return false;
    }
    tspec_reasons_t found = find_reasons(search->explain, search->part, alone, search->effect);
    if (found.count != 1 || !same_reason(found.items[0], reason)) {
      return false;
    }
  }
  return true;
}

/// Where seeds act on each other beyond being enough: without the vital ones the effect goes. Each
/// may be enough in this program; else they are named as one set.
static void name_vital_seeds(search_t *search) {
  forget_reasons(search);
  ids_t vital = find_vital_seeds(search);
  for (size_t i = 0; i < vital.count; i++) {
    add_reason(search, 1, &vital.items[i]);
  }
  if (!each_alone(search)) {
    forget_reasons(search);
    add_reason(search, (int)vital.count, vital.items);
  }
}

/// Reasons that are enough by themselves, together with everything that is not named. False if that
/// does not explain the effect in this program.
static bool find_plain_reasons(search_t *search) {
  find_single_seeds(search);
  bool simple = true;
  for (;;) {
    while (holds(search, search->rest)) {
      simple = false;
      if (!find_joint_seeds(search)) {
        return false;
      }
    }
    if (!drop_blocked(search)) {
      return simple || each_alone(search);
    }
    simple = false;
    if (holds(search, search->rest)) {
      return false;
    }
  }
}

/// In a part of many seeds, which cannot all be tried for each of them: where the seed that the
/// records lead to is enough, both by itself and among those that cannot be
/// a reason by themselves, and nothing else does without it, three trials tell.
static bool find_only_reason(search_t *search) {
  if (search->part->nseeds <= search->explain->many) {
    return false;
  }
  int recorded =
      tspec_explain_recorded_in(search->explain, search->part, search->given, search->effect);
  int seed = recorded < 0 ? -1 : tspec_part_seed(search->part, recorded);
  if (seed < 0 || !is_near(search, seed)) {
    return false;
  }
  tspec_seed_set_t without = tspec_seed_set_copy(search->explain, search->part, search->given);
  tspec_seed_set_remove(without, 1, &seed);
  if (holds(search, without) ||
      !holds_with(search, tspec_seed_set_none(search->explain, search->part), 1, &seed)) {
    return false;
  }
  ids_t near = near_seeds(search);
  tspec_seed_set_t far = tspec_seed_set_copy(search->explain, search->part, search->given);
  tspec_seed_set_remove(far, (int)near.count, near.items);
  if (!holds_with(search, far, 1, &seed)) {
    return false;
  }
  add_reason(search, 1, &seed);
  return true;
}

static tspec_reasons_t find_reasons(tspec_explain_t *explain, tspec_part_t *part,
                                    const uint64_t *given, int effect) {
  search_t search = {.explain = explain, .part = part, .given = given, .effect = effect};
  forget_reasons(&search);
  if (!find_only_reason(&search) && !find_plain_reasons(&search)) {
    name_vital_seeds(&search);
  }
  return (tspec_reasons_t){(int)search.reasons.count, search.reasons.items};
}

/// With the numbers of the program for the part's.
static void number_seeds(tspec_explain_t *explain, const tspec_part_t *part,
                         const tspec_reasons_t *reasons) {
  tspec_reason_t *items = (tspec_reason_t *)reasons->items;
  for (int i = 0; i < reasons->count; i++) {
    int *seeds = TSPEC_ARENA_NEW(explain->arena, int, items[i].nseeds);
    for (int k = 0; k < items[i].nseeds; k++) {
      seeds[k] = part->seeds[items[i].seeds[k]];
    }
    items[i].seeds = seeds;
  }
}

tspec_reasons_t tspec_explain_reasons(tspec_explain_t *explain, int effect) {
  tspec_part_t *part = tspec_explain_part(explain, effect);
  if (part->is_plain) {
    return tspec_plain_reasons(explain, effect);
  }
  tspec_reasons_t reasons = find_reasons(explain, part, tspec_seed_set_all(explain, part), effect);
  number_seeds(explain, part, &reasons);
  return reasons;
}
