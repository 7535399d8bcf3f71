#include "ir/shard/decompose.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/shard/cost.h"

// ---- facts ------------------------------------------------------------------------------------

#define LIST(...) {__VA_ARGS__}
#define CASE(name_, mesh_, shape_, from_, to_, uneven_, steps_)                                    \
  {name_, mesh_, shape_, from_, to_, uneven_, steps_},

typedef struct case_t {
  const char *name;
  tspec_mesh_axis_t axes[6];
  int64_t shape[4];
  const char *from;
  const char *to;
  bool uneven;
  const char *steps;
} case_t;

static const case_t cases[] = {
#include "reshard_cases.inc"
};
enum { NCASES = sizeof cases / sizeof *cases };

typedef struct setting_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_mesh_t mesh;
  tspec_type_t type;
} setting_t;

static void start(setting_t *setting, const tspec_mesh_axis_t *axes, const int64_t *shape) {
  *setting = (setting_t){0};
  tspec_arena_init(&setting->arena);
  tspec_sources_init(&setting->sources, &setting->arena);
  tspec_diag_init(&setting->diag, &setting->sources, stderr);
  setting->mesh.axes = axes;
  while (setting->mesh.naxes < 6 && axes[setting->mesh.naxes].name != NULL) {
    setting->mesh.naxes++;
  }
  int rank = 0;
  while (rank < 4 && shape[rank] != 0) {
    rank++;
  }
  setting->type = tspec_type_make(&setting->arena, TSPEC_DTYPE_F32, rank, shape);
}

static const tspec_sharding_t *parse(setting_t *setting, const char *text) {
  return tspec_sharding_parse(&setting->arena, &setting->mesh, text, setting->type.rank,
                              (tspec_about_t){.what = "'x'"}, &setting->diag);
}

static const tspec_mesh_axis_t mesh24[6] = {{"x", 2, 0}, {"y", 4, 0}};

Test(decompose, plans_equal_the_facts) {
  cr_assert(eq(int, NCASES, 57));
  for (int c = 0; c < NCASES; c++) {
    setting_t setting;
    start(&setting, cases[c].axes, cases[c].shape);
    tspec_steps_t steps = {0};
    cr_expect(tspec_reshard_plan(&setting.arena, &setting.mesh, setting.type,
                                 parse(&setting, cases[c].from), parse(&setting, cases[c].to),
                                 &steps),
              "%s", cases[c].name);
    const char *got = tspec_steps_print(&setting.arena, &setting.mesh, steps);
    cr_expect(strcmp(got, cases[c].steps) == 0, "%s: %s to %s\n  want %s\n  got  %s", cases[c].name,
              cases[c].from, cases[c].to, cases[c].steps, got);
    tspec_arena_deinit(&setting.arena);
  }
}

// What is taken in place of the plan is one collective, and sends less, or as much in fewer steps.
static void check_taken(setting_t *setting, const case_t *c, tspec_steps_t steps) {
  tspec_steps_t plan = {0};
  cr_assert(tspec_reshard_plan(&setting->arena, &setting->mesh, setting->type,
                               parse(setting, c->from), parse(setting, c->to), &plan));
  const char *got = tspec_steps_print(&setting->arena, &setting->mesh, steps);
  int64_t bytes = tspec_steps_cost_bytes(&setting->mesh, setting->type, steps);
  int64_t plan_bytes = tspec_steps_cost_bytes(&setting->mesh, setting->type, plan);
  bool cheaper =
      steps.count == 1 && (bytes < plan_bytes || (bytes == plan_bytes && steps.count < plan.count));
  cr_expect(cheaper || strcmp(got, c->steps) == 0, "%s: %s to %s\n  want %s\n  got  %s", c->name,
            c->from, c->to, c->steps, got);
}

Test(decompose, takes_the_plan_where_sizes_divide_and_the_direct_exchange_is_not_cheaper) {
  for (int c = 0; c < NCASES; c++) {
    setting_t setting;
    start(&setting, cases[c].axes, cases[c].shape);
    tspec_steps_t steps =
        tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                                parse(&setting, cases[c].from), parse(&setting, cases[c].to));
    bool even = true;
    for (int i = 0; i < steps.count; i++) {
      even &= tspec_step_is_local_to_axes(&setting.mesh, setting.type, &steps.items[i]);
    }
    cr_expect(even, "%s", cases[c].name);
    if (!cases[c].uneven) {
      check_taken(&setting, &cases[c], steps);
    }
    tspec_arena_deinit(&setting.arena);
  }
}

Test(decompose, swaps_two_axes_at_once) {
  setting_t setting;
  const int64_t shape[4] = {8, 8};
  start(&setting, mesh24, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                              parse(&setting, "[x, y]"), parse(&setting, "[y, x]"));
  cr_assert(eq(int, steps.count, 1));
  // Blocks of 4 x 2, then of 2 x 4: each goes out in two halves of 2 x 2, to ranks of which at most
  // one is the sender; four ranks are neither.
  cr_expect(eq(i64, tspec_steps_cost_bytes(&setting.mesh, setting.type, steps), 32));
  tspec_arena_deinit(&setting.arena);
}

