// Factor rules by hand from `propagation.md` 2.1 and 2.2, and in what an op is linear.
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

TestSuite(factor_rules, .init = start, .fini = stop);

static const tspec_factor_rule_t *rule_of(const char *text, bool conservative) {
  const tspec_program_t *program = tspec_text_program(&arena, &diag, text);
  cr_assert(ne(ptr, (void *)program, NULL), "%s", text);
  const tspec_op_t *op = tspec_text_value(program, "r")->def;
  tspec_op_view_t view = tspec_op_view(op, &arena);
  return tspec_op_info(op->kind)->rules->rule(&view, &arena, conservative);
}

static const struct {
  const char *text;
  const char *rule;
} cases[] = {
    {"input a f32[2, 1, 4]\nr = add a a", "([i, j, k],[i, j, k])->([i, j, k]) {i=2, j=1, k=4}"},
    {"input a f32\nr = exp a", "([])->([]) {}"},
    {"input c bool[4, 8]\ninput a f32[4, 8]\nr = select c a a",
     "([i, j],[i, j],[i, j])->([i, j]) {i=4, j=8}"},
    {"input a f32[256, 32, 64, 100]\nr = transpose a perm=3,1,0,2",
     "([k, j, l, i])->([i, j, k, l]) {i=100, j=32, k=256, l=64}"},
    {"input a f32[2, 13, 1]\nr = broadcast a shape=2,64,13,1 dims=0,2,3",
     "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=1}"},
    {"input a f32[2, 1, 13]\nr = broadcast a shape=2,64,13 dims=0,1,2",
     "([i, j, l])->([i, k, l]) {i=2, j=1, k=64, l=13}"},
    {"input a f32\nr = broadcast a shape=2,1,13 dims=", "([])->([i, j, k]) {i=2, j=1, k=13}"},
    {"input a f32[4, 8, 32]\ninput b f32[4, 32, 16]\n"
     "r = dot a b lhs_batch=0 rhs_batch=0 lhs_contract=2 rhs_contract=1 dtype=f32",
     "([i, j, l],[i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}"},
    {"input a f32[32]\ninput b f32[32]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=0 rhs_contract=0 dtype=f32",
     "([i],[i])->([]) {i=32} reduction={i}"},
    {"input a f32[2, 64, 13]\nr = reduce a kind=sum dims=1",
     "([i, j, k])->([i, k]) {i=2, j=64, k=13} reduction={j}"},
    {"input a f32[4, 6]\nr = arg_reduce a kind=max dim=1",
     "([i, j])->([i]) {i=4, j=6} reduction={j}"},
    {"input a f32[8, 4]\nr = reshape a shape=32", "([i, j])->([ij]) {i=8, j=4}"},
    {"input a f32[8]\nr = reshape a shape=2,4", "([ij])->([i, j]) {i=2, j=4}"},
    {"input a f32[8, 4]\nr = reshape a shape=32,1", "([i, j])->([ij, k]) {i=8, j=4, k=1}"},
    {"input a f32[32, 1]\nr = reshape a shape=8,4", "([ij, k])->([i, j]) {i=8, j=4, k=1}"},
    {"input a f32[1, 1]\nr = reshape a shape=", "([i, j])->([]) {i=1, j=1}"},
    {"input a f32[1, 8, 4]\nr = reshape a shape=8,1,4,1",
     "([i, j, l])->([j, k, l, m]) {i=1, j=8, k=1, l=4, m=1}"},
    {"input a f32[6, 4]\nr = reshape a shape=4,6",
     "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}"},
    {"input a f32[3, 2]\nr = reshape a shape=2,3", "([i, l])->([j, k]) {i=3, j=2, k=3, l=2}"},
    {"input a f32[3, 4, 4]\nr = reshape a shape=2,3,8",
     "([i, lm, n])->([j, k, mn]) {i=3, j=2, k=3, l=2, m=2, n=4}"},
    {"input a f32[2, 3, 8]\nr = reshape a shape=3,4,4",
     "([i, k, mn])->([j, lm, n]) {i=2, j=3, k=3, l=2, m=2, n=4}"},
    {"input a f32[4, 7, 5, 8]\nr = reshape a shape=14,10,8",
     "([ij, l, n, o])->([ik, mn, o]) {i=2, j=2, k=7, l=7, m=2, n=5, o=8}"},
    {"input a f32[4, 32]\ninput b f32[4, 16]\nr = concat a b dim=1",
     "([i, j],[i, j])->([i, j]) {i=4, j=48} need_replication={j}"},
    {"input a f32[4]\nr = concat a a a dim=0", "([i],[i],[i])->([i]) {i=12} need_replication={i}"},
    // slices of two tensors
    {"input a f32[40]\ninput b f32[60]\ns = slice a starts=0 ends=32 steps=1\n"
     "t = slice b starts=0 ends=48 steps=1\nr = concat s t dim=0",
     "([i],[i])->([i]) {i=80} permutation={i}"},
    // one tensor, one of its slices
    {"input a f32[40]\ns = slice a starts=0 ends=8 steps=1\nr = concat a s dim=0",
     "([i],[i])->([i]) {i=48} permutation={i}"},
    // a slice of one tensor with another one
    {"input a f32[40]\ninput b f32[60]\ns = slice a starts=0 ends=32 steps=1\n"
     "r = concat s b dim=0",
     "([i],[i])->([i]) {i=92} need_replication={i}"},
    {"input a f32[32, 4, 8]\nr = slice a starts=0,1,4 ends=32,2,8 steps=1,1,2",
     "([i, j, k])->([i, j, k]) {i=32, j=4, k=8} permutation={j, k}"},
    {"input a f32[28, 16]\nr = pad a lo=1,0 hi=1,0 value=0",
     "([i, j])->([i, j]) {i=28, j=16} permutation={i}"},
};

