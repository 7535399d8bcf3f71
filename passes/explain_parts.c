// A program's dims in parts that do not act on each other. Axes spread within groups of linked
// dims; two groups act on each other where dims of both stand in one op and both have seeds of one
// mesh axis, since an axis splits a tensor once. A part's trials take with it all that stands in
// its nodes, and the whole starting shardings of its values: whether such a one is closed counts,
// too.
#include "ir/base/union.h"
#include <stdlib.h>

#include "ir/base/diag.h"
#include "ir/shard/prop_graph.h"
#include "passes/explain_trial.h"

// ---- which groups act on each other ----

typedef struct divider_t {
  tspec_explain_t *explain;
  tspec_arena_t *work;
  int naxes;
  int ndims;
  bool *live;  ///< by group and mesh axis: there are seeds
  int *parent; ///< by group: of a union
  int *part;   ///< by group that is a root: its part + 1
  int *owner;  ///< by mesh axis: the group that has it in this node + 1
  int *seen;   ///< by part: the last node that was put into it + 1
} divider_t;

static int group_of(const tspec_explain_t *explain, int value, int dim) {
  return explain->links.group[explain->links.first[value] + dim];
}

static void note_seeds(divider_t *divider) {
  const tspec_explain_t *explain = divider->explain;
  for (size_t i = 0; i < explain->seeds.count; i++) {
    const tspec_seed_t *seed = &explain->seeds.items[i];
    int group = group_of(explain, seed->value, seed->dim);
    divider->live[group * divider->naxes + seed->axis.axis] = true;
  }
}

static void meet_value(divider_t *divider, int value) {
  int rank = divider->explain->map->graph->values.items[value].type.rank;
  for (int d = 0; d < rank; d++) {
    int group = group_of(divider->explain, value, d);
    for (int a = 0; a < divider->naxes; a++) {
      if (!divider->live[group * divider->naxes + a]) {
        continue;
      }
      if (divider->owner[a] > 0) {
        tspec_union_join(divider->parent, divider->owner[a] - 1, group);
      }
      divider->owner[a] = group + 1;
    }
  }
}

static void meet_node(divider_t *divider, const tspec_prop_node_t *node) {
  for (int a = 0; a < divider->naxes; a++) {
    divider->owner[a] = 0;
  }
  for (int t = 0; t < node->noperands + node->nresults; t++) {
    meet_value(divider, tspec_prop_tensor(node, t));
  }
}

static void join_groups(divider_t *divider) {
  const tspec_prop_graph_t *graph = divider->explain->map->graph;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    meet_node(divider, &graph->nodes.items[i]);
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    meet_node(divider, &graph->returns.items[i]);
  }
  for (size_t v = 0; v < graph->values.count; v++) {
    for (int a = 0; a < divider->naxes; a++) {
      divider->owner[a] = 0;
    }
    meet_value(divider, (int)v);
  }
}

// ---- what belongs to a part ----

/// The part of a dim, or -1: nothing can split it.
static int part_of_dim(divider_t *divider, int value, int dim) {
  int group = group_of(divider->explain, value, dim);
  return divider->part[tspec_union_find(divider->parent, group)] - 1;
}

static void number_parts(divider_t *divider) {
  tspec_explain_t *explain = divider->explain;
  for (int group = 0; group < divider->ndims; group++) {
    for (int a = 0; a < divider->naxes; a++) {
      int root = tspec_union_find(divider->parent, group);
      if (divider->live[group * divider->naxes + a] && divider->part[root] == 0) {
        TSPEC_VEC_PUSH(explain->arena, &explain->parts, (tspec_part_t){0});
        divider->part[root] = (int)explain->parts.count;
      }
    }
  }
  divider->seen = TSPEC_ARENA_NEW(divider->work, int, explain->parts.count);
}

typedef enum list_t { OWN_VALUES, OWN_NODES, OWN_RETURNS, OWN_GROUPS } list_t;

