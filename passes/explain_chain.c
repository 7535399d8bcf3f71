// How reasons lead to effects: the records of propagation, walked back.
#include "ir/shard/prop_graph.h"
#include "passes/explain_trial.h"

/// A graph after a run.
typedef struct walk_t {
  const tspec_prop_graph_t *graph;
  const tspec_causes_t *causes;
} walk_t;

typedef struct place_t {
  int value;
  int dim;
  tspec_axis_t axis;
} place_t;

/// Goes from a record to the one of its source. False where the chain ends.
static bool step_back(const walk_t *walk, const tspec_cause_t *cause, place_t *step) {
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

static tspec_chain_step_t step_of(const tspec_explain_t *explain, const tspec_part_t *part,
                                  const tspec_cause_t *cause, int value, tspec_axis_t axis) {
  const tspec_prop_graph_t *plan = explain->plan;
  bool is_op = cause->op >= 0 && cause->op < part->nnodes; // a tie of a group is none
  return (tspec_chain_step_t){.kind = cause->kind,
                              .value = tspec_prop_value_origin(plan, part->values[value]),
                              .dim = cause->dim,
                              .axis = axis,
                              .op = is_op ? tspec_prop_op_origin(plan, part->nodes[cause->op]) : -1,
                              .factor = cause->factor,
                              .level = cause->level,
                              .round = cause->round};
}

/// The seed where a chain ends in this run, or -1. Which values share one sharding is the run's:
/// two that are told differently do not share it, but they do where one of them is told nothing.
static int last_seed(const tspec_explain_t *explain, const tspec_part_run_t *run,
                     const place_t *place) {
  int root = tspec_prop_cause_value(run->graph, place->value);
  for (int i = 0; i < run->part->nseeds; i++) {
    const tspec_seed_t *seed = &explain->seeds.items[run->part->seeds[i]];
    int value = tspec_part_value(run->part, seed->value);
    if (tspec_seed_set_has(run->seeds, i) && seed->dim == place->dim &&
        tspec_axis_overlap(seed->axis, place->axis) && value >= 0 &&
        tspec_prop_cause_value(run->graph, value) == root) {
      return run->part->seeds[i];
    }
  }
  return -1;
}

tspec_chain_t tspec_explain_walk(const tspec_explain_t *explain, const tspec_part_run_t *run,
                                 int effect, tspec_arena_t *arena) {
  walk_t walk = {run->graph, tspec_prop_causes(run->graph)};
  TSPEC_VEC(tspec_chain_step_t) steps = {0};
  const tspec_effect_t *from = &explain->effects.items[effect];
  place_t at = {tspec_part_value(run->part, from->value), from->dim, from->axis};
  int seed = -1;
  for (size_t left = walk.causes->causes.count; left > 0; left--) {
    const tspec_cause_t *cause = tspec_causes_find(walk.causes, at.value, at.dim, at.axis);
    if (cause == NULL) {
      break;
    }
    TSPEC_VEC_PUSH(arena, &steps, step_of(explain, run->part, cause, at.value, at.axis));
    if (!step_back(&walk, cause, &at)) {
      seed = last_seed(explain, run, &(place_t){at.value, cause->dim, at.axis});
      break;
    }
  }
  return (tspec_chain_t){(int)steps.count, steps.items, seed, 0};
}

// ---- the records of the whole program ----

static int effect_at(const tspec_explain_t *explain, const place_t *place) {
  if ((size_t)place->value >= explain->map->sites.count) {
    return -1;
  }
  int end = explain->first_effect[place->value + 1];
  for (int i = explain->first_effect[place->value]; i < end; i++) {
    const tspec_effect_t *effect = &explain->effects.items[i];
    if (effect->dim == place->dim && tspec_axis_equal(effect->axis, place->axis)) {
      return i;
    }
  }
  return -1;
}

/// The seed that stands at a place: of a value that shares its sharding, or -1.
static int seed_at(const tspec_explain_t *explain, const place_t *place) {
  const tspec_prop_graph_t *graph = explain->map->graph;
  int first = explain->first_seed_of_root[tspec_prop_cause_value(graph, place->value)] - 1;
  for (int i = first; i >= 0; i = explain->next_seed_of_root[i] - 1) {
    const tspec_seed_t *seed = &explain->seeds.items[i];
    if (seed->dim == place->dim && tspec_axis_overlap(seed->axis, place->axis)) {
      return i;
    }
  }
  return -1;
}

static void index_seeds(tspec_explain_t *explain) {
  size_t nvalues = explain->map->graph->values.count;
  explain->first_seed_of_root = TSPEC_ARENA_NEW(explain->arena, int, nvalues);
  explain->next_seed_of_root = TSPEC_ARENA_NEW(explain->arena, int, explain->seeds.count);
  for (int i = (int)explain->seeds.count - 1; i >= 0; i--) {
    int root = tspec_prop_cause_value(explain->map->graph, explain->seeds.items[i].value);
    explain->next_seed_of_root[i] = explain->first_seed_of_root[root];
    explain->first_seed_of_root[root] = i + 1;
  }
}

/// Goes back along the records from an effect until `visit` has had enough or the end is reached.
/// Returns whether that is where something was said.
typedef bool (*visit_fn_t)(void *user, const tspec_cause_t *cause, const place_t *at);

static bool walk_records(const tspec_explain_t *explain, int effect, visit_fn_t visit, void *user,
                         place_t *at) {
  walk_t walk = {explain->map->graph, tspec_prop_causes(explain->map->graph)};
  const tspec_effect_t *from = &explain->effects.items[effect];
  *at = (place_t){from->value, from->dim, from->axis};
  for (size_t left = walk.causes->causes.count; left > 0; left--) {
    const tspec_cause_t *cause = tspec_causes_find(walk.causes, at->value, at->dim, at->axis);
    if (cause == NULL || !visit(user, cause, at)) {
      return false;
    }
    if (!step_back(&walk, cause, at)) {
      return true;
    }
  }
  return false;
}

/// Effects on the way of a walk; `known`: where it joins an earlier one, or -1.
typedef struct passed_t {
  const tspec_explain_t *explain;
  tspec_arena_t *arena;
  TSPEC_VEC(int) effects; ///< by step; -1: none
  int known;
} passed_t;

static bool visit_passed(void *user, const tspec_cause_t *cause, const place_t *at) {
  (void)cause;
  passed_t *passed = user;
  int here = effect_at(passed->explain, at);
  if (here >= 0 && passed->explain->recorded[here].length > 0) {
    passed->known = here;
    return false;
  }
  TSPEC_VEC_PUSH(passed->arena, &passed->effects, here);
  return true;
}

const tspec_recorded_t *tspec_explain_record(tspec_explain_t *explain, int effect) {
  if (explain->first_seed_of_root == NULL) {
    index_seeds(explain);
  }
  tspec_recorded_t *recorded = explain->recorded;
  if (recorded[effect].length > 0) {
    return &recorded[effect];
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  passed_t passed = {.explain = explain, .arena = &work, .known = -1};
  place_t at;
  bool is_end = walk_records(explain, effect, visit_passed, &passed, &at);
  tspec_recorded_t last = {is_end ? seed_at(explain, &at) : -1, 0};
  last = passed.known >= 0 ? recorded[passed.known] : last;
  for (size_t i = passed.effects.count; i > 0; i--) {
    last.length++;
    if (passed.effects.items[i - 1] >= 0) {
      recorded[passed.effects.items[i - 1]] = last;
    }
  }
  tspec_arena_deinit(&work);
  return &recorded[effect];
}

/// The first steps of a walk.
typedef struct steps_t {
  const tspec_explain_t *explain;
  tspec_chain_step_t *steps;
  int count;
  int most;
} steps_t;

static bool visit_step(void *user, const tspec_cause_t *cause, const place_t *at) {
  steps_t *steps = user;
  const tspec_prop_graph_t *graph = steps->explain->map->graph;
  bool is_op = cause->op >= 0 && cause->op < (int)steps->explain->plan->nodes.count;
  steps->steps[steps->count++] =
      (tspec_chain_step_t){.kind = cause->kind,
                           .value = tspec_prop_value_origin(graph, at->value),
                           .dim = cause->dim,
                           .axis = at->axis,
                           .op = is_op ? tspec_prop_op_origin(graph, cause->op) : -1,
                           .factor = cause->factor,
                           .level = cause->level,
                           .round = cause->round};
  return steps->count < steps->most;
}

bool tspec_explain_answer_recorded(tspec_explain_t *explain, tspec_chain_request_t *request,
                                   tspec_arena_t *arena) {
  const tspec_recorded_t *recorded = tspec_explain_record(explain, request->effect);
  const tspec_reason_t *reason = &request->reasons->items[request->reason];
  if (recorded->seed < 0 || reason->nseeds > 1 || reason->seeds[0] != recorded->seed) {
    return false;
  }
  int length = recorded->length;
  int count = request->most > 0 && length > request->most ? request->most : length;
  tspec_chain_step_t *list = TSPEC_ARENA_NEW(arena, tspec_chain_step_t, count);
  steps_t steps = {explain, list, 0, count};
  place_t at;
  walk_records(explain, request->effect, visit_step, &steps, &at);
  const tspec_seed_t *seed = &explain->seeds.items[recorded->seed];
  if (count < length) {
    list[count - 1] = (tspec_chain_step_t){.kind = TSPEC_CAUSE_ANNOTATION,
                                           .value = seed->value,
                                           .dim = seed->dim,
                                           .axis = seed->axis,
                                           .op = -1,
                                           .factor = -1};
  }
  request->chain = (tspec_chain_t){count, list, recorded->seed, length - count};
  return true;
}

int tspec_explain_recorded(tspec_explain_t *explain, int effect, const tspec_reasons_t *reasons) {
  int seed = tspec_explain_record(explain, effect)->seed;
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
static int trial_of(tspec_explain_t *explain, tspec_part_t *part,
                    const tspec_chain_request_t *request) {
  tspec_seed_set_t seeds = tspec_seed_set_all(explain, part);
  for (int i = 0; i < request->reasons->count; i++) {
    const tspec_reason_t *reason = &request->reasons->items[i];
    for (int k = 0; i != request->reason && k < reason->nseeds; k++) {
      int seed = tspec_part_seed(part, reason->seeds[k]);
      tspec_seed_set_remove(seeds, 1, &seed);
    }
  }
  return tspec_explain_trial(explain, part, seeds, request->effect);
}

int tspec_explain_recorded_in(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                              int effect) {
  const tspec_trial_t *trial =
      &part->trials.items[tspec_explain_trial(explain, part, seeds, effect)];
  bool is_all = true;
  for (int i = 0; i < part->nseeds; i++) {
    is_all = is_all && tspec_seed_set_has(seeds, i);
  }
  if (is_all || trial->effect == effect) {
    return is_all ? tspec_explain_record(explain, effect)->seed : trial->chain.seed;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_part_run_t run = tspec_part_run(explain, part, seeds, &work);
  int seed = tspec_explain_walk(explain, &run, effect, &work).seed;
  tspec_arena_deinit(&work);
  return seed;
}

// ---- to a seed of the reason ----
// An axis may have come in parts, and the first part from a seed that is no cause of the whole.
// Then the records are searched, breadth first, for a way to a seed of the reason.

typedef struct reach_t {
  const tspec_explain_t *explain;
  const tspec_part_t *part;
  const tspec_prop_graph_t *graph; ///< the part's, after a run
  const tspec_reason_t *reason;
  int *prev;   ///< by record: the one that led here + 1; 0: not reached
  int *values; ///< by record: the value of the graph that it was reached as
  int *queue;
  int nqueued;
} reach_t;

enum { FROM_START = -1 };

static void reach_records(reach_t *reach, int value, int dim, tspec_axis_t axis, int from) {
  const tspec_causes_t *causes = tspec_prop_causes(reach->graph);
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
  const tspec_prop_graph_t *graph = reach->graph;
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
  const tspec_prop_graph_t *graph = reach->graph;
  for (int i = 0; cause->kind == TSPEC_CAUSE_ANNOTATION && i < reach->reason->nseeds; i++) {
    const tspec_seed_t *seed = &reach->explain->seeds.items[reach->reason->seeds[i]];
    if (seed->dim == cause->dim && tspec_axis_overlap(seed->axis, cause->axis) &&
        tspec_prop_cause_value(graph, tspec_part_value(reach->part, seed->value)) == cause->value) {
      return reach->reason->seeds[i];
    }
  }
  return -1;
}

/// The chain from the start to a record that was reached, which is where `seed` stands.
static tspec_chain_t chain_to(const reach_t *reach, int last, int seed, tspec_arena_t *arena) {
  const tspec_causes_t *causes = tspec_prop_causes(reach->graph);
  int count = 1;
  for (int i = last; reach->prev[i] != FROM_START; i = reach->prev[i] - 1) {
    count++;
  }
  tspec_chain_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_chain_step_t, count);
  int at = count;
  for (int i = last; at > 0; i = reach->prev[i] - 1) {
    const tspec_cause_t *cause = &causes->causes.items[i];
    steps[--at] = step_of(reach->explain, reach->part, cause, reach->values[i], cause->axis);
  }
  return (tspec_chain_t){count, steps, seed, 0};
}

/// False if no record leads to a seed of the reason.
static bool walk_to_reason(const tspec_explain_t *explain, const tspec_part_run_t *run,
                           tspec_chain_request_t *request, tspec_arena_t *arena) {
  const tspec_causes_t *causes = tspec_prop_causes(run->graph);
  const tspec_effect_t *effect = &explain->effects.items[request->effect];
  tspec_arena_t work;
  tspec_arena_init(&work);
  reach_t reach = {.explain = explain,
                   .part = run->part,
                   .graph = run->graph,
                   .reason = &request->reasons->items[request->reason],
                   .prev = TSPEC_ARENA_NEW(&work, int, causes->causes.count),
                   .values = TSPEC_ARENA_NEW(&work, int, causes->causes.count),
                   .queue = TSPEC_ARENA_NEW(&work, int, causes->causes.count)};
  reach_records(&reach, tspec_part_value(run->part, effect->value), effect->dim, effect->axis,
                FROM_START);
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

/// Leaves out what is too many in front of the last step.
static void shorten(tspec_chain_request_t *request, tspec_arena_t *arena) {
  tspec_chain_t *chain = &request->chain;
  if (request->most > 0 && chain->count > request->most) {
    tspec_chain_step_t *steps =
        tspec_arena_copy(arena, chain->steps, sizeof *steps * (size_t)request->most);
    steps[request->most - 1] = chain->steps[chain->count - 1];
    chain->nskipped = chain->count - request->most;
    chain->steps = steps;
    chain->count = request->most;
  }
}

/// Answers those that the trials of their reasons were made for; lists the others by trial.
static void answer_known(tspec_explain_t *explain, int count, tspec_chain_request_t *requests,
                         const int *trials, int *next) {
  for (int i = count - 1; i >= 0; i--) {
    if (trials[i] < 0) {
      continue;
    }
    tspec_part_t *part = tspec_explain_part(explain, requests[i].effect);
    tspec_trial_t *trial = &part->trials.items[trials[i]];
    requests[i].chain = trial->chain;
    if (trial->effect != requests[i].effect || !ends_in_reason(&requests[i])) {
      next[i] = trial->first_request - 1;
      trial->first_request = i + 1;
    }
  }
}

/// Runs a trial again for all requests of it that are left.
static void answer_trial(tspec_explain_t *explain, const tspec_part_t *part, tspec_trial_t *trial,
                         const int *next, tspec_chain_request_t *requests, tspec_arena_t *arena) {
  int first = trial->first_request - 1;
  trial->first_request = 0;
  if (first < 0) {
    return;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_part_run_t run = tspec_part_run(explain, part, trial->seeds, &work);
  for (int i = first; i >= 0; i = next[i]) {
    requests[i].chain = tspec_explain_walk(explain, &run, requests[i].effect, arena);
    if (!ends_in_reason(&requests[i])) {
      walk_to_reason(explain, &run, &requests[i], arena);
    }
  }
  tspec_arena_deinit(&work);
}

void tspec_explain_chains(tspec_explain_t *explain, int count, tspec_chain_request_t *requests,
                          tspec_arena_t *arena) {
  tspec_chain_request_t **plain = TSPEC_ARENA_NEW(explain->arena, tspec_chain_request_t *, count);
  int *next = TSPEC_ARENA_NEW(explain->arena, int, count);
  int *trials = TSPEC_ARENA_NEW(explain->arena, int, count);
  int nplain = 0;
  for (int i = 0; i < count; i++) {
    tspec_part_t *part = tspec_explain_part(explain, requests[i].effect);
    trials[i] = part->is_plain ? -1 : trial_of(explain, part, &requests[i]);
    if (part->is_plain) {
      plain[nplain++] = &requests[i];
    }
  }
  tspec_plain_chains(explain, nplain, plain, arena);
  answer_known(explain, count, requests, trials, next);
  for (int i = 0; i < count; i++) {
    if (trials[i] >= 0) {
      tspec_part_t *part = tspec_explain_part(explain, requests[i].effect);
      answer_trial(explain, part, &part->trials.items[trials[i]], next, requests, arena);
    }
    shorten(&requests[i], arena);
  }
}

int tspec_explain_nearest(tspec_explain_t *explain, int effect, int most, int *nearest) {
  return tspec_explain_part(explain, effect)->is_plain
             ? tspec_plain_nearest(explain, effect, most, nearest)
             : -1;
}
