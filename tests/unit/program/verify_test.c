// What the verifier lets through and what it refuses, with which words.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/program.h"
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

TestSuite(verify, .init = start, .fini = stop);

static bool verify(const char *text, const char *after) {
  const tspec_program_t *program = tspec_text_program(&arena, &diag, text);
  cr_assert(ne(ptr, (void *)program, NULL), "%s", text);
  return tspec_program_verify(program, after, &diag);
}

#define LOCAL "level local\nmesh x=2 y=2 z=3\n"
#define DOT(a, b)                                                                                  \
  "r = dot " a " " b " lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32"

static const char *const accepted[] = {
    "input a f32[4]\nb = exp a\nresult b",
    "level sharded\nmesh x=2\ninput a f32[4] @ [x]\nb = exp a @ [-]\nresult b",
    LOCAL "input a f32[4] @ [x]\nb = exp a @ [x]\nresult b",
    // a contracted dim that is split leaves its axes pending
    LOCAL "input a f32[4, 8] @ [y, x]\ninput b f32[8, 6] @ [x, z]\n" DOT(
        "a", "b") " @ [y, z] sum(x)\n"
                  "s = all_reduce r kind=sum axes=x @ [y, z]\nresult s",
    // pending values pass through linear ops, and two of one op may be pending over different axes
    LOCAL "input a f32[4, 8] @ [-, x]\ninput b f32[4, 8] @ [-, y]\n"
          "p = reduce a kind=sum dims=1 @ [-] sum(x)\nq = reduce b kind=sum dims=1 @ [-] sum(y)\n"
          "m = mul p q @ [-] sum(x, y)\ns = all_reduce m kind=sum axes=x,y @ [-]\nresult s",
    LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=max dims=1 @ [-] max(x)\n"
          "m = maximum p p @ [-] max(x)\ns = all_reduce m kind=max axes=x @ [-]\nresult s",
    LOCAL "input a f32[4] @ [-]\nb = make_pending a kind=sum axes=x @ [-] sum(x)\n"
          "c = neg b @ [-] sum(x)\nd = reduce_scatter c kind=sum axes=x @ [x]\nresult d",
    // reshapes that keep each rank's elements, even and not
    LOCAL "input a f32[8] @ [x]\nb = reshape a shape=2,4 @ [x, -]\nresult b",
    LOCAL "input a f32[4, 3] @ [x, -]\nb = reshape a shape=12 @ [x]\nresult b",
    LOCAL "input a f32[3, 4] @ [x, -]\nb = reshape a shape=3,2,2 @ [x, -, -]\nresult b",
    LOCAL "input a f32[2, 3] @ [-, z]\nb = reshape a shape=2,3,1 @ [-, z, -]\nresult b",
    // new dims of a broadcast may be split
    LOCAL "input a f32[4] @ [x]\nb = broadcast a shape=6,4 dims=1 @ [z, x]\nresult b",
    LOCAL "c = constant dtype=f32 shape=5 values=1 @ [x]\nresult c",
    LOCAL "input a f32[5, 4] @ [-, x]\nb = slice a starts=1,0 ends=4,4 steps=1,1 @ [-, x]\n"
          "c = concat a b dim=0 @ [-, x]\nd = pad c lo=1,0 hi=0,0 value=0 @ [-, x]\nresult d",
    LOCAL "input a f32[12] @ [x]\nb = all_gather a axes=x @ [-]\nc = all_slice b axes=y @ [y]\n"
          "d = permute c axes=x,y @ [x]\nresult d",
    LOCAL "input a f32[4, 4] @ [x, -]\nb = all_to_all a axes=x @ [-, x]\nresult b",
    // parts of operands: a slice that every rank has, two rows of neighbours, two tensors as one
    LOCAL "input a f32[4, 4] @ [x, -]\n"
          "b = all_slice a axes=x shape=2,4 lo=0,0 starts=0,0 steps=2,1 @ [x, -]\nresult b",
    LOCAL "input a f32[4, 4] @ [x, -]\n"
          "b = permute a axes=x shape=3,4 lo=0,0 starts=1,0 steps=1,1 @ [x, -]\nresult b",
    LOCAL "input a f32[4] @ [x]\ninput b f32[3] @ [-]\n"
          "c = permute a b axes=x shape=7 lo=0,4 starts=0,0 steps=1,1 @ [x]\nresult c",
    // a turn by one of a value with itself
    LOCAL "input a f32[4] @ [x]\n"
          "c = permute a a axes=x shape=4 lo=0,1 starts=3,0 steps=1,1 counts=1,3 @ [x]\nresult c",
};

