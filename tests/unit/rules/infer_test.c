// Result types and refusals, worked out by hand from docs/dialect.md.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/program.h"
#include "tests/support/program_text.h"

typedef struct infer_case_t {
  const char *text;   ///< ends with the value r
  const char *wanted; ///< the type of r, or part of the message
} infer_case_t;

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

TestSuite(infer, .init = start, .fini = stop);

static const infer_case_t types[] = {
    {"input a f32[2, 3]\ninput b f32[2, 3]\nr = add a b", "f32[2, 3]"},
    {"input a i8[2]\nr = neg a", "i8[2]"},
    {"input a bf16\nr = exp a", "bf16"},
    {"input a f16[5]\ninput b f16[5]\nr = lt a b", "bool[5]"},
    {"input a bool[5]\ninput b bool[5]\nr = eq a b", "bool[5]"},
    {"input a bool[5]\ninput b bool[5]\nr = and a b", "bool[5]"},
    {"input a bool[5]\nr = not a", "bool[5]"},
    {"input a i32[5]\nr = isfinite a", "bool[5]"},
    {"input c bool[5]\ninput a i64[5]\ninput b i64[5]\nr = select c a b", "i64[5]"},
    {"input a i32[2, 2]\nr = convert a dtype=f64", "f64[2, 2]"},
    {"r = constant dtype=i32 shape=2,2 values=7", "i32[2, 2]"},
    {"r = constant dtype=f32 shape= values=7", "f32"},
    {"r = constant dtype=f32 shape=3 values=1,2,3", "f32[3]"},
    {"r = iota dtype=i32 shape=2,5 dim=1", "i32[2, 5]"},
    {"input a f32[3, 1]\nr = broadcast a shape=2,3,4 dims=1,2", "f32[2, 3, 4]"},
    {"input a f32\nr = broadcast a shape=2,3 dims=", "f32[2, 3]"},
    {"input a f32[2, 3, 4]\nr = transpose a perm=2,0,1", "f32[4, 2, 3]"},
    {"input a f32[2, 6]\nr = reshape a shape=3,4", "f32[3, 4]"},
    {"input a f32[1, 1]\nr = reshape a shape=", "f32"},
    {"input a f32[2, 3]\ninput b f32[3, 5]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32",
     "f32[2, 5]"},
    // batch dims, lhs free, rhs free, in order
    {"input a bf16[7, 2, 3, 4]\ninput b bf16[3, 4, 7, 5]\n"
     "r = dot a b lhs_batch=3,0 rhs_batch=1,2 lhs_contract=2 rhs_contract=0 dtype=f32",
     "f32[4, 7, 2, 5]"},
    {"input a i32[3]\ninput b i32[3]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=0 rhs_contract=0 dtype=i64",
     "i64"},
    {"input a f32[2, 3, 4]\nr = reduce a kind=sum dims=0,2", "f32[3]"},
    {"input a bool[2, 3]\nr = reduce a kind=any dims=0,1", "bool"},
    {"input a f32[2, 3]\nr = reduce a kind=max dims=", "f32[2, 3]"},
    {"input a f32[2, 3]\nr = arg_reduce a kind=max dim=0", "i32[3]"},
    {"input a f32[2, 3]\ninput b f32[2, 1]\nr = concat a b a dim=1", "f32[2, 7]"},
    // 1, 4, 7 and 0, 1
    {"input a f32[9, 2]\nr = slice a starts=1,0 ends=8,2 steps=3,1", "f32[3, 2]"},
    {"input a f32[9]\nr = slice a starts=1 ends=9 steps=4", "f32[2]"},
    {"input a f32[2, 3]\nr = pad a lo=1,0 hi=2,4 value=0", "f32[5, 7]"},
    {"mesh x=2\ninput a f32[4]\nr = constraint a sharding={[x]}", "f32[4]"},
    {"mesh x=2\ninput a f32[4]\nr = all_reduce a kind=sum axes=x", "f32[4]"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x", "f32[4]"},
    {"mesh x=2\ninput a f32[4]\ninput b f32[5]\n"
     "r = permute a b axes=x shape=7 lo=0,4 starts=0,1 steps=1,2",
     "f32[7]"},
    {"mesh x=2\ninput a bool[4]\nr = all_reduce a kind=any axes=x", "bool[4]"},
};

Test(infer, gives_the_result_type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    const tspec_program_t *program = tspec_text_program(&arena, &diag, types[i].text);
    cr_assert(ne(ptr, (void *)program, NULL), "%s", types[i].text);
    const char *got = tspec_type_print(&arena, tspec_text_value(program, "r")->type);
    cr_expect(eq(str, (char *)got, (char *)types[i].wanted), "%s", types[i].text);
  }
}

