// All ranks in lockstep: blocks of even, uneven and empty sizes, every collective with what it
// moves and costs, ranks that disagree. Blocks and bytes worked out by hand.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/eval/eval.h"
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

TestSuite(eval_ranks, .init = start, .fini = stop);

typedef struct rank_case_t {
  const char *text;   ///< without "level local"; the result is r
  const char *inputs; ///< one number list per input, ';' between them
  const char *blocks; ///< r's blocks in order of ranks, '|' between them; NULL: not looked at
  const char *whole;
  const char *bytes; ///< of each collective in order
} rank_case_t;

static void check(const rank_case_t *row) {
  const char *text = tspec_arena_printf(&arena, "level local\n%s\nresult r", row->text);
  tspec_program_t *program = tspec_text_program(&arena, &diag, text);
  cr_assert(ne(ptr, (void *)program, NULL), "%s", text);
  cr_assert(tspec_program_verify(program, NULL, &diag), "%s\n%s", text,
            diag.count > 0 ? diag.messages[diag.count - 1].text : "");
  const tspec_func_t *func = program->funcs[0];
  tspec_eval_input_t inputs[4];
  char *rest = tspec_arena_strdup(&arena, row->inputs, strlen(row->inputs));
  for (int i = 0; i < func->nargs; i++) {
    inputs[i] = (tspec_eval_input_t){
        func->args[i].name, tspec_text_dense(func->args[i].value->type, strsep(&rest, ";"))};
  }
  tspec_eval_t *eval = tspec_eval_create(program, &diag);
  cr_assert(tspec_eval_run(eval, "main", inputs, func->nargs), "%s\n%s", text,
            diag.count > 0 ? diag.messages[diag.count - 1].text : "");
  const char *blocks = "";
  for (int64_t rank = 0; rank < tspec_eval_nranks(eval); rank++) {
    blocks = tspec_arena_printf(&arena, "%s%s%s", blocks, rank == 0 ? "" : " | ",
                                tspec_text_numbers(&arena, tspec_eval_result_block(eval, 0, rank)));
  }
  if (row->blocks != NULL) {
    cr_expect(eq(str, (char *)blocks, (char *)row->blocks), "%s", text);
  }
  tspec_dense_t *whole = tspec_eval_result(eval, "r");
  cr_expect(eq(str, (char *)tspec_text_numbers(&arena, whole), (char *)row->whole), "%s", text);
  int64_t count = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(eval, &count);
  const char *bytes = "";
  for (int64_t i = 0; i < count; i++) {
    bytes = tspec_arena_printf(&arena, "%s%s%lld", bytes, i == 0 ? "" : " ",
                               (long long)traffic[i].bytes);
  }
  cr_expect(eq(str, (char *)bytes, (char *)row->bytes), "%s", text);
  tspec_dense_destroy(whole);
  for (int i = 0; i < func->nargs; i++) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  tspec_eval_destroy(eval);
}

#define CHECK(cases)                                                                               \
  for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++) {                                   \
    check(&(cases)[i]);                                                                            \
  }

