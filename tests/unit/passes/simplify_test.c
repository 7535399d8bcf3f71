#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

#include "support.h"

static void expect(const char *body, const char *ops) {
  bench_t bench;
  const char *text = "level global\nmesh a=2\ninput x f32[2, 3]\ninput i i32[4]\n";
  char whole[1024];
  cr_assert(lt(sz, strlen(text) + strlen(body), sizeof whole));
  strcpy(whole, text);
  strcat(whole, body);
  bench_load(&bench, whole);
  bench_run(&bench, "simplify", tspec_pass_simplify);
  bench_expect(body, bench_ops(&bench), ops);
  bench_end(&bench);
}

Test(simplify, transposes_that_undo_each_other_vanish) {
  expect("t = transpose x perm=1,0\nu = transpose t perm=1,0\nresult u\n", "");
  expect("t = transpose x perm=1,0\nu = transpose t perm=1,0\nn = neg t\nresult u\nresult n\n",
         "transpose neg");
}

Test(simplify, reshapes_in_a_row_are_one) {
  expect("r = reshape x shape=6\ns = reshape r shape=3,2\nresult s\n", "reshape");
  expect("r = reshape x shape=6\ns = reshape r shape=2,3\nresult s\n", "");
}

Test(simplify, equal_ops_are_one) {
  expect("n = neg x\nm = neg x\ns = add n m\nresult s\n", "neg add");
  expect("r = reduce x kind=sum dims=0\ns = reduce x kind=max dims=0\nt = add r s\nresult t\n",
         "reduce reduce add");
}

Test(simplify, what_nothing_reads_goes) {
  expect("n = exp x\nm = neg n\nresult x\n", "");
}

Test(simplify, only_what_keeps_every_bit_is_dropped) {
  expect("c = constant dtype=f32 shape=2,3 values=1\nm = mul x c\nresult m\n", "");
  expect("c = constant dtype=f32 shape=2,3 values=1\nm = div x c\nresult m\n", "");
  expect("c = constant dtype=f32 shape=2,3 values=0\nm = sub x c\nresult m\n", "");
  // -0 + 0 is 0.
  expect("c = constant dtype=f32 shape=2,3 values=0\nm = add x c\nresult m\n", "constant add");
  // NaN * 0 is NaN.
  expect("c = constant dtype=f32 shape=2,3 values=0\nm = mul x c\nresult m\n", "constant mul");
}

// The value of the program's only op, a constant.
static double fold(const char *body, tspec_dtype_t dtype) {
  bench_t bench;
  char whole[1024] = "level global\nmesh a=2\n";
  strcat(whole, body);
  bench_load(&bench, whole);
  bench_run(&bench, "simplify", tspec_pass_simplify);
  bench_expect(body, bench_ops(&bench), "constant");
  const tspec_op_t *op = bench.func->last;
  cr_assert(eq(int, (int)op->results[0]->type.dtype, (int)dtype));
  double value = tspec_op_get_attr(op, "values")->floats[0];
  bench_end(&bench);
  return value;
}

Test(simplify, constants_are_folded_as_their_dtype_computes) {
  // 0.1 and 0.7 are rounded to f32 before they are added: their sum in double rounds differently.
  cr_assert(eq(dbl,
               fold("a = constant dtype=f32 shape= values=0.1\n"
                    "b = constant dtype=f32 shape= values=0.7\n"
                    "c = add a b\nresult c\n",
                    TSPEC_DTYPE_F32),
               (double)(0.1f + 0.7f)));
  cr_assert(eq(dbl,
               fold("a = constant dtype=f32 shape= values=2.75\n"
                    "b = convert a dtype=i32\nresult b\n",
                    TSPEC_DTYPE_I32),
               2));
  cr_assert(eq(dbl,
               fold("a = constant dtype=f32 shape= values=3\n"
                    "b = broadcast a shape=2,2 dims=\n"
                    "c = transpose b perm=1,0\nresult c\n",
                    TSPEC_DTYPE_F32),
               3));
  cr_assert(eq(dbl,
               fold("a = constant dtype=i32 shape= values=3\n"
                    "b = constant dtype=i32 shape= values=4\n"
                    "c = lt a b\nresult c\n",
                    TSPEC_DTYPE_BOOL),
               1));
}

Test(simplify, what_depends_on_the_machine_is_not_folded) {
  expect("a = constant dtype=f32 shape= values=1\nb = exp a\nresult b\n", "constant exp");
  expect("a = constant dtype=f32 shape= values=0\nb = div a a\nresult b\n", "constant div");
  // 2^31 would wrap.
  expect("a = constant dtype=i32 shape= values=2147483647\nb = add a a\nresult b\n",
         "constant add");
}

Test(simplify, barriers_stay_apart) {
  expect("a = barrier x\nb = barrier x\nc = add a b\nresult c\n", "barrier barrier add");
  expect("a = constant dtype=f32 shape= values=2\nb = barrier a\nc = barrier a\nd = add b c\n"
         "result d\n",
         "constant barrier barrier add");
}

Test(simplify, a_group_stays_though_nothing_reads_it) {
  expect("a = same_sharding x group=0\nb = neg x\nresult b\n", "same_sharding neg");
}
