#include "passes/flow.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support.h"

/// A program after all passes on collectives.
typedef struct setting_t {
  bench_t bench;
  tspec_flow_t *flow;
  int nuses;
  tspec_collective_use_t *uses;
} setting_t;

static void start(setting_t *setting, const char *text) {
  bench_t *bench = &setting->bench;
  bench_load(bench, text);
  bench_run_all(bench);
  tspec_func_t *func = bench->program->funcs[0];
  setting->flow = tspec_flow_create(&bench->arena, bench->program, func);
  setting->nuses = tspec_func_collectives(bench->program, func, &bench->arena, &setting->uses);
}

/// x @ w with the contracted dim split over a.
#define PRODUCT                                                                                    \
  "level global\n"                                                                                 \
  "mesh a=2 b=2\n"                                                                                 \
  "input x f32[4, 6] @ [b, a]\n"                                                                   \
  "input w f32[6, 8] @ [a, -]\n"                                                                   \
  "d = dot x w lhs_batch= rhs_batch= lhs_contract=1 rhs_contract=0 dtype=f32\n"

Test(flow, a_reduction_that_stays_is_not_moved) {
  setting_t setting;
  start(&setting, PRODUCT "y = relu d\n"
                          "result y\n");
  cr_assert(eq(int, setting.nuses, 1));
  tspec_travelled_t travelled;
  cr_assert(not(tspec_flow_travelled(setting.flow, &setting.uses[0], &travelled)));
  cr_assert(eq(sz, travelled.makers.count, 0));
  bench_end(&setting.bench);
}

// 4 by 8 elements, 2 rows on each rank: 64 bytes, which both ranks of a send once.
Test(flow, of_a_reduction_that_moved_the_op_the_way_and_the_bytes_there_are_told) {
  setting_t setting;
  start(&setting, PRODUCT "n = neg d\n"
                          "s = reduce n kind=sum dims=1\n"
                          "result s\n");
  cr_assert(eq(int, setting.nuses, 1));
  tspec_travelled_t travelled;
  cr_assert(tspec_flow_travelled(setting.flow, &setting.uses[0], &travelled));
  cr_assert(eq(sz, travelled.makers.count, 1));
  const tspec_maker_t *maker = &travelled.makers.items[0];
  cr_assert(eq(int, (int)maker->op->kind, (int)TSPEC_OP_dot));
  cr_assert(eq(int, maker->naxes, 1));
  cr_assert(eq(int, maker->axes[0].axis, 0));
  cr_assert(eq(i64, maker->bytes, 64));
  cr_assert(eq(i64, setting.uses[0].bytes, 8), "2 of 4 sums on each rank");
  cr_assert(eq(sz, travelled.along.count, 2));
  cr_assert(eq(int, (int)travelled.along.items[0]->kind, (int)TSPEC_OP_neg));
  cr_assert(eq(int, (int)travelled.along.items[1]->kind, (int)TSPEC_OP_reduce));
  bench_end(&setting.bench);
}

// The sum over b is the reduction's own, the one over a the product's.
Test(flow, what_the_last_op_makes_itself_is_not_moved) {
  setting_t setting;
  start(&setting, PRODUCT "n = neg d\n"
                          "s = reduce n kind=sum dims=0,1\n"
                          "result s\n");
  tspec_travelled_t travelled;
  cr_assert(eq(int, setting.nuses, 1));
  cr_assert(eq(int, setting.uses[0].naxes, 2));
  cr_assert(tspec_flow_travelled(setting.flow, &setting.uses[0], &travelled));
  cr_assert(eq(sz, travelled.makers.count, 1));
  cr_assert(eq(int, travelled.makers.items[0].naxes, 1));
  cr_assert(eq(int, travelled.makers.items[0].axes[0].axis, 0));
  bench_end(&setting.bench);
}

Test(flow, all_readers_are_told_and_a_result_that_is_returned) {
  setting_t setting;
  start(&setting, PRODUCT "y = relu d\n"
                          "z = exp d\n"
                          "result y\n"
                          "result z\n"
                          "result d\n");
  const tspec_op_t *const *readers = NULL;
  cr_assert(eq(int, setting.nuses, 1));
  cr_assert(eq(int, tspec_flow_readers(setting.flow, setting.uses[0].op, &readers), 3));
  cr_assert(eq(int, (int)readers[0]->kind, (int)TSPEC_OP_relu));
  cr_assert(eq(int, (int)readers[1]->kind, (int)TSPEC_OP_exp));
  cr_assert(eq(ptr, (void *)readers[2], NULL));
  bench_end(&setting.bench);
}
