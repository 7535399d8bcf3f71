// What expressions become: op lists of small programs, worked out by hand from docs/language.md.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/unit/frontend/check_support.h"

// The ops of the entry "f" of a program must be `wanted`.
static void expect_ops(const char *program, const char *wanted) {
  checked_t checked;
  check_text(&checked, program, NULL);
  cr_assert(ne(ptr, checked.program, NULL), "%s", checked_messages(&checked));
  cr_expect(eq(str, (char *)(uintptr_t)checked_messages(&checked), ""));
  cr_expect(eq(str, (char *)(uintptr_t)checked_ops(&checked, "f"), (char *)(uintptr_t)wanted));
  checked_deinit(&checked);
}

Test(check_ops, a_number_takes_the_dtype_and_shape_of_the_other_operand) {
  expect_ops("entry fn f(x: f32[2, 3], n: i32[3]) -> (y: f32[2, 3], m: i32[3]) {\n"
             "  return 2 * x, n + 1\n"
             "}\n",
             "%1 = constant dtype=f32 shape=2,3 values=2 : f32[2, 3]\n"
             "%2 = mul %1 x : f32[2, 3]\n"
             "%3 = constant dtype=i32 shape=3 values=1 : i32[3]\n"
             "%4 = add n %3 : i32[3]\n");
}

Test(check_ops, shapes_broadcast_as_in_numpy) {
  expect_ops("entry fn f(x: f32[2, 1, 3], y: f32[4, 1]) -> (z: f32[2, 4, 3]) { return x - y }\n",
             "%1 = broadcast x shape=2,4,3 dims=0,1,2 : f32[2, 4, 3]\n"
             "%2 = broadcast y shape=2,4,3 dims=1,2 : f32[2, 4, 3]\n"
             "%3 = sub %1 %2 : f32[2, 4, 3]\n");
}

Test(check_ops, numbers_are_folded_at_compile_time) {
  expect_ops(
      "axis n = 4\n"
      "const k = select(n > 3, sqrt(16), 0)\n"
      "entry fn f(x: f32[n]) -> (y: f32[n]) { return x * (k / 8 + -7 % 4 + floor_div(7, 2)) }\n",
      // 0.5 + 1 + 3: % has the sign of the divisor
      "%1 = constant dtype=f32 shape=4 values=4.5 : f32[4]\n"
      "%2 = mul x %1 : f32[4]\n");
}

Test(check_ops, a_whole_power_is_a_product) {
  expect_ops("entry fn f(x: f32[2]) -> (y: f32[2], z: f32[2]) { return x ^ 3, x ^ -2 }\n",
             "%1 = mul x x : f32[2]\n"
             "%2 = mul x %1 : f32[2]\n"
             "%3 = mul x x : f32[2]\n"
             "%4 = constant dtype=f32 shape=2 values=1 : f32[2]\n"
             "%5 = div %4 %3 : f32[2]\n");
}

Test(check_ops, other_powers_are_pow) {
  expect_ops("entry fn f(x: f32[2]) -> (y: f32[2], z: f32[2]) { return x ^ 0.5, 2 ^ x }\n",
             "%1 = constant dtype=f32 shape=2 values=0.5 : f32[2]\n"
             "%2 = pow x %1 : f32[2]\n"
             "%3 = constant dtype=f32 shape=2 values=2 : f32[2]\n"
             "%4 = pow %3 x : f32[2]\n");
}

Test(check_ops, matmul_of_batches_pairs_equal_leading_dims) {
  expect_ops("entry fn f(a: f32[5, 2, 3], b: f32[5, 3, 4]) -> (y: f32[5, 2, 4]) { return a @ b }\n",
             "%1 = dot a b lhs_batch=0 rhs_batch=0 lhs_contract=2 rhs_contract=1 dtype=f32 : "
             "f32[5, 2, 4]\n");
}

Test(check_ops, matmul_with_a_plain_right_side_has_free_leading_dims) {
  expect_ops("entry fn f(a: f32[5, 2, 3], b: f32[3, 4]) -> (y: f32[5, 2, 4]) { return a @ b }\n",
             "%1 = dot a b lhs_contract=2 rhs_contract=0 dtype=f32 : f32[5, 2, 4]\n");
}

