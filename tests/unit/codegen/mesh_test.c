#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/codegen/native.h"

// One program on several meshes: where no reduced dim is split, results must not differ in a bit.
// In `form`, $0 and $1 stand for how the first and second dim are split.
static void expand(const char *form, const char *mesh, const char *const splits[2], char *out) {
  out += sprintf(out, "level local\nmesh %s\nentry main\n", mesh);
  for (; *form != 0; ++form) {
    if (*form == '$') {
      ++form;
      out += sprintf(out, "%s", splits[*form - '0']);
    } else {
      *out++ = *form;
    }
  }
  *out = 0;
}

static void check_meshes(const char *form) {
  static const char *const one[] = {"-", "-"}, *const rows[] = {"x", "-"},
                           *const both[] = {"x", "y"};
  static char a[6000], b[6000], c[6000];
  native_check_t check = {.seed = 77};
  expand(form, "x=1", one, a);
  expand(form, "x=3", rows, b);
  expand(form, "x=2 y=3", both, c);
  native_same_bits(a, b, &check);
  native_same_bits(a, c, &check);
}

Test(mesh, elementwise_code_has_the_same_bits_wherever_a_block_ends, .timeout = 120) {
  check_meshes(
      "input a f32[29, 31] @ [$0, $1]\ninput b f32[29, 31] @ [$0, $1]\n"
      "c = exp a @ [$0, $1]\nd = div b c @ [$0, $1]\ne = tanh d @ [$0, $1]\nf = sin b @ [$0, $1]\n"
      "g = mul e f @ [$0, $1]\nh = log1p c @ [$0, $1]\ni = add g h @ [$0, $1]\n"
      "result i @ [$0, $1]\nt = transpose i perm=1,0 @ [$1, $0]\nresult t @ [$1, $0]\n");
}

Test(mesh, sums_over_whole_rows_have_the_same_bits, .timeout = 120) {
  check_meshes(
      "input a f32[29, 31, 700] @ [$0, $1, -]\nr = reduce a kind=sum dims=2 @ [$0, $1]\n"
      "result r @ [$0, $1]\np = reduce a kind=prod dims=2 @ [$0, $1]\nresult p @ [$0, $1]\n");
}

Test(mesh, sums_over_whole_columns_have_the_same_bits, .timeout = 120) {
  check_meshes("input a f32[150, 29, 40] @ [-, $0, $1]\nr = reduce a kind=sum dims=0 @ [$0, $1]\n"
               "result r @ [$0, $1]\n");
}

Test(mesh, sums_over_first_and_last_dims_have_the_same_bits, .timeout = 120) {
  check_meshes("input a bf16[15, 29, 40] @ [-, $0, -]\nf = convert a dtype=f32 @ [-, $0, -]\n"
               "r = reduce f kind=sum dims=0,2 @ [$0]\nresult r @ [$0]\n");
}

Test(mesh, a_sum_does_not_depend_on_what_is_fused_with_it, .timeout = 120) {
  // The second form's operand is stored, so that the sum reads it from memory.
  static const char fused[] =
      "level local\nmesh x=1\nentry main\ninput a f32[9, 5, 70] @ [-, -, -]\n"
      "b = mul a a @ [-, -, -]\nr = reduce b kind=sum dims=1,2 @ [-]\nresult r @ [-]\n"
      "s = reduce b kind=sum dims=0 @ [-, -]\nresult s @ [-, -]\n";
  static const char apart[] =
      "level local\nmesh x=1\nentry main\ninput a f32[9, 5, 70] @ [-, -, -]\n"
      "b = mul a a @ [-, -, -]\nc = reshape b shape=3150 @ [-]\nd = reshape c shape=9,5,70 @ [-, "
      "-, -]\n"
      "r = reduce d kind=sum dims=1,2 @ [-]\nresult r @ [-]\n"
      "s = reduce d kind=sum dims=0 @ [-, -]\nresult s @ [-, -]\n";
  native_same_bits(fused, apart, &(native_check_t){.seed = 78});
}

Test(mesh, builtin_products_have_the_same_bits, .timeout = 120) {
  check_meshes(
      "input a f32[29, 300] @ [$0, -]\ninput b f32[300, 47] @ [-, $1]\n"
      "c = dot a b lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32 @ [$0, $1]\n"
      "result c @ [$0, $1]\n");
}
