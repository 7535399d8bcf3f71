// Where reductions are done. Expected bytes by hand: ring convention of ir/shard/cost.h.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"

#define DOT(name, x, w, dtype)                                                                     \
  name " = dot " x " " w " lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=" dtype "\n"

// d and e, f32[4, 6], are pending over model where they are made: 2 * 3/4 * 96 = 144 bytes each.
#define PARTIALS                                                                                   \
  "level global\n"                                                                                 \
  "mesh data=2 model=4\n"                                                                          \
  "input x f32[4, 8] @ [-, model]\n"                                                               \
  "input w f32[8, 6] @ [model, -]\n"                                                               \
  "input v f32[8, 6] @ [model, -]\n"                                                               \
  "input b f32[4, 6] @ [-, -]\n" DOT("d", "x", "w", "f32") DOT("e", "x", "v", "f32")

Test(travel, partials_are_added_and_reduced_once) {
  bench_expect_program(PARTIALS "s = add d e\n"
                                "r = relu s\n"
                                "result r @ [-, -]\n",
                       "dot dot add all_reduce relu", "all_reduce [-, -] 144");
}

Test(travel, partials_are_reduced_where_they_arise_if_nothing_is_gained) {
  bench_expect_program(PARTIALS "s = add d b\n"
                                "r = relu s\n"
                                "n = neg e\n"
                                "result r @ [-, -]\n"
                                "result n @ [-, -]\n",
                       "dot dot all_reduce add relu neg", "all_reduce [-, -], [-, -] 288");
}

Test(travel, a_complete_addend_joins_partials_where_that_sends_less) {
  // 2 * 3/4 * 4 bytes instead of 144.
  bench_expect_program(PARTIALS "s = add d b\n"
                                "t = sub b s\n"
                                "m = reduce t kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot make_pending add sub reduce all_reduce",
                       "make_pending [-, -] sum(model); all_reduce [] 6");
}

Test(travel, a_sum_over_other_axes_joins_what_is_pending) {
  // Rows over data, the contraction over model: one scalar over 8 ranks, 2 * 7/8 * 4 bytes.
  bench_expect_program("level global\n"
                       "mesh data=2 model=4\n"
                       "input x f32[4, 8] @ [data, model]\n"
                       "input w f32[8, 6] @ [model, -]\n" DOT(
                           "d", "x", "w", "f32") "m = reduce d kind=sum dims=0,1\n"
                                                 "result m @ []\n",
                       "dot reduce all_reduce", "all_reduce [] 7");
}

Test(travel, partials_are_reduced_before_they_grow) {
  // 6 numbers of column sums instead of 24 after the broadcast.
  bench_expect_program(PARTIALS "m = reduce d kind=sum dims=0\n"
                                "g = broadcast m shape=4,6 dims=1\n"
                                "r = relu g\n"
                                "result r @ [-, -]\n",
                       "dot reduce all_reduce broadcast relu", "all_reduce [-] 36");
}

Test(travel, a_value_that_one_reader_needs_complete_is_reduced_for_all) {
  bench_expect_program(PARTIALS "r = relu d\n"
                                "m = reduce d kind=sum dims=0,1\n"
                                "result r @ [-, -]\n"
                                "result m @ []\n",
                       "dot all_reduce relu reduce", "all_reduce [-, -] 144");
}

Test(travel, a_square_is_not_linear) {
  bench_expect_program(PARTIALS "q = mul d d\n"
                                "m = reduce q kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot all_reduce mul reduce", "all_reduce [-, -] 144");
}

Test(travel, a_complete_constraint_lets_partials_pass) {
  bench_expect_program(PARTIALS "c = constraint d sharding={[-, -]}\n"
                                "m = reduce c kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot reduce all_reduce", "all_reduce [] 6");
}

Test(travel, a_barrier_needs_a_complete_value) {
  bench_expect_program(PARTIALS "c = barrier d\n"
                                "m = reduce c kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot all_reduce reduce", "all_reduce [-, -] 144");
}

Test(travel, what_is_written_as_pending_travels_on) {
  bench_expect_program(PARTIALS "p = constraint d sharding={[-, -] sum(model)}\n"
                                "m = reduce p kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot reduce all_reduce", "all_reduce [] 6");
}

Test(travel, a_result_in_pieces_takes_half_of_a_reduction) {
  // 3/4 * 64 bytes: the sum of both is reduced and scattered.
  bench_expect_program("level global\n"
                       "mesh model=4\n"
                       "input x f32[2, 8] @ [-, model]\n"
                       "input w f32[8, 8] @ [model, -]\n"
                       "input v f32[8, 8] @ [model, -]\n" DOT("d", "x", "w", "f32")
                           DOT("e", "x", "v", "f32") "s = add d e\n"
                                                     "r = relu s\n"
                                                     "result r @ [-, model]\n",
                       "dot dot add reduce_scatter relu", "reduce_scatter [-, model] 48");
}

Test(travel, maxima_are_merged_before_they_are_reduced) {
  bench_expect_program("level global\n"
                       "mesh a=4\n"
                       "input x f32[8, 6] @ [a, -]\n"
                       "input y f32[8, 6] @ [a, -]\n"
                       "input z f32[6] @ [-]\n"
                       "m = reduce x kind=max dims=0\n"
                       "n = reduce y kind=max dims=0\n"
                       "k = maximum m n\n"
                       "l = maximum k z\n"
                       "o = reduce l kind=max dims=0\n"
                       "result o @ []\n",
                       "reduce reduce maximum make_pending maximum reduce all_reduce",
                       "make_pending [-] max(a); all_reduce [] 6");
}

Test(travel, maxima_are_no_sums) {
  bench_expect_program("level global\n"
                       "mesh a=4\n"
                       "input x f32[8, 6] @ [a, -]\n"
                       "m = reduce x kind=max dims=0\n"
                       "o = reduce m kind=sum dims=0\n"
                       "result o @ []\n",
                       "reduce all_reduce reduce", "all_reduce [-] 36");
}

Test(travel, narrow_floats_are_not_rounded_more_often) {
  bench_expect_program("level global\n"
                       "mesh model=4\n"
                       "input x bf16[4, 8] @ [-, model]\n"
                       "input w bf16[8, 6] @ [model, -]\n" DOT(
                           "d", "x", "w", "bf16") "m = reduce d kind=sum dims=0,1\n"
                                                  "result m @ []\n",
                       "dot all_reduce reduce", "all_reduce [-, -] 72");
}

Test(travel, integers_wrap_alike_wherever_they_are_added) {
  bench_expect_program("level global\n"
                       "mesh a=4\n"
                       "input x i8[8, 6] @ [a, -]\n"
                       "input k i8[6] @ [-]\n"
                       "m = reduce x kind=sum dims=0\n"
                       "n = mul m k\n"
                       "o = reduce n kind=sum dims=0\n"
                       "result o @ []\n",
                       "reduce mul reduce all_reduce", "all_reduce [] 2");
}