Test(check_ops, matmul_with_batches_on_the_right_alone_is_turned_into_place) {
  // free dims of the left (rows) come before those of the right (5, columns)
  expect_ops("entry fn f(a: f32[2, 3], b: f32[5, 3, 4]) -> (y: f32[5, 2, 4]) { return a @ b }\n",
             "%1 = dot a b lhs_contract=1 rhs_contract=1 dtype=f32 : f32[2, 5, 4]\n"
             "%2 = transpose %1 perm=1,0,2 : f32[5, 2, 4]\n");
}

Test(check_ops, matmul_of_vectors_drops_their_dims) {
  expect_ops(
      "entry fn f(a: f32[3], b: f32[3, 4]) -> (y: f32[4], z: f32) { return a @ b, dot(a, a) }\n",
      "%1 = dot a b lhs_contract=0 rhs_contract=0 dtype=f32 : f32[4]\n"
      "%2 = dot a a lhs_contract=0 rhs_contract=0 dtype=f32 : f32\n");
}

Test(check_ops, einsum_is_a_dot_and_a_transpose) {
  expect_ops("entry fn f(x: f32[2, 3, 4], w: f32[4, 5, 6]) -> (y: f32[2, 5, 3, 6]) {\n"
             "  return einsum(\"bse,ehd->bhsd\", x, w)\n"
             "}\n",
             "%1 = dot x w lhs_contract=2 rhs_contract=0 dtype=f32 : f32[2, 3, 5, 6]\n"
             "%2 = transpose %1 perm=0,2,1,3 : f32[2, 5, 3, 6]\n");
}

Test(check_ops, einsum_sums_first_what_one_operand_names_alone) {
  expect_ops("entry fn f(x: f32[2, 3, 4], y: f32[2]) -> (z: f32[3]) {\n"
             "  return einsum(\"bse,b->s\", x, y)\n"
             "}\n",
             "%1 = reduce x kind=sum dims=2 : f32[2, 3]\n"
             "%2 = dot %1 y lhs_contract=0 rhs_contract=0 dtype=f32 : f32[3]\n");
}

Test(check_ops, einsum_of_three_goes_left_to_right) {
  expect_ops("entry fn f(p: f32[9], x: f32[9, 4]) -> (h: f32[4, 4]) {\n"
             "  return einsum(\"n,nf,ng->fg\", p, x, x)\n"
             "}\n",
             "%1 = dot p x lhs_batch=0 rhs_batch=0 dtype=f32 : f32[9, 4]\n"
             "%2 = dot %1 x lhs_contract=0 rhs_contract=0 dtype=f32 : f32[4, 4]\n");
}

Test(check_ops, einsum_with_a_scalar_is_elementwise) {
  expect_ops("entry fn f(x: f32[2, 3], s: f32) -> (y: f32[3, 2]) {\n"
             "  return einsum(\"bs,->sb\", x, s)\n"
             "}\n",
             "%1 = broadcast s shape=2,3 : f32[2, 3]\n"
             "%2 = mul x %1 : f32[2, 3]\n"
             "%3 = transpose %2 perm=1,0 : f32[3, 2]\n");
}

Test(check_ops, mean_divides_a_sum_and_keeps_dims_if_asked) {
  expect_ops("entry fn f(x: f32[2, 3]) -> (y: f32[2, 1]) { return mean(x, -1, keep = true) }\n",
             "%1 = reduce x kind=sum dims=1 : f32[2]\n"
             "%2 = reshape %1 shape=2,1 : f32[2, 1]\n"
             "%3 = constant dtype=f32 shape=2,1 values=3 : f32[2, 1]\n"
             "%4 = div %2 %3 : f32[2, 1]\n");
}

Test(check_ops, sums_of_bool_count_in_i32) {
  expect_ops("entry fn f(x: bool[2, 3]) -> (y: i32, z: bool[3]) { return sum(x), any(x, 0) }\n",
             "%1 = convert x dtype=i32 : i32[2, 3]\n"
             "%2 = reduce %1 kind=sum dims=0,1 : i32\n"
             "%3 = reduce x kind=any dims=0 : bool[3]\n");
}

