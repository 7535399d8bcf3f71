// How reasons lead to effects: the records of propagation, walked back.
#include "passes/explain_trial.h"

typedef struct walk_t {
  const tspec_prop_graph_t *graph;
  const tspec_causes_t *causes;
  tspec_arena_t *arena;
  TSPEC_VEC(tspec_chain_step_t) steps;
} walk_t;

/// Goes from a record to the one of its source. False where the chain ends.
static bool step_back(const walk_t *walk, const tspec_cause_t *cause, tspec_chain_step_t *step) {
  if (cause->kind == TSPEC_CAUSE_ANNOTATION) {
    return false;
  }
  if (cause->kind == TSPEC_CAUSE_CONSTRAINT) {
    step->value = tspec_prop_result(walk->graph, cause->op, 0);
    return true;
  }
  if (cause->source < 0) {
    return false;
  }
  step->value = cause->source;
  step->axis = cause->axis;
  if (cause->op < 0) { // a function's result: dim by dim
    return true;
  }
  for (int nth = 0;; nth++) {
    int dim = tspec_prop_factor_dim(walk->graph, cause->op, cause->source, cause->factor, nth);
    if (dim < 0) {
      return false;
    }
    const tspec_cause_t *source = tspec_causes_find(walk->causes, cause->source, dim, cause->axis);
    if (source != NULL && source != cause) {
      step->dim = dim;
      return true;
    }
  }
}

static tspec_chain_step_t step_of(const tspec_prop_graph_t *graph, const tspec_cause_t *cause,
                                  int value, tspec_axis_t axis) {
  return (tspec_chain_step_t){.kind = cause->kind,
                              .value = tspec_prop_value_origin(graph, value),
                              .dim = cause->dim,
                              .axis = axis,
                              .op = cause->op < 0 ? -1 : tspec_prop_op_origin(graph, cause->op),
                              .factor = cause->factor,
                              .level = cause->level,
                              .round = cause->round};
}

static void walk_back(walk_t *walk, const tspec_effect_t *effect) {
  tspec_chain_step_t step = {.value = effect->value, .dim = effect->dim, .axis = effect->axis};
  for (size_t left = walk->causes->causes.count; left > 0; left--) {
    const tspec_cause_t *cause = tspec_causes_find(walk->causes, step.value, step.dim, step.axis);
    if (cause == NULL) {
      return;
    }
    TSPEC_VEC_PUSH(walk->arena, &walk->steps, step_of(walk->graph, cause, step.value, step.axis));
    if (!step_back(walk, cause, &step)) {
      return;
    }
  }
}

/// The seed where a chain ends in this run, or -1. Which values share one sharding is the run's:
/// two that are told differently do not share it, but they do where one of them is told nothing.
static int last_seed(const tspec_explain_t *explain, const tspec_prop_graph_t *graph,
                     const uint64_t *seeds, const tspec_chain_step_t *last) {
  int root = tspec_prop_cause_value(graph, last->value);
  for (int i = 0; i < (int)explain->seeds.count; i++) {
    const tspec_seed_t *seed = &explain->seeds.items[i];
    bool kept = seeds == NULL || tspec_seed_set_has(seeds, i);
    if (kept && seed->dim == last->dim && tspec_axis_overlap(seed->axis, last->axis) &&
        tspec_prop_cause_value(graph, seed->value) == root) {
      return i;
    }
  }
  return -1;
}

tspec_chain_t tspec_explain_walk(const tspec_explain_t *explain, const tspec_prop_map_t *map,
                                 const uint64_t *seeds, int effect, tspec_arena_t *arena) {
  walk_t walk = {.graph = map->graph, .causes = tspec_prop_causes(map->graph), .arena = arena};
  walk_back(&walk, &explain->effects.items[effect]);
  int count = (int)walk.steps.count;
  int seed = count == 0 ? -1 : last_seed(explain, map->graph, seeds, &walk.steps.items[count - 1]);
  return (tspec_chain_t){count, walk.steps.items, seed};
}

