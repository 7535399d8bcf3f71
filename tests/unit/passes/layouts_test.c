// Layouts by cost. Expected bytes by hand: ring convention of ir/shard/cost.h.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"

#define MATMUL(name, x, w)                                                                         \
  name " = dot " x " " w " lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"

// d, f32[4, 8], is pending over model where it is made: to reduce it sends 2 * 3/4 * 128 = 192
// bytes, to scatter it half of that.
#define PARTIALS                                                                                   \
  "level global\n"                                                                                 \
  "mesh data=2 model=4\n"                                                                          \
  "input x f32[4, 8] @ [-, model]\n"                                                               \
  "input w f32[8, 8] @ [model, -]\n" MATMUL("d", "x", "w")

Test(layouts, what_is_only_summed_is_scattered) {
  bench_expect_by_cost(PARTIALS "q = mul d d\n"
                                "m = reduce q kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot reduce_scatter mul reduce all_reduce",
                       "reduce_scatter [model, -] 96; all_reduce [] 6");
}

Test(layouts, a_returned_sum_is_reduced) {
  // A result that nothing is said of lies where propagation puts it.
  bench_expect_by_cost(PARTIALS "r = relu d\n"
                                "result r\n",
                       "dot all_reduce relu", "all_reduce [-, -] 192");
}

Test(layouts, a_constraint_holds) {
  bench_expect_by_cost(PARTIALS "c = constraint d sharding={[-, -]}\n"
                                "q = mul c c\n"
                                "m = reduce q kind=sum dims=0,1\n"
                                "result m @ []\n",
                       "dot all_reduce mul reduce", "all_reduce [-, -] 192");
}

Test(layouts, what_others_need_whole_is_reduced_once) {
  // Scattered, d would have to be gathered for n: 96 + 96 + 6.
  bench_expect_by_cost(PARTIALS "n = neg d\n"
                                "q = mul d d\n"
                                "m = reduce q kind=sum dims=0,1\n"
                                "result n @ [-, -]\n"
                                "result m @ []\n",
                       "dot all_reduce neg mul reduce", "all_reduce [-, -] 192");
}

Test(layouts, a_conversion_moves_along_a_chain_to_where_it_is_smallest) {
  // 3/4 of 16 * 4 bytes, not of 16 * 64 * 4.
  bench_expect_by_cost("level global\n"
                       "mesh a=4\n"
                       "input v f32[16] @ [a]\n"
                       "e = exp v\n"
                       "b = broadcast e dims=0 shape=16,64\n"
                       "r = tanh b\n"
                       "result r @ [-, -]\n",
                       "exp all_gather broadcast tanh", "all_gather [-] 48");
}

Test(layouts, dims_that_merge_are_split_as_both_were) {
  // A quarter of a block of 4 * 32 * 64 floats stays; votes gather 3 * 32768.
  bench_expect_by_cost("level global\n"
                       "mesh data=2 model=4\n"
                       "input t f32[8, 128, 64] @ [data, model, -]\n"
                       "r = reshape t shape=1024,64\n"
                       "n = neg r\n"
                       "result n\n",
                       "all_to_all reshape neg", "all_to_all [data*model, -, -] 24576");
}

Test(layouts, a_tensor_and_its_transpose_meet_in_the_layout_of_one) {
  // A block of 4 * 2 floats, of which all moves for most ranks.
  bench_expect_by_cost("level global\n"
                       "mesh data=2 model=4\n"
                       "input p f32[8, 8] @ [data, model]\n"
                       "t = transpose p perm=1,0\n"
                       "s = add p t\n"
                       "result s\n",
                       "transpose all_to_all add", "all_to_all [data, model] 32");
}

Test(layouts, an_axis_that_a_product_drops_splits_its_rows) {
  // By vote p's blocks of [256, 512] move to [256, 256] for 131072 bytes, and all of the product,
  // 524288 bytes, is reduced: 2 * 3/4. With its rows over a, too, half of both, and a gather.
  bench_expect_by_cost(
      "level global\n"
      "mesh a=2 b=4\n"
      "input p f32[256, 1024] @ [-, a]\n"
      "input q f32[1024, 512] @ [b, -]\n" MATMUL("y", "p", "q") "result y @ [-, -]\n",
      "all_to_all dot all_reduce all_gather",
      "all_to_all [a, b] 65536; all_reduce [a, -] 393216; all_gather [-, -] 262144");
}

Test(layouts, a_product_stays_divided) {
  // To gather x and compute all of y everywhere would send 3/4 * 128 bytes, less than y's 3/4 *
  // 512.
  bench_expect_by_cost("level global\n"
                       "mesh a=4\n"
                       "input x f32[4, 8] @ [a, -]\n"
                       "input w f32[8, 32] @ [-, -]\n" MATMUL("y", "x", "w") "result y @ [-, -]\n",
                       "dot all_gather", "all_gather [-, -] 384");
}

// Both operands are split where they are contracted, over different axes.
#define TWO_AXES(mesh)                                                                             \
  "level global\n"                                                                                 \
  "mesh " mesh "\n"                                                                                \
  "input p f32[16, 8] @ [-, a]\n"                                                                  \
  "input q f32[8, 16] @ [b, -]\n" MATMUL("y", "p", "q") "result y @ [-, -]\n"

Test(layouts, a_slow_axis_carries_less) {
  // Only a quarter of q, that of the rank's columns over a, goes along b: 3/4 of 128 bytes.
  bench_expect_by_cost(TWO_AXES("a=4@100 b=4@1"), "all_gather all_slice all_gather dot all_gather",
                       "all_gather [-, -] 384; all_slice [b, a]; all_gather [-, a] 96; "
                       "all_gather [-, -] 768");
  // Only a quarter of p along a.
  bench_expect_by_cost(TWO_AXES("a=4@1 b=4@100"), "all_slice all_gather all_gather dot all_gather",
                       "all_slice [b, a]; all_gather [b, -] 96; all_gather [-, -] 384; "
                       "all_gather [-, -] 768");
}