static void put(tspec_explain_t *explain, tspec_part_t *part, list_t list, int id) {
  switch (list) {
  case OWN_VALUES:
    TSPEC_VEC_PUSH(explain->arena, &part->own_values, id);
    break;
  case OWN_NODES:
    TSPEC_VEC_PUSH(explain->arena, &part->own_nodes, id);
    break;
  case OWN_RETURNS:
    TSPEC_VEC_PUSH(explain->arena, &part->own_returns, id);
    break;
  case OWN_GROUPS:
    TSPEC_VEC_PUSH(explain->arena, &part->own_groups, id);
    break;
  }
}

/// Puts what has the value into the parts of its dims; `stamp` is another one for each thing.
static void put_by_value(divider_t *divider, int value, list_t list, int id, int stamp) {
  tspec_explain_t *explain = divider->explain;
  for (int d = 0; d < explain->plan->values.items[value].type.rank; d++) {
    int part = part_of_dim(divider, value, d);
    if (part >= 0 && divider->seen[part] != stamp) {
      divider->seen[part] = stamp;
      put(explain, &explain->parts.items[part], list, id);
    }
  }
}

static void put_nodes(divider_t *divider, size_t count, const tspec_prop_node_t *nodes, list_t list,
                      int *stamp) {
  for (size_t i = 0; i < count; i++) {
    ++*stamp;
    for (int t = 0; t < nodes[i].noperands + nodes[i].nresults; t++) {
      put_by_value(divider, tspec_prop_tensor(&nodes[i], t), list, (int)i, *stamp);
    }
  }
}

static void put_all(divider_t *divider) {
  const tspec_prop_graph_t *plan = divider->explain->plan;
  int stamp = 0;
  for (size_t v = 0; v < plan->values.count; v++) {
    put_by_value(divider, (int)v, OWN_VALUES, (int)v, ++stamp);
  }
  put_nodes(divider, plan->nodes.count, plan->nodes.items, OWN_NODES, &stamp);
  put_nodes(divider, plan->returns.count, plan->returns.items, OWN_RETURNS, &stamp);
  for (size_t g = 0; g < plan->groups.count; g++) {
    ++stamp;
    for (int m = 0; m < plan->groups.items[g].nmembers; m++) {
      put_by_value(divider, plan->groups.items[g].members[m], OWN_GROUPS, (int)g, stamp);
    }
  }
}

static void put_effects(divider_t *divider) {
  tspec_explain_t *explain = divider->explain;
  explain->part_of = TSPEC_ARENA_NEW(explain->arena, int, explain->effects.count);
  explain->place_of = TSPEC_ARENA_NEW(explain->arena, int, explain->effects.count);
  for (size_t i = 0; i < explain->effects.count; i++) {
    const tspec_effect_t *effect = &explain->effects.items[i];
    int part = part_of_dim(divider, effect->value, effect->dim);
    TSPEC_CHECK(part >= 0, "an axis without a seed");
    explain->part_of[i] = part;
    explain->place_of[i] = (int)explain->parts.items[part].effects.count;
    TSPEC_VEC_PUSH(explain->arena, &explain->parts.items[part].effects, (int)i);
  }
}

static void put_seeds(divider_t *divider) {
  tspec_explain_t *explain = divider->explain;
  for (size_t i = 0; i < explain->seeds.count; i++) {
    const tspec_seed_t *seed = &explain->seeds.items[i];
    int part = part_of_dim(divider, seed->value, seed->dim);
    TSPEC_VEC_PUSH(explain->arena, &explain->parts.items[part].own_seeds, (int)i);
  }
}

