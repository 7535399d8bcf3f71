#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/codegen/native.h"

#define HEAD "level local\nmesh x=2\nentry main\n"

static const native_check_t close_to = {.seed = 1, .tolerance = 1e-4};

Test(fuse, a_chain_is_one_kernel) {
  static const char text[] =
      HEAD "input a f32[8, 4] @ [x, -]\ninput b f32[4] @ [-]\n"
           "c = broadcast b shape=8,4 dims=1 @ [x, -]\nd = add a c @ [x, -]\n"
           "e = relu d @ [x, -]\nf = mul e d @ [x, -]\nresult f @ [x, -]\n";
  cr_assert(native_count(text, "kernel") == 1);
  native_check(text, &(native_check_t){.seed = 1});
}

Test(fuse, a_value_that_others_need_too_is_stored_by_the_kernel_that_reads_it) {
  static const char text[] =
      HEAD "input a f32[8, 4] @ [x, -]\nb = mul a a @ [x, -]\nc = neg b @ [x, -]\n"
           "result b @ [x, -]\nresult c @ [x, -]\n";
  cr_assert(native_count(text, "kernel") == 1);
  native_check(text, &(native_check_t){.seed = 1});
}

Test(fuse, a_kernel_does_not_wait_for_a_product_that_waits_for_it) {
  // b feeds the product and the last add: the add cannot host it.
  static const char text[] =
      HEAD "input a f32[8, 8] @ [-, -]\nb = mul a a @ [-, -]\n"
           "p = dot b b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [-, -]\n"
           "c = add b p @ [-, -]\nresult c @ [-, -]\n";
  cr_assert(native_count(text, "kernel") == 2);
  cr_assert(native_count(text, "gemm") == 1);
  native_check(text, &close_to);
}

Test(fuse, small_work_is_not_repeated_for_every_row) {
  // sqrt of 4 elements must not become sqrt of 8 x 4.
  static const char text[] =
      HEAD "input a f32[8, 4] @ [x, -]\ninput b f32[4] @ [-]\nq = sqrt b @ [-]\n"
           "c = broadcast q shape=8,4 dims=1 @ [x, -]\nd = add a c @ [x, -]\n"
           "result d @ [x, -]\n";
  cr_assert(native_count(text, "kernel") == 2);
  native_check(text, &(native_check_t){.seed = 1});
}

Test(fuse, work_per_row_is_done_where_the_row_begins) {
  static const char text[] =
      HEAD "input a f32[8, 4] @ [x, -]\ninput b f32[8] @ [x]\nq = sqrt b @ [x]\n"
           "c = broadcast q shape=8,4 dims=0 @ [x, -]\nd = add a c @ [x, -]\n"
           "result d @ [x, -]\n";
  cr_assert(native_count(text, "kernel") == 1);
  native_check(text, &(native_check_t){.seed = 1});
}

Test(fuse, inputs_parameters_and_one_value_twice_are_results) {
  native_check(
      HEAD "input a f32[8, 4] @ [x, -]\nb = neg a @ [x, -]\nresult a @ [x, -]\nresult b @ [x, -]\n"
           "c = reshape a shape=32 @ [x]\nresult c @ [x]\n",
      &(native_check_t){.seed = 1});
}

