// Explanations without trials. In a plain part one mesh axis spreads over dims of which no value
// has two, through factors that carry it both ways. Then nothing can be in its way but what is
// always there, and dims that have it and are linked have it from the same seeds: each of them
// suffices, whatever else is said. So the reasons are the seeds of a connected component, and
// chains are shortest ways.
#include <stdlib.h>

#include "ir/base/diag.h"
#include "ir/shard/prop_graph.h"
#include "passes/explain_trial.h"

enum { MOST_NEAR = 6 };

/// A dim of a value where it stands in an op. Dims of values that share a sharding are one dim.
typedef struct member_t {
  int value; ///< of the program's graph
  int dim;
  int at;       ///< the dim's number, as in tspec_prop_links_t
  int64_t part; ///< size of the major part that the factor is, or 0: all of the dim
  bool is_result;
} member_t;

/// All dims of an op that have one factor.
typedef struct clique_t {
  int node; ///< of the graph, or -1: a result that is returned
  int factor;
  int first; ///< into the members
  int count;
  bool is_odd; ///< not simply both ways
  bool is_cut; ///< the result cannot have the axis, so that operands do not hand it on
} clique_t;

/// A dim with the seed that it was reached from, or, on the way to seeds, with where it was reached
/// from.
typedef struct reached_t {
  int value;
  int dim;
  int at;
  int seed;
  int prev;   ///< an index, or -1: the first
  int clique; ///< that leads to `prev`
  int length; ///< of the way
  int level;  ///< op priority level at which the axis came there
} reached_t;

typedef struct tspec_plain_t {
  tspec_arena_t *arena;
  int ndims;
  int *value_of; ///< by dim: the value that has it (one of those that share it)
  bool *split;   ///< by dim
  int *reached;  ///< work space by dim
  int *first_of; ///< work space by value: the dim that is reached + 1
  TSPEC_VEC(clique_t) cliques;
  TSPEC_VEC(member_t) members;
  int *first_clique; ///< by dim, and one more: into `cliques_of`
  int *cliques_of;
  int *component;           ///< by dim that is split: the number of the first dim
  tspec_reasons_t *reasons; ///< by component
  TSPEC_VEC(reached_t) near;
  int *nnear;   ///< by dim; NULL: not searched yet
  int *near_of; ///< by dim: MOST_NEAR places into `near`
} tspec_plain_t;

// ---- dims and what links them ----

static bool is_split(const tspec_prop_graph_t *graph, int value, int dim) {
  return tspec_prop_sharding(graph, value)->dims[dim].naxes > 0;
}

static bool is_closed_whole(const tspec_explain_t *explain, const tspec_prop_node_t *node,
                            int dim) {
  const tspec_sharding_t *start =
      (node->traits & TSPEC_PROP_CONSTRAINT) == 0 || node->kind != TSPEC_PROP_NODE_OP
          ? NULL
          : explain->plan->values.items[node->results[0]].initial;
  bool closed = start != NULL && start->dims[dim].naxes == 0;
  for (int d = 0; closed && d < start->rank; d++) {
    closed = !start->dims[d].open;
  }
  return closed;
}

/// Adds a dim to the clique of its factor, if that is the part that an axis goes to first.
static void add_member(tspec_explain_t *explain, tspec_plain_t *plain, clique_t *clique,
                       const tspec_prop_node_t *node, int tensor, int dim) {
  const tspec_factor_dim_t *map = &tspec_factor_rule_tensor(node->rule, tensor)->dims[dim];
  int value = tspec_prop_tensor(node, tensor);
  if (map->nfactors > 0 && map->factors[0] == clique->factor) {
    member_t member = {.value = value,
                       .dim = dim,
                       .at = explain->links.first[value] + dim,
                       .part = map->nfactors > 1 ? node->rule->factors[clique->factor].size : 0,
                       .is_result = tensor >= node->noperands};
    TSPEC_VEC_PUSH(plain->arena, &plain->members, member);
    clique->is_odd =
        clique->is_odd || (tensor >= node->noperands && is_closed_whole(explain, node, dim));
    return;
  }
  int64_t before = 1;
  for (int i = 0; i < map->nfactors && map->factors[i] != clique->factor; i++) {
    before *= node->rule->factors[map->factors[i]].size;
  }
  bool has = false;
  for (int i = 0; i < map->nfactors; i++) {
    has = has || map->factors[i] == clique->factor;
  }
  clique->is_odd = clique->is_odd || (has && before == 1);
}

