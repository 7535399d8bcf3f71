#include "passes/explain.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support.h"

/// An explanation of a program from text.
typedef struct setting_t {
  bench_t bench;
  tspec_explain_t *explain;
} setting_t;

static void start(setting_t *setting, const char *text) {
  bench_load(&setting->bench, text);
  setting->explain = tspec_explain_create(&setting->bench.arena, setting->bench.program);
}

/// The value of the graph with a name: an input or a constraint; NULL: the entry's first result.
static int value_of(const setting_t *setting, const char *name) {
  const tspec_prop_map_t *map = tspec_explain_map(setting->explain);
  return name == NULL ? map->first_return[0] : bench_find((bench_t *)&setting->bench, name)->id;
}

static int effect_of(const setting_t *setting, const char *name, int dim, const char *axis) {
  int value = value_of(setting, name);
  for (int i = tspec_explain_first_effect(setting->explain, value);
       i < tspec_explain_first_effect(setting->explain, value + 1); i++) {
    const tspec_effect_t *effect = tspec_explain_effect(setting->explain, i);
    if (effect->dim == dim &&
        strcmp(tspec_axes_print((tspec_arena_t *)&setting->bench.arena,
                                &setting->bench.program->mesh, &effect->axis, 1),
               axis) == 0) {
      return i;
    }
  }
  cr_fatal("no effect: %s dim %d on %s", name == NULL ? "result" : name, dim, axis);
}

static const char *name_of(const setting_t *setting, int value) {
  const tspec_prop_site_t *site = &tspec_explain_map(setting->explain)->sites.items[value];
  return site->value != NULL && site->value->name != NULL ? site->value->name : "?";
}

/// "x/0:a | y/0:a & y/1:b": reasons, and seeds that need each other.
static void expect_reasons(setting_t *setting, const char *name, int dim, const char *axis,
                           const char *want) {
  tspec_reasons_t reasons =
      tspec_explain_reasons(setting->explain, effect_of(setting, name, dim, axis));
  tspec_buf_t got = {0};
  for (int i = 0; i < reasons.count; i++) {
    for (int k = 0; k < reasons.items[i].nseeds; k++) {
      const tspec_seed_t *seed = tspec_explain_seed(setting->explain, reasons.items[i].seeds[k]);
      tspec_buf_printf(
          &got, "%s%s/%d:%s", k > 0 ? " & " : (i > 0 ? " | " : ""), name_of(setting, seed->value),
          seed->dim,
          tspec_axes_print(&setting->bench.arena, &setting->bench.program->mesh, &seed->axis, 1));
    }
  }
  cr_assert(eq(str, (char *)tspec_buf_get(&got), (char *)want), "%s dim %d on %s",
            name == NULL ? "result" : name, dim, axis);
  tspec_buf_deinit(&got);
}

Test(explain, one_annotation_is_the_reason_where_it_came_from) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2 b=2\n"
                  "input x f32[4, 4] @ [a*b, ?]\n"
                  "y = neg x\n"
                  "result y\n");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a");
  expect_reasons(&setting, NULL, 0, "b", "x/0:b");
  expect_reasons(&setting, "x", 0, "a", "x/0:a");
  bench_end(&setting.bench);
}

Test(explain, all_that_suffice_are_named) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "input z f32[4, 4] @ [a, ?]\n"
                  "s = add x z\n"
                  "result s @ [a, ?]\n");
  expect_reasons(&setting, "x", 0, "a", "x/0:a | z/0:a | ?/0:a");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a | z/0:a | ?/0:a");
  bench_end(&setting.bench);
}

Test(explain, annotations_that_need_each_other_are_one_reason) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2 b=2\n"
                  "input x f32[2, 2] @ [a, b]\n"
                  "r = reshape x shape=4\n"
                  "result r\n");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a");
  expect_reasons(&setting, NULL, 0, "b", "x/0:a & x/1:b");
  bench_end(&setting.bench);
}

Test(explain, both_pieces_of_a_whole_axis_are_needed) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=4\n"
                  "input x f32[2, 2] @ [a:(1)2, a:(2)2]\n"
                  "r = reshape x shape=4\n"
                  "result r\n");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a:(1)2 & x/1:a:(2)2");
  bench_end(&setting.bench);
}

// By itself z would split both dims of the sum; here x is the first to have the axis.
Test(explain, what_loses_a_conflict_is_no_reason) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "input z f32[4, 4] @ [?, a]\n"
                  "s = add x z\n"
                  "result s\n");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a");
  expect_reasons(&setting, "z", 1, "a", "z/1:a");
  bench_end(&setting.bench);
}

