#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support.h"

static void expect(const char *text, const char *collectives) {
  bench_t bench;
  bench_load(&bench, text);
  bench_run(&bench, "optimize-collectives", tspec_pass_optimize_collectives);
  bench_expect(text, bench_collectives(&bench), collectives);
  bench_end(&bench);
}

#define SUM                                                                                        \
  "level local\n"                                                                                  \
  "mesh x=2 y=2\n"                                                                                 \
  "input a f32[8, 8, 2] @ [-, y, x]\n"                                                             \
  "s = reduce a kind=sum dims=2 @ [-, y] sum(x)\n"

Test(optimize_collectives, a_reduction_that_is_only_sliced_is_a_reduce_scatter) {
  expect(SUM "r = all_reduce s kind=sum axes=x @ [-, y]\n"
             "t = all_slice r axes=x @ [x, y]\n"
             "result t @ [x, y]\n",
         "reduce_scatter [x, y] 64");
  expect(SUM "r = all_reduce s kind=sum axes=x @ [-, y]\n"
             "t = all_slice r axes=x @ [-, y*x]\n"
             "result t @ [-, y*x]\n",
         "reduce_scatter [-, y*x] 64");
}

Test(optimize_collectives, a_reduction_that_is_read_whole_stays) {
  expect(SUM "r = all_reduce s kind=sum axes=x @ [-, y]\n"
             "t = all_slice r axes=x @ [x, y]\n"
             "result t @ [x, y]\n"
             "result r @ [-, y]\n",
         "all_reduce [-, y] 128; all_slice [x, y]");
}

Test(optimize_collectives, what_is_gathered_and_sliced_back_is_the_value) {
  expect("level local\n"
         "mesh x=2 y=2\n"
         "input a f32[8, 8] @ [x, y]\n"
         "g = all_gather a axes=x @ [-, y]\n"
         "s = all_slice g axes=x @ [x, y]\n"
         "n = neg s @ [x, y]\n"
         "result n @ [x, y]\n",
         "");
}

Test(optimize_collectives, equal_ones_are_one_and_unread_ones_go) {
  expect("level local\n"
         "mesh x=2 y=2\n"
         "input a f32[8, 8] @ [x, y]\n"
         "g = all_gather a axes=x @ [-, y]\n"
         "h = all_gather a axes=x @ [-, y]\n"
         "i = all_gather a axes=y @ [x, -]\n"
         "n = add g h @ [-, y]\n"
         "result n @ [-, y]\n",
         "all_gather [-, y] 64");
}

Test(optimize_collectives, a_gather_before_a_slice_of_another_dim_comes_last) {
  // Gathered columns of 4 rows instead of 8: half the bytes, one all_to_all.
  expect("level local\n"
         "mesh x=2\n"
         "input a f32[8, 8] @ [x, -]\n"
         "g = all_gather a axes=x @ [-, -]\n"
         "s = all_slice g axes=x @ [-, x]\n"
         "result s @ [-, x]\n",
         "all_to_all [-, x] 64");
}

Test(optimize_collectives, reducing_what_was_made_pending_is_nothing) {
  expect("level local\n"
         "mesh x=2\n"
         "input a f32[8] @ [-]\n"
         "p = make_pending a kind=sum axes=x @ [-] sum(x)\n"
         "r = all_reduce p kind=sum axes=x @ [-]\n"
         "n = neg r @ [-]\n"
         "result n @ [-]\n",
         "");
}