Test(verify, accepts) {
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
    bool ok = verify(accepted[i], NULL);
    cr_expect(ok, "%s\n%s", accepted[i], diag.count > 0 ? diag.messages[diag.count - 1].text : "");
  }
}

static const struct {
  const char *text;
  const char *after;
  const char *wanted;
} refused[] = {
    {"mesh x=2\ninput a f32[4]\nb = exp a @ [x]\nresult b", "simplify",
     "after pass 'simplify': op 'exp' (b) of 'main': result 'b' f32[4] @ [x] has a sharding, but "
     "the level is global"},
    {"mesh x=2\ninput a f32[4]\nb = all_gather a axes=x\nresult b", NULL,
     "op 'all_gather' (b) of 'main': it cannot stand at level global"},
    {LOCAL "input a f32[4] @ [x]\nb = reshard a sharding={[-]} @ [-]\nresult b", NULL,
     "op 'reshard' (b) of 'main': it cannot stand at level local"},
    {LOCAL "input a f32[4] @ [x]\nb = exp a\nresult b", NULL, "'b' f32[4] has no sharding"},
    {LOCAL "input a f32[4] @ [x?]\nb = exp a @ [x]\nresult b", NULL,
     "'a' f32[4] @ [x?] has open dims, wanted closed ones"},
    {LOCAL "input a f32[4] @ [x]\nb = exp a @ [y]\nresult b", "partition",
     "after pass 'partition': op 'exp' (b) of 'main': 'a' f32[4] @ [x] and 'b' f32[4] @ [y] are "
     "not split alike: x and y along a shared dim"},
    {"level sharded\nmesh x=2\ninput a f32[4] @ [x]\nb = exp a @ [-]\nresult b", "reshard",
     "are not split alike: x and - along a shared dim"},
    {LOCAL
     "input a f32[4, 8] @ [-, x]\ninput b f32[8, 6] @ [-, -]\n" DOT("a", "b") " @ [-, -] sum(x)",
     NULL, "are not split alike"},
    {LOCAL "input a f32[4, 8] @ [-, x]\ninput b f32[8, 6] @ [x, -]\n" DOT("a", "b") " @ [-, -]",
     NULL, "result 'r' f32[4, 6] @ [-, -] should be sum(x)"},
    {LOCAL "input a f32[4, 8] @ [-, x]\nr = reduce a kind=max dims=1 @ [-] sum(x)", NULL,
     "should be max(x)"},
    {LOCAL "input a f32[4] @ [-]\nr = exp a @ [-] sum(x)", NULL,
     "result 'r' f32[4] @ [-] sum(x) should be complete"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "r = relu p @ [-] sum(x)",
     NULL, "it reads 'p' f32[4] @ [-] sum(x), which is pending, but is not linear in it"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "c = constant dtype=f32 shape=4 values=1 @ [-]\nr = div c p @ [-] sum(x)",
     NULL, "is not linear in it"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "c = constant dtype=f32 shape=4 values=1 @ [-]\nr = add p c @ [-] sum(x)",
     NULL, "'p' f32[4] @ [-] sum(x) and 'c' f32[4] @ [-] must be pending over the same axes"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "r = mul p p @ [-] sum(x)",
     NULL, "its result would be pending over x twice"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=max dims=1 @ [-] max(x)\n"
           "r = neg p @ [-] max(x)",
     NULL, "is not linear in it"},
    {LOCAL "c = constant dtype=f32 shape=5 values=1 @ [x] sum(y)\nresult c", NULL,
     "is pending, but nothing was summed"},
    {LOCAL "input a f32[4, 6] @ [-, x]\nr = arg_reduce a kind=max dim=1 @ [-]", NULL,
     "'a' f32[4, 6] @ [-, x] is split over x, but partial results of the op do not combine"},
    {LOCAL "input a f32[4] @ [x]\nr = concat a a dim=0 @ [x]", NULL,
     "is split over x, but the op needs that dim whole"},
    {LOCAL "input a f32[6] @ [x]\nr = slice a starts=0 ends=4 steps=1 @ [x]", NULL,
     "is split over x, but the op needs elements of other ranks along that dim"},
    {LOCAL "input a f32[1] @ [x]\nr = broadcast a shape=4 dims=0 @ [-]", NULL,
     "is split over x, but the result repeats that dim"},
    // 3 rows over 2 ranks: 2 and 1 rows are 8 and 4 elements, but 12 elements are cut 6 and 6
    {LOCAL "input a f32[3, 4] @ [x, -]\nr = reshape a shape=12 @ [x]", NULL,
     "rank 0's block of 'a' f32[3, 4] @ [x, -] and of 'r' f32[12] @ [x] hold different elements"},
    {LOCAL "input a f32[6, 5] @ [z, -]\nr = reshape a shape=2,3,5 @ [-, z, -]", NULL,
     "hold different elements"},
    {LOCAL "input a f32[2, 4] @ [-, x]\nr = reshape a shape=8 @ [x]", NULL,
     "hold different elements"},
    {LOCAL "input a f32[4] @ [x]\nr = reshape a shape=4,1 @ [x, y]", NULL,
     "hold different elements"},
    {LOCAL "input a f32[4] @ [-]\nr = all_reduce a kind=sum axes=x @ [-]", NULL,
     "over x it cannot turn 'a' f32[4] @ [-] into 'r' f32[4] @ [-]: the operand is not pending by "
     "its kind"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "r = all_reduce p kind=sum axes=y @ [-]",
     NULL, "it completes exactly its axes"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "r = all_reduce p kind=sum axes=x @ [x]",
     NULL, "it does not change splits"},
    {LOCAL "input a f32[4, 8] @ [-, x]\np = reduce a kind=sum dims=1 @ [-] sum(x)\n"
           "r = all_slice p axes=y @ [y]",
     NULL, "it does not change what is pending"},
    {LOCAL "input a f32[4] @ [-]\nr = make_pending a kind=sum axes=x @ [-]", NULL,
     "it makes exactly its axes pending"},
    // 5 elements: blocks of 3 and 2 over x, of 2 2 1 0 over x*y: the second holds 2..4, but x = 0
    // has 0..3
    {LOCAL "input a f32[5] @ [x]\nr = all_slice a axes=y @ [x*y]", NULL,
     "a rank needs elements that no rank along these axes holds"},
    {LOCAL "input a f32[4] @ [x]\nr = all_slice a axes=x shape=3 lo=0 starts=1 steps=1 @ [x]", NULL,
     "a rank needs elements that no rank along these axes holds"},
    {LOCAL "input a f32[4] @ [x]\nr = permute a axes=y shape=3 lo=0 starts=1 steps=1 @ [x]", NULL,
     "a rank needs elements that no rank along these axes holds"},
    {LOCAL "input a f32[4] @ [x]\nb = slice a starts=1 ends=4 steps=1 @ [x]\nresult b", NULL,
     "the op needs elements of other ranks along that dim"},
    {LOCAL "input a f32[4] @ [x]\nr = all_gather a axes=y @ [-]", NULL,
     "a rank needs elements that no rank along these axes holds"},
    {LOCAL "param w f32[4] @ [x]\ninput a f32[4] @ [-]\nread w\nupdate w a", NULL,
     "'a' f32[4] @ [-] stands for the parameter 'w', which lies as [x]"},
    {"param w f32[4]\ninput a f32[5]\nupdate w a", NULL,
     "'a' f32[5] stands for the parameter 'w' of type f32[4]"},
    {"input a f32[5]\nupdate w a", NULL, "'w' is no parameter or state"},
    {LOCAL "input a f32[4, 8] @ [-, x]\nr = reduce a kind=sum dims=1 @ [-] sum(x)\nresult r @ [-]",
     NULL, "result 'r' is 'r' f32[4] @ [-] sum(x), wanted [-]"},
    {LOCAL "input a f32[4] @ [x]\nresult a @ [-]", NULL,
     "result 'a' is 'a' f32[4] @ [x], wanted [-]"},
    {"level sharded\nmesh x=2 y=2\ninput a f32[4] @ [x]\nr = constraint a sharding={[y]} @ [x]",
     NULL, "its result is 'r' f32[4] @ [x], but it states [y]"},
    {"level sharded\nmesh x=2\ninput a f32[4] @ [x]\nr = reshard a sharding={[-]} @ [x]", NULL,
     "its result is 'r' f32[4] @ [x], but it states [-]"},
    {"entry f\ninput a f32[5]\nresult a\nentry f\ninput a f32[5]\nresult a", NULL,
     "entry 'f' stands twice in the program"},
};