Test(eval_ranks, ops_work_on_blocks) {
  static const rank_case_t cases[] = {
      {"mesh x=2 y=2\ninput a f32[4] @ [y]\nr = neg a @ [y]", "1 2 3 4",
       "-1 -2 | -3 -4 | -1 -2 | -3 -4", "-1 -2 -3 -4", ""},
      // 5 over 4 ranks: 2 2 1 0
      {"mesh x=4\ninput a f32[5] @ [x]\nr = neg a @ [x]", "1 2 3 4 5", "-1 -2 | -3 -4 | -5 | ",
       "-1 -2 -3 -4 -5", ""},
      // one flattened split over x*y: 3 over 4 ranks is 1 1 1 0
      {"mesh x=2 y=2\ninput a f32[3] @ [x*y]\nr = neg a @ [x*y]", "1 2 3", "-1 | -2 | -3 | ",
       "-1 -2 -3", ""},
      // y major: rank (x, y) holds block y * 2 + x
      {"mesh x=2 y=2\ninput a f32[4] @ [y*x]\nr = neg a @ [y*x]", "1 2 3 4", "-1 | -3 | -2 | -4",
       "-1 -2 -3 -4", ""},
      {"mesh x=2\nr = iota dtype=i32 shape=5 dim=0 @ [x]", "", "0 1 2 | 3 4", "0 1 2 3 4", ""},
      {"mesh x=2\nr = constant dtype=i32 shape=2,2 values=1,2,3,4 @ [-, x]", "", "1 3 | 2 4",
       "1 2 3 4", ""},
      {"mesh x=2\ninput a f32[2, 3] @ [-, x]\nr = transpose a perm=1,0 @ [x, -]", "1 2 3 4 5 6",
       "1 4 2 5 | 3 6", "1 4 2 5 3 6", ""},
      {"mesh x=2\ninput a f32[3] @ [x]\nr = broadcast a shape=2,3 dims=1 @ [-, x]", "1 2 3",
       "1 2 1 2 | 3 3", "1 2 3 1 2 3", ""},
      {"mesh x=2\ninput a f32[1] @ [-]\nr = broadcast a shape=3 dims=0 @ [x]", "7", "7 7 | 7",
       "7 7 7", ""},
      {"mesh x=2\ninput a f32[3, 2] @ [x, -]\nr = concat a a dim=1 @ [x, -]", "1 2 3 4 5 6",
       "1 2 1 2 3 4 3 4 | 5 6 5 6", "1 2 1 2 3 4 3 4 5 6 5 6", ""},
      {"mesh x=2\ninput a f32[3, 3] @ [x, -]\nr = slice a starts=0,1 ends=3,3 steps=1,1 @ [x, -]",
       "1 2 3 4 5 6 7 8 9", "2 3 5 6 | 8 9", "2 3 5 6 8 9", ""},
      {"mesh x=2\ninput a f32[3, 1] @ [x, -]\nr = pad a lo=0,1 hi=0,0 value=9 @ [x, -]", "1 2 3",
       "9 1 9 2 | 9 3", "9 1 9 2 9 3", ""},
      {"mesh x=2\ninput a f32[4, 3] @ [x, -]\nr = reshape a shape=2,6 @ [x, -]",
       "1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5 6 | 7 8 9 10 11 12", "1 2 3 4 5 6 7 8 9 10 11 12",
       ""},
      {"mesh x=2\ninput a f32[2, 3] @ [-, x]\nr = arg_reduce a kind=max dim=0 @ [x]", "1 5 3 4 2 6",
       "1 0 | 1", "1 0 1", ""},
  };
  CHECK(cases);
}

Test(eval_ranks, all_reduce) {
  static const rank_case_t cases[] = {
      // 2 (k - 1) / k of the block: 2 ranks, 12 bytes
      {"mesh x=2\ninput a f32[3, 4] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
       "r = all_reduce p kind=sum axes=x @ [-]",
       "1 2 3 4 5 6 7 8 9 10 11 12", "10 26 42 | 10 26 42", "10 26 42", "12"},
      // a rank without elements adds nothing; 3 ranks, 4 bytes: 16 / 3 is 6 bytes
      {"mesh x=3\ninput a f32[2] @ [x]\np = reduce a kind=sum dims=0 @ [] sum(x)\n"
       "r = all_reduce p kind=sum axes=x @ []",
       "1 2", "3 | 3 | 3", "3", "6"},
      {"mesh x=3\ninput a f32[2] @ [x]\np = reduce a kind=max dims=0 @ [] max(x)\n"
       "r = all_reduce p kind=max axes=x @ []",
       "-1 -2", NULL, "-1", "6"},
      {"mesh x=3\ninput a i8[2] @ [x]\np = reduce a kind=min dims=0 @ [] min(x)\n"
       "r = all_reduce p kind=min axes=x @ []",
       "5 2", NULL, "2", "2"},
      // the block that travels is the largest: 2 of 3 elements
      {"mesh x=2 y=2\ninput a f32[3, 2] @ [y, x]\np = reduce a kind=sum dims=1 @ [y] sum(x)\n"
       "r = all_reduce p kind=sum axes=x @ [y]",
       "1 2 3 4 5 6", "3 7 | 11 | 3 7 | 11", "3 7 11", "8"},
      // one axis of two
      {"mesh x=2 y=2\ninput a f32[2, 2] @ [y, x]\np = reduce a kind=sum dims=0,1 @ [] sum(x, y)\n"
       "q = all_reduce p kind=sum axes=x @ [] sum(y)\nr = all_reduce q kind=sum axes=y @ []",
       "1 2 3 4", NULL, "10", "4 4"},
      {"mesh x=2\ninput a f32[2, 4] @ [-, x]\ninput b f32[4, 1] @ [x, -]\n"
       "p = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [-, -] sum(x)\n"
       "r = all_reduce p kind=sum axes=x @ [-, -]",
       "1 2 3 4 5 6 7 8; 1 10 100 1000", NULL, "4321 8765", "8"},
  };
  CHECK(cases);
}