int tspec_explain_recorded(tspec_explain_t *explain, int effect, const tspec_reasons_t *reasons) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  int seed = tspec_explain_walk(explain, explain->map, NULL, effect, &work).seed;
  tspec_arena_deinit(&work);
  for (int i = 0; i < reasons->count; i++) {
    for (int k = 0; k < reasons->items[i].nseeds; k++) {
      if (reasons->items[i].seeds[k] == seed) {
        return i;
      }
    }
  }
  return 0;
}

// ---- many at once ----

/// The trial whose records a request asks for.
static int trial_of(tspec_explain_t *explain, const tspec_chain_request_t *request) {
  tspec_seed_set_t seeds = tspec_seed_set_all(explain);
  for (int i = 0; i < request->reasons->count; i++) {
    const tspec_reason_t *reason = &request->reasons->items[i];
    if (i != request->reason) {
      tspec_seed_set_remove(seeds, reason->nseeds, reason->seeds);
    }
  }
  return tspec_explain_trial(explain, seeds, request->effect);
}

// ---- to a seed of the reason ----
// An axis may have come in parts, and the first part from a seed that is no cause of the whole.
// Then the records are searched, breadth first, for a way to a seed of the reason.

typedef struct reach_t {
  const tspec_explain_t *explain;
  const tspec_prop_map_t *map;
  const tspec_reason_t *reason;
  int *prev;   ///< by record: the one that led here + 1; 0: not reached
  int *values; ///< by record: the value of the graph that it was reached as
  int *queue;
  int nqueued;
} reach_t;

enum { FROM_START = -1 };

static void reach_records(reach_t *reach, int value, int dim, tspec_axis_t axis, int from) {
  const tspec_causes_t *causes = tspec_prop_causes(reach->map->graph);
  const tspec_cause_t *cause = tspec_causes_first(causes, value);
  for (; cause != NULL; cause = tspec_causes_next(causes, cause)) {
    int index = (int)(cause - causes->causes.items);
    if (cause->dim == dim && tspec_axis_overlap(cause->axis, axis) && reach->prev[index] == 0) {
      reach->prev[index] = from == FROM_START ? FROM_START : from + 1;
      reach->values[index] = value;
      reach->queue[reach->nqueued++] = index;
    }
  }
}

static void reach_sources(reach_t *reach, int index) {
  const tspec_prop_graph_t *graph = reach->map->graph;
  const tspec_cause_t *cause = &tspec_prop_causes(graph)->causes.items[index];
  if (cause->kind == TSPEC_CAUSE_CONSTRAINT) {
    reach_records(reach, tspec_prop_result(graph, cause->op, 0), cause->dim, cause->axis, index);
  } else if (cause->source >= 0 && cause->op < 0) {
    reach_records(reach, cause->source, cause->dim, cause->axis, index);
  } else if (cause->source >= 0) {
    for (int nth = 0;; nth++) {
      int dim = tspec_prop_factor_dim(graph, cause->op, cause->source, cause->factor, nth);
      if (dim < 0) {
        return;
      }
      reach_records(reach, cause->source, dim, cause->axis, index);
    }
  }
}

/// The seed of the reason where a record says so, or -1.
static int seed_of_reason(const reach_t *reach, const tspec_cause_t *cause) {
  const tspec_prop_graph_t *graph = reach->map->graph;
  for (int i = 0; cause->kind == TSPEC_CAUSE_ANNOTATION && i < reach->reason->nseeds; i++) {
    const tspec_seed_t *seed = &reach->explain->seeds.items[reach->reason->seeds[i]];
    if (seed->dim == cause->dim && tspec_axis_overlap(seed->axis, cause->axis) &&
        tspec_prop_cause_value(graph, seed->value) == cause->value) {
      return reach->reason->seeds[i];
    }
  }
  return -1;
}