// ---- by hand ----------------------------------------------------------------------------------

static const char *steps_for(setting_t *setting, const char *from, const char *to) {
  return tspec_steps_print(&setting->arena, &setting->mesh,
                           tspec_reshard_decompose(&setting->arena, &setting->mesh, setting->type,
                                                   parse(setting, from), parse(setting, to)));
}

static void expect_steps(const tspec_mesh_axis_t *axes, const int64_t *shape, const char *from,
                         const char *to, const char *want) {
  setting_t setting;
  start(&setting, axes, shape);
  const char *got = steps_for(&setting, from, to);
  cr_expect(strcmp(got, want) == 0, "%s to %s\n  want %s\n  got  %s", from, to, want, got);
  tspec_arena_deinit(&setting.arena);
}

Test(decompose, reduces_before_it_gathers_and_after_it_slices) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[-, -]", "all_reduce [-, -]");
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[y, -]",
               "all_slice [y, -] sum(x) -> all_reduce [y, -]");
  expect_steps(mesh24, shape, "[-, y] max(x)", "[-, -]", "all_reduce [-, y] -> all_gather [-, -]");
}

Test(decompose, scatters_where_the_reduced_axes_are_used) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(y)", "[y, -]", "reduce_scatter [y, -]");
  expect_steps(mesh24, shape, "[-, -] min(x)", "[x*y, -]",
               "reduce_scatter [x, -] -> all_slice [x*y, -]");
  expect_steps(mesh24, shape, "[-, -] sum(x, y)", "[x, y]", "reduce_scatter [x, y]");
}

// 2 x 4 floats, 32 bytes: scattered over x 16, and the half that is left reduced over z 16. Over
// both at once 24, the rows a quarter too small to stay, and a quarter to another rank 12.
Test(decompose, scatters_over_axes_that_are_used_before_it_reduces_over_others) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 2, 0}, {"z", 2, 0}};
  const int64_t shape[4] = {2, 4};
  expect_steps(axes, shape, "[-, -] sum(x, z)", "[x, -]",
               "reduce_scatter [x, -] sum(z) -> all_reduce [x, -]");
  expect_steps(axes, shape, "[-, -] max(x, z)", "[z, -]",
               "reduce_scatter [z, -] max(x) -> all_reduce [z, -]");
}

// y is idle, x is reduced where it splits, z over what is left.
Test(decompose, slices_then_scatters_then_reduces) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 2, 0}, {"y", 2, 0}, {"z", 2, 0}};
  const int64_t shape[4] = {8, 8};
  expect_steps(
      axes, shape, "[-, -] sum(x, z)", "[y*x, -]",
      "all_slice [y, -] sum(x, z) -> reduce_scatter [y*x, -] sum(z) -> all_reduce [y*x, -]");
  expect_steps(axes, shape, "[-, -] sum(x, z)", "[x*y, -]",
               "reduce_scatter [x, -] sum(z) -> all_slice [x*y, -] sum(z) -> all_reduce [x*y, -]");
}

// Halves and the last of three thirds of an axis of 6 have no cut in common.
// Of 576 bytes an all_reduce sends all. Scattering sends 288; then one rank of three lacks the
// other half, which three others share: 96 each.
Test(decompose, scatters_where_the_pieces_cut_an_axis_in_different_ways) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 6, 0}, {"y", 4, 0}};
  const int64_t shape[4] = {12, 12};
  expect_steps(axes, shape, "[-, -] sum(x:(1)2)", "[x:(3)2, -]",
               "reduce_scatter [x:(1)2, -] -> all_to_all [x:(3)2, -]");
  expect_steps(axes, shape, "[-, -] max(x:(3)2)", "[-, y*x:(1)2]",
               "reduce_scatter [-, x:(3)2] -> all_to_all [-, y*x:(1)2]");
  expect_steps(axes, shape, "[-, -] sum(x:(1)2)", "[x:(2)3, -]",
               "all_slice [x:(2)3, -] sum(x:(1)2) -> all_reduce [x:(2)3, -]");
}

// Blocks of 2 x 8 floats, 64 bytes: reduced where they lie 64, then 48 (three quarters) to other
// ranks. Scattered first: 32, then all of 64 but what is there.
Test(decompose, scatters_before_it_moves_what_is_left) {
  const int64_t shape[4] = {8, 8};
  setting_t setting;
  start(&setting, mesh24, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                              parse(&setting, "[y, -] sum(x)"), parse(&setting, "[-, y]"));
  cr_assert(eq(int, (int)steps.items[0].kind, (int)TSPEC_COLLECTIVE_REDUCE_SCATTER));
  cr_expect(eq(i64, tspec_step_cost_bytes(&setting.mesh, setting.type, &steps.items[0]), 32));
  cr_expect(tspec_steps_cost_bytes(&setting.mesh, setting.type, steps) < 64 + 48);
  tspec_arena_deinit(&setting.arena);
}

