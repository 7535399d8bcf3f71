// Building and reading a propagation graph.
#include "ir/shard/prop_graph.h"

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

tspec_prop_graph_t *tspec_prop_graph_create(tspec_arena_t *arena, const tspec_mesh_t *mesh) {
  tspec_prop_graph_t *graph = TSPEC_ARENA_NEW(arena, tspec_prop_graph_t, 1);
  graph->arena = arena;
  graph->mesh = mesh;
  return graph;
}

void tspec_prop_reserve(tspec_prop_graph_t *graph, int nvalues, int nops) {
  TSPEC_VEC_RESERVE(graph->arena, &graph->values, nvalues);
  TSPEC_VEC_RESERVE(graph->arena, &graph->nodes, nops);
}

int tspec_prop_add_value(tspec_prop_graph_t *graph, tspec_type_t type,
                         const tspec_sharding_t *sharding) {
  TSPEC_CHECK(sharding == NULL || sharding->rank == type.rank);
  int id = (int)graph->values.count;
  TSPEC_VEC_PUSH(graph->arena, &graph->values,
                 (tspec_prop_value_t){.type = type,
                                      .initial = sharding,
                                      .initial_value = id,
                                      .share = id,
                                      .definition = -1,
                                      .taken = -1,
                                      .origin = id});
  return id;
}

int tspec_prop_add_view(tspec_prop_graph_t *graph, int value, tspec_type_t type,
                        const tspec_axis_t *manual, int nmanual) {
  TSPEC_CHECK(value >= 0 && (size_t)value < graph->values.count);
  int id = tspec_prop_add_value(graph, type, NULL);
  tspec_prop_value_t *base = &graph->values.items[value];
  tspec_prop_value_t *view = &graph->values.items[id];
  TSPEC_CHECK(base->type.rank == type.rank);
  // A view of a view leaves out the axes of both.
  tspec_axis_t *axes = TSPEC_ARENA_NEW(graph->arena, tspec_axis_t, base->nmanual + nmanual);
  tspec_axes_copy(axes, base->manual, base->nmanual);
  tspec_axes_copy(axes + base->nmanual, manual, nmanual);
  view->manual = axes;
  view->nmanual = base->nmanual + nmanual;
  view->is_view = true;
  view->share = value;
  base->has_view = true;
  return id;
}

static int *copy_ids(const tspec_prop_graph_t *graph, int count, const int *ids) {
  for (int i = 0; i < count; i++) {
    TSPEC_CHECK(ids[i] >= 0 && (size_t)ids[i] < graph->values.count, "value %d", ids[i]);
  }
  return tspec_arena_copy(graph->arena, ids, sizeof *ids * (size_t)count);
}

static tspec_prop_node_t make_node(const tspec_prop_graph_t *graph, tspec_prop_node_kind_t kind,
                                   int noperands, const int *operands, int nresults,
                                   const int *results) {
  return (tspec_prop_node_t){.kind = kind,
                             .allowed = TSPEC_PROP_BOTH,
                             .noperands = noperands,
                             .operands = copy_ids(graph, noperands, operands),
                             .nresults = nresults,
                             .results = copy_ids(graph, nresults, results)};
}

static int push_node(tspec_prop_graph_t *graph, tspec_prop_node_t node) {
  int id = (int)graph->nodes.count;
  node.origin = id;
  TSPEC_VEC_PUSH(graph->arena, &graph->nodes, node);
  return id;
}

int tspec_prop_add_op(tspec_prop_graph_t *graph, const tspec_prop_op_t *op) {
  TSPEC_CHECK(op->rule == NULL ||
              (op->rule->noperands == op->noperands && op->rule->nresults == op->nresults));
  tspec_prop_node_t node =
      make_node(graph, TSPEC_PROP_NODE_OP, op->noperands, op->operands, op->nresults, op->results);
  node.rule = op->rule;
  node.traits = op->traits;
  node.allowed = op->is_barrier ? op->barrier : TSPEC_PROP_BOTH;
  int id = push_node(graph, node);
  for (int i = 0; i < op->nresults; i++) {
    graph->values.items[op->results[i]].definition = id;
  }
  return id;
}

