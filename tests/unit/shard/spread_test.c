#include "ir/shard/spread.h"

#include "ir/base/str.h"
#include "ir/shard/axes.h"
#include "setting.h"

static const tspec_mesh_axis_t kAxes[] = {{"a", 4, 0}, {"b", 2, 0}, {"c", 2, 0}, {NULL, 0, 0}};

/// A pointwise op of `noperands` operands of one type.
static const tspec_factor_rule_t *pointwise(setting_t *s, int noperands, tspec_type_t type) {
  tspec_type_t *types = TSPEC_ARENA_NEW(&s->arena, tspec_type_t, noperands + 1);
  for (int i = 0; i <= noperands; i++) {
    types[i] = type;
  }
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s->arena, noperands, types, 1, types + noperands);
  tspec_rule_builder_pointwise(&builder);
  return tspec_rule_builder_finish(&builder);
}

/// Sets all tensors ("|" between them) and lets every factor go in one direction.
static void load(setting_t *s, tspec_spread_t *spread, const tspec_factor_rule_t *rule,
                 const char *shardings, tspec_prop_direction_t direction) {
  tspec_spread_start(spread, rule);
  spread->elementwise = true;
  char *text = tspec_arena_strdup(&s->arena, shardings, strlen(shardings));
  int tensor = 0;
  for (char *part = strtok(text, "|"); part != NULL; part = strtok(NULL, "|")) {
    int rank = tspec_factor_rule_tensor(rule, tensor)->rank;
    const tspec_sharding_t *sharding = parse(s, part, rank);
    cr_assert(sharding != NULL);
    tspec_projection_set(&spread->projection, tensor++, sharding);
  }
  cr_assert(eq(int, tensor, spread->projection.ntensors));
  for (int f = 0; f < rule->nfactors; f++) {
    spread->factors[f].direction = direction;
  }
}

