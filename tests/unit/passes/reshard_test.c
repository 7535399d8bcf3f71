#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support.h"

#define DOT(name, x, w)                                                                            \
  name " = dot " x " " w " lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"

// Two row-split matrix products on one mesh axis.
#define TWO_DOTS                                                                                   \
  "level global\n"                                                                                 \
  "mesh model=4\n"                                                                                 \
  "param w f32[8, 6] @ [model, -]\n"                                                               \
  "param v f32[8, 6] @ [model, -]\n"                                                               \
  "param b f32[4, 6] @ [-, -]\n"                                                                   \
  "input x f32[4, 8] @ [-, model]\n"                                                               \
  "read w\n"                                                                                       \
  "read v\n"                                                                                       \
  "read b\n" DOT("d", "x", "w") DOT("e", "x", "v")

Test(reshard, partials_are_added_and_reduced_once_if_the_sum_is_written_as_pending) {
  bench_expect_program(TWO_DOTS "s = add d e\n"
                                "p = constraint s sharding={[-, -] sum(model)}\n"
                                "r = relu p\n"
                                "result r @ [-, -]\n",
                       "dot dot add all_reduce relu", "all_reduce [-, -] 144");
}

Test(reshard, a_complete_addend_is_not_summed_once_per_rank) {
  bench_expect_program(TWO_DOTS "s = add d b\n"
                                "p = constraint s sharding={[-, -] sum(model)}\n"
                                "r = relu p\n"
                                "result r @ [-, -]\n",
                       "dot make_pending add all_reduce relu",
                       "make_pending [-, -] sum(model); all_reduce [-, -] 144");
}

Test(reshard, a_pending_value_is_scaled_before_it_is_reduced) {
  bench_expect_program(TWO_DOTS "s = mul d b\n"
                                "p = constraint s sharding={[-, -] sum(model)}\n"
                                "r = relu p\n"
                                "result r @ [-, -]\n",
                       "dot mul all_reduce relu", "all_reduce [-, -] 144");
}

Test(reshard, of_two_pending_factors_one_is_reduced_first) {
  bench_expect_program(TWO_DOTS "s = mul d e\n"
                                "p = constraint s sharding={[-, -] sum(model)}\n"
                                "r = relu p\n"
                                "result r @ [-, -]\n",
                       "dot dot all_reduce mul all_reduce relu",
                       "all_reduce [-, -] 144; all_reduce [-, -] 144");
}

Test(reshard, a_pending_value_is_summed_and_turned_before_it_is_reduced) {
  // 6 * 4 bytes instead of 4 * 6 * 4.
  bench_expect_program(TWO_DOTS "t = transpose d perm=1,0\n"
                                "s = reduce t kind=sum dims=1\n"
                                "p = constraint s sharding={[-] sum(model)}\n"
                                "r = relu p\n"
                                "result r @ [-]\n",
                       "dot transpose reduce all_reduce relu", "all_reduce [-] 36");
}

Test(reshard, nothing_nonlinear_sees_a_pending_value) {
  bench_expect_program(TWO_DOTS "p = constraint d sharding={[-, -] sum(model)}\n"
                                "m = maximum p b\n"
                                "n = neg p\n"
                                "q = constraint n sharding={[-, -] sum(model)}\n"
                                "result m @ [-, -]\n"
                                "result q @ [-, -]\n",
                       "dot neg all_reduce maximum", "all_reduce [-, -], [-, -] 288");
}

Test(reshard, a_pending_sum_is_no_maximum) {
  bench_expect_program(TWO_DOTS "p = constraint d sharding={[-, -] max(model)}\n"
                                "r = relu p\n"
                                "result r @ [-, -]\n",
                       "dot all_reduce relu", "all_reduce [-, -] 144");
}

Test(reshard, equal_conversions_of_a_value_are_one) {
  bench_expect_program("level global\n"
                       "mesh a=2 b=2\n"
                       "input x f32[4, 4] @ [a, -]\n"
                       "input y f32[4, 4] @ [-, b]\n"
                       "c = constraint x sharding={[-, b]}\n"
                       "d = constraint x sharding={[-, b]}\n"
                       "s = add c y\n"
                       "t = mul d y\n"
                       "result s @ [-, b]\n"
                       "result t @ [-, b]\n",
                       // Columns are sliced before rows are gathered: half the bytes.
                       "all_slice all_gather add mul", "all_slice [a, b]; all_gather [-, b] 16");
}

Test(reshard, a_constraint_that_changes_nothing_vanishes) {
  bench_t bench;
  bench_load(&bench, "level global\n"
                     "mesh a=2\n"
                     "input x f32[4, 4] @ [a, -]\n"
                     "y = relu x\n"
                     "z = constraint y sharding={[a, -]}\n"
                     "w = neg z\n"
                     "result w @ [a, -]\n");
  bench_check(&bench);
  bench_expect("ops", bench_ops(&bench), "relu neg");
  bench_expect("z", bench_sharding(&bench, bench_find(&bench, "z")), "[a, -]");
  bench_end(&bench);
}

Test(reshard, lint_names_what_is_gathered) {
  bench_t bench;
  bench_load(&bench, "level global\n"
                     "mesh a=4\n"
                     "input x f32[8, 2] @ [a, -]\n"
                     "y = slice x starts=1,0 ends=7,2 steps=1,1\n"
                     "result y @ [-, -]\n");
  bench.options.lint = true;
  bench_run(&bench, "propagate", tspec_pass_propagate);
  bench_run(&bench, "reshard", tspec_pass_reshard);
  cr_assert(eq(int, bench.diag.nwarnings, 1));
  bench_expect("warning", bench.diag.messages[0].text,
               "'slice' needs dim 0 of 'x' whole: gathered over a, 48 bytes");
  bench_end(&bench);
}

Test(reshard, every_conversion_says_what_it_is_for) {
  bench_t bench;
  bench_load(&bench, TWO_DOTS "result d @ [-, -]\n");
  bench_run_all(&bench);
  const tspec_op_t *last = bench.func->last;
  bench_expect("because", last->because, "all_reduce for 'dot'");
  bench_end(&bench);
}