/// The chain from the start to a record that was reached, which is where `seed` stands.
static tspec_chain_t chain_to(const reach_t *reach, int last, int seed, tspec_arena_t *arena) {
  const tspec_causes_t *causes = tspec_prop_causes(reach->map->graph);
  int count = 1;
  for (int i = last; reach->prev[i] != FROM_START; i = reach->prev[i] - 1) {
    count++;
  }
  tspec_chain_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_chain_step_t, count);
  int at = count;
  for (int i = last; at > 0; i = reach->prev[i] - 1) {
    const tspec_cause_t *cause = &causes->causes.items[i];
    steps[--at] = step_of(reach->map->graph, cause, reach->values[i], cause->axis);
  }
  return (tspec_chain_t){count, steps, seed};
}

/// False if no record leads to a seed of the reason.
static bool walk_to_reason(const tspec_explain_t *explain, const tspec_prop_map_t *map,
                           tspec_chain_request_t *request, tspec_arena_t *arena) {
  const tspec_causes_t *causes = tspec_prop_causes(map->graph);
  const tspec_effect_t *effect = &explain->effects.items[request->effect];
  tspec_arena_t work;
  tspec_arena_init(&work);
  reach_t reach = {.explain = explain,
                   .map = map,
                   .reason = &request->reasons->items[request->reason],
                   .prev = TSPEC_ARENA_NEW(&work, int, causes->causes.count),
                   .values = TSPEC_ARENA_NEW(&work, int, causes->causes.count),
                   .queue = TSPEC_ARENA_NEW(&work, int, causes->causes.count)};
  reach_records(&reach, effect->value, effect->dim, effect->axis, FROM_START);
  int seed = -1;
  for (int i = 0; i < reach.nqueued && seed < 0; i++) {
    seed = seed_of_reason(&reach, &causes->causes.items[reach.queue[i]]);
    if (seed >= 0) {
      request->chain = chain_to(&reach, reach.queue[i], seed, arena);
    } else {
      reach_sources(&reach, reach.queue[i]);
    }
  }
  tspec_arena_deinit(&work);
  return seed >= 0;
}

static bool ends_in_reason(const tspec_chain_request_t *request) {
  const tspec_reason_t *reason = &request->reasons->items[request->reason];
  bool ends = false;
  for (int i = 0; i < reason->nseeds; i++) {
    ends = ends || reason->seeds[i] == request->chain.seed;
  }
  return ends;
}

static void walk_all(tspec_explain_t *explain, const uint64_t *seeds, int first, const int *next,
                     tspec_chain_request_t *requests, tspec_arena_t *arena) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_prop_map_t *map = tspec_explain_run(explain, seeds, &work);
  for (int i = first; i >= 0; i = next[i]) {
    requests[i].chain = tspec_explain_walk(explain, map, seeds, requests[i].effect, arena);
    if (!ends_in_reason(&requests[i])) {
      walk_to_reason(explain, map, &requests[i], arena);
    }
  }
  tspec_arena_deinit(&work);
}

void tspec_explain_chains(tspec_explain_t *explain, int count, tspec_chain_request_t *requests,
                          tspec_arena_t *arena) {
  int *trials = TSPEC_ARENA_NEW(explain->arena, int, count);
  int *next = TSPEC_ARENA_NEW(explain->arena, int, count);
  for (int i = 0; i < count; i++) {
    trials[i] = trial_of(explain, &requests[i]);
  }
  int *first = TSPEC_ARENA_NEW(explain->arena, int, explain->trials.count);
  for (int i = count - 1; i >= 0; i--) { // numbers + 1
    const tspec_trial_t *trial = &explain->trials.items[trials[i]];
    requests[i].chain = trial->chain;
    if (trial->effect != requests[i].effect || !ends_in_reason(&requests[i])) {
      next[i] = first[trials[i]] - 1;
      first[trials[i]] = i + 1;
    }
  }
  for (size_t i = 0; i < explain->trials.count; i++) {
    if (first[i] > 0) {
      walk_all(explain, explain->trials.items[i].seeds, first[i] - 1, next, requests, arena);
    }
  }
}