static char *result_text(setting_t *s, tspec_spread_t *spread) {
  tspec_buf_t buf = {0};
  for (int t = 0; t < spread->projection.ntensors; t++) {
    const tspec_sharding_t *given = spread->projection.shardings[t];
    tspec_sharding_t now = {.rank = given->rank,
                            .dims = tspec_projection_get(&spread->projection, t, &s->arena)};
    tspec_buf_printf(&buf, "%s%s", t > 0 ? "|" : "", print(s, &now));
  }
  char *text = tspec_arena_strdup(&s->arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

typedef struct fact_t {
  const char *before;
  tspec_prop_direction_t direction;
  const char *basic;
  const char *aggressive;
} fact_t;

// Two operands and a result of 8x8, by hand from `propagation.md` 2.4.
static const fact_t kFacts[] = {
    {"[a, -]|[?, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a, -]|[a?, ?]|[a?, ?]", "[a, -]|[a?, ?]|[a?, ?]"},
    {"[a, -]|[?, ?]|[?, ?]", TSPEC_PROP_FORWARD, "[a, -]|[a?, ?]|[a?, ?]",
     "[a, -]|[a?, ?]|[a?, ?]"},
    {"[a, -]|[?, ?]|[?, ?]", TSPEC_PROP_BACKWARD, "[a, -]|[?, ?]|[?, ?]", "[a, -]|[?, ?]|[?, ?]"},
    {"[a, -]|[?, ?]|[?, ?]", TSPEC_PROP_NONE, "[a, -]|[?, ?]|[?, ?]", "[a, -]|[?, ?]|[?, ?]"},
    {"[?, ?]|[?, ?]|[?, b?]", TSPEC_PROP_BACKWARD, "[?, b?]|[?, b?]|[?, b?]",
     "[?, b?]|[?, b?]|[?, b?]"},
    // The longer of two lists wins if the other is its prefix.
    {"[a, ?]|[a*b, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a, ?]|[a*b, ?]|[a?, ?]",
     "[a, ?]|[a*b, ?]|[a*b?, ?]"},
    {"[a?, ?]|[a*b, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a*b?, ?]|[a*b, ?]|[a*b?, ?]",
     "[a*b?, ?]|[a*b, ?]|[a*b?, ?]"},
    // Two lists that contradict each other: the common part, if any.
    {"[a?, ?]|[b?, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a?, ?]|[b?, ?]|[?, ?]", "[a?, ?]|[b?, ?]|[?, ?]"},
    {"[a*b?, ?]|[a*c?, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a*b?, ?]|[a*c?, ?]|[a?, ?]",
     "[a*b?, ?]|[a*c?, ?]|[a?, ?]"},
    {"[a:(1)2?, ?]|[a?, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a?, ?]|[a?, ?]|[a?, ?]",
     "[a?, ?]|[a?, ?]|[a?, ?]"},
    {"[a:(1)2*b?, ?]|[a*b?, ?]|[?, ?]", TSPEC_PROP_BOTH, "[a:(1)2*b?, ?]|[a*b?, ?]|[a:(1)2?, ?]",
     "[a:(1)2*b?, ?]|[a*b?, ?]|[a:(1)2?, ?]"},
    // One axis, two factors: basic leaves it, aggressive gives it to the first operand's dim.
    {"[a, -]|[-, a]|[?, ?]", TSPEC_PROP_BOTH, "[a, -]|[-, a]|[?, ?]", "[a, -]|[-, a]|[a?, ?]"},
    {"[-, a]|[a, -]|[?, ?]", TSPEC_PROP_BOTH, "[-, a]|[a, -]|[?, ?]", "[-, a]|[a, -]|[?, a?]"},
    // ... or to the dim that is split more.
    {"[a, ?]|[-, a*b]|[?, ?]", TSPEC_PROP_BOTH, "[a, ?]|[-, a*b]|[?, ?]",
     "[a, ?]|[-, a*b]|[?, a*b?]"},
    // An operand gets no more than the result has.
    {"[a*b, ?]|[?, ?]|[a, ?]", TSPEC_PROP_BOTH, "[a*b, ?]|[a?, ?]|[a, ?]",
     "[a*b, ?]|[a?, ?]|[a, ?]"},
    {"[a, ?]|[?, ?]|[-, ?]", TSPEC_PROP_BOTH, "[a, ?]|[?, ?]|[-, ?]", "[a, ?]|[?, ?]|[-, ?]"},
};

Test(spread, steps_go_as_far_as_the_strategy_allows) {
  for (size_t i = 0; i < 2 * sizeof kFacts / sizeof *kFacts; i++) {
    const fact_t *fact = &kFacts[i / 2];
    bool basic = i % 2 == 0;
    setting_t s;
    setting_open(&s, kAxes);
    tspec_spread_t spread;
    tspec_spread_init(&spread, &s.arena, &s.mesh, false);
    load(&s, &spread, pointwise(&s, 2, TYPE(&s, 8, 8)), fact->before, fact->direction);
    if (basic) {
      tspec_spread_basic(&spread);
    } else {
      tspec_spread_aggressive(&spread);
    }
    cr_assert(eq(str, result_text(&s, &spread), (char *)(basic ? fact->basic : fact->aggressive)));
    setting_close(&s);
  }
}

Test(spread, conservative_refuses_pieces) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_spread_t spread;
  tspec_spread_init(&spread, &s.arena, &s.mesh, true);
  load(&s, &spread, pointwise(&s, 1, TYPE(&s, 8)), "[b*a:(1)2?]|[?]", TSPEC_PROP_BOTH);
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[b*a:(1)2?]|[b?]"));
  setting_close(&s);
}

Test(spread, replicated_and_pending_axes_stay_off) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_spread_t spread;
  tspec_spread_init(&spread, &s.arena, &s.mesh, false);
  tspec_axis_t b = tspec_axis_full(&s.mesh, 1);
  tspec_sharding_t whole = *tspec_sharding_open(&s.arena, 2);
  whole.replicated = &b;
  whole.nreplicated = 1;
  load(&s, &spread, pointwise(&s, 1, TYPE(&s, 8, 8)), "[a*b, c]|[?, ?]", TSPEC_PROP_BOTH);
  tspec_projection_set(&spread.projection, 1, &whole);
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[a*b, c]|[a?, c?]"));
  load(&s, &spread, pointwise(&s, 1, TYPE(&s, 8, 8)), "[a*b, c]|[?, ?] sum(c)", TSPEC_PROP_BOTH);
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[a*b, c]|[a*b?, ?]"));
  setting_close(&s);
}

/// A random list of pieces, open.
static const tspec_sharding_t *random_list(setting_t *s, uint64_t *state) {
  tspec_dim_t *dim = TSPEC_ARENA_NEW(&s->arena, tspec_dim_t, 1);
  tspec_axis_t *axes = TSPEC_ARENA_NEW(&s->arena, tspec_axis_t, 4);
  for (int i = below(state, 4); i > 0; i--) {
    tspec_axis_t piece = random_piece(&s->mesh, state);
    if (!tspec_axes_overlap(axes, dim->naxes, piece)) {
      tspec_axes_push(axes, &dim->naxes, piece);
    }
  }
  dim->axes = axes;
  dim->open = true;
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(&s->arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = 1, .dims = dim};
  return sharding;
}

