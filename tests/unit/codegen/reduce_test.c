#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/codegen/native.h"

static const char *const dims[] = {"0", "1", "2", "0,1", "0,2", "1,2", "0,1,2"};
static const char *const kept[] = {"[-, x]", "[-, x]", "[-, -]", "[x]", "[-]", "[-]", "[]"};

// All subsets of the dims of a[40, 3, 70], whose last dim is split where it is kept.
static void check(const char *dtype, const char *kind, const native_check_t *how) {
  static char text[4000];
  int at = snprintf(text, sizeof text,
                    "level local\nmesh x=3\nentry main\ninput a %s[40, 3, 70] @ [-, -, x]\n"
                    "input b %s[40, 3, 70] @ [-, -, -]\n",
                    dtype, dtype);
  for (int i = 0; i < 7; ++i) {
    bool split = i == 0 || i == 1 || i == 3;
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "r%d = reduce %s kind=%s dims=%s @ %s\nresult r%d @ %s\n", i, split ? "a" : "b",
                   kind, dims[i], kept[i], i, kept[i]);
  }
  native_check(text, how);
}

Test(reduce, sums_of_floats_over_all_dims, .timeout = 120) {
  check("f64", "sum", &(native_check_t){.seed = 1, .tolerance = 1e-12});
  check("f32", "sum", &(native_check_t){.seed = 2, .tolerance = 3e-5});
  check("bf16", "sum", &(native_check_t){.seed = 3, .tolerance = 1e-2});
  check("f16", "sum", &(native_check_t){.seed = 4, .tolerance = 2e-3});
}

Test(reduce, sums_and_products_of_integers_wrap, .timeout = 120) {
  static const char *const dtypes[] = {"i64", "i32", "i16", "i8", "u8"};
  for (int i = 0; i < 5; ++i) {
    check(dtypes[i], "sum", &(native_check_t){.seed = 5, .specials = true});
    check(dtypes[i], "prod", &(native_check_t){.seed = 6});
  }
}

Test(reduce, max_and_min_of_every_dtype_keep_nan, .timeout = 120) {
  static const char *const dtypes[] = {"f64", "f32", "bf16", "f16", "i64",
                                       "i32", "i16", "i8",   "u8"};
  for (int i = 0; i < 9; ++i) {
    check(dtypes[i], "max", &(native_check_t){.seed = 7, .specials = i % 2 == 0});
    check(dtypes[i], "min", &(native_check_t){.seed = 8, .specials = i % 2 == 1});
  }
}

Test(reduce, all_and_any_of_bool) {
  check("bool", "all", &(native_check_t){.seed = 9});
  check("bool", "any", &(native_check_t){.seed = 10});
}

Test(reduce, long_rows_and_columns_cross_chunks) {
  native_check(
      "level local\nmesh x=2\nentry main\ninput a f32[3, 1337] @ [-, -]\ninput b f32[777, 300] @ "
      "[-, x]\n"
      "r = reduce a kind=sum dims=1 @ [-]\nresult r @ [-]\nc = reduce b kind=sum dims=0 @ [x]\n"
      "result c @ [x]\np = reduce a kind=max dims=0 @ [-]\nresult p @ [-]\n",
      &(native_check_t){.seed = 11, .tolerance = 5e-5});
}

Test(reduce, producers_and_several_results_are_fused) {
  static const char text[] =
      "level local\nmesh x=3\nentry main\ninput a f32[11, 64] @ [x, -]\n"
      "m = reduce a kind=max dims=1 @ [x]\nmb = broadcast m shape=11,64 dims=0 @ [x, -]\n"
      "d = sub a mb @ [x, -]\ne = mul d d @ [x, -]\ns = reduce e kind=sum dims=1 @ [x]\n"
      "sb = broadcast s shape=11,64 dims=0 @ [x, -]\np = div e sb @ [x, -]\nresult p @ [x, -]\n";
  native_check(text, &(native_check_t){.seed = 12, .tolerance = 1e-6});
  // max; square of the difference with its sum; division
  cr_assert(native_count(text, "kernel") == 3);
}

Test(reduce, two_reductions_of_one_value_share_a_kernel) {
  static const char text[] =
      "level local\nmesh x=3\nentry main\ninput a f32[11, 64] @ [x, -]\nq = mul a a @ [x, -]\n"
      "s = reduce a kind=sum dims=1 @ [x]\nt = reduce q kind=sum dims=1 @ [x]\nu = sub t s @ [x]\n"
      "result u @ [x]\n";
  native_check(text, &(native_check_t){.seed = 13, .tolerance = 1e-5});
}

Test(reduce, arg_reduce_takes_the_first_and_the_first_nan, .timeout = 120) {
  static const char *const dtypes[] = {"f64", "f32", "bf16", "f16", "i64",
                                       "i32", "i16", "i8",   "u8"};
  for (int i = 0; i < 9; ++i) {
    for (int min = 0; min < 2; ++min) {
      char text[900];
      const char *kind = min != 0 ? "min" : "max";
      (void)snprintf(text, sizeof text,
                     "level local\nmesh x=3\nentry main\ninput a %s[13, 9, 7] @ [-, -, x]\n"
                     "input b %s[7, 600] @ [x, -]\nr = arg_reduce a kind=%s dim=0 @ [-, x]\nresult "
                     "r @ [-, x]\n"
                     "s = arg_reduce a kind=%s dim=1 @ [-, x]\nresult s @ [-, x]\n"
                     "t = arg_reduce b kind=%s dim=1 @ [x]\nresult t @ [x]\n",
                     dtypes[i], dtypes[i], kind, kind, kind);
      native_check(text, &(native_check_t){.seed = (uint64_t)i, .specials = i % 2 == min});
    }
  }
}

Test(reduce, dims_of_one_element_and_empty_blocks) {
  native_check("level local\nmesh x=4\nentry main\ninput a f32[5, 1, 6] @ [x, -, -]\n"
               "r = reduce a kind=sum dims=1 @ [x, -]\nresult r @ [x, -]\ns = reduce a kind=sum "
               "dims=1,2 @ [x]\n"
               "result s @ [x]\nt = arg_reduce a kind=max dim=1 @ [x, -]\nresult t @ [x, -]\n",
               &(native_check_t){.seed = 14, .tolerance = 1e-6});
}

// The same rows, split differently: a row's sum must not depend on who else is in the block.
Test(reduce, a_reduced_broadcast_needs_the_extent_of_no_buffer) {
  native_check("level local\nmesh x=3 y=2\nentry main\ninput a f32[7] @ [x]\n"
               "b = broadcast a shape=7,5 dims=0 @ [x, -]\nr = reduce b kind=sum dims=1 @ "
               "[x]\nresult r @ [x]\n",
               &(native_check_t){.seed = 15, .tolerance = 1e-6});
}