Test(check_ops, logsumexp_takes_the_largest_out) {
  expect_ops("entry fn f(x: f32[2, 3]) -> (y: f32[2]) { return logsumexp(x, 1) }\n",
             "%1 = reduce x kind=max dims=1 : f32[2]\n"
             "%2 = isfinite %1 : bool[2]\n"
             "%3 = constant dtype=f32 shape=2 values=0 : f32[2]\n"
             "%4 = select %2 %1 %3 : f32[2]\n"
             "%5 = reshape %4 shape=2,1 : f32[2, 1]\n"
             "%6 = broadcast %5 shape=2,3 dims=0,1 : f32[2, 3]\n"
             "%7 = sub x %6 : f32[2, 3]\n"
             "%8 = exp %7 : f32[2, 3]\n"
             "%9 = reduce %8 kind=sum dims=1 : f32[2]\n"
             "%10 = log %9 : f32[2]\n"
             "%11 = add %10 %4 : f32[2]\n");
}

Test(check_ops, indices_slice_and_integers_drop_their_dim) {
  expect_ops("entry fn f(x: f32[4, 6, 8]) -> (y: f32[3, 8]) { return x[-1, 1::2] }\n",
             "%1 = slice x starts=3,1,0 ends=4,6,8 steps=1,2,1 : f32[1, 3, 8]\n"
             "%2 = reshape %1 shape=3,8 : f32[3, 8]\n");
}

Test(check_ops, dots_stand_for_the_dims_between) {
  expect_ops("entry fn f(x: f32[4, 6, 8]) -> (y: f32[4, 6], z: f32[4, 6, 4]) {\n"
             "  return x[..., 0], x[..., :shape(x)[2] / 2]\n"
             "}\n",
             "%1 = slice x starts=0,0,0 ends=4,6,1 steps=1,1,1 : f32[4, 6, 1]\n"
             "%2 = reshape %1 shape=4,6 : f32[4, 6]\n"
             "%3 = slice x starts=0,0,0 ends=4,6,4 steps=1,1,1 : f32[4, 6, 4]\n");
}

Test(check_ops, slices_are_clamped_as_in_numpy) {
  expect_ops("entry fn f(x: f32[4]) -> (y: f32[4], z: f32[2]) { return x[0:9], x[-2:] }\n",
             "%1 = slice x starts=2 ends=4 steps=1 : f32[2]\n");
}

Test(check_ops, a_dtype_call_converts) {
  expect_ops("entry fn f(x: f32[2], b: bool[2]) -> (y: i32[2], z: f32[2], w: f32[2]) {\n"
             "  return i32(x), f32(b), f32(x)\n"
             "}\n",
             "%1 = convert x dtype=i32 : i32[2]\n"
             "%2 = convert b dtype=f32 : f32[2]\n");
}

Test(check_ops, one_hot_compares_with_iota) {
  expect_ops("entry fn f(i: i32[2]) -> (y: f32[2, 5]) { return one_hot(i, 5) }\n",
             "%1 = reshape i shape=2,1 : i32[2, 1]\n"
             "%2 = broadcast %1 shape=2,5 dims=0,1 : i32[2, 5]\n"
             "%3 = iota dtype=i32 shape=2,5 dim=1 : i32[2, 5]\n"
             "%4 = eq %2 %3 : bool[2, 5]\n"
             "%5 = convert %4 dtype=f32 : f32[2, 5]\n");
}

Test(check_ops, tril_keeps_columns_up_to_row_plus_k) {
  expect_ops("entry fn f(x: f32[3, 3]) -> (y: f32[3, 3]) { return tril(x, -1) }\n",
             "%1 = iota dtype=i32 shape=3,3 dim=0 : i32[3, 3]\n"
             "%2 = iota dtype=i32 shape=3,3 dim=1 : i32[3, 3]\n"
             "%3 = constant dtype=i32 shape=3,3 values=-1 : i32[3, 3]\n"
             "%4 = add %1 %3 : i32[3, 3]\n"
             "%5 = le %2 %4 : bool[3, 3]\n"
             "%6 = constant dtype=f32 shape=3,3 values=0 : f32[3, 3]\n"
             "%7 = select %5 x %6 : f32[3, 3]\n");
}

