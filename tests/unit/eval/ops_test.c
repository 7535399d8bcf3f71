// Every op on tiny tensors, values worked out by hand (elementary functions to 9 digits from
// tables).
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
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

TestSuite(eval_ops, .init = start, .fini = stop);

/// The numbers of result r; inputs take theirs from `numbers` in order, ';' between them.
static const char *run(const char *text, const char *numbers) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, tspec_arena_printf(&arena, "%s\nresult r", text));
  cr_assert(ne(ptr, (void *)program, NULL), "%s", text);
  cr_assert(tspec_program_verify(program, NULL, &diag));
  const tspec_func_t *func = program->funcs[0];
  tspec_eval_input_t inputs[4];
  char *rest = tspec_arena_strdup(&arena, numbers, strlen(numbers));
  for (int i = 0; i < func->nargs; i++) {
    char *part = strsep(&rest, ";");
    inputs[i] =
        (tspec_eval_input_t){func->args[i].name, tspec_text_dense(func->args[i].value->type, part)};
  }
  tspec_eval_t *eval = tspec_eval_create(program, &diag);
  cr_assert(tspec_eval_run(eval, func->name, inputs, func->nargs), "%s", text);
  tspec_dense_t *result = tspec_eval_result(eval, "r");
  const char *got = tspec_text_numbers(&arena, result);
  tspec_dense_destroy(result);
  tspec_eval_destroy(eval);
  for (int i = 0; i < func->nargs; i++) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  return got;
}

typedef struct eval_case_t {
  const char *text;
  const char *numbers;
  const char *wanted;
} eval_case_t;

static void check(const eval_case_t *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *got = run(cases[i].text, cases[i].numbers);
    cr_expect(eq(str, (char *)got, (char *)cases[i].wanted), "%s", cases[i].text);
  }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))
#define UNARY(dtype, n, op) "input a " dtype "[" #n "]\nr = " op " a"
#define BINARY(dtype, n, op) "input a " dtype "[" #n "]\ninput b " dtype "[" #n "]\nr = " op " a b"

