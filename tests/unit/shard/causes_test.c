#include "ir/shard/causes.h"

#include "graph.h"
#include "ir/shard/axes.h"

static const tspec_mesh_axis_t kAxes[] = {{"a", 2, 0}, {"b", 2, 0}, {"c", 3, 0}, {NULL, 0, 0}};

static tspec_axis_t axis(const setting_t *s, const char *name) {
  return tspec_axis_full(&s->mesh, tspec_mesh_find(&s->mesh, name));
}

Test(causes, names_are_words) {
  cr_assert(eq(str, (char *)tspec_cause_kind_name(TSPEC_CAUSE_ANNOTATION), "annotation"));
  cr_assert(eq(str, (char *)tspec_cause_kind_name(TSPEC_CAUSE_RETURN), "return"));
  cr_assert(eq(str, (char *)tspec_refusal_reason_name(TSPEC_REFUSAL_AXIS_USED), "axis used"));
}

Test(causes, records_come_in_order_of_time) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_causes_t *causes = tspec_causes_create(&arena, 2);
  for (int i = 0; i < 6; i++) {
    tspec_causes_add(causes, (tspec_cause_t){.value = i % 2, .dim = i});
  }
  int seen = 0;
  for (const tspec_cause_t *cause = tspec_causes_first(causes, 1); cause != NULL;
       cause = tspec_causes_next(causes, cause)) {
    cr_assert(eq(int, cause->dim, 2 * seen + 1));
    seen++;
  }
  cr_assert(eq(int, seen, 3));
  tspec_arena_deinit(&arena);
}

// w2 [a, -] reaches y of x @ w1 through relu: each step names the neighbour that it came from.
Test(causes, a_chain_leads_back_to_the_annotation) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 6, 8), NULL);
  int w1 = value(&g, TYPE(&s, 8, 8), NULL);
  int h = matmul(&g, x, w1, NULL);
  int y = pointwise(&g, h, -1, NULL);
  int w2 = value(&g, TYPE(&s, 8, 8), "[a, -]");
  int z = matmul(&g, y, w2, NULL);
  run(&g, TSPEC_PROP_FULL);
  const tspec_causes_t *causes = tspec_prop_causes(g.graph);
  const int chain[] = {w1, h, y, w2};
  for (int i = 0; i < 3; i++) {
    const tspec_cause_t *cause = tspec_causes_find(causes, chain[i], 1, axis(&s, "a"));
    cr_assert(cause != NULL);
    cr_assert(eq(int, (int)cause->kind, TSPEC_CAUSE_OP));
    cr_assert(eq(int, cause->source, chain[i + 1]));
  }
  const tspec_cause_t *root = tspec_causes_find(causes, w2, 0, axis(&s, "a"));
  cr_assert(eq(int, (int)root->kind, TSPEC_CAUSE_ANNOTATION));
  cr_assert(eq(int, root->source, w2));
  // y and w2 share the contracted factor, k, which counts from level 3 on.
  const tspec_cause_t *of_y = tspec_causes_find(causes, y, 1, axis(&s, "a"));
  cr_assert(eq(int, of_y->op, tspec_prop_definition(g.graph, z)));
  cr_assert(eq(int, of_y->factor, 2));
  cr_assert(eq(int, of_y->level, 3));
  cr_assert(tspec_causes_find(causes, z, 0, axis(&s, "a")) == NULL);
  setting_close(&s);
}

Test(causes, each_piece_that_is_added_has_a_record) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8), "[a?]");
  int y = pointwise(&g, x, -1, NULL);
  int z = pointwise(&g, y, -1, "[a*b]");
  run(&g, TSPEC_PROP_FULL);
  const tspec_causes_t *causes = tspec_prop_causes(g.graph);
  cr_assert(eq(str, got(&g, x), "[a*b]"));
  cr_assert(eq(int, tspec_causes_find(causes, x, 0, axis(&s, "b"))->source, y));
  cr_assert(
      eq(int, (int)tspec_causes_find(causes, x, 0, axis(&s, "a"))->kind, TSPEC_CAUSE_ANNOTATION));
  cr_assert(eq(int, tspec_causes_find(causes, y, 0, axis(&s, "b"))->source, z));
  setting_close(&s);
}

