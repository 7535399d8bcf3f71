#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support.h"

static const tspec_mesh_axis_t data_model[] = {{"data", 2, 0}, {"model", 4, 0}};

// The reference model of the Flax guide: four times relu(x @ w1) @ w2.
static void build_dotreludot(bench_t *bench, bool constrained) {
  static const char *const paths[4][2] = {{"layer/0/w1", "layer/0/w2"},
                                          {"layer/1/w1", "layer/1/w2"},
                                          {"layer/2/w1", "layer/2/w2"},
                                          {"layer/3/w1", "layer/3/w2"}};
  tspec_value_t *w[4][2];
  tspec_value_t *x = bench_input(bench, "x", "[data, -]", DIMS(8, 1024));
  for (int i = 0; i < 4; i++) {
    w[i][0] = bench_param(bench, paths[i][0], "[-, model]", DIMS(1024, 1024));
    w[i][1] = bench_param(bench, paths[i][1], "[model, -]", DIMS(1024, 1024));
  }
  for (int i = 0; i < 4; i++) {
    tspec_value_t *y = bench_unary(bench, TSPEC_OP_relu, bench_matmul(bench, x, w[i][0]));
    if (constrained) {
      y = bench_constraint(bench, "y", y, "[data, model]");
    } else {
      y->name = "y";
    }
    x = bench_matmul(bench, y, w[i][1]);
    if (constrained) {
      x = bench_constraint(bench, "z", x, "[data, -]");
    } else {
      x->name = "z";
    }
  }
  bench_result(bench, "z", x, "[data, -]");
}

Test(partition, the_reference_model_reduces_four_times_and_moves_nothing_else) {
  for (int constrained = 0; constrained < 2; constrained++) {
    bench_t bench;
    bench_start(&bench, data_model, 2);
    build_dotreludot(&bench, constrained != 0);
    bench_run_all(&bench);
    // 2 * 3 / 4 of f32[4, 1024], 16 KiB.
    bench_expect("collectives", bench_collectives(&bench),
                 "all_reduce [data, -] 24576; all_reduce [data, -] 24576; "
                 "all_reduce [data, -] 24576; all_reduce [data, -] 24576");
    bench_expect("ops", bench_ops(&bench),
                 "dot relu dot all_reduce dot relu dot all_reduce "
                 "dot relu dot all_reduce dot relu dot all_reduce");
    bench_expect("y", bench_sharding(&bench, bench_find(&bench, "y")), "[data, model]");
    bench_expect("z", bench_sharding(&bench, bench_find(&bench, "z")), "[data, -]");
    bench_end(&bench);
  }
}

// ---- exactness --------------------------------------------------------------------------------

static void expect_exact(const char *text, const char *collectives) {
  bench_t bench;
  bench_load(&bench, text);
  bench_check(&bench);
  bench_expect(text, bench_collectives(&bench), collectives);
  bench_end(&bench);
}

Test(partition, a_bias_is_added_after_the_reduction) {
  expect_exact("level global\n"
               "mesh model=4\n"
               "param w f32[8, 6] @ [model, -]\n"
               "param b f32[4, 6] @ [-, -]\n"
               "input x f32[4, 8] @ [-, model]\n"
               "read w\n"
               "read b\n"
               "d = dot x w lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"
               "y = add d b\n"
               "result y @ [-, -]\n",
               "all_reduce [-, -] 144");
}

Test(partition, three_rows_on_eight_ranks_leave_five_of_them_empty) {
  expect_exact("level global\n"
               "mesh a=2 b=4\n"
               "input x f32[3, 5] @ [a*b, -]\n"
               "y = relu x\n"
               "s = reduce y kind=sum dims=0\n"
               "t = transpose y perm=1,0\n"
               "result s @ [-]\n"
               "result t @ [-, a*b]\n",
               // 2 * 7 / 8 of 20 bytes.
               "all_reduce [-] 35");
}

