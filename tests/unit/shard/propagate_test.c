#include "ir/shard/propagate.h"

#include "graph.h"
#include "ir/shard/axes.h"

static const tspec_mesh_axis_t kGuide[] = {{"data", 2, 0}, {"model", 4, 0}, {NULL, 0, 0}};
static const tspec_mesh_axis_t kSmall[] = {{"a", 2, 0}, {"b", 2, 0}, {"c", 2, 0}, {NULL, 0, 0}};

enum { LAYERS = 4 };

typedef struct layer_t {
  int w1, w2, h, y, z;
  int dy, dh, dw1, dw2, dx;
  int new_w1, new_w2;
} layer_t;

/// The Flax guide's model and one step of plain gradient descent (facts.md 4.1).
static void build_dotreludot(graph_t *g, layer_t *layers, bool constrained) {
  tspec_type_t weight = TYPE(g->s, 1024, 1024);
  int x = value(g, TYPE(g->s, 8, 1024), "[data, -]");
  int inputs[LAYERS + 1] = {x};
  for (int i = 0; i < LAYERS; i++) {
    layer_t *l = &layers[i];
    l->w1 = value(g, weight, "[-, model]");
    l->w2 = value(g, weight, "[model, -]");
    l->h = matmul(g, inputs[i], l->w1, NULL);
    l->y = pointwise(g, l->h, -1, NULL);
    l->y = constrained ? constraint(g, l->y, "[data, model]") : l->y;
    l->z = matmul(g, l->y, l->w2, NULL);
    l->z = constrained ? constraint(g, l->z, "[data, -]") : l->z;
    inputs[i + 1] = l->z;
  }
  int one = constant(g, (tspec_type_t){.dtype = TSPEC_DTYPE_F32});
  int gradient = fill(g, one, TYPE(g->s, 8, 1024));
  for (int i = LAYERS - 1; i >= 0; i--) {
    layer_t *l = &layers[i];
    l->dw2 = dot(g, l->y, 0, gradient, 0, NULL);
    l->dy = dot(g, gradient, 1, l->w2, 1, NULL);
    l->dh = pointwise(g, l->dy, l->h, NULL);
    l->dw1 = dot(g, inputs[i], 0, l->dh, 0, NULL);
    l->dx = dot(g, l->dh, 1, l->w1, 1, NULL);
    gradient = l->dx;
    l->new_w1 = pointwise(g, l->w1, l->dw1, NULL);
    l->new_w2 = pointwise(g, l->w2, l->dw2, NULL);
    tspec_prop_add_return(g->graph, l->new_w1, parse(g->s, "[-, model]", 2));
    tspec_prop_add_return(g->graph, l->new_w2, parse(g->s, "[model, -]", 2));
  }
}

// "Constraints stand on y and z. The guide says they are optional and the compiler reaches the same
// specs."
Test(propagate, dotreludot_reaches_the_guides_specs_with_and_without_constraints) {
  for (int constrained = 0; constrained < 2; constrained++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kGuide);
    graph_open(&g, &s);
    layer_t layers[LAYERS];
    build_dotreludot(&g, layers, constrained);
    run(&g, TSPEC_PROP_FULL);
    for (int i = 0; i < LAYERS; i++) {
      cr_assert(eq(str, got(&g, layers[i].h), "[data, model]"));
      cr_assert(eq(str, got(&g, layers[i].y), "[data, model]"));
      cr_assert(eq(str, got(&g, layers[i].z), "[data, -]"));
      cr_assert(eq(str, got(&g, layers[i].dy), "[data, model]"));
      cr_assert(eq(str, got(&g, layers[i].dh), "[data, model]"));
      cr_assert(eq(str, got(&g, layers[i].dx), "[data, -]"));
      cr_assert(eq(str, got(&g, layers[i].dw1), "[-, model]"));
      cr_assert(eq(str, got(&g, layers[i].dw2), "[model, -]"));
      cr_assert(eq(str, got(&g, layers[i].new_w1), "[-, model]"));
      cr_assert(eq(str, got(&g, layers[i].new_w2), "[model, -]"));
    }
    setting_close(&s);
  }
}

