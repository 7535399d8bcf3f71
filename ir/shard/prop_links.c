// Which dims may have axes from each other: dims of one factor, of one op after the other.
#include "ir/base/diag.h"
#include "ir/base/union.h"
#include "ir/shard/prop_graph.h"

static void link_node(const tspec_prop_graph_t *graph, const tspec_prop_node_t *node,
                      const int *first, int *parents, int *by_factor) {
  if (node->rule == NULL || node->allowed == TSPEC_PROP_NONE) {
    return;
  }
  for (int f = 0; f < node->rule->nfactors; f++) {
    by_factor[f] = -1;
  }
  for (int t = 0; t < node->noperands + node->nresults; t++) {
    const tspec_factor_map_t *map = tspec_factor_rule_tensor(node->rule, t);
    int base = first[tspec_prop_root(graph, tspec_prop_tensor(node, t))];
    for (int d = 0; d < map->rank; d++) {
      for (int i = 0; i < map->dims[d].nfactors; i++) {
        int factor = map->dims[d].factors[i];
        if (by_factor[factor] >= 0) {
          tspec_union_join(parents, by_factor[factor], base + d);
        }
        by_factor[factor] = base + d;
      }
    }
  }
}

static int most_factors(const tspec_prop_graph_t *graph) {
  int most = 0;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const tspec_factor_rule_t *rule = graph->nodes.items[i].rule;
    most = rule != NULL && rule->nfactors > most ? rule->nfactors : most;
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    int nfactors = graph->returns.items[i].rule->nfactors;
    most = nfactors > most ? nfactors : most;
  }
  return most;
}

tspec_prop_links_t tspec_prop_link_dims(const tspec_prop_graph_t *graph, tspec_arena_t *arena) {
  TSPEC_CHECK(graph->causes != NULL, "before tspec_prop_run");
  size_t nvalues = graph->values.count;
  tspec_prop_links_t links = {.first = TSPEC_ARENA_NEW(arena, int, nvalues)};
  int count = 0;
  for (size_t v = 0; v < nvalues; v++) {
    links.first[v] = count;
    count += graph->values.items[v].type.rank;
  }
  for (size_t v = 0; v < nvalues; v++) {
    links.first[v] = links.first[tspec_prop_root(graph, (int)v)];
  }
  links.group = TSPEC_ARENA_NEW(arena, int, count);
  for (int i = 0; i < count; i++) {
    links.group[i] = i;
  }
  int *by_factor = TSPEC_ARENA_NEW(arena, int, most_factors(graph));
  for (size_t i = 0; i < graph->nodes.count; i++) {
    link_node(graph, &graph->nodes.items[i], links.first, links.group, by_factor);
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    link_node(graph, &graph->returns.items[i], links.first, links.group, by_factor);
  }
  for (int i = 0; i < count; i++) {
    links.group[i] = tspec_union_find(links.group, i);
  }
  return links;
}
