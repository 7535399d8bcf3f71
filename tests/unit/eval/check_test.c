// N ranks against one: right programs pass, wrong ones are caught and their worst element named.
#include "ir/eval/check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "tests/support/program_text.h"

static tspec_arena_t arena;
static tspec_sources_t sources;
static tspec_diag_t diag;

static void start(void) {
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
}

static void stop(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(check_ranks, .init = start, .fini = stop);

static bool check(const char *global, const char *local, const tspec_check_ranks_options_t *options,
                  tspec_check_report_t *out_report) {
  const tspec_program_t *whole = tspec_text_program(&arena, &diag, global);
  const tspec_program_t *ranks =
      tspec_text_program(&arena, &diag, tspec_arena_printf(&arena, "level local\n%s", local));
  cr_assert(ne(ptr, (void *)whole, NULL));
  cr_assert(ne(ptr, (void *)ranks, NULL));
  return tspec_check_ranks(whole, ranks, options, &arena, &diag, out_report);
}

#define DOT " lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32"

static const char *const mlp = "param w f32[7, 5]\nentry f\ninput a f32[3, 7]\nread w\n"
                               "p = dot a w" DOT "\nr = relu p\nn = neg w\nresult r\nupdate w n";
static const char *const split_mlp =
    "mesh x=2 y=2\nparam w f32[7, 5] @ [x, y]\nentry f\ninput a f32[3, 7] @ [-, x]\nread w\n"
    "p = dot a w" DOT " @ [-, y] sum(x)\ns = all_reduce p kind=sum axes=x @ [-, y]\n"
    "r = relu s @ [-, y]\nn = neg w @ [x, y]\nresult r\nupdate w n";

Test(check_ranks, a_right_partition_passes_on_small_integers_exactly) {
  tspec_check_ranks_options_t options = {
      .seed = 3, .small_ints = true, .tolerance = -1, .ncalls = 2};
  tspec_check_report_t report;
  cr_assert(check(mlp, split_mlp, &options, &report));
  cr_assert(eq(int, report.nrows, 2));
  cr_assert(eq(str, (char *)report.rows[0].name, "r"));
  cr_assert(eq(str, (char *)report.rows[1].name, "w"));
  cr_assert(eq(dbl, report.rows[0].difference, 0));
}

Test(check_ranks, a_right_partition_passes_on_floats_nearly) {
  tspec_check_ranks_options_t options = {.seed = 3};
  tspec_check_report_t report;
  cr_assert(check(mlp, split_mlp, &options, &report));
  cr_assert(report.rows[0].allowed >= report.rows[0].difference);
}

Test(check_ranks, a_wrong_partition_is_caught_with_its_worst_element) {
  tspec_check_ranks_options_t options = {.seed = 1};
  tspec_check_report_t report;
  // element 3, the second of rank 1, gets 10 too many
  cr_assert(not(check("input a f32[4]\nr = neg a\nresult r",
                      "mesh x=2\ninput a f32[4] @ [x]\nn = neg a @ [x]\n"
                      "c = constant dtype=f32 shape=4 values=0,0,1,10 @ [x]\nr = add n c @ [x]\n"
                      "result r",
                      &options, &report)));
  cr_assert(eq(int, report.nrows, 1));
  cr_assert(not(report.rows[0].ok));
  cr_assert(eq(i64, report.rows[0].index[0], 3));
  const char *got = diag.messages[0].text;
  cr_assert(ne(ptr, strstr(got, "'r' of 'main' differs on 2 ranks: r[3] is "), NULL), "%s", got);
  cr_assert(ne(ptr, strstr(got, "(off by 10, "), NULL), "%s", got);
}

Test(check_ranks, a_missing_reduction_is_caught_as_ranks_that_disagree) {
  tspec_check_ranks_options_t options = {.seed = 1};
  tspec_check_report_t report;
  cr_assert(not(check("input a f32[4]\nr = reduce a kind=sum dims=0\nresult r",
                      "mesh x=2\ninput a f32[4] @ [x]\nr = reduce a kind=sum dims=0 @ []\nresult r",
                      &options, &report)));
  cr_assert(
      eq(str, (char *)diag.messages[0].text, "ranks 0 and 1 disagree about their block of 'r'"));
}

Test(check_ranks, integers_and_bool_must_be_equal) {
  tspec_check_ranks_options_t options = {.seed = 1, .tolerance = 1e9};
  tspec_check_report_t report;
  cr_assert(not(check("input a i32[4]\nr = neg a\nresult r",
                      "mesh x=2\ninput a i32[4] @ [x]\nn = neg a @ [x]\n"
                      "c = constant dtype=i32 shape=4 values=0,0,0,1 @ [x]\nr = add n c @ [x]\n"
                      "result r",
                      &options, &report)));
  cr_assert(eq(dbl, report.rows[0].difference, 1));
}

Test(check_ranks, a_nan_against_a_number_is_an_infinite_difference) {
  tspec_check_ranks_options_t options = {.seed = 1, .tolerance = 1e9};
  tspec_check_report_t report;
  cr_assert(not(check("input a f32[2]\nr = neg a\nresult r",
                      "mesh x=2\ninput a f32[2] @ [x]\nr = constant dtype=f32 shape=2 values=nan "
                      "@ [x]\nresult r",
                      &options, &report)));
  cr_assert(check("r = constant dtype=f32 shape=2 values=nan\nresult r",
                  "mesh x=2\nr = constant dtype=f32 shape=2 values=nan @ [x]\nresult r", &options,
                  &report));
}

Test(check_ranks, one_entry_may_be_chosen) {
  tspec_check_ranks_options_t options = {.seed = 1, .entry = "g"};
  tspec_check_report_t report;
  static const char *const both = "entry f\ninput a f32[2] @ [-]\nresult a\nentry g\n"
                                  "input b f32[2] @ [-]\nresult b";
  cr_assert(check(both, both, &options, &report));
  cr_assert(eq(int, report.nrows, 1));
  cr_assert(eq(str, (char *)report.rows[0].entry, "g"));
  options.entry = "h";
  cr_assert(not(check(both, both, &options, &report)));
  cr_assert(eq(str, (char *)diag.messages[0].text, "'h' is no entry"));
}