void tspec_explain_divide(tspec_explain_t *explain) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_prop_graph_t *graph = explain->map->graph;
  divider_t divider = {.explain = explain, .work = &work, .naxes = explain->program->mesh.naxes};
  for (size_t v = 0; v < graph->values.count; v++) {
    divider.ndims += graph->values.items[v].type.rank;
  }
  divider.live = TSPEC_ARENA_NEW(&work, bool, (size_t)divider.ndims *(size_t)divider.naxes);
  divider.parent = TSPEC_ARENA_NEW(&work, int, divider.ndims);
  divider.part = TSPEC_ARENA_NEW(&work, int, divider.ndims);
  divider.owner = TSPEC_ARENA_NEW(&work, int, divider.naxes);
  for (int i = 0; i < divider.ndims; i++) {
    divider.parent[i] = i;
  }
  explain->plan = tspec_prop_map_create(explain->arena, explain->program, NULL, NULL)->graph;
  tspec_prop_split_constants(explain->plan);
  explain->uses = tspec_prop_count_uses(explain->plan, explain->arena);
  explain->local = TSPEC_ARENA_NEW(explain->arena, int, explain->plan->values.count);
  note_seeds(&divider);
  join_groups(&divider);
  number_parts(&divider);
  put_all(&divider);
  put_effects(&divider);
  put_seeds(&divider);
  tspec_arena_deinit(&work);
}

// ---- a part's graph ----

static int compare_ints(const void *a, const void *b) {
  int first = *(const int *)a, second = *(const int *)b;
  return (first > second) - (first < second);
}

typedef TSPEC_VEC(int) ids_t;

static void sort(ids_t *ids) {
  if (ids->count > 1) {
    qsort(ids->items, ids->count, sizeof *ids->items, compare_ints);
  }
}

static void add_value(tspec_explain_t *explain, ids_t *values, int value) {
  if (explain->local[value] == 0) {
    explain->local[value] = 1;
    TSPEC_VEC_PUSH(explain->arena, values, value);
  }
}

static void add_tensors(tspec_explain_t *explain, ids_t *values, const tspec_prop_node_t *node) {
  for (int t = 0; t < node->noperands + node->nresults; t++) {
    add_value(explain, values, tspec_prop_tensor(node, t));
  }
}

static ids_t all_values(tspec_explain_t *explain, const tspec_part_t *part) {
  const tspec_prop_graph_t *plan = explain->plan;
  ids_t values = {0};
  for (size_t i = 0; i < part->own_values.count; i++) {
    add_value(explain, &values, part->own_values.items[i]);
  }
  for (size_t i = 0; i < part->own_nodes.count; i++) {
    add_tensors(explain, &values, &plan->nodes.items[part->own_nodes.items[i]]);
  }
  for (size_t i = 0; i < part->own_returns.count; i++) {
    add_tensors(explain, &values, &plan->returns.items[part->own_returns.items[i]]);
  }
  for (size_t i = 0; i < part->own_groups.count; i++) {
    const tspec_prop_group_t *group = &plan->groups.items[part->own_groups.items[i]];
    for (int m = 0; m < group->nmembers; m++) {
      add_value(explain, &values, group->members[m]);
    }
  }
  sort(&values);
  for (size_t i = 0; i < values.count; i++) {
    explain->local[values.items[i]] = (int)i;
  }
  return values;
}

/// The first seed of what is declared at a value, or -1.
static int first_seed(const tspec_explain_t *explain, int value) {
  int declaration =
      (size_t)value < explain->declared.count ? explain->declared.items[value] - 1 : -1;
  return declaration < 0 || explain->nseeds_of.items[declaration] == 0
             ? -1
             : explain->first_seed.items[declaration];
}

/// All seeds of the declarations of the part's own values.
static void find_seeds(tspec_explain_t *explain, tspec_part_t *part) {
  ids_t first = {0}, all = {0};
  for (size_t i = 0; i < part->own_values.count; i++) {
    int seed = first_seed(explain, part->own_values.items[i]);
    if (seed >= 0) {
      TSPEC_VEC_PUSH(explain->arena, &first, seed);
    }
  }
  sort(&first);
  for (size_t i = 0; i < first.count; i++) {
    int seed = first.items[i];
    int end = seed + explain->nseeds_of.items[explain->seeds.items[seed].declaration];
    bool is_new = i == 0 || seed != first.items[i - 1];
    for (; is_new && seed < end; seed++) {
      TSPEC_VEC_PUSH(explain->arena, &all, seed);
    }
  }
  part->seeds = all.items;
  part->nseeds = (int)all.count;
  part->nwords = (int)((all.count + 63) / 64);
}