Test(eval_ranks, all_gather) {
  static const rank_case_t cases[] = {
      // the whole, 20 bytes, minus the smallest block: none of 2 2 1 0
      {"mesh x=4\ninput a f32[5] @ [x]\nr = all_gather a axes=x @ [-]", "1 2 3 4 5",
       "1 2 3 4 5 | 1 2 3 4 5 | 1 2 3 4 5 | 1 2 3 4 5", "1 2 3 4 5", "20"},
      {"mesh x=2\ninput a f32[5] @ [x]\nr = all_gather a axes=x @ [-]", "1 2 3 4 5", NULL,
       "1 2 3 4 5", "12"},
      {"mesh x=2 y=2\ninput a i8[2, 4] @ [x, y]\nr = all_gather a axes=y @ [x, -]",
       "1 2 3 4 5 6 7 8", "1 2 3 4 | 1 2 3 4 | 5 6 7 8 | 5 6 7 8", "1 2 3 4 5 6 7 8", "2"},
      // pending values stay so
      {"mesh x=2 y=2\ninput a f32[4, 2] @ [y, x]\np = reduce a kind=sum dims=1 @ [y] sum(x)\n"
       "g = all_gather p axes=y @ [-] sum(x)\nr = all_reduce g kind=sum axes=x @ [-]",
       "1 2 3 4 5 6 7 8", NULL, "3 7 11 15", "8 16"},
  };
  CHECK(cases);
}

Test(eval_ranks, reduce_scatter) {
  static const rank_case_t cases[] = {
      // blocks of the result: 2 and 1 elements; 12 bytes minus 4
      {"mesh x=2\ninput a f32[3, 4] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
       "r = reduce_scatter p kind=sum axes=x @ [x]",
       "1 2 3 4 5 6 7 8 9 10 11 12", "10 26 | 42", "10 26 42", "8"},
      // 2 elements over 3 ranks: the last one gets none
      {"mesh x=3\ninput a f32[2, 3] @ [-, x]\np = reduce a kind=max dims=1 @ [-] max(x)\n"
       "r = reduce_scatter p kind=max axes=x @ [x]",
       "1 3 2 -1 -3 -2", "3 | -1 | ", "3 -1", "8"},
  };
  CHECK(cases);
}

Test(eval_ranks, all_to_all_and_permute) {
  static const rank_case_t cases[] = {
      // each rank keeps one of its two elements
      {"mesh x=2\ninput a f32[2, 2] @ [x, -]\nr = all_to_all a axes=x @ [-, x]", "1 2 3 4",
       "1 3 | 2 4", "1 2 3 4", "4"},
      // rows 2 and 1, columns 2 and 1: rank 0 sends 2 elements, rank 1 sends 2
      {"mesh x=2\ninput a f32[3, 3] @ [x, -]\nr = all_to_all a axes=x @ [-, x]",
       "1 2 3 4 5 6 7 8 9", "1 2 4 5 7 8 | 3 6 9", "1 2 3 4 5 6 7 8 9", "8"},
      // ranks (0, 1) and (1, 0) swap their blocks
      {"mesh x=2 y=2\ninput a f32[4] @ [x*y]\nr = permute a axes=x,y @ [y*x]", "1 2 3 4",
       "1 | 3 | 2 | 4", "1 2 3 4", "4"},
      // from x to y: (0, 1) needs what (1, 0) and (1, 1) hold, (1, 0) what (0, 0) and (0, 1) hold:
      // an element from each
      {"mesh x=2 y=2\ninput a f32[4] @ [x]\nr = permute a axes=x,y @ [y]", "1 2 3 4",
       "1 2 | 3 4 | 1 2 | 3 4", "1 2 3 4", "4"},
  };
  CHECK(cases);
}

