// Parts of a propagation graph, and copies: what explanations run again and again.
#include "ir/base/diag.h"
#include "ir/shard/prop_graph.h"

static void count_node(const tspec_prop_node_t *node, int *uses) {
  for (int i = 0; i < node->noperands; i++) {
    uses[node->operands[i]]++;
  }
}

int *tspec_prop_count_uses(const tspec_prop_graph_t *graph, tspec_arena_t *arena) {
  int *uses = TSPEC_ARENA_NEW(arena, int, graph->values.count);
  for (size_t i = 0; i < graph->nodes.count; i++) {
    count_node(&graph->nodes.items[i], uses);
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    count_node(&graph->returns.items[i], uses);
  }
  for (size_t i = 0; i < graph->groups.count; i++) {
    for (int m = 0; m < graph->groups.items[i].nmembers; m++) {
      uses[graph->groups.items[i].members[m]]++;
    }
  }
  return uses;
}

static int *local_ids(tspec_arena_t *arena, const int *local, int count, const int *ids) {
  int *mapped = TSPEC_ARENA_NEW(arena, int, count);
  for (int i = 0; i < count; i++) {
    mapped[i] = local[ids[i]];
  }
  return mapped;
}

static tspec_prop_node_t cut_node(tspec_prop_graph_t *part, const tspec_prop_node_t *from,
                                  const int *local, int origin) {
  TSPEC_CHECK(from->kind != TSPEC_PROP_NODE_EDGE, "parts have no edges");
  tspec_prop_node_t node = *from;
  node.operands = local_ids(part->arena, local, from->noperands, from->operands);
  node.results = local_ids(part->arena, local, from->nresults, from->results);
  node.origin = origin;
  return node;
}

static void cut_values(tspec_prop_graph_t *part, const tspec_prop_graph_t *graph,
                       const tspec_prop_cut_t *cut) {
  for (int i = 0; i < cut->nvalues; i++) {
    tspec_prop_value_t value = graph->values.items[cut->values[i]];
    TSPEC_CHECK(!value.is_view && value.share == cut->values[i], "parts have no views");
    value.initial_value = i;
    value.share = i;
    value.definition = -1;
    value.origin = i;
    TSPEC_VEC_PUSH(part->arena, &part->values, value);
  }
}

tspec_prop_graph_t *tspec_prop_cut(const tspec_prop_graph_t *graph, const int *uses,
                                   const tspec_prop_cut_t *cut, tspec_arena_t *arena) {
  tspec_prop_graph_t *part = tspec_prop_graph_create(arena, graph->mesh);
  cut_values(part, graph, cut);
  for (int i = 0; i < cut->nnodes; i++) {
    tspec_prop_node_t node = cut_node(part, &graph->nodes.items[cut->nodes[i]], cut->local, i);
    TSPEC_VEC_PUSH(arena, &part->nodes, node);
    for (int r = 0; r < node.nresults; r++) {
      part->values.items[node.results[r]].definition = i;
    }
  }
  for (int i = 0; i < cut->nreturns; i++) {
    TSPEC_VEC_PUSH(arena, &part->returns,
                   cut_node(part, &graph->returns.items[cut->returns[i]], cut->local, i));
  }
  for (int i = 0; i < cut->ngroups; i++) {
    const tspec_prop_group_t *group = &graph->groups.items[cut->groups[i]];
    TSPEC_VEC_PUSH(
        arena, &part->groups,
        (tspec_prop_group_t){group->nmembers,
                             local_ids(arena, cut->local, group->nmembers, group->members)});
  }
  int *here = tspec_prop_count_uses(part, arena);
  for (int i = 0; i < cut->nvalues; i++) {
    part->values.items[i].nuses = uses[cut->values[i]] - here[i];
  }
  return part;
}

/// Reads may be moved, so operands are copied, too.
static void copy_nodes(tspec_arena_t *arena, size_t count, tspec_prop_node_t *nodes) {
  for (size_t i = 0; i < count; i++) {
    nodes[i].operands = tspec_arena_copy(arena, nodes[i].operands,
                                         sizeof *nodes[i].operands * (size_t)nodes[i].noperands);
  }
}

tspec_prop_graph_t *tspec_prop_copy(const tspec_prop_graph_t *graph, tspec_arena_t *arena) {
  TSPEC_CHECK(graph->causes == NULL, "a graph runs once");
  tspec_prop_graph_t *copy = tspec_arena_copy(arena, graph, sizeof *graph);
  copy->arena = arena;
  copy->values.items = tspec_arena_copy(arena, graph->values.items,
                                        sizeof *copy->values.items * graph->values.count);
  copy->values.capacity = graph->values.count;
  copy->nodes.items =
      tspec_arena_copy(arena, graph->nodes.items, sizeof *copy->nodes.items * graph->nodes.count);
  copy->nodes.capacity = graph->nodes.count;
  copy->returns.items = tspec_arena_copy(arena, graph->returns.items,
                                         sizeof *copy->returns.items * graph->returns.count);
  copy->returns.capacity = graph->returns.count;
  copy_nodes(arena, copy->nodes.count, copy->nodes.items);
  copy_nodes(arena, copy->returns.count, copy->returns.items);
  return copy;
}