Test(verify, refuses_and_says_what_and_why) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    cr_expect(not(verify(refused[i].text, refused[i].after)), "%s", refused[i].text);
    const char *got = diag.count > 0 ? diag.messages[diag.count - 1].text : "";
    bool found = false;
    for (size_t k = 0; k < diag.count; k++) {
      found = found || strstr(diag.messages[k].text, refused[i].wanted) != NULL;
    }
    cr_expect(found, "%s\ngot \"%s\"\nwanted \"%s\"", refused[i].text, got, refused[i].wanted);
    diag.count = 0;
  }
}

Test(verify, until_partition_a_slice_may_lie_in_any_way) {
  cr_assert(verify("level sharded\nmesh x=2 y=2\ninput a f32[4] @ [x]\n"
                   "b = slice a starts=1 ends=4 steps=1 @ [y]\nresult b @ [y]",
                   "reshard"));
  cr_assert(not(verify("level sharded\nmesh x=2 y=2\ninput a f32[4] @ [x]\n"
                       "b = slice a starts=1 ends=4 steps=1 @ [-] sum(y)\n"
                       "c = reshard b sharding={[-]} @ [-]\nresult c @ [-]",
                       "reshard")));
}

Test(verify, an_open_constraint_may_have_been_extended) {
  cr_assert(verify("level sharded\nmesh x=2 y=2\ninput a f32[4, 4] @ [x*y, -]\n"
                   "r = constraint a sharding={[x?, ?]} @ [x*y, -]\nresult r",
                   "reshard"));
}