Test(partition, blocks_that_do_not_nest_go_once_to_the_ranks_that_pass_them_on) {
  expect_exact("level global\n"
               "mesh a=2 b=4\n"
               "input x f32[9, 1] @ [a*b, -]\n"
               "y = relu x\n"
               "result y @ [a, -]\n",
               // Rows 6 and 7 of the rank a=0, b=3 go to one of the 4 ranks with a=1, from where
               // the 5 rows of that half go around.
               "all_to_all [a, b] 8; all_gather [a, -] 20");
}

Test(partition, a_maximum_over_a_split_dim_combines_by_max) {
  expect_exact("level global\n"
               "mesh a=4\n"
               "input x f32[3, 7] @ [-, a]\n"
               "m = reduce x kind=max dims=1\n"
               "result m @ [-]\n",
               "all_reduce [-] 18");
}

Test(partition, a_product_over_a_split_dim_combines_by_product) {
  expect_exact("level global\n"
               "mesh a=4\n"
               "input x f32[3, 7] @ [-, a]\n"
               "m = reduce x kind=prod dims=1\n"
               "result m @ [-]\n",
               "all_reduce [-] 18");
}

Test(partition, an_argmax_reduces_the_value_then_its_place) {
  expect_exact("level global\n"
               "mesh a=2 b=2\n"
               "input x f32[4, 6] @ [a, b]\n"
               "m = arg_reduce x kind=max dim=1\n"
               "result m @ [a]\n",
               // Twice 2 * 1 / 2 of two rows' numbers.
               "all_reduce [a] 8; all_reduce [a] 8");
}

Test(partition, an_argmax_of_few_gathers_them) {
  expect_exact("level global\n"
               "mesh a=4\n"
               "input x f32[8, 4] @ [-, a]\n"
               "m = arg_reduce x kind=min dim=1\n"
               "result m @ [-]\n",
               // 3 / 4 of 128 bytes; a value and a place of 8 rows would be 2 * 2 * 3 / 4 of 32,
               // as much.
               "all_gather [-, -] 96");
}

// Rows of 2 floats; a slice keeps the split of its operand.
#define PARTS(op, result)                                                                          \
  "level global\nmesh a=4 b=2\ninput x f32[8, 2] @ [a, -]\ninput y f32[1, 2] @ [a, -]\n" op "\n"   \
  "result r @ " result "\n"