Test(eval_ops, floats_elementwise) {
  static const eval_case_t cases[] = {
      {BINARY("f32", 3, "add"), "1 2 3; 10 -20 0.5", "11 -18 3.5"},
      {BINARY("f64", 3, "sub"), "1 2 3; 10 -20 0.5", "-9 22 2.5"},
      {BINARY("f32", 3, "mul"), "1 2 3; 10 -20 0.5", "10 -40 1.5"},
      {BINARY("f32", 4, "div"), "1 2 -3 0; 10 -20 0 0", "0.100000001 -0.100000001 -inf nan"},
      {BINARY("f32", 6, "maximum"), "1 2 nan 3 -0 0; 2 1 1 nan 0 -0", "2 2 nan nan 0 0"},
      {BINARY("f32", 6, "minimum"), "1 2 nan 3 -0 0; 2 1 1 nan 0 -0", "1 1 nan nan -0 -0"},
      {BINARY("f32", 4, "pow"), "2 4 2 -2; 10 0.5 -1 3", "1024 2 0.5 -8"},
      // the sign of the divisor
      {BINARY("f32", 6, "rem"), "7 -7 7 -7 5.5 6; 3 3 -3 -3 2 3", "1 2 -2 -1 1.5 0"},
      {BINARY("f64", 5, "floor_div"), "7 -7 7 -7 1; 2 2 -2 -2 0", "3 -4 -4 3 inf"},
      {BINARY("f32", 4, "eq"), "1 2 nan 0; 1 3 nan -0", "1 0 0 1"},
      {BINARY("f32", 4, "ne"), "1 2 nan 0; 1 3 nan -0", "0 1 1 0"},
      {BINARY("f32", 4, "lt"), "1 2 nan 3; 1 3 1 2", "0 1 0 0"},
      {BINARY("f32", 4, "le"), "1 2 nan 3; 1 3 1 2", "1 1 0 0"},
      {BINARY("f32", 4, "gt"), "1 2 nan 3; 1 3 1 2", "0 0 0 1"},
      {BINARY("f32", 4, "ge"), "1 2 nan 3; 1 3 1 2", "1 0 0 1"},
      {UNARY("f32", 3, "neg"), "1 -2 0", "-1 2 -0"},
      {UNARY("f32", 4, "abs"), "1 -2 -0 nan", "1 2 0 nan"},
      {UNARY("f32", 5, "sign"), "3 -2 0 -0 nan", "1 -1 0 -0 nan"},
      {UNARY("f32", 5, "relu"), "3 -2 -0 nan inf", "3 0 0 nan inf"},
      {UNARY("f32", 6, "round"), "0.5 1.5 2.5 -0.5 -1.5 2.4", "0 2 2 -0 -2 2"},
      {UNARY("f32", 4, "floor"), "1.5 -1.5 2 -0.5", "1 -2 2 -1"},
      {UNARY("f32", 4, "ceil"), "1.5 -1.5 2 -0.5", "2 -1 2 -0"},
      {UNARY("f64", 3, "sqrt"), "4 2 -1", "2 1.41421356 nan"},
      {UNARY("f64", 2, "rsqrt"), "4 0.25", "0.5 2"},
      {UNARY("f64", 3, "exp"), "0 1 -1", "1 2.71828183 0.367879441"},
      {UNARY("f64", 2, "expm1"), "0 1e-10", "0 1e-10"},
      {UNARY("f64", 3, "log"), "1 2 0", "0 0.693147181 -inf"},
      {UNARY("f64", 2, "log1p"), "0 1e-10", "0 1e-10"},
      {UNARY("f64", 2, "sin"), "0 1", "0 0.841470985"},
      {UNARY("f64", 2, "cos"), "0 1", "1 0.540302306"},
      {UNARY("f64", 2, "tanh"), "0 1", "0 0.761594156"},
      {UNARY("f64", 2, "erf"), "0 1", "0 0.842700793"},
      {UNARY("f64", 3, "sigmoid"), "0 1 -1", "0.5 0.731058579 0.268941421"},
      {UNARY("f32", 4, "isfinite"), "1 inf -inf nan", "1 0 0 0"},
      {"input c bool[3]\ninput a f32[3]\ninput b f32[3]\nr = select c a b", "1 0 1; 1 2 3; 4 5 6",
       "1 5 3"},
      // bf16 has 8 significant bits, f16 11; both round to even
      {BINARY("bf16", 3, "add"), "256 256 257; 1 3 0", "256 260 256"},
      {BINARY("f16", 3, "add"), "2048 2048 65504; 1 3 32", "2048 2052 inf"},
  };
  CHECK(cases);
}

Test(eval_ops, integers_elementwise) {
  static const eval_case_t cases[] = {
      {BINARY("i8", 3, "add"), "127 -128 5; 1 -1 6", "-128 127 11"},
      {BINARY("u8", 3, "sub"), "0 255 5; 1 255 6", "255 0 255"},
      {BINARY("i32", 2, "mul"), "65536 -3; 65536 7", "0 -21"},
      {BINARY("i16", 2, "mul"), "300 -3; 300 7", "24464 -21"},
      {BINARY("i32", 6, "floor_div"), "7 -7 7 -7 5 -2147483648; 2 2 -2 -2 0 -1",
       "3 -4 -4 3 0 -2147483648"},
      {BINARY("i32", 6, "rem"), "7 -7 7 -7 5 -2147483648; 3 3 -3 -3 0 -1", "1 2 -2 -1 5 0"},
      {BINARY("i32", 8, "pow"), "2 3 0 5 1 -1 -1 7; 10 4 0 -1 -5 -3 -4 0", "1024 81 1 0 1 -1 1 1"},
      {BINARY("i8", 2, "pow"), "2 3; 7 5", "-128 -13"},
      {BINARY("i64", 2, "maximum"), "1 -5; -2 -4", "1 -4"},
      {BINARY("u8", 2, "minimum"), "1 255; 2 254", "1 254"},
      {BINARY("u8", 2, "lt"), "1 200; 2 100", "1 0"},
      {BINARY("i8", 2, "ge"), "-1 5; 2 5", "0 1"},
      {UNARY("i8", 3, "neg"), "1 -128 0", "-1 -128 0"},
      {UNARY("i8", 3, "abs"), "1 -128 -5", "1 -128 5"},
      {UNARY("i32", 3, "sign"), "7 -7 0", "1 -1 0"},
      {UNARY("i32", 3, "relu"), "7 -7 0", "7 0 0"},
      {UNARY("u8", 1, "isfinite"), "7", "1"},
      {BINARY("bool", 4, "and"), "0 0 1 1; 0 1 0 1", "0 0 0 1"},
      {BINARY("bool", 4, "or"), "0 0 1 1; 0 1 0 1", "0 1 1 1"},
      {BINARY("bool", 4, "ne"), "0 0 1 1; 0 1 0 1", "0 1 1 0"},
      {UNARY("bool", 2, "not"), "0 1", "1 0"},
  };
  CHECK(cases);
}