Test(verify, refuses_a_read_before_the_definition) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[4]\nb = exp a\nc = log b\nresult c");
  tspec_func_t *func = program->funcs[0];
  tspec_op_t *c = func->last;
  tspec_op_remove(func, func->first);
  cr_assert(not(tspec_program_verify(program, "simplify", &diag)));
  cr_assert(
      eq(str, (char *)diag.messages[0].text,
         "after pass 'simplify': op 'log' (c) of 'main': operand 0 is not defined before it"));
  cr_assert(eq(int, (int)diag.messages[0].range.line, (int)c->range.line));
}

Test(verify, refuses_a_type_that_infer_does_not_give) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[4]\nb = exp a\nresult b");
  tspec_text_value(program, "b")->type = tspec_text_type(&arena, "f32[5]");
  cr_assert(not(tspec_program_verify(program, NULL, &diag)));
  cr_assert(eq(str, (char *)diag.messages[0].text,
               "op 'exp' (b) of 'main': result 'b' f32[5] should have type f32[4]"));
}

Test(verify, refuses_a_wrong_attribute) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[4]\nb = convert a dtype=i32\nresult b");
  tspec_op_set_attr(program, program->funcs[0]->first, tspec_attr_int("dtype", 1));
  cr_assert(not(tspec_program_verify(program, "fuzz", &diag)));
  cr_assert(eq(str, (char *)diag.messages[0].text,
               "attribute 'dtype' of op 'convert' must be a dtype, got an integer"));
}
