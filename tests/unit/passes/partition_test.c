#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support.h"

static const tspec_mesh_axis_t data_model[] = {{"data", 2, 0}, {"model", 4, 0}};

static void expect_text(const char *what, const char *got, const char *want) {
  cr_expect(strcmp(got, want) == 0, "%s:\n  want %s\n  got  %s", what, want, got);
}

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
    expect_text("collectives", bench_collectives(&bench),
                "all_reduce [data, -] 24576; all_reduce [data, -] 24576; "
                "all_reduce [data, -] 24576; all_reduce [data, -] 24576");
    expect_text("ops", bench_ops(&bench),
                "dot relu dot all_reduce dot relu dot all_reduce "
                "dot relu dot all_reduce dot relu dot all_reduce");
    expect_text("y", bench_sharding(&bench, bench_find(&bench, "y")), "[data, model]");
    expect_text("z", bench_sharding(&bench, bench_find(&bench, "z")), "[data, -]");
    bench_end(&bench);
  }
}