/// By which `noperands` tensors of a type flow into one.
static const tspec_factor_rule_t *identity_rule(tspec_prop_graph_t *graph, tspec_type_t type,
                                                int noperands) {
  tspec_type_t *types = TSPEC_ARENA_NEW(graph->arena, tspec_type_t, noperands + 1);
  for (int i = 0; i <= noperands; i++) {
    types[i] = type;
  }
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, graph->arena, noperands, types, 1, &types[noperands]);
  tspec_rule_builder_pointwise(&builder);
  return tspec_rule_builder_finish(&builder);
}

/// Makes two values share one sharding. Errors: false if both start with one and they differ, or if
/// one of them sees fewer axes.
static bool share(tspec_prop_graph_t *graph, int a, int b) {
  if (graph->values.items[a].is_view || graph->values.items[b].is_view) {
    return false;
  }
  int keep = tspec_prop_root(graph, a);
  int give = tspec_prop_root(graph, b);
  if (keep == give) {
    return true;
  }
  tspec_prop_value_t *kept = &graph->values.items[keep];
  tspec_prop_value_t *given = &graph->values.items[give];
  if (!tspec_prop_says_anything(kept->initial)) {
    kept->initial = given->initial;
    kept->initial_value = given->initial_value;
  } else if (tspec_prop_says_anything(given->initial) &&
             !tspec_sharding_equal(kept->initial, given->initial)) {
    return false;
  }
  given->share = keep;
  kept->has_view = kept->has_view || given->has_view;
  return true;
}

static void share_or_tie(tspec_prop_graph_t *graph, int a, int b) {
  if (!share(graph, a, b)) {
    tspec_prop_node_t node = make_node(graph, TSPEC_PROP_NODE_GROUP, 1, &a, 1, &b);
    node.rule = identity_rule(graph, graph->values.items[a].type, 1);
    push_node(graph, node);
  }
}

int tspec_prop_add_edge(tspec_prop_graph_t *graph, int owner, int nsources, const int *sources,
                        int ntargets, const int *targets) {
  tspec_prop_node_t node = make_node(graph, TSPEC_PROP_NODE_EDGE, nsources, sources, 1, &owner);
  node.rule = identity_rule(graph, graph->values.items[owner].type, nsources);
  int id = push_node(graph, node);
  graph->values.items[owner].is_edge_target = true;
  for (int i = 0; i < ntargets; i++) {
    graph->values.items[targets[i]].is_edge_target = true;
    share_or_tie(graph, owner, targets[i]);
  }
  return id;
}

void tspec_prop_add_group(tspec_prop_graph_t *graph, int nmembers, const int *members) {
  TSPEC_VEC_PUSH(
      graph->arena, &graph->groups,
      (tspec_prop_group_t){.nmembers = nmembers, .members = copy_ids(graph, nmembers, members)});
}

int tspec_prop_add_return(tspec_prop_graph_t *graph, int value, const tspec_sharding_t *sharding) {
  tspec_type_t type = graph->values.items[value].type;
  int id = tspec_prop_add_value(graph, type, sharding);
  tspec_prop_node_t node = make_node(graph, TSPEC_PROP_NODE_RETURN, 1, &value, 1, &id);
  node.rule = identity_rule(graph, type, 1);
  TSPEC_VEC_PUSH(graph->arena, &graph->returns, node);
  return id;
}

// ---- finishing ----------------------------------------------------------------------------------

static void start_value(tspec_prop_graph_t *graph, tspec_prop_value_t *value) {
  int rank = value->type.rank;
  bool given = value->initial != NULL && !value->is_view;
  value->dims = TSPEC_ARENA_NEW(graph->arena, tspec_dim_t, rank);
  value->current = TSPEC_ARENA_NEW(graph->arena, tspec_sharding_t, 1);
  if (given) {
    *value->current = *value->initial;
  }
  value->current->rank = rank;
  value->current->dims = value->dims;
  for (int i = 0; i < rank; i++) {
    value->dims[i] = given ? value->initial->dims[i] : (tspec_dim_t){.open = true};
    value->nsplit += value->dims[i].naxes > 0;
  }
}

