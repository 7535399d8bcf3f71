#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/codegen/native.h"

// Programs whose ops only place elements, alone and fused with arithmetic, on blocks of different
// sizes.
static const native_check_t exact = {.seed = 1, .specials = true};

Test(shape, broadcasts_of_scalars_rows_columns_and_single_elements) {
  native_check(
      "level local\nmesh x=3 y=2\nentry main\n"
      "input s f32 @ []\ninput r f32[7] @ [y]\ninput c f32[10] @ [x]\ninput u f32[1, 7] @ [-, y]\n"
      "a = broadcast s shape=10,7 dims= @ [x, y]\nb = broadcast r shape=10,7 dims=1 @ [x, y]\n"
      "d = broadcast c shape=10,7 dims=0 @ [x, y]\ne = broadcast u shape=10,7 dims=0,1 @ [x, y]\n"
      "f = add a b @ [x, y]\ng = mul d e @ [x, y]\nh = sub f g @ [x, y]\nresult h @ [x, y]\n"
      "result a @ [x, y]\nresult e @ [x, y]\n",
      &exact);
}

Test(shape, transposes_of_every_dtype_turn_in_tiles) {
  static const char *const dtypes[] = {"f64", "f32", "bf16", "f16", "i64",
                                       "i32", "i16", "i8",   "u8",  "bool"};
  for (int i = 0; i < 10; ++i) {
    char text[400];
    (void)snprintf(text, sizeof text,
                   "level local\nmesh x=3\nentry main\ninput a %s[77, 50] @ [-, x]\n"
                   "b = transpose a perm=1,0 @ [x, -]\nresult b @ [x, -]\n",
                   dtypes[i]);
    native_check(text, &exact);
  }
}

Test(shape, transposes_of_more_dims_and_of_short_ones) {
  static const char *const perms[] = {"0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"};
  static const char *const dims[] = {"9,31,12", "9,12,31", "31,9,12", "12,9,31", "12,31,9"};
  (void)dims;
  for (int i = 0; i < 5; ++i) {
    char text[600];
    (void)snprintf(
        text, sizeof text,
        "level local\nmesh x=2\nentry main\ninput a f32[9, 12, 31] @ [-, -, -]\n"
        "input b f32[9, 12, 31] @ [-, -, -]\nc = transpose a perm=%s @ [-, -, -]\n"
        "result c @ [-, -, -]\nd = mul b b @ [-, -, -]\ne = transpose d perm=%s @ [-, -, -]\n"
        "f = add e c @ [-, -, -]\nresult f @ [-, -, -]\n",
        perms[i], perms[i]);
    native_check(text, &exact);
  }
  // 9 over 8: blocks of 2 and one of 1, too short for tiles; 20 over 3: 7, 7, 6.
  native_check("level local\nmesh x=8\nentry main\ninput a f32[9, 33] @ [x, -]\n"
               "b = transpose a perm=1,0 @ [-, x]\nresult b @ [-, x]\n",
               &exact);
  native_check("level local\nmesh x=3\nentry main\ninput a f32[25, 33] @ [x, -]\n"
               "b = transpose a perm=1,0 @ [-, x]\nc = add b b @ [-, x]\nresult c @ [-, x]\n",
               &exact);
}

Test(shape, slices_with_starts_and_steps) {
  native_check(
      "level local\nmesh x=3\nentry main\ninput a i32[10, 20, 7] @ [-, -, x]\n"
      "b = slice a starts=2,0,0 ends=9,20,7 steps=1,1,1 @ [-, -, x]\nresult b @ [-, -, x]\n"
      "c = slice a starts=1,3,0 ends=10,20,7 steps=3,4,1 @ [-, -, x]\nresult c @ [-, -, x]\n"
      "d = slice c starts=1,1,0 ends=3,4,7 steps=1,2,1 @ [-, -, x]\nresult d @ [-, -, x]\n"
      "e = neg d @ [-, -, x]\nf = add e d @ [-, -, x]\nresult f @ [-, -, x]\n",
      &exact);
}