Test(eval_ops, convert) {
  static const eval_case_t cases[] = {
      {"input a f32[7]\nr = convert a dtype=i8", "1.9 -1.9 300 -300 nan inf -inf",
       "1 -1 127 -128 0 127 -128"},
      {"input a f32[3]\nr = convert a dtype=u8", "-1 255.5 256", "0 255 255"},
      {"input a f64[3]\nr = convert a dtype=i64", "1e30 -1e30 -9.99",
       "9223372036854775807 -9223372036854775808 -9"},
      {"input a f32[4]\nr = convert a dtype=bool", "0 -0 0.1 nan", "0 0 1 1"},
      {"input a i32[3]\nr = convert a dtype=i8", "300 -129 127", "44 127 127"},
      {"input a i32[2]\nr = convert a dtype=bool", "0 -3", "0 1"},
      {"input a bool[2]\nr = convert a dtype=f16", "0 1", "0 1"},
      {"input a i32[2]\nr = convert a dtype=f32", "16777217 16777219", "16777216 16777220"},
      {"input a f32[4]\nr = convert a dtype=bf16", "1.00390625 1.01171875 1e38 3.4e38",
       "1 1.015625 9.96920997e+37 inf"},
      // just above a tie of bf16; by way of f32 it would become the tie, and round down
      {"input a f64[1]\nr = convert a dtype=bf16", "1.0039062500000002", "1.0078125"},
      {"input a f64[2]\nr = convert a dtype=f16", "65519 65520", "65504 inf"},
      {"input a bf16[2]\nr = convert a dtype=f64", "0.1 3", "0.100097656 3"},
  };
  CHECK(cases);
}

Test(eval_ops, made_values) {
  static const eval_case_t cases[] = {
      {"r = constant dtype=f32 shape=2,2 values=7", "", "7 7 7 7"},
      {"r = constant dtype=i8 shape=3 values=1,-2,3", "", "1 -2 3"},
      {"r = constant dtype=bool shape= values=1", "", "1"},
      {"r = iota dtype=i32 shape=2,3 dim=0", "", "0 0 0 1 1 1"},
      {"r = iota dtype=f32 shape=2,3 dim=1", "", "0 1 2 0 1 2"},
  };
  CHECK(cases);
}

Test(eval_ops, elements_move) {
  static const eval_case_t cases[] = {
      {"input a f32[3]\nr = broadcast a shape=2,3 dims=1", "1 2 3", "1 2 3 1 2 3"},
      {"input a f32[2]\nr = broadcast a shape=2,3 dims=0", "1 2", "1 1 1 2 2 2"},
      {"input a f32[2, 1]\nr = broadcast a shape=2,2,2 dims=0,2", "1 2", "1 1 1 1 2 2 2 2"},
      {"input a i8\nr = broadcast a shape=3 dims=", "5", "5 5 5"},
      {"input a f32[2, 3]\nr = transpose a perm=1,0", "1 2 3 4 5 6", "1 4 2 5 3 6"},
      // element [k][i][j] is [i][j][k]
      {"input a i32[2, 2, 2]\nr = transpose a perm=2,0,1", "0 1 2 3 4 5 6 7", "0 2 4 6 1 3 5 7"},
      {"input a f32[2, 3]\nr = reshape a shape=3,2", "1 2 3 4 5 6", "1 2 3 4 5 6"},
      {"input a f32[2, 1]\ninput b f32[2, 2]\nr = concat a b a dim=1", "1 2; 3 4 5 6",
       "1 3 4 1 2 5 6 2"},
      {"input a f32[1, 2]\ninput b f32[2, 2]\nr = concat a b dim=0", "1 2; 3 4 5 6", "1 2 3 4 5 6"},
      {"input a f32[7]\nr = slice a starts=1 ends=7 steps=3", "0 1 2 3 4 5 6", "1 4"},
      {"input a f32[2, 3]\nr = slice a starts=0,1 ends=2,3 steps=1,1", "1 2 3 4 5 6", "2 3 5 6"},
      {"input a f32[2]\nr = pad a lo=1 hi=2 value=9", "1 2", "9 1 2 9 9"},
      {"input a i32[2, 1]\nr = pad a lo=0,1 hi=1,0 value=-1", "1 2", "-1 1 -1 2 -1 -1"},
      {"mesh x=2\ninput a f32[2]\nr = constraint a sharding={[x]}", "1 2", "1 2"},
  };
  CHECK(cases);
}

