// A propagation graph written op by op.
#ifndef TSPEC_TESTS_UNIT_SHARD_GRAPH_H
#define TSPEC_TESTS_UNIT_SHARD_GRAPH_H

#include "ir/shard/propagate.h"
#include "setting.h"

enum { MAX_VALUES = 256 };

typedef struct graph_t {
  setting_t *s;
  tspec_prop_graph_t *graph;
  tspec_type_t types[MAX_VALUES]; ///< by value
} graph_t;

static inline void graph_open(graph_t *g, setting_t *s) {
  *g = (graph_t){.s = s, .graph = tspec_prop_graph_create(&s->arena, &s->mesh)};
}

/// `sharding`: NULL: nothing said.
static inline int value(graph_t *g, tspec_type_t type, const char *sharding) {
  const tspec_sharding_t *read = sharding == NULL ? NULL : parse(g->s, sharding, type.rank);
  cr_assert(sharding == NULL || read != NULL);
  int id = tspec_prop_add_value(g->graph, type, read);
  g->types[id] = type;
  return id;
}

static inline int op(graph_t *g, tspec_rule_builder_t *builder, unsigned traits, int noperands,
                     const int *operands, int result) {
  return tspec_prop_add_op(g->graph, &(tspec_prop_op_t){.rule = tspec_rule_builder_finish(builder),
                                                        .traits = traits,
                                                        .noperands = noperands,
                                                        .operands = operands,
                                                        .nresults = 1,
                                                        .results = &result});
}

static inline tspec_rule_builder_t rule_of(graph_t *g, int noperands, const int *operands,
                                           int result) {
  tspec_type_t *types = TSPEC_ARENA_NEW(&g->s->arena, tspec_type_t, noperands + 1);
  for (int i = 0; i < noperands; i++) {
    types[i] = g->types[operands[i]];
  }
  types[noperands] = g->types[result];
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &g->s->arena, noperands, types, 1, types + noperands);
  return builder;
}

/// One or two operands of one type (b -1: none).
static inline int pointwise_as(graph_t *g, int a, int b, unsigned traits, const char *sharding) {
  int operands[] = {a, b};
  int result = value(g, g->types[a], sharding);
  int noperands = b < 0 ? 1 : 2;
  tspec_rule_builder_t builder = rule_of(g, noperands, operands, result);
  tspec_rule_builder_pointwise(&builder);
  op(g, &builder, traits, noperands, operands, result);
  return result;
}

static inline int pointwise(graph_t *g, int a, int b, const char *sharding) {
  return pointwise_as(g, a, b, TSPEC_PROP_ELEMENTWISE, sharding);
}

static inline int constraint(graph_t *g, int a, const char *sharding) {
  return pointwise_as(g, a, -1, TSPEC_PROP_ELEMENTWISE | TSPEC_PROP_CONSTRAINT, sharding);
}

/// a^T b of matrices: dims are numbered as they lie, `ca` and `cb` are contracted.
static inline int dot(graph_t *g, int a, int ca, int b, int cb, const char *sharding) {
  int operands[] = {a, b};
  const int64_t *da = g->types[a].dims;
  const int64_t *db = g->types[b].dims;
  int result = value(g, TYPE(g->s, da[1 - ca], db[1 - cb]), sharding);
  tspec_rule_builder_t builder = rule_of(g, 2, operands, result);
  int i = tspec_rule_builder_factor(&builder, da[1 - ca], TSPEC_FACTOR_PASS_THROUGH);
  int j = tspec_rule_builder_factor(&builder, db[1 - cb], TSPEC_FACTOR_PASS_THROUGH);
  int k = tspec_rule_builder_factor(&builder, da[ca], TSPEC_FACTOR_REDUCTION);
  tspec_rule_builder_map_operand(&builder, 0, 1 - ca, i);
  tspec_rule_builder_map_operand(&builder, 0, ca, k);
  tspec_rule_builder_map_operand(&builder, 1, 1 - cb, j);
  tspec_rule_builder_map_operand(&builder, 1, cb, k);
  tspec_rule_builder_map_result(&builder, 0, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 1, j);
  op(g, &builder, 0, 2, operands, result);
  return result;
}

static inline int matmul(graph_t *g, int a, int b, const char *sharding) {
  return dot(g, a, 1, b, 0, sharding);
}

/// A constant; no rule.
static inline int constant(graph_t *g, tspec_type_t type) {
  int result = value(g, type, NULL);
  tspec_prop_add_op(
      g->graph,
      &(tspec_prop_op_t){.traits = TSPEC_PROP_CONSTANT_LIKE, .nresults = 1, .results = &result});
  return result;
}

/// A scalar to every element of `type`.
static inline int fill(graph_t *g, int scalar, tspec_type_t type) {
  int result = value(g, type, NULL);
  tspec_rule_builder_t builder = rule_of(g, 1, &scalar, result);
  tspec_rule_builder_pointwise(&builder);
  op(g, &builder, TSPEC_PROP_BROADCAST, 1, &scalar, result);
  return result;
}

static inline void run(graph_t *g, tspec_prop_strategy_t strategy) {
  tspec_prop_run(g->graph, &(tspec_prop_options_t){.strategy = strategy});
}

/// As it lies, closed.
static inline char *got(graph_t *g, int id) {
  return print(g->s, tspec_sharding_close(&g->s->arena, tspec_prop_sharding(g->graph, id)));
}

#endif
