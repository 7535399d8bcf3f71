#include "ir/shard/choose.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/op_rules.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"

typedef struct tensor_t {
  int64_t shape[6];
  const char *sharding;
} tensor_t;

typedef struct fact_t {
  const char *name;
  tspec_mesh_axis_t axes[6];
  tspec_op_kind_t kind;
  tspec_attr_t attrs[6];
  tensor_t operands[3];
  tensor_t result;
  const char *needed[3];
  const char *computed;
  const char *reduced;
} fact_t;

#define LIST(...) {__VA_ARGS__}
#define CASE(name_, mesh_, op_, attrs_, operands_, result_, needed_, computed_, reduced_)          \
  {name_, mesh_, op_, attrs_, operands_, result_, needed_, computed_, reduced_},

static const fact_t facts[] = {
#include "choice_cases.inc"
};
enum { NFACTS = sizeof facts / sizeof *facts };

typedef struct setting_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_mesh_t mesh;
  tspec_op_view_t view;
  tspec_type_t types[4]; // operands, then the result
  const tspec_sharding_t *shardings[4];
} setting_t;

static tspec_type_t type_of(setting_t *setting, const tensor_t *tensor) {
  int rank = 0;
  while (rank < 6 && tensor->shape[rank] != 0) {
    rank++;
  }
  return tspec_type_make(&setting->arena, TSPEC_DTYPE_F32, rank, tensor->shape);
}

static const tspec_sharding_t *parse(setting_t *setting, const char *text, int rank) {
  return tspec_sharding_parse(&setting->arena, &setting->mesh, text, rank,
                              (tspec_about_t){.what = "'x'"}, &setting->diag);
}

static void start(setting_t *setting, const fact_t *fact) {
  *setting = (setting_t){0};
  tspec_arena_init(&setting->arena);
  tspec_sources_init(&setting->sources, &setting->arena);
  tspec_diag_init(&setting->diag, &setting->sources, stderr);
  setting->mesh.axes = fact->axes;
  while (setting->mesh.naxes < 6 && fact->axes[setting->mesh.naxes].name != NULL) {
    setting->mesh.naxes++;
  }
  int n = 0;
  while (n < 3 && fact->operands[n].sharding != NULL) {
    setting->types[n] = type_of(setting, &fact->operands[n]);
    setting->shardings[n] = parse(setting, fact->operands[n].sharding, setting->types[n].rank);
    n++;
  }
  setting->types[n] = type_of(setting, &fact->result);
  setting->shardings[n] = parse(setting, fact->result.sharding, setting->types[n].rank);
  setting->view = (tspec_op_view_t){.kind = fact->kind,
                                    .noperands = n,
                                    .operands = setting->types,
                                    .nresults = 1,
                                    .results = &setting->types[n],
                                    .attrs = fact->attrs};
  while (setting->view.nattrs < 6 && fact->attrs[setting->view.nattrs].name != NULL) {
    setting->view.nattrs++;
  }
}