#define DOT(lb, rb, lc, rc, dtype)                                                                 \
  "\nr = dot a b lhs_batch=" lb " rhs_batch=" rb " lhs_contract=" lc " rhs_contract=" rc           \
  " dtype=" dtype

Test(eval_ops, dot) {
  static const eval_case_t cases[] = {
      {"input a f32[2, 3]\ninput b f32[3, 2]" DOT("", "", "1", "0", "f32"),
       "1 2 3 4 5 6; 1 0 0 1 1 1", "4 5 10 11"},
      {"input a f32[3]\ninput b f32[3]" DOT("", "", "0", "0", "f32"), "1 2 3; 4 5 6", "32"},
      {"input a f32[2]\ninput b f32[3]" DOT("", "", "", "", "f32"), "1 2; 4 5 6", "4 5 6 8 10 12"},
      // a[k, m], b[n, k]: both the other way round
      {"input a i32[2, 2]\ninput b i32[3, 2]" DOT("", "", "0", "1", "i32"), "1 2 3 4; 1 0 0 1 1 1",
       "1 3 4 2 4 6"},
      // a[i, n, k], b[k, j, n]: batch n of size 2
      {"input a f32[1, 2, 2]\ninput b f32[2, 1, 2]" DOT("1", "2", "2", "0", "f32"),
       "1 2 3 4; 10 20 30 40", "70 220"},
      // two contracted dims
      {"input a f32[2, 2]\ninput b f32[2, 2]" DOT("", "", "0,1", "1,0", "f32"),
       "1 2 3 4; 1 10 100 1000", "4231"},
      // bf16 products summed in f32: 256 + 1 + 1
      {"input a bf16[3]\ninput b bf16[3]" DOT("", "", "0", "0", "f32"), "256 1 1; 1 1 1", "258"},
      // summed up before it is rounded: in steps of bf16 it would stay 256
      {"input a bf16[3]\ninput b bf16[3]" DOT("", "", "0", "0", "bf16"), "256 1 1; 1 1 1", "258"},
      {"input a i8[2]\ninput b i8[2]" DOT("", "", "0", "0", "i8"), "100 100; 2 2", "-112"},
      {"input a i8[2]\ninput b i8[2]" DOT("", "", "0", "0", "i32"), "100 100; 2 2", "400"},
      {"input a f32[2]\ninput b f32[2]" DOT("", "", "0", "0", "f32"), "1 nan; 0 0", "nan"},
  };
  CHECK(cases);
}

Test(eval_ops, reduce) {
  static const eval_case_t cases[] = {
      {"input a f32[2, 3]\nr = reduce a kind=sum dims=0", "1 2 3 4 5 6", "5 7 9"},
      {"input a f32[2, 3]\nr = reduce a kind=sum dims=1", "1 2 3 4 5 6", "6 15"},
      {"input a f32[2, 3]\nr = reduce a kind=sum dims=0,1", "1 2 3 4 5 6", "21"},
      {"input a f32[2]\nr = reduce a kind=sum dims=", "1 2", "1 2"},
      {"input a i32[2, 1, 2]\nr = reduce a kind=sum dims=0,2", "1 2 3 4", "10"},
      {"input a f32[2, 2]\nr = reduce a kind=prod dims=1", "2 3 4 5", "6 20"},
      {"input a i8[3]\nr = reduce a kind=prod dims=0", "10 10 10", "-24"},
      {"input a f32[2, 2]\nr = reduce a kind=max dims=1", "-2 -3 nan 5", "-2 nan"},
      {"input a i64[3]\nr = reduce a kind=min dims=0", "4 -7 2", "-7"},
      {"input a f32[2]\nr = reduce a kind=max dims=0", "-inf -inf", "-inf"},
      {"input a bool[2, 2]\nr = reduce a kind=all dims=1", "1 1 1 0", "1 0"},
      {"input a bool[2, 2]\nr = reduce a kind=any dims=1", "0 0 1 0", "0 1"},
      {"input a f16[3]\nr = reduce a kind=sum dims=0", "2048 1 1", "2050"},
      // 2^24 + 1 + 1: one by one in f32 it would stay 2^24
      {"input a f32[3]\nr = reduce a kind=sum dims=0", "16777216 1 1", "16777218"},
  };
  CHECK(cases);
}

