#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static void propagate(bench_t *bench, const char *text) {
  bench_load(bench, text);
  bench_run(bench, "propagate", tspec_pass_propagate);
}

static void expect_result(bench_t *bench, int func, int result, const char *want) {
  bench_expect("result", bench_sharding(bench, bench->program->funcs[func]->results[result].value),
               want);
}

Test(propagate, shardings_spread_and_are_closed) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh data=2 model=4\n"
                    "param w f32[6, 5] @ [-, model]\n"
                    "input x f32[3, 6] @ [data, ?]\n"
                    "read w\n"
                    "d = dot x w lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"
                    "y = relu d\n"
                    "result y\n");
  cr_assert(eq(int, (int)bench.program->level, (int)TSPEC_LEVEL_SHARDED));
  expect_result(&bench, 0, 0, "[data, model]");
  bench_expect("x", bench_sharding(&bench, bench_find(&bench, "x")), "[data, -]");
  bench_end(&bench);
}

Test(propagate, closed_dims_stay_as_they_are) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2\n"
                    "input x f32[4, 4] @ [-, -]\n"
                    "input y f32[4, 4] @ [a, -]\n"
                    "s = add x y\n"
                    "result s @ [-, -]\n");
  bench_expect("x", bench_sharding(&bench, bench_find(&bench, "x")), "[-, -]");
  expect_result(&bench, 0, 0, "[a, -]");
  bench_expect(
      "declared",
      tspec_sharding_print(&bench.arena, &bench.program->mesh, bench.func->results[0].sharding),
      "[-, -]");
  bench_end(&bench);
}

Test(propagate, a_result_pulls_what_it_is_made_of) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2\n"
                    "input x f32[4, 4] @ [?, ?]\n"
                    "y = neg x\n"
                    "result y @ [-, a]\n");
  bench_expect("x", bench_sharding(&bench, bench_find(&bench, "x")), "[-, a]");
  bench_end(&bench);
}

Test(propagate, a_parameter_has_one_sharding_in_all_entries) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2\n"
                    "param w f32[4, 4] @ [?, ?]\n"
                    "param idle f32[4] @ [a]\n"
                    "param bare f32[4]\n"
                    "entry one\n"
                    "input x f32[4, 4] @ [a, -]\n"
                    "read w\n"
                    "s = add x w\n"
                    "result s\n"
                    "entry two\n"
                    "read w\n"
                    "r = relu w\n"
                    "result r\n");
  bench_expect(
      "w",
      tspec_sharding_print(&bench.arena, &bench.program->mesh, bench.program->params[0].sharding),
      "[a, -]");
  bench_expect(
      "idle",
      tspec_sharding_print(&bench.arena, &bench.program->mesh, bench.program->params[1].sharding),
      "[a]");
  bench_expect(
      "bare",
      tspec_sharding_print(&bench.arena, &bench.program->mesh, bench.program->params[2].sharding),
      "[-]");
  expect_result(&bench, 1, 0, "[a, -]");
  bench_end(&bench);
}

Test(propagate, a_constant_is_split_for_each_reader) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2 b=2\n"
                    "input x f32[4, 4] @ [a, -]\n"
                    "input y f32[4, 4] @ [-, b]\n"
                    "c = constant dtype=f32 shape= values=1\n"
                    "w = broadcast c shape=4,4 dims=\n"
                    "s = add x w\n"
                    "t = add y w\n"
                    "u = mul x w\n"
                    "result s @ [a, -]\n"
                    "result t @ [-, b]\n"
                    "result u @ [a, -]\n");
  // Two broadcasts, one for s and u, one for t; the scalar is one.
  bench_expect("ops", bench_ops(&bench), "constant broadcast broadcast add add mul");
  const tspec_op_t *op = bench.func->last;
  bench_expect("u reads", bench_sharding(&bench, op->operands[1]), "[a, -]");
  cr_assert(eq(ptr, (void *)op->operands[1], (void *)op->prev->prev->operands[1]));
  bench_expect("t reads", bench_sharding(&bench, op->prev->operands[1]), "[-, b]");
  bench_end(&bench);
}