// 8 floats over x = 2, then over y = 4. Each rank of half 0 needs one of 4 quarters; those of x = 0
// have it in half the cases. The other two of them are served by the four ranks that hold the half:
// 2 blocks of 2 floats, a quarter of that each.
Test(decompose, copies_share_the_sending) {
  const int64_t shape[4] = {8};
  setting_t setting;
  start(&setting, mesh24, shape);
  tspec_steps_t steps = tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                                                parse(&setting, "[x]"), parse(&setting, "[y]"));
  cr_assert(eq(int, steps.count, 1));
  cr_expect(eq(i64, tspec_steps_cost_bytes(&setting.mesh, setting.type, steps), 4));
  tspec_arena_deinit(&setting.arena);
}

// 2 elements over 240 ranks lie on 2 of them: sending them to all that need them is 119 messages
// each; to one rank in each half, and on in a ring, is a few.
Test(decompose, spreads_what_few_ranks_hold_before_it_gathers) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 2, 0}, {"y", 60, 0}, {"z", 2, 0}};
  const int64_t shape[4] = {2, 64};
  setting_t setting;
  start(&setting, axes, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type,
                              parse(&setting, "[y*x*z, -]"), parse(&setting, "[z, -]"));
  cr_assert(eq(int, steps.count, 2));
  cr_expect(eq(int, (int)steps.items[0].kind, (int)TSPEC_COLLECTIVE_ALL_TO_ALL));
  cr_expect(eq(int, (int)steps.items[1].kind, (int)TSPEC_COLLECTIVE_ALL_GATHER));
  // At most its row of 64 floats leaves a rank, then at most that row goes around.
  cr_expect(tspec_steps_cost_bytes(&setting.mesh, setting.type, steps) <= 2 * 64 * 4);
  tspec_arena_deinit(&setting.arena);
}

Test(decompose, keeps_and_makes_pending_axes) {
  const int64_t shape[4] = {8, 8};
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[y, -] sum(x)", "all_slice [y, -] sum(x)");
  expect_steps(mesh24, shape, "[-, -]", "[-, -] sum(x)", "make_pending [-, -] sum(x)");
  expect_steps(mesh24, shape, "[x, -]", "[-, -] sum(x)",
               "all_gather [-, -] -> make_pending [-, -] sum(x)");
  expect_steps(mesh24, shape, "[-, -] sum(x)", "[-, -] max(x)",
               "all_reduce [-, -] -> make_pending [-, -] max(x)");
  expect_steps(mesh24, shape, "[-, -] sum(x, y)", "[-, -] sum(y)", "all_reduce [-, -] sum(y)");
}

Test(decompose, uses_one_all_to_all_where_blocks_do_not_nest) {
  // 9 rows over 8 ranks are blocks of 2, over 2 ranks blocks of 5.
  const int64_t shape[4] = {9};
  expect_steps(mesh24, shape, "[x*y]", "[x]", "all_to_all [x]");
  expect_steps(mesh24, shape, "[x]", "[x*y]", "all_to_all [x*y]");
  expect_steps(mesh24, shape, "[x*y]", "[-]", "all_gather [-]");
  expect_steps(mesh24, shape, "[-]", "[x*y]", "all_slice [x*y]");
}

Test(decompose, slices_and_gathers_uneven_blocks_that_nest) {
  // 15 rows over 8 ranks are blocks of 2, over 2 ranks blocks of 8.
  const int64_t shape[4] = {15};
  expect_steps(mesh24, shape, "[x*y]", "[x]", "all_gather [x]");
  expect_steps(mesh24, shape, "[x]", "[x*y]", "all_slice [x*y]");
}

Test(decompose, does_nothing_for_axes_of_size_1) {
  static const tspec_mesh_axis_t axes[6] = {{"x", 1, 0}, {"y", 4, 0}};
  const int64_t shape[4] = {8, 8};
  expect_steps(axes, shape, "[x, y]", "[-, y]", "");
  expect_steps(axes, shape, "[-, -] sum(x)", "[x, y]", "all_slice [-, y]");
}

Test(decompose, ends_where_rounds_go_in_circles) {
  static const tspec_mesh_axis_t axes[6] = {{"a", 2, 0}, {"b", 6, 0}, {"c", 6, 0}, {"d", 4, 0}};
  const int64_t shape[4] = {144};
  setting_t setting;
  start(&setting, axes, shape);
  tspec_steps_t steps =
      tspec_reshard_decompose(&setting.arena, &setting.mesh, setting.type, parse(&setting, "[a*d]"),
                              parse(&setting, "[c*a*b]"));
  cr_assert(gt(int, steps.count, 0));
  for (int i = 0; i < steps.count; i++) {
    cr_expect(tspec_step_is_local_to_axes(&setting.mesh, setting.type, &steps.items[i]));
  }
  tspec_arena_deinit(&setting.arena);
}