Test(propagate, nothing_said_gives_nothing) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), NULL);
  int y = pointwise(&g, x, -1, NULL);
  run(&g, TSPEC_PROP_FULL);
  cr_assert(
      tspec_sharding_equal(tspec_prop_sharding(g.graph, y), tspec_sharding_open(&s.arena, 2)));
  setting_close(&s);
}

Test(propagate, an_empty_graph_runs) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(int, tspec_prop_nvalues(g.graph), 0));
  setting_close(&s);
}

// A transposed copy wants the axis on the other dim. Elementwise ops come first, whatever the
// order.
Test(propagate, elementwise_ops_go_before_matmuls) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a?, ?]");
  int w = value(&g, TYPE(&s, 8, 8), NULL);
  int h = matmul(&g, x, w, NULL);
  int y = pointwise(&g, h, -1, NULL);
  tspec_prop_add_return(g.graph, y, parse(&s, "[?, a?]", 2));
  run(&g, TSPEC_PROP_OP_PRIORITY);
  cr_assert(eq(str, got(&g, h), "[-, a]"));
  cr_assert(eq(str, got(&g, w), "[-, a]"));
  setting_close(&s);
}

Test(propagate, rounds_follow_the_priorities) {
  static const char *const expected[2][2] = {{"[a, -]", "[-, a]"}, {"[-, a]", "[a, -]"}};
  for (int first = 0; first < 2; first++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int x = value(&g, TYPE(&s, 8, 8), first == 0 ? "[a, ?]" : "[a!1, ?]");
    int y = value(&g, TYPE(&s, 8, 8), first == 0 ? "[?, a!1]" : "[?, a]");
    int z = pointwise(&g, x, y, NULL);
    run(&g, TSPEC_PROP_USER_PRIORITY);
    cr_assert(eq(str, got(&g, z), (char *)expected[first][0]));
    cr_assert(eq(str, got(&g, x), "[a, -]"));
    cr_assert(eq(str, got(&g, y), "[-, a]"));
    setting_close(&s);
  }
}

Test(propagate, an_open_dim_waits_for_its_round) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8), "[a]");
  int y = pointwise(&g, x, -1, "[?!2]");
  run(&g, TSPEC_PROP_USER_PRIORITY);
  cr_assert(eq(str, print(&s, tspec_prop_sharding(g.graph, y)), "[a?!2]"));
  cr_assert(eq(int, tspec_causes_first(tspec_prop_causes(g.graph), y)->round, 2));
  setting_close(&s);
}

Test(propagate, axes_of_later_rounds_are_kept_free) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a, -]");
  int y = pointwise(&g, x, -1, "[?, a!1]");
  run(&g, TSPEC_PROP_USER_PRIORITY);
  cr_assert(eq(str, got(&g, y), "[-, a]"));
  cr_assert(eq(int, tspec_prop_sharding(g.graph, y)->nreplicated, 0));
  setting_close(&s);
}

Test(propagate, groups_have_one_sharding) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), NULL);
  int y = value(&g, TYPE(&s, 8, 8), "[?, b]");
  int z = value(&g, TYPE(&s, 8, 8), NULL);
  int from_z = pointwise(&g, z, -1, "[a, ?]");
  tspec_prop_add_group(g.graph, 2, (int[]){x, y});
  tspec_prop_add_group(g.graph, 2, (int[]){z, y});
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, x), "[a, b]"));
  cr_assert(eq(str, got(&g, y), "[a, b]"));
  cr_assert(eq(str, got(&g, z), "[a, b]"));
  cr_assert(eq(str, got(&g, from_z), "[a, b]"));
  cr_assert(eq(int, tspec_prop_cause_value(g.graph, x), tspec_prop_cause_value(g.graph, z)));
  setting_close(&s);
}

Test(propagate, members_that_start_differently_keep_what_was_written) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a, ?]");
  int y = value(&g, TYPE(&s, 8, 8), "[b, ?]");
  int z = value(&g, TYPE(&s, 8, 8), NULL);
  int w = pointwise(&g, y, -1, "[?, c]");
  tspec_prop_add_group(g.graph, 3, (int[]){x, y, z});
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, x), "[a, c]"));
  cr_assert(eq(str, got(&g, y), "[b, c]"));
  cr_assert(eq(str, got(&g, z), "[a, c]"));
  cr_assert(eq(str, got(&g, w), "[b, c]"));
  setting_close(&s);
}