Test(propagate, a_copy_stands_behind_what_it_reads) {
  static const char *const ops[][2] = {
      // lines; the ops then
      {"w = broadcast v shape=4 dims=\n"
       "h = constraint v sharding={[] sum(a)}\n"
       "k = constraint h sharding={[] sum(a)}\n",
       "broadcast broadcast constraint constraint add add"},
      {"h = constraint v sharding={[] sum(a)}\n"
       "w = broadcast v shape=4 dims=\n"
       "k = constraint h sharding={[] sum(a)}\n",
       "constraint broadcast broadcast constraint add add"},
      {"h = constraint v sharding={[] sum(a)}\n"
       "k = constraint h sharding={[] sum(a)}\n"
       "w = broadcast v shape=4 dims=\n",
       "constraint constraint broadcast broadcast add add"},
  };
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    bench_t bench;
    char text[512];
    snprintf(text, sizeof text,
             "level global\n"
             "mesh a=2 b=2\n"
             "input v f32[]\n"
             "input x f32[4] @ [a]\n"
             "input y f32[4] @ [b]\n"
             "%s"
             "s = add x w\n"
             "t = add y w\n"
             "result s @ [a]\n"
             "result t @ [b]\n"
             "result k\n",
             ops[i][0]);
    propagate(&bench, text);
    bench_expect("ops", bench_ops(&bench), ops[i][1]);
    const tspec_op_t *op = bench.func->last;
    bench_expect("t reads", bench_sharding(&bench, op->operands[1]), "[b]");
    bench_expect("s reads", bench_sharding(&bench, op->prev->operands[1]), "[a]");
    bench_end(&bench);
  }
}

Test(propagate, axes_of_size_1_say_nothing) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=1 b=2\n"
                    "param w f32[4] @ [a*b]\n"
                    "input x f32[4] @ [a]\n"
                    "read w\n"
                    "y = neg x\n"
                    "result y @ [a]\n"
                    "result w @ [b]\n");
  expect_result(&bench, 0, 0, "[-]");
  expect_result(&bench, 0, 1, "[b]");
  bench_end(&bench);
}

Test(propagate, nothing_crosses_a_barrier) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2 b=2\n"
                    "input x f32[4, 4] @ [a, ?]\n"
                    "e = exp x\n"
                    "s = barrier e\n"
                    "y = neg s\n"
                    "result y @ [?, b]\n");
  const tspec_op_t *barrier = bench.func->last->prev;
  bench_expect("x", bench_sharding(&bench, bench_find(&bench, "x")), "[a, -]");
  bench_expect("e", bench_sharding(&bench, barrier->operands[0]), "[a, -]");
  bench_expect("s", bench_sharding(&bench, barrier->results[0]), "[-, b]");
  expect_result(&bench, 0, 0, "[-, b]");
  bench_end(&bench);
}

Test(propagate, a_barrier_that_states_a_sharding_starts_with_it) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2 b=2\n"
                    "param w f32[4, 4] @ [a, ?]\n"
                    "read w\n"
                    "u = barrier w sharding={[?, -]}\n"
                    "y = neg u\n"
                    "result y @ [b, a]\n");
  bench_expect("w", bench_sharding(&bench, bench_find(&bench, "w")), "[a, -]");
  bench_expect("u", bench_sharding(&bench, bench.func->last->operands[0]), "[b, -]");
  bench_end(&bench);
}

Test(propagate, members_of_a_group_have_one_sharding) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2\n"
                    "input x f32[4, 6] @ [a, -]\n"
                    "input z f32[8, 2] @ [?, ?]\n"
                    "u = same_sharding x group=7\n"
                    "v = same_sharding z group=7\n"
                    "o = same_sharding z group=8\n"
                    "result u\n"
                    "result v\n"
                    "result o\n");
  bench_expect("z", bench_sharding(&bench, bench_find(&bench, "z")), "[a, -]");
  for (int i = 0; i < 3; i++) {
    expect_result(&bench, 0, i, "[a, -]");
  }
  bench_end(&bench);
}

Test(propagate, arguments_of_a_group_that_are_said_to_differ_keep_what_is_said) {
  bench_t bench;
  propagate(&bench, "level global\n"
                    "mesh a=2\n"
                    "input x f32[4, 4] @ [a, -]\n"
                    "input z f32[4, 4] @ [-, a]\n"
                    "u = same_sharding x group=0\n"
                    "v = same_sharding z group=0\n"
                    "result u\n"
                    "result v\n");
  bench_expect("z", bench_sharding(&bench, bench_find(&bench, "z")), "[-, a]");
  expect_result(&bench, 0, 0, "[a, -]");
  expect_result(&bench, 0, 1, "[a, -]");
  bench_end(&bench);
}