static const infer_case_t refusals[] = {
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0 starts=1",
     "'permute' with a shape needs steps, one entry per operand and dim"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0,0 starts=1 steps=1",
     "'permute' with a shape needs lo, one entry per operand and dim"},
    {"mesh x=2\ninput a f32[4]\nr = all_slice a axes=x shape=3 lo=4 starts=0 steps=1",
     "'all_slice' places no part of dim 0 of operand 0 so"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0 starts=0 steps=0",
     "'permute' places no part of dim 0 of operand 0 so"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0 starts=2 steps=1 counts=3",
     "'permute' places no part of dim 0 of operand 0 so"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0 starts=0 steps=1 counts=-1",
     "'permute' places no part of dim 0 of operand 0 so"},
    {"mesh x=2\ninput a f32[4]\nr = permute a axes=x shape=3 lo=0 starts=0 steps=1 counts=1,1",
     "'permute' with a shape needs counts, one entry per operand and dim"},
    {"mesh x=2\ninput a f32[4]\nr = permute a a axes=x",
     "'permute' takes one operand, or with a shape some of its rank and of one dtype"},
    {"mesh x=2\ninput a f32[4]\ninput b i32[4]\n"
     "r = permute a b axes=x shape=8 lo=0,4 starts=0,0 steps=1,1",
     "'permute' takes one operand, or with a shape some of its rank and of one dtype"},
    {"input a f32[2, 3]\ninput b f32[3, 2]\nr = add a b",
     "'add' needs operands of one shape, got f32[2, 3] and f32[3, 2]"},
    {"input a f32[2]\ninput b bf16[2]\nr = mul a b",
     "'mul' needs operands of one dtype, got f32[2] and bf16[2]"},
    {"input a i32[2]\nr = exp a", "'exp' needs a float dtype, got i32[2]"},
    {"input a i32[2]\ninput b i32[2]\nr = div a b", "'div' needs a float dtype, got i32[2]"},
    {"input a bool[2]\ninput b bool[2]\nr = add a b", "'add' needs numbers, got bool[2]"},
    {"input a i32[2]\ninput b i32[2]\nr = and a b", "'and' needs bool, got i32[2]"},
    {"input c i32[5]\ninput a i64[5]\nr = select c a a",
     "the condition of 'select' must be bool, got i32[5]"},
    {"input c bool[4]\ninput a i64[5]\nr = select c a a",
     "got the condition bool[4] and the values i64[5]"},
    {"r = constant dtype=f32 shape=3 values=1,2",
     "'constant' of type f32[3] needs 1 value or 3 values, got 2"},
    {"r = constant dtype=f32 shape=3,0 values=1", "size 0 of dim 1 must be at least 1"},
    {"r = iota dtype=i32 shape=2,5 dim=2", "'iota' has no dim 2, its shape has 2 dims"},
    {"r = iota dtype=bool shape=2 dim=0", "'iota' counts in numbers"},
    {"input a f32[3, 2]\nr = broadcast a shape=2,3,4 dims=1,2",
     "'broadcast' cannot stretch f32[3, 2] to f32[2, 3, 4]: dim 1 has size 2, wanted 1 or 4"},
    {"input a f32[3, 4]\nr = broadcast a shape=4,3 dims=1,0", "dims must increase"},
    {"input a f32[3, 4]\nr = broadcast a shape=3,4 dims=0",
     "dims has 1 entries, but the tensor has 2 dims"},
    {"input a f32[2, 3]\nr = transpose a perm=0,0", "perm has dim 0 twice"},
    {"input a f32[2, 3]\nr = transpose a perm=0,2", "perm has dim 2, but the tensor has 2 dims"},
    {"input a f32[2, 6]\nr = reshape a shape=5",
     "'reshape' cannot turn f32[2, 6] (12 elements) into f32[5] (5)"},
    {"input a f32[2, 3]\ninput b f32[4, 5]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32",
     "'dot' pairs dim 1 of f32[2, 3] (size 3) with dim 0 of f32[4, 5] (size 4)"},
    {"input a f32[2, 3]\ninput b f32[3, 5]\n"
     "r = dot a b lhs_batch=1 rhs_batch=0 lhs_contract=1 rhs_contract=0 dtype=f32",
     "dim 1 is in lhs_batch and in lhs_contract"},
    {"input a f32[2, 3]\ninput b bf16[3, 5]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32",
     "got f32[2, 3] and bf16[3, 5]"},
    {"input a i32[2, 3]\ninput b i32[3, 5]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32",
     "'dot' of i32[2, 3] and i32[3, 5] cannot give f32"},
    {"input a f32[2, 3]\ninput b f32[3, 5]\n"
     "r = dot a b lhs_batch= rhs_batch= lhs_contract=0,1 rhs_contract=0 dtype=f32",
     "lhs_contract has 2 dims, but rhs_contract has 1"},
    {"input a bool[2, 3]\nr = reduce a kind=sum dims=0", "'sum' needs numbers, got bool[2, 3]"},
    {"input a f32[2, 3]\nr = reduce a kind=all dims=0", "'all' needs bool, got f32[2, 3]"},
    {"input a f32[2, 3]\nr = reduce a kind=sum dims=1,0", "dims must increase, but 0 follows 1"},
    {"input a f32[2, 3]\nr = arg_reduce a kind=sum dim=0", "of kind max or min, got sum"},
    {"input a f32[2, 3]\nr = arg_reduce a kind=max dim=2",
     "'arg_reduce' along dim 2 of f32[2, 3], which has 2 dims"},
    {"input a f32[2, 3]\ninput b f32[3, 3]\nr = concat a b dim=1", "got f32[2, 3] and f32[3, 3]"},
    {"input a f32[2, 3]\nr = concat a dim=2", "'concat' along dim 2 of f32[2, 3]"},
    {"r = concat dim=2", "'concat' needs at least one operand"},
    {"input a f32[9]\nr = slice a starts=1 ends=10 steps=1",
     "'slice' takes 1:10 of dim 0 of f32[9], which has size 9"},
    {"input a f32[9]\nr = slice a starts=4 ends=4 steps=1", "takes 4:4"},
    {"input a f32[9]\nr = slice a starts=1 ends=2 steps=0", "step 0 of dim 0"},
    {"input a f32[2]\nr = pad a lo=-1 hi=0 value=0", "padding [-1, 0] of dim 0"},
    {"mesh x=2\ninput a f32[4]\nr = all_gather a axes=", "needs at least one mesh axis"},
    {"mesh x=2\ninput a f32[4]\nr = all_reduce a kind=any axes=x",
     "'all_reduce' by any needs bool, got f32[4]"},
    {"input a f32[2]\nr = add a", "op 'add' takes 2 operands, got 1"},
    {"input a f32[2]\nr = reduce a kind=sum", "op 'reduce' needs the attribute 'dims'"},
};

