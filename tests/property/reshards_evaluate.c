// Plans on the evaluator: a program of the steps alone.
#include "ir/eval/eval.h"
#include "ir/program_steps.h"
#include "tests/property/reshards.h"

static tspec_value_t *append(reshard_case_t *c, tspec_program_t *program, tspec_value_t *value,
                             const tspec_step_t *step, tspec_diag_t *diag) {
  tspec_op_build_t build = tspec_step_build(c->arena, value, step);
  tspec_op_t *op = tspec_op_create(program, program->funcs[0], NULL, &build, diag);
  if (op == NULL) {
    reshard_fail(c, "no op can be made of a step");
    return value;
  }
  op->results[0]->sharding = step->to;
  return op->results[0];
}

static tspec_value_t *append_pending(reshard_case_t *c, tspec_program_t *program,
                                     tspec_value_t *value, tspec_collective_t kind,
                                     const tspec_sharding_t *pending, tspec_diag_t *diag) {
  if (pending->npending == 0) {
    return value;
  }
  const tspec_sharding_t *complete = tspec_sharding_complete(c->arena, pending);
  bool makes = kind == TSPEC_COLLECTIVE_MAKE_PENDING;
  tspec_step_t step = {.kind = kind,
                       .reduce = pending->pending_kind,
                       .naxes = pending->npending,
                       .axes = pending->pending,
                       .from = makes ? complete : pending,
                       .to = makes ? pending : complete,
                       .src_dim = -1,
                       .dst_dim = -1};
  return append(c, program, value, &step, diag);
}

// Makes the input pending if the first sharding is, and completes the result.
static tspec_program_t *write_program(reshard_case_t *c, tspec_diag_t *diag) {
  tspec_program_t *program = tspec_program_create(c->arena, "reshard");
  program->mesh = c->mesh;
  program->level = TSPEC_LEVEL_LOCAL;
  tspec_func_t *func = tspec_program_add_func(program, "main", (tspec_range_t){0});
  tspec_value_t *value =
      tspec_func_add_arg(program, func, TSPEC_SLOT_INPUT, "a", c->type, (tspec_range_t){0});
  value->sharding = tspec_sharding_complete(c->arena, c->from);
  value = append_pending(c, program, value, TSPEC_COLLECTIVE_MAKE_PENDING, c->from, diag);
  for (int i = 0; i < c->steps.count; i++) {
    value = append(c, program, value, &c->steps.items[i], diag);
  }
  value = append_pending(c, program, value, TSPEC_COLLECTIVE_ALL_REDUCE, c->to, diag);
  func->nresults = 1;
  func->results = TSPEC_ARENA_NEW(c->arena, tspec_result_t, 1);
  func->results[0] = (tspec_result_t){
      .kind = TSPEC_SLOT_RESULT, .name = "r", .value = value, .sharding = value->sharding};
  return program;
}

static void compare_bytes(reshard_case_t *c, const tspec_eval_t *eval) {
  int64_t count = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(eval, &count);
  int64_t at = 0;
  for (int i = 0; i < c->steps.count; i++) {
    int64_t predicted = tspec_step_cost_bytes(&c->mesh, c->type, &c->steps.items[i]);
    bool is_local = c->steps.items[i].kind >= TSPEC_COLLECTIVE_ALL_SLICE;
    int64_t counted = is_local || at == count ? 0 : traffic[at++].bytes;
    if (predicted != counted) {
      reshard_fail(c, "step %d: %lld bytes predicted, %lld counted", i, (long long)predicted,
                   (long long)counted);
    }
  }
}

static void compare_values(reshard_case_t *c, tspec_eval_t *eval) {
  tspec_dense_t *a = tspec_dense_create(c->type.dtype, c->type.rank, c->type.dims);
  for (int64_t i = 0; i < a->count; i++) {
    tspec_dense_set(a, i, (double)(i + 1));
  }
  tspec_eval_input_t input = {"a", a};
  if (!tspec_eval_run(eval, "main", &input, 1)) {
    reshard_fail(c, "the evaluator refuses the steps");
  } else {
    tspec_dense_t *r = tspec_eval_result(eval, "r");
    if (!tspec_dense_equal(a, r)) {
      reshard_fail(c, "wrong values");
    }
    compare_bytes(c, eval);
    tspec_dense_destroy(r);
  }
  tspec_dense_destroy(a);
}

void reshard_evaluate(reshard_case_t *c) {
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_sources_init(&sources, c->arena);
  tspec_diag_init(&diag, &sources, NULL);
  tspec_program_t *program = write_program(c, &diag);
  if (!c->has_failed && !tspec_program_verify(program, NULL, &diag)) {
    reshard_fail(c, "not verified: %s", diag.count > 0 ? diag.messages[0].text : "");
  }
  if (!c->has_failed) {
    tspec_eval_t *eval = tspec_eval_create(program, &diag);
    compare_values(c, eval);
    tspec_eval_destroy(eval);
  }
}