// lhs and rhs dims of products in every order; uneven where dims are split.
Test(fuse, products_of_all_dim_orders, .timeout = 120) {
  static const char *const forms[] = {
      // m k, k n | k m, k n | m k, n k | k m, n k
      "input a f32[7, 33] @ [x, -]\ninput b f32[33, 5] @ [-, -]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [x, -]\nresult "
      "c @ [x, -]\n",
      "input a f32[33, 7] @ [-, x]\ninput b f32[33, 5] @ [-, -]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=0 rhs_contract=0 dtype=f32 @ [x, -]\nresult "
      "c @ [x, -]\n",
      "input a f32[7, 33] @ [-, -]\ninput b f32[5, 33] @ [x, -]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=1 dtype=f32 @ [-, x]\nresult "
      "c @ [-, x]\n",
      "input a f32[33, 7] @ [-, -]\ninput b f32[5, 33] @ [-, -]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=0 rhs_contract=1 dtype=f32 @ [-, -]\nresult "
      "c @ [-, -]\n",
      // batches and several free and contracted dims
      "input a f32[3, 4, 5, 6] @ [x, -, -, -]\ninput b f32[3, 5, 6, 2] @ [x, -, -, -]\n"
      "c = dot a b lhs_batch=0 rhs_batch=0 lhs_contract=2,3 rhs_contract=1,2 dtype=f32 @ [x, -, "
      "-]\n"
      "result c @ [x, -, -]\n",
      "input a f32[3, 6, 4, 5] @ [x, -, -, -]\ninput b f32[2, 5, 3, 6] @ [-, -, x, -]\n"
      "c = dot a b lhs_batch=0 rhs_batch=2 lhs_contract=3,1 rhs_contract=1,3 dtype=f32 @ [x, -, "
      "-]\n"
      "result c @ [x, -, -]\n",
      // outer product, dot of vectors, matrix times vector
      "input a f32[7] @ [x]\ninput b f32[5] @ [-]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract= rhs_contract= dtype=f32 @ [x, -]\nresult c "
      "@ [x, -]\n",
      "input a f32[7] @ [-]\ninput b f32[7] @ [-]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=0 rhs_contract=0 dtype=f32 @ []\nresult c @ "
      "[]\n",
      "input a f32[7, 5] @ [x, -]\ninput b f32[5] @ [-]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [x]\nresult c @ "
      "[x]\n",
      // through transposes
      "input a f32[33, 7] @ [-, x]\ninput b f32[5, 33] @ [-, -]\nd = transpose a perm=1,0 @ [x, "
      "-]\n"
      "e = transpose b perm=1,0 @ [-, -]\n"
      "c = dot d e lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [x, -]\nresult "
      "c @ [x, -]\n",
      // attention: [batch, time, head, depth] twice
      "input q f32[2, 9, 3, 4] @ [-, -, x, -]\ninput k f32[2, 8, 3, 4] @ [-, -, x, -]\n"
      "c = dot q k lhs_batch=0,2 rhs_batch=0,2 lhs_contract=3 rhs_contract=3 dtype=f32 @ [-, x, -, "
      "-]\n"
      "result c @ [-, x, -, -]\n",
  };
  static const int nkernels[] = {0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
    char text[1000];
    (void)snprintf(text, sizeof text, HEAD "%s", forms[i]);
    cr_assert(native_count(text, "gemm") == 1);
    cr_assert(native_count(text, "kernel") == nkernels[i], "%s: %d kernels", forms[i],
              native_count(text, "kernel"));
    native_check(text, &close_to);
  }
}

Test(fuse, products_of_narrow_types_accumulate_in_the_wide_one) {
  static const char *const pairs[][2] = {{"bf16", "f32"}, {"f16", "f32"}, {"bf16", "bf16"},
                                         {"f64", "f64"},  {"i8", "i32"},  {"i32", "i32"}};
  for (int i = 0; i < 6; ++i) {
    char text[600];
    (void)snprintf(
        text, sizeof text,
        HEAD "input a %s[37, 40] @ [x, -]\ninput b %s[40, 35] @ [-, -]\n"
             "c = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=%s @ [x, -]\n"
             "result c @ [x, -]\n",
        pairs[i][0], pairs[i][0], pairs[i][1]);
    native_check(text, &(native_check_t){.seed = 1, .tolerance = i == 2 ? 1e-2 : 1e-4});
  }
}

Test(fuse, memory_is_used_again_when_values_die) {
  // A chain of ten products of 64 KiB each: two live at a time, with the input three.
  char text[3000];
  int at = snprintf(text, sizeof text, HEAD "input a f32[128, 128] @ [-, -]\n");
  char name = 'a';
  for (int i = 0; i < 10; ++i, ++name) {
    at += snprintf(
        text + at, sizeof text - (size_t)at,
        "%c = dot %c %c lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [-, -]\n",
        name + 1, name, name);
  }
  (void)snprintf(text + at, sizeof text - (size_t)at, "result %c @ [-, -]\n", name);
  cr_assert(native_arena_bytes(text) == 2 * 65536);
}