static tspec_choice_t choose(setting_t *setting, bool executable) {
  const tspec_op_rules_t *rules = tspec_op_info(setting->view.kind)->rules;
  const tspec_factor_rule_t *rule = rules->rule(&setting->view, &setting->arena, false);
  tspec_choose_op_t op = {.rule = rule,
                          .types = setting->types,
                          .shardings = setting->shardings,
                          .keeps_elements = (rules->traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0,
                          .executable = executable};
  return tspec_choose(&setting->arena, &setting->mesh, &op);
}

static const char *print(setting_t *setting, const tspec_sharding_t *sharding) {
  return tspec_sharding_print(&setting->arena, &setting->mesh, sharding);
}

Test(choose, choices_equal_the_facts) {
  cr_assert(eq(int, NFACTS, 98));
  for (int i = 0; i < NFACTS; i++) {
    const fact_t *fact = &facts[i];
    setting_t setting;
    start(&setting, fact);
    tspec_choice_t choice = choose(&setting, false);
    int n = setting.view.noperands;
    for (int t = 0; t < n; t++) {
      const char *got = print(&setting, choice.tensors[t]);
      cr_expect(strcmp(got, fact->needed[t]) == 0, "%s: operand %d: want %s, got %s", fact->name, t,
                fact->needed[t], got);
    }
    const char *got = print(&setting, tspec_sharding_complete(&setting.arena, choice.tensors[n]));
    cr_expect(strcmp(got, fact->computed) == 0, "%s: result: want %s, got %s", fact->name,
              fact->computed, got);
    // What is reduced at once: without the axes over which the result stays pending.
    tspec_axis_t rest[TSPEC_MAX_ATOMS];
    int nrest = 0;
    const tspec_sharding_t *declared = setting.shardings[n];
    cr_assert(tspec_axes_subtract(choice.reduced, choice.nreduced, declared->pending,
                                  declared->npending, rest, &nrest));
    nrest = tspec_axes_sort(rest, nrest);
    tspec_sharding_t only = {.npending = nrest, .pending = rest};
    const char *want = fact->reduced[0] == '\0'
                           ? "[]"
                           : tspec_arena_printf(&setting.arena, "[] sum(%s)", fact->reduced);
    got = print(&setting, &only);
    cr_expect(strcmp(got, want) == 0, "%s: reduced: want %s, got %s", fact->name, want, got);
    tspec_arena_deinit(&setting.arena);
  }
}

// ---- what a rank can compute ------------------------------------------------------------------

static void expect_choice(const fact_t *fact, int nunsplit) {
  setting_t setting;
  start(&setting, fact);
  tspec_choice_t choice = choose(&setting, true);
  for (int t = 0; t <= setting.view.noperands; t++) {
    const char *want = t < setting.view.noperands ? fact->needed[t] : fact->computed;
    const char *got = print(&setting, choice.tensors[t]);
    cr_expect(strcmp(got, want) == 0, "%s: tensor %d: want %s, got %s", fact->name, t, want, got);
  }
  cr_expect(eq(int, choice.nunsplit, nunsplit));
  tspec_arena_deinit(&setting.arena);
}

#define INTS(name_, ...)                                                                           \
  {                                                                                                \
    .name = name_, .kind = TSPEC_ATTR_INTS,                                                        \
    .count = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .ints = (const int64_t[]) { \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

Test(choose, unsplits_a_dim_that_is_sliced) {
  expect_choice(&(fact_t){.name = "slice",
                          .axes = {{"x", 4, 0}, {"y", 2, 0}},
                          .kind = TSPEC_OP_slice,
                          .attrs = {INTS("starts", 0, 0), INTS("ends", 6, 4), INTS("steps", 1, 1)},
                          .operands = {{{8, 4}, "[x, y]"}},
                          .result = {{6, 4}, "[x, y]"},
                          .needed = {"[-, y]"},
                          .computed = "[-, y]"},
                2);
}

Test(choose, unsplits_the_dim_of_an_argmax) {
  expect_choice(
      &(fact_t){.name = "arg_reduce",
                .axes = {{"x", 4, 0}, {"y", 2, 0}},
                .kind = TSPEC_OP_arg_reduce,
                .attrs = {{.name = "kind", .kind = TSPEC_ATTR_REDUCE, .reduce = TSPEC_REDUCE_MAX},
                          {.name = "dim", .kind = TSPEC_ATTR_INT, .i = 1}},
                .operands = {{{8, 4}, "[y, x]"}},
                .result = {{8}, "[y]"},
                .needed = {"[y, -]"},
                .computed = "[y]"},
      1);
}

Test(choose, splits_a_sum_by_uneven_blocks) {
  expect_choice(
      &(fact_t){.name = "reduce",
                .axes = {{"x", 4, 0}, {"y", 2, 0}},
                .kind = TSPEC_OP_reduce,
                .attrs = {{.name = "kind", .kind = TSPEC_ATTR_REDUCE, .reduce = TSPEC_REDUCE_MAX},
                          INTS("dims", 1)},
                .operands = {{{5, 3}, "[y, x]"}},
                .result = {{5}, "[y]"},
                .needed = {"[y, x]"},
                .computed = "[y] max(x)"},
      0);
}

Test(choose, keeps_a_reshaped_split_only_where_blocks_align) {
  static const struct {
    int64_t before[6];
    int64_t after[6];
    const char *from;
    const char *to;
    const char *needed;
    const char *computed;
    int nunsplit;
  } reshapes[] = {
      {{8, 4}, {32}, "[x, -]", "[x]", "[x, -]", "[x]", 0},
      // 6 rows over 4 ranks are 2 * 4 elements, a quarter of 24 is 6: only halves align.
      {{6, 4}, {24}, "[x, -]", "[x]", "[x:(1)2, -]", "[x:(1)2]", 2},
      {{24}, {6, 4}, "[x]", "[x, -]", "[x:(1)2]", "[x:(1)2, -]", 2},
      // 5 rows over 4 ranks stay whole rows where a dim of size 1 is added.
      {{5, 3}, {5, 1, 3}, "[x, -]", "[x, -, -]", "[x, -]", "[x, -, -]", 0},
      {{5, 4}, {20}, "[x, -]", "[x]", "[-, -]", "[-]", 2},
      // The 3 of 6 = 2 * 3 has no place on the other side.
      {{6, 4}, {4, 6}, "[y, -]", "[y, -]", "[y, -]", "[y, -]", 0},
  };
  for (size_t i = 0; i < sizeof reshapes / sizeof *reshapes; i++) {
    int rank = 0;
    while (reshapes[i].after[rank] != 0) {
      rank++;
    }
    fact_t fact = {.name = reshapes[i].from,
                   .axes = {{"x", 4, 0}, {"y", 2, 0}},
                   .kind = TSPEC_OP_reshape,
                   .attrs = {{.name = "shape",
                              .kind = TSPEC_ATTR_INTS,
                              .count = rank,
                              .ints = reshapes[i].after}},
                   .operands = {{.sharding = reshapes[i].from}},
                   .result = {.sharding = reshapes[i].to},
                   .needed = {reshapes[i].needed},
                   .computed = reshapes[i].computed};
    memcpy(fact.operands[0].shape, reshapes[i].before, sizeof reshapes[i].before);
    memcpy(fact.result.shape, reshapes[i].after, sizeof reshapes[i].after);
    expect_choice(&fact, reshapes[i].nunsplit);
  }
}

Test(choose, unsplits_a_dim_of_size_1_that_is_repeated) {
  expect_choice(&(fact_t){.name = "broadcast",
                          .axes = {{"x", 4, 0}, {"y", 2, 0}},
                          .kind = TSPEC_OP_broadcast,
                          .attrs = {INTS("shape", 8, 4), INTS("dims", 0, 1)},
                          .operands = {{{1, 4}, "[x, y]"}},
                          .result = {{8, 4}, "[x, y]"},
                          .needed = {"[-, y]"},
                          .computed = "[x, y]"},
                1);
}
