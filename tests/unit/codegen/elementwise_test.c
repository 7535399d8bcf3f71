#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/codegen/native.h"

static const char *const all_dtypes[] = {"f64", "f32", "bf16", "f16", "i64",
                                         "i32", "i16", "i8",   "u8",  "bool"};
enum { FLOATS = 4, NUMBERS = 9, ALL = 10 };

typedef struct text_t {
  char text[20000];
  size_t length;
} text_t;

__attribute__((format(printf, 2, 3))) static void put(text_t *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text->length +=
      (size_t)vsnprintf(text->text + text->length, sizeof text->text - text->length, format, args);
  va_end(args);
}

// Two inputs of the dtype and a condition, 101 elements over 4 ranks: blocks of 26, 26, 26, 23.
static void begin(text_t *text, const char *dtype) {
  *text = (text_t){0};
  put(text, "level local\nmesh x=4\nentry main\ninput a %s[101] @ [x]\ninput b %s[101] @ [x]\n",
      dtype, dtype);
  put(text, "input c bool[101] @ [x]\n");
}

static void put_op(text_t *text, const char *op, const char *operands) {
  put(text, "r_%s = %s %s @ [x]\nresult r_%s @ [x]\n", op, op, operands, op);
}

static const char *const exact_unary[] = {"abs", "neg", "sign", "relu", "isfinite"};
static const char *const exact_float_unary[] = {"sqrt", "floor", "ceil", "round"};
static const char *const arithmetic[] = {"add",     "sub",       "mul", "maximum",
                                         "minimum", "floor_div", "rem"};
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

#define EACH(i, list) for (size_t i = 0; i < sizeof(list) / sizeof *(list); ++i)

static void put_exact(text_t *text, const char *dtype, bool is_float) {
  begin(text, dtype);
  EACH(i, exact_unary) {
    put_op(text, exact_unary[i], "a");
  }
  EACH(i, exact_float_unary) {
    if (is_float) {
      put_op(text, exact_float_unary[i], "a");
    }
  }
  EACH(i, arithmetic) {
    put_op(text, arithmetic[i], "a b");
  }
  EACH(i, comparisons) {
    put_op(text, comparisons[i], "a b");
  }
  put_op(text, "select", "c a b");
  put_op(text, is_float ? "div" : "pow", "a b");
}

Test(elementwise, exact_ops_have_the_evaluators_bits_in_every_dtype, .timeout = 120) {
  static text_t text;
  for (int i = 0; i < NUMBERS; ++i) {
    put_exact(&text, all_dtypes[i], i < FLOATS);
    native_check(text.text, &(native_check_t){.seed = (uint64_t)i, .specials = true});
  }
}

Test(elementwise, bool_ops_are_logical) {
  static text_t text;
  begin(&text, "bool");
  put_op(&text, "and", "a b");
  put_op(&text, "or", "a b");
  put_op(&text, "not", "a");
  EACH(i, comparisons) {
    put_op(&text, comparisons[i], "a b");
  }
  put_op(&text, "select", "c a b");
  native_check(text.text, &(native_check_t){.seed = 3});
}

Test(elementwise, conversions_between_all_dtypes_have_the_evaluators_bits, .timeout = 120) {
  static text_t text;
  for (int i = 0; i < ALL; ++i) {
    begin(&text, all_dtypes[i]);
    for (int k = 0; k < ALL; ++k) {
      put(&text, "r%d = convert a dtype=%s @ [x]\nresult r%d @ [x]\n", k, all_dtypes[k], k);
    }
    native_check(text.text, &(native_check_t){.seed = (uint64_t)i + 20, .specials = true});
  }
}

Test(elementwise, levels_without_half_precision_or_fma_give_the_same_bits, .timeout = 120) {
  static text_t text;
  static const char *const dtypes[] = {"f32", "bf16", "f16", "i32"};
  for (int i = 0; i < 4; ++i) {
    put_exact(&text, dtypes[i], i < 3);
    native_check(text.text,
                 &(native_check_t){.seed = (uint64_t)i, .specials = true, .cpu = "x86-64-v2"});
  }
}

static const char *const elementary[] = {"exp", "expm1", "log", "log1p",   "sin",
                                         "cos", "tanh",  "erf", "sigmoid", "rsqrt"};

Test(elementwise, elementary_functions_have_the_evaluators_bits, .timeout = 120) {
  static text_t text;
  for (int i = 0; i < FLOATS + 1; ++i) {
    // The last round is f32 for a CPU without fused multiply-add, which then is a call.
    begin(&text, all_dtypes[i < FLOATS ? i : 1]);
    EACH(k, elementary) {
      put_op(&text, elementary[k], "a");
    }
    put_op(&text, "pow", "a b");
    native_check(text.text, &(native_check_t){.seed = (uint64_t)i,
                                              .specials = true,
                                              .cpu = i < FLOATS ? NULL : "x86-64-v2"});
  }
}

Test(elementwise, iota_and_constants_count_from_the_blocks_place) {
  static text_t text;
  for (int i = 0; i < NUMBERS; ++i) {
    text = (text_t){0};
    put(&text, "level local\nmesh x=4 y=2\nentry main\n");
    put(&text, "a = iota dtype=%s shape=7,5 dim=0 @ [x, y]\nresult a @ [x, y]\n", all_dtypes[i]);
    put(&text, "b = iota dtype=%s shape=7,5 dim=1 @ [x, y]\nresult b @ [x, y]\n", all_dtypes[i]);
    put(&text,
        "c = constant dtype=%s shape=3,5 values=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 @ [y, x]\n",
        all_dtypes[i]);
    put(&text,
        "result c @ [y, x]\nd = constant dtype=%s shape=3,5 values=7 @ [y, x]\nresult d @ [y, x]\n",
        all_dtypes[i]);
    put(&text, "e = add c d @ [y, x]\nresult e @ [y, x]\n");
    native_check(text.text, &(native_check_t){0});
  }
}

Test(elementwise, blocks_may_be_empty) {
  // 5 over 4: blocks of 2, 2, 1, 0; 3 over 4: 1, 1, 1, 0.
  native_check(
      "level local\nmesh x=4\nentry main\ninput a f32[5, 3] @ [x, -]\ninput b f32[3, 3] @ [-, x]\n"
      "c = exp a @ [x, -]\nd = mul c a @ [x, -]\nresult d @ [x, -]\n"
      "e = transpose b perm=1,0 @ [x, -]\nresult e @ [x, -]\n",
      &(native_check_t){.seed = 5, .tolerance = 1e-6});
}