static void count_uses(tspec_prop_graph_t *graph, const tspec_prop_node_t *node) {
  for (int i = 0; i < node->noperands; i++) {
    graph->values.items[node->operands[i]].nuses++;
  }
}

static bool reads_once(const tspec_prop_graph_t *graph, const tspec_prop_node_t *node) {
  for (int i = 0; i < node->noperands; i++) {
    const tspec_prop_value_t *value = &graph->values.items[node->operands[i]];
    if (value->type.rank > 0 && value->nuses != 1) {
      return false;
    }
  }
  return true;
}

static void index_nodes(tspec_prop_graph_t *graph) {
  int nnodes = (int)graph->nodes.count;
  size_t total = 0;
  for (int fill = 0; fill < 2; fill++) {
    for (int i = 0; i < nnodes; i++) {
      const tspec_prop_node_t *node = &graph->nodes.items[i];
      for (int t = 0; t < node->noperands + node->nresults; t++) {
        int root = tspec_prop_root(graph, tspec_prop_tensor(node, t));
        tspec_prop_value_t *value = &graph->values.items[root];
        if (fill) {
          graph->touches[value->first_touch + value->ntouches] = i;
        }
        value->ntouches++;
        total++;
      }
    }
    if (!fill) {
      graph->touches = TSPEC_ARENA_NEW(graph->arena, int, total);
      int next = 0;
      for (size_t v = 0; v < graph->values.count; v++) {
        graph->values.items[v].first_touch = next;
        next += graph->values.items[v].ntouches;
        graph->values.items[v].ntouches = 0;
      }
    }
  }
}

void tspec_prop_finish(tspec_prop_graph_t *graph) {
  for (size_t i = 0; i < graph->nodes.count; i++) {
    count_uses(graph, &graph->nodes.items[i]);
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    count_uses(graph, &graph->returns.items[i]);
  }
  for (size_t i = 0; i < graph->groups.count; i++) {
    const tspec_prop_group_t *group = &graph->groups.items[i];
    for (int m = 0; m < group->nmembers; m++) {
      graph->values.items[group->members[m]].nuses++;
      share_or_tie(graph, group->members[0], group->members[m]);
    }
  }
  for (size_t i = 0; i < graph->values.count; i++) {
    graph->values.items[i].share = tspec_prop_root(graph, (int)i);
  }
  for (size_t i = 0; i < graph->nodes.count; i++) {
    tspec_prop_node_t *node = &graph->nodes.items[i];
    node->single_use = reads_once(graph, node);
  }
  for (size_t i = 0; i < graph->values.count; i++) {
    tspec_prop_value_t *value = &graph->values.items[i];
    if (value->is_view || tspec_prop_root(graph, (int)i) == (int)i) {
      start_value(graph, value);
    }
  }
  index_nodes(graph);
}

// ---- reading ------------------------------------------------------------------------------------

int tspec_prop_root(const tspec_prop_graph_t *graph, int value) {
  TSPEC_CHECK(value >= 0 && (size_t)value < graph->values.count);
  const tspec_prop_value_t *values = graph->values.items;
  while (values[value].share != value) {
    value = values[value].share;
  }
  return value;
}

int tspec_prop_tensor(const tspec_prop_node_t *node, int index) {
  return index < node->noperands ? node->operands[index] : node->results[index - node->noperands];
}

int tspec_prop_nhidden(const tspec_prop_value_t *view, const tspec_dim_t *dim) {
  int count = 0;
  while (count < dim->naxes && view->is_view &&
         tspec_axes_overlap(view->manual, view->nmanual, dim->axes[count])) {
    count++;
  }
  return count;
}

const tspec_sharding_t *tspec_prop_look(tspec_prop_graph_t *graph, int value) {
  tspec_prop_value_t *seen = &graph->values.items[value];
  const tspec_prop_value_t *root = &graph->values.items[tspec_prop_root(graph, value)];
  if (!seen->is_view) {
    return root->current;
  }
  *seen->current = *root->current;
  seen->current->dims = seen->dims;
  for (int i = 0; i < root->current->rank; i++) {
    int hidden = tspec_prop_nhidden(seen, &root->dims[i]);
    seen->dims[i] = root->dims[i];
    seen->dims[i].axes = hidden > 0 ? root->dims[i].axes + hidden : root->dims[i].axes;
    seen->dims[i].naxes -= hidden;
  }
  return seen->current;
}