Test(infer, refuses_with_both_shapes) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const tspec_program_t *program = tspec_text_program(&arena, &diag, refusals[i].text);
    cr_assert(eq(ptr, (void *)program, NULL), "%s", refusals[i].text);
    const char *got = diag.messages[diag.count - 1].text;
    cr_expect(ne(ptr, strstr(got, refusals[i].wanted), NULL), "got \"%s\", wanted \"%s\"", got,
              refusals[i].wanted);
  }
}

Test(infer, messages_name_what_the_user_wrote) {
  tspec_type_t operands[2] = {tspec_text_type(&arena, "f32[2]"), tspec_text_type(&arena, "f32[3]")};
  tspec_op_view_t view = {
      .kind = TSPEC_OP_add, .noperands = 2, .operands = operands, .spelling = "+="};
  tspec_type_t result;
  cr_assert(not(tspec_op_info(TSPEC_OP_add)->rules->infer(&view, &arena, &diag, &result)));
  cr_assert(eq(str, (char *)diag.messages[0].text,
               "'+=' needs operands of one shape, got f32[2] and f32[3]"));
}

Test(infer, every_row_is_found_by_name) {
  for (int i = 0; i < TSPEC_OP_COUNT; i++) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)i);
    cr_expect(eq(int, (int)tspec_op_find(info->name), i), "%s", info->name);
    cr_expect(ne(ptr, (void *)info->rules->summary, NULL), "%s", info->name);
  }
  cr_assert(eq(int, (int)tspec_op_find("sum"), TSPEC_OP_COUNT));
  cr_assert(eq(int, (int)tspec_op_find(""), TSPEC_OP_COUNT));
}

Test(infer, form_refuses_unknown_and_ill_kinded_attributes) {
  tspec_type_t operand = tspec_text_type(&arena, "f32[2]");
  tspec_attr_t attrs[2] = {tspec_attr_float("dtype", 1), tspec_attr_int("extra", 1)};
  tspec_op_view_t view = {
      .kind = TSPEC_OP_convert, .noperands = 1, .operands = &operand, .nattrs = 2, .attrs = attrs};
  cr_assert(not(tspec_op_check_form(&view, &diag)));
  cr_assert(eq(int, diag.nerrors, 2));
  cr_expect(eq(str, (char *)diag.messages[0].text,
               "attribute 'dtype' of op 'convert' must be a dtype, got a number"));
  cr_expect(eq(str, (char *)diag.messages[1].text, "op 'convert' has no attribute 'extra'"));
}