/// An elementwise op's operands get no more than its results have.
static bool is_capped(const tspec_explain_t *explain, const tspec_prop_node_t *node, int factor) {
  bool any = false;
  for (int r = 0; (node->traits & TSPEC_PROP_ELEMENTWISE) != 0 && r < node->nresults; r++) {
    const tspec_factor_map_t *map = tspec_factor_rule_tensor(node->rule, node->noperands + r);
    for (int d = 0; d < map->rank; d++) {
      if (map->dims[d].nfactors > 0 && map->dims[d].factors[0] == factor) {
        if (is_split(explain->map->graph, node->results[r], d)) {
          return false;
        }
        any = true;
      }
    }
  }
  return any;
}

static void add_cliques(tspec_explain_t *explain, tspec_plain_t *plain,
                        const tspec_prop_node_t *node, int id) {
  if (node->rule == NULL || node->allowed == TSPEC_PROP_NONE) {
    return;
  }
  bool is_odd = node->allowed != TSPEC_PROP_BOTH || node->kind == TSPEC_PROP_NODE_EDGE ||
                node->kind == TSPEC_PROP_NODE_GROUP;
  for (int f = 0; f < node->rule->nfactors; f++) {
    if (node->rule->factors[f].blocked) {
      continue;
    }
    clique_t clique = {.node = node->kind == TSPEC_PROP_NODE_RETURN ? -1 : id,
                       .factor = f,
                       .first = (int)plain->members.count,
                       .is_odd = is_odd,
                       .is_cut = is_capped(explain, node, f)};
    for (int t = 0; t < node->noperands + node->nresults; t++) {
      int rank = tspec_factor_rule_tensor(node->rule, t)->rank;
      for (int d = 0; d < rank; d++) {
        add_member(explain, plain, &clique, node, t, d);
      }
    }
    clique.count = (int)plain->members.count - clique.first;
    TSPEC_VEC_PUSH(plain->arena, &plain->cliques, clique);
  }
}

static void index_cliques(tspec_plain_t *plain) {
  plain->first_clique = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims + 1);
  plain->cliques_of = TSPEC_ARENA_NEW(plain->arena, int, plain->members.count);
  for (size_t m = 0; m < plain->members.count; m++) {
    plain->first_clique[plain->members.items[m].at + 1]++;
  }
  for (int i = 0; i < plain->ndims; i++) {
    plain->first_clique[i + 1] += plain->first_clique[i];
  }
  int *next =
      tspec_arena_copy(plain->arena, plain->first_clique, sizeof(int) * (size_t)plain->ndims);
  for (size_t c = 0; c < plain->cliques.count; c++) {
    const clique_t *clique = &plain->cliques.items[c];
    for (int m = 0; m < clique->count; m++) {
      plain->cliques_of[next[plain->members.items[clique->first + m].at]++] = (int)c;
    }
  }
}

static int find_root(int *parent, int at) {
  while (parent[at] != at) {
    parent[at] = parent[parent[at]];
    at = parent[at];
  }
  return at;
}

static void join_members(tspec_plain_t *plain, const clique_t *clique) {
  int first = -1;
  for (int m = 0; !clique->is_cut && m < clique->count; m++) {
    int at = plain->members.items[clique->first + m].at;
    if (!plain->split[at]) {
      continue;
    }
    int root = find_root(plain->component, at);
    if (first >= 0) {
      int other = find_root(plain->component, first);
      plain->component[root < other ? other : root] = root < other ? root : other;
    }
    first = first < 0 ? at : first;
  }
}

static int seed_dim(const tspec_explain_t *explain, int seed) {
  const tspec_seed_t *from = &explain->seeds.items[seed];
  return explain->links.first[from->value] + from->dim;
}