Test(explain, chains_end_where_it_was_said) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 6] @ [?, ?]\n"
                  "input w f32[6, 8] @ [?, a]\n"
                  "d = dot x w lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"
                  "y = relu d\n"
                  "result y\n");
  int effect = effect_of(&setting, NULL, 1, "a");
  tspec_reasons_t reasons = tspec_explain_reasons(setting.explain, effect);
  tspec_chain_request_t request = {.effect = effect, .reasons = &reasons};
  tspec_explain_chains(setting.explain, 1, &request, &setting.bench.arena);
  const tspec_chain_t *chain = &request.chain;
  cr_assert(eq(int, chain->count, 4));
  cr_assert(eq(int, (int)chain->steps[0].kind, (int)TSPEC_CAUSE_RETURN));
  cr_assert(eq(int, (int)chain->steps[1].kind, (int)TSPEC_CAUSE_OP));
  cr_assert(eq(int, chain->steps[2].level, 2), "products wait for the third level");
  cr_assert(eq(int, chain->steps[1].level, 2), "relu has nothing to pass on before");
  cr_assert(eq(int, chain->steps[3].value, value_of(&setting, "w")));
  cr_assert(eq(int, chain->steps[3].dim, 1));
  cr_assert(eq(int, (int)chain->steps[3].kind, (int)TSPEC_CAUSE_ANNOTATION));
  cr_assert(eq(int, chain->seed, 0));
  bench_end(&setting.bench);
}

static int runs_for_all(setting_t *setting) {
  for (int i = 0; i < tspec_explain_neffects(setting->explain); i++) {
    tspec_explain_reasons(setting->explain, i);
  }
  return tspec_explain_nruns(setting->explain);
}

Test(explain, one_axis_that_nothing_can_stop_needs_no_trials) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "y = neg x\n"
                  "z = relu y\n"
                  "result z\n");
  cr_assert(eq(int, runs_for_all(&setting), 1), "the program itself");
  cr_assert(eq(int, tspec_explain_neffects(setting.explain), 4));
  bench_end(&setting.bench);
}

// Two axes on one dim may be in each other's way.
Test(explain, trials_are_remembered) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2 b=2\n"
                  "input x f32[4, 4] @ [a*b, ?]\n"
                  "y = neg x\n"
                  "z = relu y\n"
                  "result z\n");
  cr_assert(eq(int, runs_for_all(&setting), 4), "the program; its part; each axis alone");
  cr_assert(eq(int, tspec_explain_neffects(setting.explain), 8));
  bench_end(&setting.bench);
}

/// `n` ops side by side, with two axes each.
static tspec_buf_t layers(int n) {
  tspec_buf_t text = {0};
  tspec_buf_puts(&text, "level global\nmesh a=2 b=2\n");
  for (int i = 0; i < n; i++) {
    tspec_buf_printf(&text, "input x%d f32[4, 4] @ [a*b, ?]\n", i);
  }
  for (int i = 0; i < n; i++) {
    tspec_buf_printf(&text, "y%d = relu x%d\n", i, i);
  }
  for (int i = 0; i < n; i++) {
    tspec_buf_printf(&text, "result y%d\n", i);
  }
  return text;
}

// What explains one of them does not take the others along: each run is of its part alone.
Test(explain, parts_that_do_not_meet_are_tried_by_themselves) {
  setting_t setting;
  tspec_buf_t text = layers(3);
  start(&setting, tspec_buf_get(&text));
  int first = runs_for_all(&setting);
  bench_end(&setting.bench);
  tspec_buf_deinit(&text);
  text = layers(1);
  start(&setting, tspec_buf_get(&text));
  cr_assert(eq(int, first - 1, 3 * (runs_for_all(&setting) - 1)));
  bench_end(&setting.bench);
  tspec_buf_deinit(&text);
}

// With x the sum has the axis on dim 0; z alone would split dim 1, too. One part, and not plain.
Test(explain, a_part_takes_along_what_an_axis_may_conflict_with) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "input z f32[4, 4] @ [?, a]\n"
                  "s = add x z\n"
                  "t = relu s\n"
                  "result t\n");
  expect_reasons(&setting, NULL, 0, "a", "x/0:a");
  bench_end(&setting.bench);
}

Test(explain, the_nearest_reasons_come_first) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "input z f32[4, 4] @ [a, ?]\n"
                  "y = neg x\n"
                  "s = add y z\n"
                  "result s\n");
  int nearest[3];
  int count = tspec_explain_nearest(setting.explain, effect_of(&setting, NULL, 0, "a"), 3, nearest);
  cr_assert(eq(int, count, 2));
  cr_assert(eq(int, nearest[0], 1), "z, next to the sum");
  cr_assert(eq(int, nearest[1], 0));
  bench_end(&setting.bench);
}

Test(explain, of_a_long_chain_the_first_steps_and_the_last_may_be_enough) {
  setting_t setting;
  start(&setting, "level global\n"
                  "mesh a=2\n"
                  "input x f32[4, 4] @ [a, ?]\n"
                  "p = neg x\n"
                  "q = relu p\n"
                  "r = abs q\n"
                  "result r\n");
  int effect = effect_of(&setting, NULL, 0, "a");
  tspec_reasons_t reasons = tspec_explain_reasons(setting.explain, effect);
  tspec_chain_request_t request = {.effect = effect, .reasons = &reasons, .most = 3};
  tspec_explain_chains(setting.explain, 1, &request, &setting.bench.arena);
  cr_assert(eq(int, request.chain.count, 3));
  cr_assert(eq(int, request.chain.nskipped, 2));
  cr_assert(eq(int, request.chain.steps[2].value, value_of(&setting, "x")));
  cr_assert(eq(int, (int)request.chain.steps[2].kind, (int)TSPEC_CAUSE_ANNOTATION));
  bench_end(&setting.bench);
}