Test(factor_rules, are_those_of_the_table) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *got = tspec_factor_rule_print(&arena, rule_of(cases[i].text, false));
    cr_expect(eq(str, (char *)got, (char *)cases[i].rule), "%s", cases[i].text);
  }
}

Test(factor_rules, conservative_concat_links_no_concatenated_dim) {
  const tspec_factor_rule_t *rule =
      rule_of("input a f32[4, 3, 256]\ninput b f32[4, 5, 256]\nr = concat a b dim=1", true);
  cr_assert(eq(str, (char *)tspec_factor_rule_print(&arena, rule),
               "([i, k, j],[i, l, j])->([i, m, j]) {i=4, j=256, k=1, l=1, m=1}"));
}

Test(factor_rules, conservative_slice_blocks_cut_dims) {
  const tspec_factor_rule_t *rule =
      rule_of("input a f32[32, 4, 8]\nr = slice a starts=0,1,4 ends=32,2,8 steps=1,1,2", true);
  cr_assert(not(rule->factors[0].blocked));
  cr_assert(rule->factors[1].blocked);
  cr_assert(rule->factors[2].blocked);
}

Test(factor_rules, reductions_say_how_partials_combine) {
  cr_assert(eq(int, rule_of("input a f32[4]\nr = reduce a kind=max dims=0", false)->reduce,
               TSPEC_REDUCE_MAX));
  cr_assert(eq(int, rule_of("input a f32[4]\nr = reduce a kind=prod dims=0", false)->reduce,
               TSPEC_REDUCE_PROD));
  const tspec_factor_rule_t *sum = rule_of("input a f32[4]\nr = reduce a kind=sum dims=0", false);
  cr_assert(eq(int, sum->reduce, TSPEC_REDUCE_SUM));
  cr_assert(not(sum->gathers_partials));
  cr_assert(rule_of("input a f32[4]\nr = arg_reduce a kind=min dim=0", false)->gathers_partials);
}

static const struct {
  const char *text;
  tspec_linear_t over_sum, over_max, over_min;
} linear[] = {
    {"input a f32[4]\nr = add a a", TSPEC_LINEAR_EACH, TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = sub a a", TSPEC_LINEAR_EACH, TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = mul a a", TSPEC_LINEAR_ONE, TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = div a a", TSPEC_LINEAR_FIRST, TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = relu a", TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = maximum a a", TSPEC_LINEAR_NONE, TSPEC_LINEAR_EACH, TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = minimum a a", TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE, TSPEC_LINEAR_EACH},
    {"input a f32[4]\nr = reshape a shape=2,2", TSPEC_LINEAR_EACH, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_EACH},
    {"input a f32[4]\nr = reduce a kind=sum dims=0", TSPEC_LINEAR_EACH, TSPEC_LINEAR_NONE,
     TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = reduce a kind=max dims=0", TSPEC_LINEAR_NONE, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = pad a lo=1 hi=0 value=0", TSPEC_LINEAR_EACH, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_EACH},
    {"input a f32[4]\nr = pad a lo=1 hi=0 value=1", TSPEC_LINEAR_NONE, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_EACH},
    // widening is exact, narrowing rounds, an integer of a float truncates
    {"input a bf16[4]\nr = convert a dtype=f32", TSPEC_LINEAR_EACH, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_EACH},
    {"input a f32[4]\nr = convert a dtype=bf16", TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE,
     TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = convert a dtype=bf16 partial=1", TSPEC_LINEAR_EACH, TSPEC_LINEAR_EACH,
     TSPEC_LINEAR_EACH},
    {"input a f32[4]\nr = convert a dtype=i32 partial=1", TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE,
     TSPEC_LINEAR_NONE},
    {"input a f32[4]\nr = convert a dtype=i32", TSPEC_LINEAR_NONE, TSPEC_LINEAR_NONE,
     TSPEC_LINEAR_NONE},
};

Test(factor_rules, linear_depends_on_kind_and_attributes) {
  for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
    const tspec_program_t *program = tspec_text_program(&arena, &diag, linear[i].text);
    tspec_op_view_t view = tspec_op_view(tspec_text_value(program, "r")->def, &arena);
    cr_expect(eq(int, tspec_op_linear(&view, TSPEC_REDUCE_SUM), linear[i].over_sum), "%s",
              linear[i].text);
    cr_expect(eq(int, tspec_op_linear(&view, TSPEC_REDUCE_MAX), linear[i].over_max), "%s",
              linear[i].text);
    cr_expect(eq(int, tspec_op_linear(&view, TSPEC_REDUCE_MIN), linear[i].over_min), "%s",
              linear[i].text);
  }
}