// What two tensors agree on does not depend on which comes first, extends neither by more than the
// other has, and a second step changes nothing.
Test(spread, laws_of_agreement_hold) {
  uint64_t state = 4711;
  for (int i = 0; i < 4000; i++) {
    setting_t s;
    setting_open(&s, kAxes);
    const tspec_sharding_t *x = random_list(&s, &state);
    const tspec_sharding_t *y = random_list(&s, &state);
    const tspec_factor_rule_t *rule = pointwise(&s, 1, TYPE(&s, 64));
    tspec_spread_t spread;
    tspec_spread_init(&spread, &s.arena, &s.mesh, false);
    tspec_axis_t found[2][8];
    int counts[2];
    for (int turn = 0; turn < 2; turn++) {
      tspec_spread_start(&spread, rule);
      tspec_projection_set(&spread.projection, 0, turn == 0 ? x : y);
      tspec_projection_set(&spread.projection, 1, turn == 0 ? y : x);
      tspec_spread_agree(&spread, 0, TSPEC_PROP_BOTH);
      counts[turn] = spread.factors[0].naxes;
      tspec_axes_copy(found[turn], spread.factors[0].axes, counts[turn]);
    }
    cr_assert(tspec_axes_equal(found[0], counts[0], found[1], counts[1]), "%s and %s", print(&s, x),
              print(&s, y));
    cr_assert(tspec_axes_is_prefix(found[0], counts[0], x->dims[0].axes, x->dims[0].naxes) ||
              tspec_axes_is_prefix(found[0], counts[0], y->dims[0].axes, y->dims[0].naxes));
    spread.factors[0].direction = TSPEC_PROP_BOTH;
    tspec_spread_aggressive(&spread);
    char *once = result_text(&s, &spread);
    tspec_spread_aggressive(&spread);
    cr_assert(eq(str, result_text(&s, &spread), once));
    setting_close(&s);
  }
}

// A factor that is not its dim's last takes only what divides it.
Test(spread, a_major_factor_takes_what_divides) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_type_t operand = TYPE(&s, 6);
  tspec_type_t result = TYPE(&s, 6, 4);
  tspec_type_t merged = TYPE(&s, 24);
  tspec_type_t operands[] = {result, operand};
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 2, operands, 1, &merged);
  int i = tspec_rule_builder_factor(&builder, 6, TSPEC_FACTOR_PASS_THROUGH);
  int j = tspec_rule_builder_factor(&builder, 4, TSPEC_FACTOR_PASS_THROUGH);
  tspec_rule_builder_map_operand(&builder, 0, 0, i);
  tspec_rule_builder_map_operand(&builder, 0, 1, j);
  tspec_rule_builder_map_operand(&builder, 1, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 0, j);
  tspec_spread_t spread;
  tspec_spread_init(&spread, &s.arena, &s.mesh, false);
  load(&s, &spread, tspec_rule_builder_finish(&builder), "[a, -]|[?]|[?]", TSPEC_PROP_BOTH);
  spread.elementwise = false;
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[a, -]|[a?]|[a:(1)2?]"));
  setting_close(&s);
}

// The larger tensor decides, not the first.
Test(spread, a_conflict_goes_to_the_larger_source) {
  setting_t s;
  setting_open(&s, kAxes);
  tspec_type_t operands[] = {TYPE(&s, 8), TYPE(&s, 8, 8)};
  tspec_type_t result = TYPE(&s, 8, 8);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 2, operands, 1, &result);
  int i = tspec_rule_builder_factor(&builder, 8, TSPEC_FACTOR_PASS_THROUGH);
  int j = tspec_rule_builder_factor(&builder, 8, TSPEC_FACTOR_PASS_THROUGH);
  tspec_rule_builder_map_operand(&builder, 0, 0, i);
  tspec_rule_builder_map_operand(&builder, 1, 0, i);
  tspec_rule_builder_map_operand(&builder, 1, 1, j);
  tspec_rule_builder_map_result(&builder, 0, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 1, j);
  tspec_spread_t spread;
  tspec_spread_init(&spread, &s.arena, &s.mesh, false);
  load(&s, &spread, tspec_rule_builder_finish(&builder), "[a]|[?, a]|[?, ?]", TSPEC_PROP_BOTH);
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[a]|[?, a]|[?, a?]"));
  setting_close(&s);
}

// 3 does not divide 8: the major factor is not split, and what hangs over stays where it is.
Test(spread, a_factor_with_overflow_takes_nothing) {
  static const tspec_mesh_axis_t axes[] = {{"a", 2, 0}, {"t", 3, 0}, {NULL, 0, 0}};
  setting_t s;
  setting_open(&s, axes);
  tspec_type_t operand = TYPE(&s, 8, 4);
  tspec_type_t merged = TYPE(&s, 32);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 1, &operand, 1, &merged);
  for (int dim = 0; dim < 2; dim++) {
    int f = tspec_rule_builder_factor(&builder, operand.dims[dim], TSPEC_FACTOR_PASS_THROUGH);
    tspec_rule_builder_map_operand(&builder, 0, dim, f);
    tspec_rule_builder_map_result(&builder, 0, 0, f);
  }
  tspec_spread_t spread;
  tspec_spread_init(&spread, &s.arena, &s.mesh, false);
  load(&s, &spread, tspec_rule_builder_finish(&builder), "[a, -]|[t?]", TSPEC_PROP_BOTH);
  tspec_spread_aggressive(&spread);
  cr_assert(eq(str, result_text(&s, &spread), "[a, -]|[t?]"));
  setting_close(&s);
}