Test(causes, edges_returns_and_groups_are_told_apart) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8), "[a]");
  int owner = value(&g, TYPE(&s, 8), NULL);
  int edge = tspec_prop_add_edge(g.graph, owner, 1, &x, 0, NULL);
  int result = tspec_prop_add_return(g.graph, owner, NULL);
  int p = value(&g, TYPE(&s, 8, 8), "[a, ?]");
  int q = value(&g, TYPE(&s, 8, 8), "[?, b]");
  tspec_prop_add_group(g.graph, 2, (int[]){p, q});
  run(&g, TSPEC_PROP_FULL);
  const tspec_causes_t *causes = tspec_prop_causes(g.graph);
  const tspec_cause_t *cause = tspec_causes_first(causes, owner);
  cr_assert(eq(int, (int)cause->kind, TSPEC_CAUSE_EDGE));
  cr_assert(eq(int, cause->op, edge));
  cause = tspec_causes_first(causes, result);
  cr_assert(eq(int, (int)cause->kind, TSPEC_CAUSE_RETURN));
  cr_assert(eq(int, cause->op, -1));
  cr_assert(eq(int, cause->source, owner));
  cause = tspec_causes_find(causes, p, 1, axis(&s, "b"));
  cr_assert(eq(int, (int)cause->kind, TSPEC_CAUSE_GROUP));
  cr_assert(eq(int, cause->source, q));
  setting_close(&s);
}

/// Runs x -> y with these shardings; expects one refusal on y and returns it.
static tspec_refusal_t only_refusal(const char *from, const char *to,
                                    const tspec_prop_direction_t *barrier) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), from);
  int y = value(&g, TYPE(&s, 8, 8), to);
  tspec_rule_builder_t builder = rule_of(&g, 1, &x, y);
  tspec_rule_builder_pointwise(&builder);
  tspec_prop_add_op(g.graph,
                    &(tspec_prop_op_t){.rule = tspec_rule_builder_finish(&builder),
                                       .traits = TSPEC_PROP_ELEMENTWISE,
                                       .is_barrier = barrier != NULL,
                                       .barrier = barrier == NULL ? TSPEC_PROP_BOTH : *barrier,
                                       .noperands = 1,
                                       .operands = &x,
                                       .nresults = 1,
                                       .results = &y});
  run(&g, TSPEC_PROP_FULL);
  const tspec_refusal_t *first = tspec_causes_first_refusal(tspec_prop_causes(g.graph), y);
  cr_assert(first != NULL, "%s to %s", from, to);
  tspec_refusal_t refusal = *first;
  cr_assert(tspec_causes_next_refusal(tspec_prop_causes(g.graph), first) == NULL);
  cr_assert(eq(int, refusal.source, x));
  setting_close(&s);
  return refusal;
}

Test(causes, what_stays_undone_has_a_reason) {
  cr_assert(eq(int, (int)only_refusal("[a, -]", "[-, ?]", NULL).reason, TSPEC_REFUSAL_CLOSED));
  tspec_refusal_t used = only_refusal("[a, -]", "[?, a]", NULL);
  cr_assert(eq(int, (int)used.reason, TSPEC_REFUSAL_AXIS_USED));
  cr_assert(eq(int, used.dim, 0));
  cr_assert(eq(int, used.other_dim, 1));
  cr_assert(
      eq(int, (int)only_refusal("[a, -]", "[?, ?] sum(a)", NULL).reason, TSPEC_REFUSAL_PENDING));
  cr_assert(eq(int, (int)only_refusal("[a*b, -]", "[c, ?]", NULL).reason, TSPEC_REFUSAL_CONFLICT));
  tspec_prop_direction_t none = TSPEC_PROP_NONE;
  cr_assert(eq(int, (int)only_refusal("[a, -]", "[?, ?]", &none).reason, TSPEC_REFUSAL_BLOCKED));
}

Test(causes, a_factor_that_an_axis_does_not_divide_is_named) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 4), "[c, -]");
  int y = value(&g, TYPE(&s, 32), NULL);
  tspec_rule_builder_t builder = rule_of(&g, 1, &x, y);
  for (int dim = 0; dim < 2; dim++) {
    int f = tspec_rule_builder_factor(&builder, dim == 0 ? 8 : 4, TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, dim, f);
    tspec_rule_builder_map_result(&builder, 0, 0, f);
  }
  op(&g, &builder, TSPEC_PROP_RESHAPE_LIKE, 1, &x, y);
  run(&g, TSPEC_PROP_FULL);
  const tspec_causes_t *causes = tspec_prop_causes(g.graph);
  const tspec_refusal_t *refusal = tspec_causes_first_refusal(causes, y);
  cr_assert(refusal != NULL);
  cr_assert(eq(int, (int)refusal->reason, TSPEC_REFUSAL_NO_DIVIDE));
  cr_assert(tspec_axis_equal(refusal->axis, axis(&s, "c")));
  cr_assert(eq(i64, causes->nrefused[TSPEC_REFUSAL_NO_DIVIDE], 1));
  setting_close(&s);
}

Test(causes, a_program_without_conflicts_has_no_refusals) {
  setting_t s;
  graph_t g;
  setting_open(&s, kAxes);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a, -]");
  int w = value(&g, TYPE(&s, 8, 8), "[-, b]");
  int y = matmul(&g, x, w, NULL);
  pointwise(&g, y, -1, NULL);
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(sz, tspec_prop_causes(g.graph)->refusals.count, 0));
  setting_close(&s);
}
