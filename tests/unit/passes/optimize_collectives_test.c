#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
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

// ---- calls --------------------------------------------------------------------------------------

static void expect_ops(const char *text, const char *ops, const char *collectives) {
  bench_t bench;
  bench_load(&bench, text);
  bench_run(&bench, "optimize-collectives", tspec_pass_optimize_collectives);
  bench_expect(text, bench_ops(&bench), ops);
  bench_expect(text, bench_collectives(&bench), collectives);
  bench_run(&bench, "optimize-collectives", tspec_pass_optimize_collectives);
  bench_expect("the second time", bench_ops(&bench), ops);
  bench_end(&bench);
}

#define PARTIALS                                                                                   \
  "level local\n"                                                                                  \
  "mesh x=3 y=2\n"                                                                                 \
  "input a f32[6, 4] @ [x, y]\n"                                                                   \
  "input b f32[6, 4] @ [x, y]\n"                                                                   \
  "p = reduce a kind=sum dims=0,1 @ [] sum(x, y)\n"                                                \
  "q = reduce b kind=sum dims=0,1 @ [] sum(x, y)\n"                                                \
  "m = reduce a kind=max dims=0,1 @ [] max(x, y)\n"                                                \
  "s = reduce a kind=sum dims=0 @ [y] sum(x)\n"                                                    \
  "t = reduce b kind=sum dims=0 @ [y] sum(x)\n"

// 2 * 5/6 * 8 bytes, rounded up once.
Test(optimize_collectives, reductions_of_one_kind_over_the_same_axes_are_one_call) {
  expect_ops(PARTIALS "r = all_reduce p kind=sum axes=x,y @ []\n"
                      "u = all_reduce m kind=max axes=x,y @ []\n"
                      "v = all_reduce s kind=sum axes=x @ [y]\n"
                      "w = all_reduce q kind=sum axes=x,y @ []\n"
                      "result r @ []\nresult u @ []\nresult v @ [y]\nresult w @ []\n",
             "reduce reduce reduce reduce all_reduce all_reduce all_reduce",
             "all_reduce [] 7; all_reduce [y] 11; all_reduce [], [] 14");
}

Test(optimize_collectives, other_dtypes_are_reduced_by_themselves_and_gathered_together) {
  expect_ops("level local\n"
             "mesh x=2\n"
             "input a f32[6] @ [x]\n"
             "input b i32[6] @ [x]\n"
             "p = reduce a kind=sum dims=0 @ [] sum(x)\n"
             "q = reduce b kind=sum dims=0 @ [] sum(x)\n"
             "r = all_reduce p kind=sum axes=x @ []\n"
             "s = all_reduce q kind=sum axes=x @ []\n"
             "g = all_gather a axes=x @ [-]\n"
             "h = all_gather b axes=x @ [-]\n"
             "result r @ []\nresult s @ []\nresult g @ [-]\nresult h @ [-]\n",
             "reduce reduce all_reduce all_reduce all_gather",
             "all_reduce [] 4; all_reduce [] 4; all_gather [-], [-] 24");
}

Test(optimize_collectives, what_reads_a_member_waits_for_the_call) {
  expect_ops(PARTIALS "r = all_reduce p kind=sum axes=x,y @ []\n"
                      "n = neg r @ []\n"
                      "e = exp n @ []\n"
                      "o = neg q @ [] sum(x, y)\n"
                      "w = all_reduce o kind=sum axes=x,y @ []\n"
                      "f = add e w @ []\n"
                      "result f @ []\n",
             "reduce reduce neg all_reduce neg exp add", "all_reduce [], [] 14");
}

Test(optimize_collectives, one_that_needs_another_comes_after_it) {
  expect_ops(PARTIALS "r = all_reduce p kind=sum axes=x,y @ []\n"
                      "n = broadcast r dims= shape=6,4 @ [x, y]\n"
                      "o = reduce n kind=sum dims=0,1 @ [] sum(x, y)\n"
                      "w = all_reduce o kind=sum axes=x,y @ []\n"
                      "z = all_reduce q kind=sum axes=x,y @ []\n"
                      "result w @ []\nresult z @ []\n",
             "reduce reduce all_reduce broadcast reduce all_reduce",
             "all_reduce [] 7; all_reduce [], [] 14");
}