bool tspec_prop_says_anything(const tspec_sharding_t *sharding) {
  if (sharding == NULL) {
    return false;
  }
  for (int i = 0; i < sharding->rank; i++) {
    const tspec_dim_t *dim = &sharding->dims[i];
    if (dim->naxes > 0 || !dim->open || dim->priority > 0) {
      return true;
    }
  }
  return sharding->npending > 0 || sharding->nreplicated > 0;
}

const tspec_sharding_t *tspec_prop_sharding(const tspec_prop_graph_t *graph, int value) {
  TSPEC_CHECK(graph->causes != NULL, "before tspec_prop_run");
  TSPEC_CHECK(value >= 0 && (size_t)value < graph->values.count);
  const tspec_prop_value_t *seen = &graph->values.items[value];
  return seen->is_view ? seen->current : graph->values.items[tspec_prop_root(graph, value)].current;
}

const tspec_sharding_t *tspec_prop_initial(const tspec_prop_graph_t *graph, int value) {
  return graph->values.items[tspec_prop_root(graph, value)].initial;
}

int tspec_prop_initial_value(const tspec_prop_graph_t *graph, int value) {
  return graph->values.items[tspec_prop_root(graph, value)].initial_value;
}

const tspec_causes_t *tspec_prop_causes(const tspec_prop_graph_t *graph) {
  return graph->causes;
}

int tspec_prop_cause_value(const tspec_prop_graph_t *graph, int value) {
  return tspec_prop_root(graph, value);
}

int tspec_prop_nvalues(const tspec_prop_graph_t *graph) {
  return (int)graph->values.count;
}

int tspec_prop_nops(const tspec_prop_graph_t *graph) {
  return (int)graph->nodes.count;
}

static const tspec_prop_node_t *node_at(const tspec_prop_graph_t *graph, int op) {
  TSPEC_CHECK(op >= 0 && (size_t)op < graph->nodes.count);
  return &graph->nodes.items[op];
}

int tspec_prop_operand(const tspec_prop_graph_t *graph, int op, int index) {
  const tspec_prop_node_t *node = node_at(graph, op);
  TSPEC_CHECK(index >= 0 && index < node->noperands);
  return node->operands[index];
}

int tspec_prop_returned(const tspec_prop_graph_t *graph, int index) {
  TSPEC_CHECK(index >= 0 && (size_t)index < graph->returns.count);
  return graph->returns.items[index].operands[0];
}

int tspec_prop_definition(const tspec_prop_graph_t *graph, int value) {
  TSPEC_CHECK(value >= 0 && (size_t)value < graph->values.count);
  return graph->values.items[value].definition;
}

int tspec_prop_value_origin(const tspec_prop_graph_t *graph, int value) {
  TSPEC_CHECK(value >= 0 && (size_t)value < graph->values.count);
  return graph->values.items[value].origin;
}

int tspec_prop_op_origin(const tspec_prop_graph_t *graph, int op) {
  return node_at(graph, op)->origin;
}

const tspec_factor_rule_t *tspec_prop_op_rule(const tspec_prop_graph_t *graph, int op) {
  return node_at(graph, op)->rule;
}

int tspec_prop_factor_dim(const tspec_prop_graph_t *graph, int op, int value, int factor, int nth) {
  const tspec_prop_node_t *node = node_at(graph, op);
  for (int t = 0; node->rule != NULL && t < node->noperands + node->nresults; t++) {
    const tspec_factor_map_t *map = tspec_factor_rule_tensor(node->rule, t);
    for (int d = 0; tspec_prop_tensor(node, t) == value && d < map->rank; d++) {
      for (int i = 0; i < map->dims[d].nfactors; i++) {
        if (map->dims[d].factors[i] == factor && nth-- == 0) {
          return d;
        }
      }
    }
  }
  return -1;
}

int tspec_prop_result(const tspec_prop_graph_t *graph, int op, int index) {
  const tspec_prop_node_t *node = node_at(graph, op);
  TSPEC_CHECK(index >= 0 && index < node->nresults);
  return node->results[index];
}