Test(shape, pads_on_both_sides_of_every_dim) {
  native_check("level local\nmesh x=3\nentry main\ninput a f32[5, 4, 7] @ [-, -, x]\n"
               "b = pad a lo=1,0,0 hi=2,3,0 value=2.5 @ [-, -, x]\nresult b @ [-, -, x]\n"
               "m = mul a a @ [-, -, x]\nc = pad m lo=0,2,0 hi=0,1,0 value=-inf @ [-, -, x]\n"
               "result c @ [-, -, x]\nd = pad b lo=0,0,0 hi=0,0,0 value=0 @ [-, -, x]\nresult d @ "
               "[-, -, x]\n"
               "e = add b d @ [-, -, x]\nresult e @ [-, -, x]\n",
               &exact);
  native_check("level local\nmesh x=2\nentry main\ninput a bool[5, 9] @ [x, -]\n"
               "b = pad a lo=0,3 hi=0,4 value=1 @ [x, -]\nresult b @ [x, -]\n",
               &exact);
}

Test(shape, concats_of_two_and_more_along_every_dim) {
  native_check(
      "level local\nmesh x=3\nentry main\ninput a f32[5, 7] @ [-, x]\ninput b f32[2, 7] @ [-, x]\n"
      "input c f32[1, 7] @ [-, x]\nd = concat a b c dim=0 @ [-, x]\nresult d @ [-, x]\n"
      "e = concat b b dim=0 @ [-, x]\nf = neg e @ [-, x]\nresult f @ [-, x]\n"
      "g = slice d starts=4,0 ends=8,7 steps=1,1 @ [-, x]\nh = mul g f @ [-, x]\nresult h @ [-, "
      "x]\n",
      &exact);
  native_check("level local\nmesh x=3\nentry main\ninput a bf16[7, 3] @ [x, -]\ninput b bf16[7, 6] "
               "@ [x, -]\n"
               "n = neg a @ [x, -]\nc = concat n b a dim=1 @ [x, -]\nresult c @ [x, -]\n"
               "t = transpose c perm=1,0 @ [-, x]\nresult t @ [-, x]\n",
               &exact);
}

Test(shape, reshapes_are_views_or_cost_nothing) {
  static const char text[] =
      "level local\nmesh x=3\nentry main\ninput a f32[9, 4, 5] @ [x, -, -]\n"
      "b = reshape a shape=9,20 @ [x, -]\nc = mul b b @ [x, -]\nresult c @ [x, -]\n"
      "d = reshape c shape=9,2,10 @ [x, -, -]\nresult d @ [x, -, -]\n"
      "e = reshape a shape=9,1,4,5,1 @ [x, -, -, -, -]\nf = neg e @ [x, -, -, -, -]\n"
      "g = reshape f shape=9,4,5 @ [x, -, -]\nh = add g a @ [x, -, -]\nresult h @ [x, -, -]\n";
  native_check(text, &exact);
  cr_assert(native_count(text, "view") == 2);
  cr_assert(native_count(text, "kernel") == 2);
}

Test(shape, iota_counts_under_placement) {
  native_check(
      "level local\nmesh x=4\nentry main\ni = iota dtype=i32 shape=10,6 dim=0 @ [x, -]\n"
      "t = transpose i perm=1,0 @ [-, x]\nresult t @ [-, x]\n"
      "j = iota dtype=f32 shape=10 dim=0 @ [x]\nb = broadcast j shape=6,10 dims=1 @ [-, x]\n"
      "result b @ [-, x]\ns = slice t starts=1,0 ends=5,10 steps=2,1 @ [-, x]\nresult s @ [-, x]\n",
      &exact);
}

Test(shape, scalars_are_kernels_too) {
  native_check("level local\nmesh x=4\nentry main\ninput a f32 @ []\ninput b f32[1, 1] @ [-, -]\n"
               "c = mul a a @ []\nresult c @ []\nd = neg b @ [-, -]\nresult d @ [-, -]\n"
               "e = reshape b shape= @ []\nf = add e c @ []\nresult f @ []\n",
               &exact);
}