/// The seeds of each component, a reason each.
static void collect_reasons(tspec_explain_t *explain, tspec_plain_t *plain) {
  plain->reasons = TSPEC_ARENA_NEW(plain->arena, tspec_reasons_t, plain->ndims);
  int nseeds = (int)explain->seeds.count;
  int *count = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims);
  for (int i = 0; i < nseeds; i++) {
    count[plain->component[seed_dim(explain, i)]]++;
  }
  int *ids = TSPEC_ARENA_NEW(plain->arena, int, nseeds);
  for (int i = 0; i < nseeds; i++) {
    int component = plain->component[seed_dim(explain, i)];
    tspec_reasons_t *reasons = &plain->reasons[component];
    if (reasons->items == NULL) {
      reasons->items = TSPEC_ARENA_NEW(plain->arena, tspec_reason_t, count[component]);
    }
    ids[i] = i;
    ((tspec_reason_t *)reasons->items)[reasons->count++] = (tspec_reason_t){1, &ids[i]};
  }
}

static tspec_plain_t *plain_of(tspec_explain_t *explain) {
  if (explain->plain != NULL) {
    return explain->plain;
  }
  const tspec_prop_graph_t *graph = explain->map->graph;
  tspec_plain_t *plain = TSPEC_ARENA_NEW(explain->arena, tspec_plain_t, 1);
  explain->plain = plain;
  plain->arena = explain->arena;
  for (size_t v = 0; v < graph->values.count; v++) {
    plain->ndims += graph->values.items[v].type.rank;
  }
  plain->value_of = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims);
  plain->split = TSPEC_ARENA_NEW(plain->arena, bool, plain->ndims);
  plain->reached = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims);
  plain->component = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims);
  plain->first_of = TSPEC_ARENA_NEW(plain->arena, int, graph->values.count);
  for (int i = 0; i < plain->ndims; i++) {
    plain->component[i] = i;
  }
  for (size_t v = 0; v < graph->values.count; v++) {
    int root = tspec_prop_root(graph, (int)v);
    for (int d = 0; d < graph->values.items[v].type.rank; d++) {
      plain->value_of[explain->links.first[v] + d] = root;
      plain->split[explain->links.first[v] + d] = is_split(graph, (int)v, d);
    }
  }
  for (size_t i = 0; i < graph->nodes.count; i++) {
    add_cliques(explain, plain, &graph->nodes.items[i], (int)i);
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    add_cliques(explain, plain, &graph->returns.items[i], (int)i);
  }
  index_cliques(plain);
  for (size_t c = 0; c < plain->cliques.count; c++) {
    join_members(plain, &plain->cliques.items[c]);
  }
  for (int i = 0; i < plain->ndims; i++) {
    plain->component[i] = find_root(plain->component, i);
  }
  collect_reasons(explain, plain);
  return plain;
}

// ---- which parts are plain ----

/// A flood of the dims that the axis might come to, one by one into `queue`.
typedef struct flood_t {
  tspec_plain_t *plain;
  tspec_axis_t axis;
  TSPEC_VEC(int) queue;
  bool is_plain;
} flood_t;

static void reach(flood_t *flood, int at) {
  tspec_plain_t *plain = flood->plain;
  int *first = &plain->first_of[plain->value_of[at]];
  if (plain->reached[at] == 0) {
    flood->is_plain = flood->is_plain && *first == 0; // no value has two such dims
    plain->reached[at] = 1;
    *first = at + 1;
    TSPEC_VEC_PUSH(plain->arena, &flood->queue, at);
  }
}

static void reach_neighbours(flood_t *flood, int at) {
  const tspec_plain_t *plain = flood->plain;
  for (int i = plain->first_clique[at]; i < plain->first_clique[at + 1]; i++) {
    const clique_t *clique = &plain->cliques.items[plain->cliques_of[i]];
    flood->is_plain = flood->is_plain && !clique->is_odd;
    for (int m = 0; flood->is_plain && m < clique->count; m++) {
      const member_t *member = &plain->members.items[clique->first + m];
      flood->is_plain = member->part % flood->axis.size == 0;
      reach(flood, member->at);
    }
  }
}

/// One whole axis, alone on its dim, without a priority.
static bool is_plain_seed(const tspec_explain_t *explain, const tspec_seed_t *seed,
                          tspec_axis_t axis) {
  const tspec_sharding_t *start = explain->plan->values.items[seed->value].initial;
  return tspec_axis_equal(seed->axis, axis) &&
         tspec_axis_is_full(&explain->program->mesh, seed->axis) &&
         start->dims[seed->dim].naxes == 1 && start->dims[seed->dim].priority == 0;
}