// What is read at once by an op on much data goes ahead: 64 x 64 elements of 4 bytes are 16 KiB.
Test(optimize_collectives, nothing_large_waits) {
  static const char *const text = "level local\n"
                                  "mesh x=2\n"
                                  "input a f32[%s] @ [x]\n"
                                  "p = reduce a kind=sum dims=0 @ [] sum(x)\n"
                                  "q = reduce a kind=sum dims=0 @ [] sum(x)\n"
                                  "r = all_reduce p kind=sum axes=x @ []\n"
                                  "n = broadcast r dims= shape=%s @ [x]\n"
                                  "o = neg q @ [] sum(x)\n"
                                  "w = all_reduce o kind=sum axes=x @ []\n"
                                  "result n @ [x]\nresult w @ []\n";
  char filled[512];
  (void)snprintf(filled, sizeof filled, text, "8192", "8192");
  expect_ops(filled, "reduce reduce neg all_reduce broadcast", "all_reduce [], [] 8");
  (void)snprintf(filled, sizeof filled, text, "8193", "8193");
  expect_ops(filled, "reduce reduce all_reduce broadcast neg all_reduce",
             "all_reduce [] 4; all_reduce [] 4");
}

// 16 KiB a call: three vectors of 6 KiB are two and one, one of 17 KiB is never a member.
Test(optimize_collectives, a_call_has_a_limit) {
  expect_ops("level local\n"
             "mesh x=2\n"
             "input a f32[1536] @ [x]\n"
             "input b f32[1536] @ [x]\n"
             "input c f32[1536] @ [x]\n"
             "input d f32[4352] @ [x]\n"
             "e = all_gather d axes=x @ [-]\n"
             "f = all_gather a axes=x @ [-]\n"
             "g = all_gather b axes=x @ [-]\n"
             "h = all_gather c axes=x @ [-]\n"
             "result e @ [-]\nresult f @ [-]\nresult g @ [-]\nresult h @ [-]\n",
             "all_gather all_gather all_gather",
             "all_gather [-] 8704; all_gather [-], [-] 6144; all_gather [-] 3072");
}

// More calls than the pass tells apart at a time: it starts anew, and none is lost.
Test(optimize_collectives, many_calls) {
  tspec_buf_t text = {0}, ops = {0}, collectives = {0};
  tspec_buf_puts(&text, PARTIALS "p0 = neg p @ [] sum(x, y)\nq0 = neg q @ [] sum(x, y)\n");
  tspec_buf_puts(&ops, "reduce reduce neg neg");
  for (int i = 0; i < 150; i++) {
    tspec_buf_printf(&text,
                     "r%d = all_reduce p%d kind=sum axes=x,y @ []\n"
                     "b%d = broadcast r%d dims= shape=6,4 @ [x, y]\n"
                     "p%d = reduce b%d kind=sum dims=0,1 @ [] sum(x, y)\n"
                     "s%d = all_reduce q%d kind=sum axes=x,y @ []\n"
                     "c%d = broadcast s%d dims= shape=6,4 @ [x, y]\n"
                     "q%d = reduce c%d kind=sum dims=0,1 @ [] sum(x, y)\n",
                     i, i, i, i, i + 1, i, i, i, i, i, i + 1, i);
    tspec_buf_puts(&ops, " all_reduce broadcast reduce broadcast reduce");
    tspec_buf_printf(&collectives, "%sall_reduce [], [] 14", i > 0 ? "; " : "");
  }
  tspec_buf_puts(&text, "x = all_reduce p150 kind=sum axes=x,y @ []\n"
                        "y = all_reduce q150 kind=sum axes=x,y @ []\n"
                        "result x @ []\nresult y @ []\n");
  tspec_buf_puts(&ops, " all_reduce");
  tspec_buf_puts(&collectives, "; all_reduce [], [] 14");
  expect_ops(tspec_buf_get(&text), tspec_buf_get(&ops), tspec_buf_get(&collectives));
  tspec_buf_deinit(&text);
  tspec_buf_deinit(&ops);
  tspec_buf_deinit(&collectives);
}