Test(eval_ranks, all_slice_and_make_pending_move_nothing) {
  static const rank_case_t cases[] = {
      {"mesh x=2\ninput a f32[3] @ [-]\nr = all_slice a axes=x @ [x]", "1 2 3", "1 2 | 3", "1 2 3",
       ""},
      {"mesh x=2 y=2\ninput a f32[4] @ [x]\nr = all_slice a axes=y @ [x*y]", "1 2 3 4",
       "1 | 2 | 3 | 4", "1 2 3 4", ""},
      {"mesh x=2\ninput a f32[2] @ [-]\np = make_pending a kind=sum axes=x @ [-] sum(x)\n"
       "q = add p p @ [-] sum(x)\nr = all_reduce q kind=sum axes=x @ [-]",
       "1 2", NULL, "2 4", "8"},
      {"mesh x=2\ninput a f32[2] @ [-]\np = make_pending a kind=max axes=x @ [-] max(x)\n"
       "r = all_reduce p kind=max axes=x @ [-]",
       "-1 2", NULL, "-1 2", "8"},
  };
  CHECK(cases);
}

// Pieces of an axis: x of size 8 as 2 by 4; rank = 4 * major + minor.
Test(eval_ranks, axes_may_be_pieces) {
  static const rank_case_t cases[] = {
      {"mesh x=8\ninput a f32[4, 2] @ [x:(2)4, x:(1)2]\nr = neg a @ [x:(2)4, x:(1)2]",
       "1 2 3 4 5 6 7 8", "-1 | -3 | -5 | -7 | -2 | -4 | -6 | -8", "-1 -2 -3 -4 -5 -6 -7 -8", ""},
      {"mesh x=8\ninput a f32[4, 2] @ [x:(2)4, x:(1)2]\np = reduce a kind=sum dims=0 @ [x:(1)2] "
       "sum(x:(2)4)\nr = all_reduce p kind=sum axes=x:(2)4 @ [x:(1)2]",
       "1 2 3 4 5 6 7 8", "16 | 16 | 16 | 16 | 20 | 20 | 20 | 20", "16 20", "6"},
      {"mesh x=8\ninput a f32[8] @ [x]\nr = all_gather a axes=x:(2)4 @ [x:(1)2]", "1 2 3 4 5 6 7 8",
       NULL, "1 2 3 4 5 6 7 8", "12"},
  };
  CHECK(cases);
}

Test(eval_ranks, parameters_start_alike_on_every_mesh) {
  tspec_dense_t *wholes[2];
  static const char *const texts[] = {"param w f32[5, 3]\nread w\nresult w",
                                      "level local\nmesh x=2 y=2\nparam w f32[5, 3] @ [x*y, -]\n"
                                      "read w\nresult w"};
  for (int i = 0; i < 2; i++) {
    tspec_program_t *program = tspec_text_program(&arena, &diag, texts[i]);
    program->params[0].init = TSPEC_INIT_NORMAL;
    program->params[0].init_args[1] = 2;
    tspec_eval_t *eval = tspec_eval_create(program, &diag);
    tspec_eval_init_params(eval, 7);
    cr_assert(tspec_eval_run(eval, "main", NULL, 0));
    wholes[i] = tspec_eval_result(eval, "w");
    tspec_eval_destroy(eval);
  }
  cr_assert(tspec_dense_equal(wholes[0], wholes[1]));
  cr_assert(ne(dbl, tspec_dense_get(wholes[0], 14), 0));
  tspec_dense_destroy(wholes[0]);
  tspec_dense_destroy(wholes[1]);
}

// A value that is called whole but is not: each rank has its own block of it.
Test(eval_ranks, ranks_that_disagree_are_named) {
  tspec_program_t *program = tspec_text_program(
      &arena, &diag,
      "level local\nmesh x=2\ninput a f32[2, 2] @ [-, x]\np = reduce a kind=sum dims=1 @ [-]\n"
      "result p");
  tspec_eval_t *eval = tspec_eval_create(program, &diag);
  tspec_dense_t *a = tspec_text_dense(program->funcs[0]->args[0].value->type, "1 2 3 4");
  tspec_eval_input_t input = {"a", a};
  cr_assert(not(tspec_eval_run(eval, "main", &input, 1)));
  cr_assert(
      eq(str, (char *)diag.messages[0].text, "ranks 0 and 1 disagree about their block of 'p'"));
  tspec_dense_destroy(a);
  tspec_eval_destroy(eval);
}

Test(eval_ranks, programs_of_kernels_are_refused) {
  tspec_program_t *program = tspec_text_program(&arena, &diag, "level kernels\nentry f");
  cr_assert(eq(ptr, (void *)tspec_eval_create(program, &diag), NULL));
  cr_assert(
      eq(str, (char *)diag.messages[0].text, "a program at level kernels cannot be evaluated"));
}