static bool has_seeds(const tspec_explain_t *explain, const tspec_part_t *part) {
  const tspec_plain_t *plain = explain->plain;
  for (size_t i = 0; i < part->effects.count; i++) {
    const tspec_effect_t *effect = &explain->effects.items[part->effects.items[i]];
    int at = explain->links.first[effect->value] + effect->dim;
    if (plain->reasons[plain->component[at]].count == 0) {
      return false;
    }
  }
  return true;
}

bool tspec_part_is_plain(tspec_explain_t *explain, const tspec_part_t *part) {
  flood_t flood = {.plain = plain_of(explain), .is_plain = part->own_seeds.count > 0};
  for (size_t i = 0; flood.is_plain && i < part->own_seeds.count; i++) {
    int id = part->own_seeds.items[i];
    const tspec_seed_t *seed = &explain->seeds.items[id];
    flood.axis = i == 0 ? seed->axis : flood.axis;
    flood.is_plain =
        is_plain_seed(explain, seed, flood.axis) && flood.plain->split[seed_dim(explain, id)];
    reach(&flood, seed_dim(explain, id));
  }
  for (size_t i = 0; flood.is_plain && i < flood.queue.count; i++) {
    reach_neighbours(&flood, flood.queue.items[i]);
  }
  for (size_t i = 0; i < flood.queue.count; i++) {
    flood.plain->reached[flood.queue.items[i]] = 0;
    flood.plain->first_of[flood.plain->value_of[flood.queue.items[i]]] = 0;
  }
  return flood.is_plain && has_seeds(explain, part);
}

static int effect_dim(const tspec_explain_t *explain, int effect) {
  const tspec_effect_t *at = &explain->effects.items[effect];
  return explain->links.first[at->value] + at->dim;
}

tspec_reasons_t tspec_plain_reasons(tspec_explain_t *explain, int effect) {
  const tspec_plain_t *plain = plain_of(explain);
  return plain->reasons[plain->component[effect_dim(explain, effect)]];
}

// ---- shortest ways ----

/// The first op priority level at which an op hands its factor on from a dim.
static int level_from(const tspec_explain_t *explain, const clique_t *clique, int at) {
  if (clique->node < 0) {
    return 0;
  }
  const member_t *member = &explain->plain->members.items[clique->first];
  while (member->at != at) {
    member++;
  }
  tspec_prop_direction_t needed = member->is_result ? TSPEC_PROP_BACKWARD : TSPEC_PROP_FORWARD;
  const tspec_prop_node_t *node = &explain->map->graph->nodes.items[clique->node];
  int level = 0;
  while (level < 4 && (tspec_prop_factor_direction(node, clique->factor, level) & needed) == 0) {
    level++;
  }
  return level;
}

/// A step at a dim, through a clique to the next one; NULL: there it was said.
static tspec_chain_step_t step_at(const tspec_explain_t *explain, const reached_t *at,
                                  const clique_t *clique) {
  const tspec_prop_graph_t *graph = explain->map->graph;
  tspec_chain_step_t step = {.kind = clique == NULL ? TSPEC_CAUSE_ANNOTATION : TSPEC_CAUSE_RETURN,
                             .value = tspec_prop_value_origin(graph, at->value),
                             .dim = at->dim,
                             .axis = explain->seeds.items[at->seed].axis,
                             .op = -1,
                             .factor = clique == NULL ? -1 : clique->factor,
                             .level = at->level};
  if (clique != NULL && clique->node >= 0) {
    step.kind = TSPEC_CAUSE_OP;
    step.op = tspec_prop_op_origin(graph, clique->node);
    const tspec_prop_value_t *root = &graph->values.items[tspec_prop_root(graph, at->value)];
    if (graph->values.items[root->initial_value].taken == clique->node) {
      step.kind = TSPEC_CAUSE_CONSTRAINT;
    }
  }
  return step;
}

/// Goes on from a dim to its neighbours that have the axis.
typedef void (*visit_fn_t)(void *user, const reached_t *next);