Test(propagate, a_loop_carries_its_sharding_around) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int start = value(&g, TYPE(&s, 8, 8), NULL);
  int carry = value(&g, TYPE(&s, 8, 8), NULL);
  int next = pointwise(&g, carry, -1, NULL);
  int end = value(&g, TYPE(&s, 8, 8), NULL);
  tspec_prop_add_edge(g.graph, end, 2, (int[]){start, next}, 1, &carry);
  int after = pointwise(&g, end, -1, "[a, b]");
  run(&g, TSPEC_PROP_FULL);
  const int all[] = {start, carry, next, end, after};
  for (int i = 0; i < 5; i++) {
    cr_assert(eq(str, got(&g, all[i]), "[a, b]"));
  }
  setting_close(&s);
}

Test(propagate, a_manual_region_hides_its_axes) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  tspec_axis_t manual = tspec_axis_full(&s.mesh, 1);
  int x = value(&g, TYPE(&s, 8, 8), "[b*a?, ?]");
  int in = value(&g, TYPE(&s, 8, 8), "[b?, ?]");
  tspec_type_t local = TYPE(&s, 4, 8);
  int inside = tspec_prop_add_view(g.graph, in, local, &manual, 1);
  g.types[inside] = local;
  tspec_prop_add_edge(g.graph, in, 1, &x, 0, NULL);
  int y = pointwise(&g, inside, -1, "[?, c]");
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, in), "[b*a, c]"));
  cr_assert(eq(str, got(&g, inside), "[a, c]"));
  cr_assert(eq(str, got(&g, y), "[a, c]"));
  cr_assert(eq(str, got(&g, x), "[b*a, c]"));
  setting_close(&s);
}

Test(propagate, a_barrier_lets_through_its_direction_alone) {
  for (int direction = 0; direction <= 3; direction++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int x = value(&g, TYPE(&s, 8, 8), "[a, ?]");
    int y = value(&g, TYPE(&s, 8, 8), "[?, b]");
    tspec_rule_builder_t builder = rule_of(&g, 1, &x, y);
    tspec_rule_builder_pointwise(&builder);
    tspec_prop_add_op(g.graph, &(tspec_prop_op_t){.rule = tspec_rule_builder_finish(&builder),
                                                  .traits = TSPEC_PROP_ELEMENTWISE,
                                                  .is_barrier = true,
                                                  .barrier = (tspec_prop_direction_t)direction,
                                                  .noperands = 1,
                                                  .operands = &x,
                                                  .nresults = 1,
                                                  .results = &y});
    run(&g, TSPEC_PROP_FULL);
    cr_assert(eq(str, got(&g, x), (direction & TSPEC_PROP_BACKWARD) ? "[a, b]" : "[a, -]"));
    cr_assert(eq(str, got(&g, y), (direction & TSPEC_PROP_FORWARD) ? "[a, b]" : "[-, b]"));
    setting_close(&s);
  }
}

Test(propagate, pending_axes_are_not_used_and_stay) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a, b]");
  int y = pointwise(&g, x, -1, "[?, ?] sum(b)");
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, y), "[a, -] sum(b)"));
  setting_close(&s);
}