/// Where they start.
static void find_starts(tspec_explain_t *explain, tspec_part_t *part) {
  for (size_t i = 0; i < part->own_values.count; i++) {
    int value = part->own_values.items[i];
    int seed = first_seed(explain, value);
    if (seed >= 0) {
      TSPEC_VEC_PUSH(explain->arena, &part->starts,
                     (tspec_part_start_t){explain->local[value], tspec_part_seed(part, seed)});
    }
  }
}

static void prepare(tspec_explain_t *explain, tspec_part_t *part) {
  ids_t values = all_values(explain, part);
  part->values = values.items;
  part->nvalues = (int)values.count;
  part->nodes = part->own_nodes.items;
  part->nnodes = (int)part->own_nodes.count;
  part->graph = tspec_prop_cut(explain->plan, explain->uses,
                               &(tspec_prop_cut_t){.nvalues = part->nvalues,
                                                   .values = part->values,
                                                   .nnodes = part->nnodes,
                                                   .nodes = part->nodes,
                                                   .nreturns = (int)part->own_returns.count,
                                                   .returns = part->own_returns.items,
                                                   .ngroups = (int)part->own_groups.count,
                                                   .groups = part->own_groups.items,
                                                   .local = explain->local},
                               explain->arena);
  find_seeds(explain, part);
  find_starts(explain, part);
  for (size_t i = 0; i < values.count; i++) {
    explain->local[values.items[i]] = 0;
  }
}

/// True if the part by itself comes out as in the whole program.
static bool comes_out_alike(tspec_explain_t *explain, tspec_part_t *part) {
  tspec_seed_set_t all = tspec_seed_set_all(explain, part);
  for (size_t i = 0; i < part->effects.count; i++) {
    if (!tspec_explain_holds(explain, part, all, part->effects.items[i])) {
      return false;
    }
  }
  return true;
}

/// Takes everything into a part: in which order ops have their turn is decided by all of them, and
/// where axes are in each other's way it can matter.
static void take_all(tspec_explain_t *explain, tspec_part_t *part) {
  const tspec_prop_graph_t *plan = explain->plan;
  tspec_part_t all = {.effects = part->effects};
  for (size_t i = 0; i < plan->values.count; i++) {
    TSPEC_VEC_PUSH(explain->arena, &all.own_values, (int)i);
  }
  for (size_t i = 0; i < plan->nodes.count; i++) {
    TSPEC_VEC_PUSH(explain->arena, &all.own_nodes, (int)i);
  }
  for (size_t i = 0; i < plan->returns.count; i++) {
    TSPEC_VEC_PUSH(explain->arena, &all.own_returns, (int)i);
  }
  for (size_t i = 0; i < plan->groups.count; i++) {
    TSPEC_VEC_PUSH(explain->arena, &all.own_groups, (int)i);
  }
  all.is_ready = true;
  *part = all;
  prepare(explain, part);
}

tspec_part_t *tspec_explain_part(tspec_explain_t *explain, int effect) {
  tspec_part_t *part = &explain->parts.items[explain->part_of[effect]];
  if (!part->is_ready) {
    part->is_plain = tspec_part_is_plain(explain, part);
    part->is_ready = true;
    if (!part->is_plain) {
      prepare(explain, part);
      if (!comes_out_alike(explain, part)) {
        take_all(explain, part);
      }
    }
  }
  return part;
}

int tspec_part_value(const tspec_part_t *part, int value) {
  const int *at = part->nvalues == 0 ? NULL
                                     : bsearch(&value, part->values, (size_t)part->nvalues,
                                               sizeof *part->values, compare_ints);
  return at == NULL ? -1 : (int)(at - part->values);
}

int tspec_part_seed(const tspec_part_t *part, int seed) {
  const int *at = part->nseeds == 0 ? NULL
                                    : bsearch(&seed, part->seeds, (size_t)part->nseeds,
                                              sizeof *part->seeds, compare_ints);
  return at == NULL ? -1 : (int)(at - part->seeds);
}