static void visit_neighbours(const tspec_plain_t *plain, const reached_t *from, int index,
                             visit_fn_t visit, void *user) {
  for (int i = plain->first_clique[from->at]; i < plain->first_clique[from->at + 1]; i++) {
    const clique_t *clique = &plain->cliques.items[plain->cliques_of[i]];
    for (int m = 0; !clique->is_cut && m < clique->count; m++) {
      const member_t *member = &plain->members.items[clique->first + m];
      if (plain->split[member->at]) {
        visit(user, &(reached_t){.value = member->value,
                                 .dim = member->dim,
                                 .at = member->at,
                                 .seed = from->seed,
                                 .prev = index,
                                 .clique = plain->cliques_of[i],
                                 .length = from->length + 1});
      }
    }
  }
}

/// The nearest seeds of all dims at once: from all seeds outwards.
static void visit_near(void *user, const reached_t *next) {
  const tspec_explain_t *explain = user;
  tspec_plain_t *plain = explain->plain;
  int count = plain->nnear[next->at];
  int *of = &plain->near_of[(size_t)next->at * MOST_NEAR];
  for (int i = 0; i < count; i++) {
    if (plain->near.items[of[i]].seed == next->seed) {
      return;
    }
  }
  if (count < MOST_NEAR) {
    of[plain->nnear[next->at]++] = (int)plain->near.count;
    reached_t reached = *next;
    if (next->prev >= 0) {
      const reached_t *from = &plain->near.items[next->prev];
      int level = level_from(explain, &plain->cliques.items[next->clique], from->at);
      reached.level = level > from->level ? level : from->level;
    }
    TSPEC_VEC_PUSH(plain->arena, &plain->near, reached);
  }
}

static void find_near(tspec_explain_t *explain) {
  tspec_plain_t *plain = plain_of(explain);
  plain->nnear = TSPEC_ARENA_NEW(plain->arena, int, plain->ndims);
  plain->near_of = TSPEC_ARENA_NEW(plain->arena, int, (size_t)plain->ndims *MOST_NEAR);
  for (int i = 0; i < (int)explain->seeds.count; i++) {
    const tspec_seed_t *seed = &explain->seeds.items[i];
    visit_near(explain, &(reached_t){.value = seed->value,
                                     .dim = seed->dim,
                                     .at = seed_dim(explain, i),
                                     .seed = i,
                                     .prev = -1,
                                     .length = 1});
  }
  for (size_t i = 0; i < plain->near.count; i++) {
    reached_t from = plain->near.items[i]; // the list moves
    visit_neighbours(plain, &from, (int)i, visit_near, explain);
  }
}

/// The reason that is one seed.
static int reason_of(const tspec_reasons_t *reasons, int seed) {
  int low = 0, high = reasons->count;
  while (low + 1 < high) {
    int middle = (low + high) / 2;
    *(reasons->items[middle].seeds[0] <= seed ? &low : &high) = middle;
  }
  return low;
}

int tspec_plain_nearest(tspec_explain_t *explain, int effect, int most, int *reasons) {
  const tspec_plain_t *plain = plain_of(explain);
  if (plain->nnear == NULL) {
    find_near(explain);
  }
  int at = effect_dim(explain, effect);
  int count = plain->nnear[at] < most ? plain->nnear[at] : most;
  for (int i = 0; i < count; i++) {
    reasons[i] =
        reason_of(&plain->reasons[plain->component[at]],
                  plain->near.items[plain->near_of[(size_t)at * MOST_NEAR + (size_t)i]].seed);
  }
  return count;
}

/// From an effect outwards, until all seeds that are asked for are found.
typedef struct outward_t {
  tspec_plain_t *plain;
  tspec_arena_t *arena;
  TSPEC_VEC(reached_t) list;
} outward_t;

static void visit_outward(void *user, const reached_t *next) {
  outward_t *outward = user;
  if (outward->plain->reached[next->at] == 0) {
    TSPEC_VEC_PUSH(outward->arena, &outward->list, *next);
    outward->plain->reached[next->at] = (int)outward->list.count;
  }
}

/// The steps of a chain; in front of the last one only the first ones are kept.
static int shown_steps(const tspec_chain_request_t *request, int length) {
  return request->most > 0 && length > request->most ? request->most : length;
}