Test(check_ops, concat_stack_split_and_pad) {
  expect_ops("entry fn f(x: f32[2, 4]) -> (y: f32[2, 4], z: f32[2, 2, 4], p: f32[3, 6]) {\n"
             "  let (a, b) = split(x, 2, -1)\n"
             "  return concat([b, a], 1), stack([x, x], 1), pad(x, [[0, 1], [2, 0]], value = 7)\n"
             "}\n",
             "%1 = slice x starts=0,0 ends=2,2 steps=1,1 : f32[2, 2] @a\n"
             "%2 = slice x starts=0,2 ends=2,4 steps=1,1 : f32[2, 2] @b\n"
             "%3 = concat %2 %1 dim=1 : f32[2, 4]\n"
             "%4 = reshape x shape=2,1,4 : f32[2, 1, 4]\n"
             "%5 = reshape x shape=2,1,4 : f32[2, 1, 4]\n"
             "%6 = concat %4 %5 dim=1 : f32[2, 2, 4]\n"
             "%7 = pad x lo=0,2 hi=1,0 value=7 : f32[3, 6]\n");
}

// ---- precision -------------------------------------------------------------------------------

Test(check_precision, f32_is_read_as_compute_and_results_go_back) {
  expect_ops("precision params = f32, compute = bf16\n"
             "param w: f32[3, 4] = ones\n"
             "entry fn f(x: f32[2, 3]) -> (y: f32[2, 4]) { return x @ w }\n",
             // a dot of bf16 accumulates in `reduce`, f32 by default, and rounds once
             "%1 = convert x dtype=bf16 : bf16[2, 3]\n"
             "%2 = convert w dtype=bf16 : bf16[3, 4]\n"
             "%3 = dot %1 %2 lhs_contract=1 rhs_contract=0 dtype=f32 : f32[2, 4]\n"
             "%4 = convert %3 dtype=bf16 : bf16[2, 4]\n"
             "%5 = convert %4 dtype=f32 : f32[2, 4]\n");
}

Test(check_precision, a_mean_of_bf16_rounds_once) {
  expect_ops("entry fn f(x: bf16[2, 4]) -> (y: bf16[2]) { return mean(x, 1) }\n",
             "%1 = convert x dtype=f32 : f32[2, 4]\n"
             "%2 = reduce %1 kind=sum dims=1 : f32[2]\n"
             "%3 = constant dtype=f32 shape=2 values=4 : f32[2]\n"
             "%4 = div %2 %3 : f32[2]\n"
             "%5 = convert %4 dtype=bf16 : bf16[2]\n");
}

Test(check_precision, a_conversion_is_exact_and_a_written_f32_takes_both) {
  expect_ops("precision compute = f16\n"
             "fn g(x: f32[$n]) -> f32[$n] { return x }\n"
             "entry fn f(x: f32[2]) -> (y: f32[2]) {\n"
             "  let a: f32[2] = g(x)\n"
             "  let b: f32[2] = g(f32(a))\n"
             "  return zeros([2]) + a\n"
             "}\n",
             "%1 = convert x dtype=f16 : f16[2] @a\n"
             "%2 = convert %1 dtype=f32 : f32[2] @b\n"
             "%3 = constant dtype=f16 shape=2 values=0 : f16[2]\n"
             "%4 = add %3 %1 : f16[2]\n"
             "%5 = convert %4 dtype=f32 : f32[2]\n");
}

Test(check_precision, state_keeps_its_written_type) {
  checked_t checked;
  check_text(&checked,
             "precision params = bf16, compute = f32\n"
             "param w: f32[2] = ones\n"
             "param h: f16[2] = ones\n"
             "state s: f32[2] = 0\n"
             "entry fn f(x: f32[2]) -> (y: f32[2]) { return x + w + s }\n",
             NULL);
  cr_assert(ne(ptr, checked.program, NULL), "%s", checked_messages(&checked));
  cr_expect(eq(int, (int)checked.program->params[0].type.dtype, (int)TSPEC_DTYPE_BF16));
  cr_expect(eq(int, (int)checked.program->params[1].type.dtype, (int)TSPEC_DTYPE_F16));
  cr_expect(eq(int, (int)checked.program->params[2].type.dtype, (int)TSPEC_DTYPE_F32));
  cr_expect(eq(str, (char *)(uintptr_t)checked_kinds(&checked, "f"), "convert add add"));
  checked_deinit(&checked);
}