// r[i, j] of x[i, j] and x[j, i], which are one value: each operand alone would take the axis.
Test(propagate, an_op_that_reads_a_value_twice_splits_it_once_by_an_axis) {
  static const char *const cases[][2] = {
      {"[a, ?]", "[a, -]"},     {"[?, a]", "[-, a]"},     {"[a, b]", "[a, b]"},
      {"[a*b, c]", "[a*b, c]"}, {"[?, b*c]", "[-, b*c]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int x = value(&g, TYPE(&s, 8, 8), NULL);
    int operands[] = {x, x};
    int r = value(&g, TYPE(&s, 8, 8), cases[i][0]);
    tspec_rule_builder_t builder = rule_of(&g, 2, operands, r);
    for (int dim = 0; dim < 2; dim++) {
      int factor = tspec_rule_builder_factor(&builder, 8, TSPEC_FACTOR_PASS_THROUGH);
      tspec_rule_builder_map_operand(&builder, 0, dim, factor);
      tspec_rule_builder_map_operand(&builder, 1, 1 - dim, factor);
      tspec_rule_builder_map_result(&builder, 0, dim, factor);
    }
    op(&g, &builder, 0, 2, operands, r);
    run(&g, TSPEC_PROP_FULL);
    cr_assert(eq(str, got(&g, x), (char *)cases[i][1]), "case %zu", i);
    setting_close(&s);
  }
}

// One zero that two tensors read must not tie them together.
Test(propagate, constants_are_split_per_use) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int zero = constant(&g, (tspec_type_t){.dtype = TSPEC_DTYPE_F32});
  int zeros = fill(&g, zero, TYPE(&s, 8, 8));
  int x = value(&g, TYPE(&s, 8, 8), "[a, ?]");
  int y = value(&g, TYPE(&s, 8, 8), "[?, b]");
  int from_x = pointwise(&g, x, zeros, NULL);
  int from_y = pointwise(&g, zeros, y, NULL);
  int nvalues = tspec_prop_nvalues(g.graph);
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, from_x), "[a, -]"));
  cr_assert(eq(str, got(&g, from_y), "[-, b]"));
  int op_x = tspec_prop_definition(g.graph, from_x);
  int op_y = tspec_prop_definition(g.graph, from_y);
  cr_assert(eq(int, tspec_prop_operand(g.graph, op_x, 1), zeros));
  int copy = tspec_prop_operand(g.graph, op_y, 0);
  cr_assert(ge(int, copy, nvalues));
  cr_assert(eq(int, tspec_prop_value_origin(g.graph, copy), zeros));
  cr_assert(eq(str, got(&g, copy), "[-, b]"));
  // The copy reads a constant of its own.
  int copy_op = tspec_prop_definition(g.graph, copy);
  cr_assert(eq(int, tspec_prop_op_origin(g.graph, copy_op), tspec_prop_definition(g.graph, zeros)));
  cr_assert(ne(int, tspec_prop_operand(g.graph, copy_op, 0), zero));
  setting_close(&s);
}

Test(propagate, a_closed_constraint_moves_to_what_it_reads) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[?, a]");
  int y = pointwise(&g, x, -1, NULL);
  int z = constraint(&g, y, "[a, -]");
  int w = pointwise(&g, y, -1, NULL);
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, y), "[a, -]"));
  cr_assert(eq(str, got(&g, w), "[a, -]"));
  const tspec_cause_t *cause = tspec_causes_first(tspec_prop_causes(g.graph), y);
  cr_assert(eq(int, (int)cause->kind, TSPEC_CAUSE_CONSTRAINT));
  cr_assert(eq(int, cause->op, tspec_prop_definition(g.graph, z)));
  setting_close(&s);
}

Test(propagate, an_open_or_contested_constraint_does_not_move) {
  for (int contested = 0; contested < 2; contested++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int x = value(&g, TYPE(&s, 8, 8), "[?, a]");
    int y = pointwise(&g, x, -1, NULL);
    constraint(&g, y, contested ? "[a, -]" : "[a, ?]");
    if (contested) {
      constraint(&g, y, "[b, -]");
    }
    run(&g, TSPEC_PROP_FULL);
    const tspec_cause_t *cause = tspec_causes_first(tspec_prop_causes(g.graph), y);
    cr_assert(cause == NULL || cause->kind != TSPEC_CAUSE_CONSTRAINT);
    setting_close(&s);
  }
}