Test(partition, slices_move_what_lies_elsewhere_and_no_more) {
  static const char *const cases[][2] = {
      // Blocks of 2 rows each: the last of 7 is short. Each rank lacks its second row but the last.
      {PARTS("r = slice x starts=1,0 ends=8,2 steps=1,1", "[a, -]"), "permute [a, -] 8"},
      {PARTS("r = slice x starts=0,0 ends=7,2 steps=1,1", "[a, -]"), "all_slice [a, -]"},
      {PARTS("r = slice x starts=0,0 ends=8,2 steps=2,1", "[a, -]"), "all_slice [a, -]"},
      // Rows 0, 3, 6 in blocks of 1: ranks 0 and 1 hold theirs, rank 2's comes from rank 3.
      {PARTS("r = slice x starts=0,0 ends=8,2 steps=3,1", "[a, -]"), "permute [a, -] 8"},
      // Rows 4 and 5, rank 2's: it keeps neither.
      {PARTS("r = slice x starts=4,0 ends=6,2 steps=1,1", "[a, -]"), "permute [a, -] 16"},
      {PARTS("r = slice x starts=4,0 ends=5,2 steps=1,1", "[a, -]"), "permute [a, -] 8"},
      {PARTS("r = slice x starts=0,0 ends=1,2 steps=1,1", "[a, -]"), "all_slice [a, -]"},
      // One row to everyone, by way of rank 0; gathering all of x would be 48.
      {PARTS("r = slice x starts=4,0 ends=5,2 steps=1,1", "[-, -]"),
       "permute [a, -] 8; all_gather [-, -] 8"},
      // Six rows to everyone: gathering them is no dearer than sending each 3 times.
      {PARTS("r = slice x starts=1,0 ends=7,2 steps=1,1", "[-, -]"), "all_gather [-, -] 48"},
      // The other dim may be split anew at once: a column of what is there.
      {PARTS("r = slice x starts=0,0 ends=7,2 steps=1,1", "[a, b]"), "all_slice [a, b]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_exact(cases[i][0], cases[i][1]);
  }
}

Test(partition, pads_and_concats_move_what_lies_elsewhere_and_no_more) {
  static const char *const cases[][2] = {
      // 9 rows in blocks of 3: rank 0 lacks one row, rank 1 two, rank 2 two of rank 3's.
      {PARTS("r = pad x lo=0,0 hi=1,0 value=5", "[a, -]"), "permute [a, -] 16"},
      // 10 rows in blocks of 3, 3, 3, 1: rank 0 has all it needs, rank 3 keeps padding alone.
      {PARTS("r = pad x lo=1,0 hi=1,0 value=5", "[a, -]"), "permute [a, -] 16"},
      {PARTS("r = pad x lo=0,3 hi=0,0 value=5", "[a, b]"), "all_slice [a, b]"},
      {PARTS("r = pad y lo=0,0 hi=1,0 value=5", "[a, -]"), "all_slice [a, -]"},
      // The same 9 rows; the last one is sent by rank 0.
      {PARTS("r = concat x y dim=0", "[a, -]"), "permute [a, -] 16"},
      // Halves of x, exchanged: each rank sends its two rows, once.
      {PARTS("s = slice x starts=4,0 ends=8,2 steps=1,1\nt = slice x starts=0,0 ends=4,2 "
             "steps=1,1\nr = concat s t dim=0",
             "[a, -]"),
       "permute [a, -] 16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_exact(cases[i][0], cases[i][1]);
  }
}

Test(partition, placing_what_was_placed_is_one_exchange) {
  static const char *const cases[][2] = {
      // A turn by one row: one row crosses each border. By three: of two rows both, one twice as
      // far.
      {PARTS("s = slice x starts=7,0 ends=8,2 steps=1,1\nt = slice x starts=0,0 ends=7,2 "
             "steps=1,1\nr = concat s t dim=0",
             "[a, -]"),
       "permute [a, -] 8"},
      {PARTS("s = slice x starts=5,0 ends=8,2 steps=1,1\nt = slice x starts=0,0 ends=5,2 "
             "steps=1,1\nr = concat s t dim=0",
             "[a, -]"),
       "permute [a, -] 16"},
      // Rows 1 to 6 between two of padding: row by row as they lay.
      {PARTS("s = slice x starts=1,0 ends=7,2 steps=1,1\nr = pad s lo=1,0 hi=1,0 value=5",
             "[a, -]"),
       "all_slice [a, -]"},
      // Row 1 + 2 * (1 + i) for i < 2: row 3, from rank 1 to rank 0, and row 5.
      {PARTS("s = slice x starts=1,0 ends=8,2 steps=2,1\nr = slice s starts=1,0 ends=3,2 "
             "steps=1,1",
             "[a, -]"),
       "permute [a, -] 8"},
      // Two values of padding are two collectives.
      {PARTS("s = pad x lo=1,0 hi=0,0 value=5\nr = pad s lo=1,0 hi=0,0 value=6", "[a, -]"),
       "permute [a, -] 16; permute [a, -] 8"},
      {PARTS("s = pad x lo=1,0 hi=0,0 value=5\nr = pad s lo=1,0 hi=0,0 value=5", "[a, -]"),
       "permute [a, -] 8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect_exact(cases[i][0], cases[i][1]);
  }
}

Test(partition, a_sum_to_a_split_result_is_scattered) {
  expect_exact("level global\n"
               "mesh a=4\n"
               "param w f32[8, 8] @ [a, -]\n"
               "input x f32[4, 8] @ [-, a]\n"
               "read w\n"
               "d = dot x w lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"
               "result d @ [a, -]\n",
               // 3 / 4 of 4 * 8 * 4 bytes.
               "reduce_scatter [a, -] 96");
}

Test(partition, a_split_that_reshape_cannot_keep_moves_what_lies_elsewhere) {
  expect_exact("level global\n"
               "mesh a=4\n"
               "input x f32[5, 4] @ [a, -]\n"
               "y = reshape x shape=20\n"
               "result y @ [a]\n",
               // Elements 0-7, 8-15, 16-19 and none are to be 0-4, 5-9, 10-14, 15-19: rank 1 sends
               // five of its own and one.
               "all_slice [a, -]; permute [a] 24");
  expect_exact(
      "level global\n"
      "mesh a=4\n"
      "input x f32[2, 12] @ [-, a]\n"
      "y = reshape x shape=2,3,4\n"
      "result y @ [-, a, -]\n",
      // Three of twelve each are to be four for three ranks: of two rows, rank 3 sends all.
      "permute [-, a] 24; all_slice [-, a, -]");
}

Test(partition, a_split_of_an_inner_dim_moves_to_the_first_of_its_group) {
  static const char *const cases[][2] = {
      // Blocks of 12 x 2 floats, 96 bytes: three quarters go to others, the reshape moves nothing.
      {"input x f32[12, 8] @ [-, a]\ny = reshape x shape=16,6\nresult y @ [a, -]\n",
       "all_to_all [a, -] 72"},
      {"input x f32[16, 6] @ [a, -]\ny = reshape x shape=12,8\nresult y @ [-, a]\n",
       "all_to_all [-, a] 72"},
      // 2 columns of 6 rows, the last rank none: 2 rows each stay. Three rows of 4 are those two.
      {"input x f32[6, 6] @ [-, a]\ny = reshape x shape=9,4\nresult y @ [a, -]\n",
       "permute [a, -] 32; all_slice [a, -]"},
      // Rows of 4 in blocks of 3 x 2: the first two ranks get two rows, the third one the last.
      // Then
      // 8, 8, 4 and no elements are to be 5 each.
      {"input x f32[5, 4] @ [-, a]\ny = reshape x shape=20\nresult y @ [a]\n",
       "permute [a, -] 20; permute [a] 24"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text, "level global\nmesh a=4\n%s", cases[i][0]);
    expect_exact(text, cases[i][1]);
  }
}

Test(partition, a_reshape_of_blocks_that_hold_the_same_moves_nothing) {
  expect_exact("level global\n"
               "mesh a=2 b=2\n"
               "input x f32[3, 4, 2] @ [a, b, -]\n"
               "y = reshape x shape=3,8\n"
               "result y @ [a, b]\n",
               "");
}

Test(partition, an_updated_parameter_lies_as_it_did) {
  bench_t bench;
  bench_load(&bench, "level global\n"
                     "mesh a=2 b=2\n"
                     "param w f32[6, 4] @ [a, ?]\n"
                     "entry step\n"
                     "input x f32[6, 4] @ [-, b]\n"
                     "read w\n"
                     "v = sub w x\n"
                     "update w v\n"
                     "entry look\n"
                     "read w\n"
                     "r = relu w\n"
                     "result r @ [-, -]\n");
  bench_check(&bench);
  const tspec_sharding_t *stored = bench.program->params[0].sharding;
  for (int i = 0; i < 2; i++) {
    const tspec_func_t *func = bench.program->funcs[i];
    const tspec_value_t *read = func->args[func->nargs - 1].value;
    cr_expect(tspec_sharding_same_layout(read->sharding, stored));
  }
  cr_expect(
      tspec_sharding_same_layout(bench.program->funcs[0]->results[0].value->sharding, stored));
  bench_end(&bench);
}