static void answer_outward(const tspec_explain_t *explain, const outward_t *outward,
                           tspec_chain_request_t *request, tspec_arena_t *arena) {
  const tspec_plain_t *plain = outward->plain;
  int seed = request->reasons->items[request->reason].seeds[0];
  int at = plain->reached[seed_dim(explain, seed)] - 1;
  int length = outward->list.items[at].length;
  int count = shown_steps(request, length);
  tspec_chain_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_chain_step_t, count);
  const clique_t *clique = NULL; // by which the axis comes from `source`
  int level = 0, source = 0;
  for (int place = length - 1; place >= 0; place--) {
    reached_t here = outward->list.items[at];
    int own = clique == NULL ? 0 : level_from(explain, clique, source);
    level = own > level ? own : level;
    here.level = level;
    here.seed = seed;
    int kept = place == length - 1 ? count - 1 : place;
    if (place == length - 1 || place < count - 1) {
      steps[kept] = step_at(explain, &here, clique);
    }
    clique = here.prev < 0 ? NULL : &plain->cliques.items[here.clique];
    source = here.at;
    at = here.prev;
  }
  request->chain = (tspec_chain_t){count, steps, seed, length - count};
}

static void walk_outward(const tspec_explain_t *explain, tspec_plain_t *plain, int count,
                         tspec_chain_request_t *const *requests, tspec_arena_t *arena) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  outward_t outward = {.plain = plain, .arena = &work};
  const tspec_effect_t *effect = &explain->effects.items[requests[0]->effect];
  visit_outward(&outward, &(reached_t){.value = effect->value,
                                       .dim = effect->dim,
                                       .at = effect_dim(explain, requests[0]->effect),
                                       .prev = -1,
                                       .length = 1});
  for (size_t i = 0; i < outward.list.count; i++) {
    reached_t from = outward.list.items[i]; // the list moves
    visit_neighbours(plain, &from, (int)i, visit_outward, &outward);
  }
  for (int i = 0; i < count; i++) {
    answer_outward(explain, &outward, requests[i], arena);
  }
  for (size_t i = 0; i < outward.list.count; i++) {
    plain->reached[outward.list.items[i].at] = 0;
  }
  tspec_arena_deinit(&work);
}

/// The way from a dim to a seed that is one of its nearest; false if it is none.
static bool answer_near(const tspec_explain_t *explain, const tspec_plain_t *plain,
                        tspec_chain_request_t *request, tspec_arena_t *arena) {
  const tspec_effect_t *effect = &explain->effects.items[request->effect];
  int at = effect_dim(explain, request->effect);
  int seed = request->reasons->items[request->reason].seeds[0];
  int found = -1;
  for (int i = 0; plain->nnear != NULL && i < plain->nnear[at]; i++) {
    int near = plain->near_of[(size_t)at * MOST_NEAR + (size_t)i];
    found = plain->near.items[near].seed == seed ? near : found;
  }
  if (found < 0) {
    return false;
  }
  int length = plain->near.items[found].length;
  int count = shown_steps(request, length);
  tspec_chain_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_chain_step_t, count);
  for (int i = 0; i < count; i++) {
    reached_t here = plain->near.items[found];
    if (i == count - 1) {
      here.value = explain->seeds.items[seed].value;
      here.dim = explain->seeds.items[seed].dim;
    }
    here.value = i == 0 ? effect->value : here.value;
    bool is_last = i == count - 1;
    steps[i] = step_at(explain, &here, is_last ? NULL : &plain->cliques.items[here.clique]);
    found = here.prev;
  }
  request->chain = (tspec_chain_t){count, steps, seed, length - count};
  return true;
}

void tspec_plain_chains(tspec_explain_t *explain, int count, tspec_chain_request_t *const *requests,
                        tspec_arena_t *arena) {
  tspec_chain_request_t **left = TSPEC_ARENA_NEW(explain->arena, tspec_chain_request_t *, count);
  int nleft = 0;
  for (int i = 0; i < count; i++) {
    if (!tspec_explain_answer_recorded(explain, requests[i], arena) &&
        !answer_near(explain, plain_of(explain), requests[i], arena)) {
      left[nleft++] = requests[i];
    }
  }
  for (int first = 0, end = 0; first < nleft; first = end) {
    while (end < nleft && left[end]->effect == left[first]->effect) {
      end++;
    }
    walk_outward(explain, explain->plain, end - first, left + first, arena);
  }
}