// What one member is asked to be, the other is, too: two that differ move to neither.
Test(propagate, constraints_of_a_group_move_only_where_they_agree) {
  static const char *const cases[][4] = {
      // the constraints of two members; how both lie; the second constraint's result
      {"[a, b]", "[a, b]", "[a, b]", "[a, b]"},
      {"[a, b]", NULL, "[a, b]", "[a, b]"},
      {"[a, b]", "[a*b, -]", "[a, b]", "[a*b, -]"},
      {"[a, -]", "[-, a]", "[a, -]", "[-, a]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int members[] = {value(&g, TYPE(&s, 8, 8), NULL), value(&g, TYPE(&s, 8, 8), NULL)};
    int results[2];
    for (int m = 0; m < 2; m++) {
      results[m] = cases[i][m] == NULL ? pointwise(&g, members[m], -1, NULL)
                                       : constraint(&g, members[m], cases[i][m]);
      tspec_prop_add_return(g.graph, results[m], NULL);
    }
    tspec_prop_add_group(g.graph, 2, members);
    run(&g, TSPEC_PROP_FULL);
    cr_assert(eq(str, got(&g, members[0]), (char *)cases[i][2]), "case %zu", i);
    cr_assert(eq(str, got(&g, members[1]), (char *)cases[i][2]), "case %zu", i);
    cr_assert(eq(str, got(&g, results[1]), (char *)cases[i][3]), "case %zu", i);
    setting_close(&s);
  }
}

Test(propagate, reads_after_a_chain_of_constraints_move_to_its_end) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), NULL);
  int before = pointwise(&g, x, -1, NULL);
  int head = constraint(&g, x, "[a, -]");
  int tail = constraint(&g, head, "[-, a]");
  int after = pointwise(&g, x, -1, NULL);
  tspec_prop_add_return(g.graph, x, NULL);
  run(&g, TSPEC_PROP_FULL);
  const tspec_prop_graph_t *graph = g.graph;
  cr_assert(eq(int, tspec_prop_operand(graph, tspec_prop_definition(graph, before), 0), x));
  cr_assert(eq(int, tspec_prop_operand(graph, tspec_prop_definition(graph, head), 0), x));
  cr_assert(eq(int, tspec_prop_operand(graph, tspec_prop_definition(graph, after), 0), tail));
  cr_assert(eq(int, tspec_prop_returned(graph, 0), tail));
  cr_assert(eq(str, got(&g, after), "[-, a]"));
  setting_close(&s);
}

Test(propagate, a_copy_reads_what_its_original_reads) {
  enum { BEFORE, BETWEEN, AFTER, NPLACES };
  for (int place = 0; place < NPLACES; place++) { // of the broadcast, in a chain of constraints
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int scalar = value(&g, (tspec_type_t){.dtype = TSPEC_DTYPE_F32}, NULL);
    int filled = place == BEFORE ? fill(&g, scalar, TYPE(&s, 8)) : -1;
    int head = constraint(&g, scalar, "[] sum(a)");
    filled = place == BETWEEN ? fill(&g, scalar, TYPE(&s, 8)) : filled;
    int tail = constraint(&g, head, "[] sum(b)");
    filled = place == AFTER ? fill(&g, scalar, TYPE(&s, 8)) : filled;
    int first = pointwise(&g, filled, -1, "[a]");
    int second = pointwise(&g, filled, -1, "[b]");
    tspec_prop_add_return(g.graph, scalar, NULL);
    run(&g, TSPEC_PROP_FULL);
    const tspec_prop_graph_t *graph = g.graph;
    int copy = tspec_prop_operand(graph, tspec_prop_definition(graph, second), 0);
    cr_assert(eq(int, tspec_prop_operand(graph, tspec_prop_definition(graph, first), 0), filled));
    cr_assert(ne(int, copy, filled));
    cr_assert(eq(int, tspec_prop_value_origin(graph, copy), filled));
    int reads = place == AFTER ? tail : scalar;
    int definitions[] = {tspec_prop_definition(graph, filled), tspec_prop_definition(graph, copy)};
    for (int i = 0; i < 2; i++) {
      cr_assert(eq(int, tspec_prop_operand(graph, definitions[i], 0), reads), "place %d, copy %d",
                place, i);
    }
    cr_assert(eq(int, tspec_prop_returned(graph, 0), tail));
    setting_close(&s);
  }
}

Test(propagate, a_result_and_what_is_returned_agree_both_ways) {
  setting_t s;
  graph_t g;
  setting_open(&s, kSmall);
  graph_open(&g, &s);
  int x = value(&g, TYPE(&s, 8, 8), "[a, ?]");
  int y = pointwise(&g, x, -1, NULL);
  int result = tspec_prop_add_return(g.graph, y, parse(&s, "[?, b]", 2));
  run(&g, TSPEC_PROP_FULL);
  cr_assert(eq(str, got(&g, y), "[a, b]"));
  cr_assert(eq(str, got(&g, result), "[a, b]"));
  cr_assert(eq(str, got(&g, x), "[a, b]"));
  setting_close(&s);
}