Test(eval_ops, arg_reduce) {
  static const eval_case_t cases[] = {
      {"input a f32[2, 3]\nr = arg_reduce a kind=max dim=1", "1 5 2 7 7 3", "1 0"},
      {"input a f32[2, 3]\nr = arg_reduce a kind=max dim=0", "1 5 2 7 5 3", "1 0 1"},
      {"input a f32[4]\nr = arg_reduce a kind=min dim=0", "3 1 1 2", "1"},
      {"input a f32[4]\nr = arg_reduce a kind=max dim=0", "3 nan 9 nan", "1"},
      {"input a f32[4]\nr = arg_reduce a kind=min dim=0", "3 -9 nan 1", "2"},
      {"input a i32[3]\nr = arg_reduce a kind=min dim=0", "3 -9 -9", "1"},
      {"input a bool[3]\nr = arg_reduce a kind=max dim=0", "0 1 1", "1"},
  };
  CHECK(cases);
}

Test(eval_ops, parameters_are_read_and_updated) {
  tspec_program_t *program = tspec_text_program(
      &arena, &diag,
      "param w f32[2]\nentry step\ninput a f32[2]\nread w\nn = add w a\nr = mul n n\n"
      "result r\nupdate w n");
  tspec_eval_t *eval = tspec_eval_create(program, &diag);
  tspec_dense_t *w = tspec_text_dense(program->params[0].type, "1 2");
  tspec_dense_t *a = tspec_text_dense(program->params[0].type, "10 20");
  tspec_eval_input_t input = {"a", a};
  cr_assert(tspec_eval_set_param(eval, "w", w));
  cr_assert(tspec_eval_run(eval, "step", &input, 1));
  cr_assert(tspec_eval_run(eval, "step", &input, 1));
  tspec_dense_t *after = tspec_eval_get_param(eval, "w");
  tspec_dense_t *r = tspec_eval_result(eval, "r");
  cr_assert(eq(str, (char *)tspec_text_numbers(&arena, after), "21 42"));
  cr_assert(eq(str, (char *)tspec_text_numbers(&arena, r), "441 1764"));
  cr_assert(eq(ptr, tspec_eval_result(eval, "w"), NULL));
  tspec_dense_destroy(w);
  tspec_dense_destroy(a);
  tspec_dense_destroy(after);
  tspec_dense_destroy(r);
  tspec_eval_destroy(eval);
}

Test(eval_ops, errors_say_what_is_missing) {
  tspec_program_t *program =
      tspec_text_program(&arena, &diag, "input a f32[2]\nr = exp a\nresult r");
  tspec_eval_t *eval = tspec_eval_create(program, &diag);
  tspec_dense_t *wrong = tspec_text_dense(tspec_text_type(&arena, "f32[3]"), "1 2 3");
  tspec_eval_input_t input = {"a", wrong};
  cr_assert(not(tspec_eval_run(eval, "other", NULL, 0)));
  cr_assert(not(tspec_eval_run(eval, "main", NULL, 0)));
  cr_assert(not(tspec_eval_run(eval, "main", &input, 1)));
  cr_assert(not(tspec_eval_set_param(eval, "w", wrong)));
  static const char *const wanted[] = {"'other' is no entry", "entry 'main' needs the input 'a'",
                                       "'a' has type f32[2], got f32[3]",
                                       "'w' is no parameter or state"};
  for (int i = 0; i < 4; i++) {
    cr_expect(eq(str, (char *)diag.messages[i].text, (char *)wanted[i]));
  }
  tspec_dense_destroy(wrong);
  tspec_eval_destroy(eval);
}