/// A random straight-line program; the same for the same seed.
static int build_random(graph_t *g, uint64_t seed, int nops) {
  uint64_t state = seed;
  static const char *const starts[] = {"[a?, ?]", "[?, b?]", "[c, -]", "[?, a*c?]", "[?, ?]"};
  for (int i = 0; i < 4; i++) {
    value(g, TYPE(g->s, 8, 8), starts[below(&state, 5)]);
  }
  for (int i = 0; i < nops; i++) {
    int count = tspec_prop_nvalues(g->graph);
    int a = below(&state, count);
    int b = below(&state, count);
    if (below(&state, 3) == 0) {
      matmul(g, a, b, NULL);
    } else {
      pointwise(g, a, b, below(&state, 6) == 0 ? starts[below(&state, 5)] : NULL);
    }
  }
  return tspec_prop_nvalues(g->graph);
}

// What every run must keep: what was written stays, no axis stands twice, closed dims do not grow,
// and each axis has a record.
Test(propagate, random_programs_keep_what_was_written) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    setting_t s;
    graph_t g;
    setting_open(&s, kSmall);
    graph_open(&g, &s);
    int nvalues = build_random(&g, seed * 7919, 30);
    run(&g, (tspec_prop_strategy_t)(seed % 5));
    for (int v = 0; v < nvalues; v++) {
      const tspec_sharding_t *sharding = tspec_prop_sharding(g.graph, v);
      cr_assert(tspec_sharding_check(&s.mesh, sharding, "'w'", (tspec_range_t){0}, &s.diag));
      for (int d = 0; d < sharding->rank; d++) {
        for (int i = 0; i < sharding->dims[d].naxes; i++) {
          const tspec_cause_t *cause =
              tspec_causes_find(tspec_prop_causes(g.graph), v, d, sharding->dims[d].axes[i]);
          cr_assert(cause != NULL);
          cr_assert(cause->kind == TSPEC_CAUSE_ANNOTATION || sharding->dims[d].open);
        }
      }
    }
    setting_close(&s);
  }
}

Test(propagate, the_same_program_gives_the_same_result) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    char *texts[2][MAX_VALUES];
    setting_t s[2];
    int nvalues = 0;
    for (int turn = 0; turn < 2; turn++) {
      graph_t g;
      setting_open(&s[turn], kSmall);
      graph_open(&g, &s[turn]);
      nvalues = build_random(&g, seed * 104729, 60);
      run(&g, TSPEC_PROP_FULL);
      for (int v = 0; v < nvalues; v++) {
        texts[turn][v] = got(&g, v);
      }
    }
    for (int v = 0; v < nvalues; v++) {
      cr_assert(eq(str, texts[0][v], texts[1][v]));
    }
    setting_close(&s[0]);
    setting_close(&s[1]);
  }
}

/// Bytes of the arena per op for a chain of `nops` ops, annotated at one end.
static double bytes_per_op(int nops, bool at_end) {
  setting_t s;
  setting_open(&s, kGuide);
  tspec_type_t type = TYPE(&s, 64, 64);
  tspec_type_t types[2] = {type, type};
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 1, types, 1, types + 1);
  tspec_rule_builder_pointwise(&builder);
  const tspec_factor_rule_t *rule = tspec_rule_builder_finish(&builder);
  tspec_prop_graph_t *graph = tspec_prop_graph_create(&s.arena, &s.mesh);
  int last = tspec_prop_add_value(graph, type, at_end ? NULL : parse(&s, "[data, model]", 2));
  for (int i = 0; i < nops; i++) {
    const tspec_sharding_t *said = at_end && i + 1 == nops ? parse(&s, "[data, model]", 2) : NULL;
    int next = tspec_prop_add_value(graph, type, said);
    tspec_prop_add_op(graph, &(tspec_prop_op_t){.rule = rule,
                                                .traits = TSPEC_PROP_ELEMENTWISE,
                                                .noperands = 1,
                                                .operands = &last,
                                                .nresults = 1,
                                                .results = &next});
    last = next;
  }
  size_t before = s.arena.used_bytes;
  tspec_prop_run(graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL});
  double bytes = (double)(s.arena.used_bytes - before) / nops;
  cr_assert(eq(str, print(&s, tspec_sharding_close(&s.arena, tspec_prop_sharding(graph, 0))),
               "[data, model]"));
  setting_close(&s);
  return bytes;
}

Test(propagate, long_chains_take_little_memory_per_op) {
  for (int at_end = 0; at_end < 2; at_end++) {
    cr_assert(lt(dbl, bytes_per_op(20000, at_end), 1024));
  }
}
