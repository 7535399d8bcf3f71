#include "support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/eval/check.h"
#include "passes/steps.h"
#include "tests/support/program_text.h"

void bench_start(bench_t *bench, const tspec_mesh_axis_t *axes, int naxes) {
  *bench = (bench_t){.options = {.cost_model = TSPEC_COST_VOTES}};
  tspec_arena_init(&bench->arena);
  tspec_sources_init(&bench->sources, &bench->arena);
  tspec_diag_init(&bench->diag, &bench->sources, NULL);
  bench->program = tspec_program_create(&bench->arena, "test");
  bench->program->mesh = (tspec_mesh_t){naxes, axes};
  bench->func = tspec_program_add_func(bench->program, "main", (tspec_range_t){0});
}

void bench_end(bench_t *bench) {
  tspec_arena_deinit(&bench->arena);
}

static const tspec_sharding_t *parse(bench_t *bench, const char *text, int rank) {
  if (text == NULL) {
    return NULL;
  }
  const tspec_sharding_t *sharding =
      tspec_sharding_parse(&bench->arena, &bench->program->mesh, text, rank,
                           (tspec_about_t){.what = "'x'"}, &bench->diag);
  cr_assert(sharding != NULL, "%s", text);
  return sharding;
}

tspec_value_t *bench_input(bench_t *bench, const char *name, const char *sharding, int rank,
                           const int64_t *dims) {
  tspec_type_t type = tspec_type_make(&bench->arena, TSPEC_DTYPE_F32, rank, dims);
  tspec_value_t *value = tspec_func_add_arg(bench->program, bench->func, TSPEC_SLOT_INPUT, name,
                                            type, (tspec_range_t){0});
  value->sharding = parse(bench, sharding, rank);
  return value;
}

tspec_value_t *bench_param(bench_t *bench, const char *path, const char *sharding, int rank,
                           const int64_t *dims) {
  tspec_program_t *program = bench->program;
  tspec_type_t type = tspec_type_make(&bench->arena, TSPEC_DTYPE_F32, rank, dims);
  if (tspec_program_find_param(program, path) == NULL) {
    tspec_param_t *params = TSPEC_ARENA_NEW(&bench->arena, tspec_param_t, program->nparams + 1);
    if (program->nparams > 0) {
      memcpy(params, program->params, sizeof *params * (size_t)program->nparams);
    }
    params[program->nparams] =
        (tspec_param_t){.path = path, .type = type, .sharding = parse(bench, sharding, rank)};
    program->params = params;
    program->nparams++;
  }
  return tspec_func_add_arg(program, bench->func, TSPEC_SLOT_PARAM, path, type, (tspec_range_t){0});
}

static tspec_value_t *add_op(bench_t *bench, const tspec_op_build_t *build) {
  tspec_op_t *op = tspec_op_create(bench->program, bench->func, NULL, build, &bench->diag);
  cr_assert(op != NULL, "%s",
            bench->diag.count > 0 ? bench->diag.messages[bench->diag.count - 1].text : "?");
  return op->results[0];
}

tspec_value_t *bench_unary(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x) {
  return add_op(bench, &(tspec_op_build_t){.kind = kind, .noperands = 1, .operands = &x});
}

tspec_value_t *bench_binary(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x,
                            tspec_value_t *y) {
  tspec_value_t *operands[2] = {x, y};
  return add_op(bench, &(tspec_op_build_t){.kind = kind, .noperands = 2, .operands = operands});
}

tspec_value_t *bench_matmul(bench_t *bench, tspec_value_t *x, tspec_value_t *y) {
  static const int64_t zero = 0;
  static const int64_t one = 1;
  tspec_value_t *operands[2] = {x, y};
  tspec_attr_t attrs[5] = {
      tspec_attr_ints("lhs_batch", 0, NULL), tspec_attr_ints("rhs_batch", 0, NULL),
      tspec_attr_ints("lhs_contract", 1, &one), tspec_attr_ints("rhs_contract", 1, &zero),
      tspec_attr_dtype("dtype", TSPEC_DTYPE_F32)};
  return add_op(bench, &(tspec_op_build_t){.kind = TSPEC_OP_dot,
                                           .noperands = 2,
                                           .operands = operands,
                                           .nattrs = 5,
                                           .attrs = attrs,
                                           .spelling = "@"});
}

tspec_value_t *bench_shaped(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x, int nattrs,
                            const tspec_attr_t *attrs) {
  return add_op(
      bench, &(tspec_op_build_t){
                 .kind = kind, .noperands = 1, .operands = &x, .nattrs = nattrs, .attrs = attrs});
}

tspec_value_t *bench_reduce(bench_t *bench, tspec_reduce_t kind, tspec_value_t *x, int64_t dim) {
  tspec_attr_t attrs[2] = {tspec_attr_reduce("kind", kind), tspec_attr_ints("dims", 1, &dim)};
  return bench_shaped(bench, TSPEC_OP_reduce, x, 2, attrs);
}

tspec_value_t *bench_splat(bench_t *bench, double value, int rank, const int64_t *dims) {
  tspec_attr_t attrs[3] = {tspec_attr_dtype("dtype", TSPEC_DTYPE_F32),
                           tspec_attr_ints("shape", rank, dims),
                           tspec_attr_floats("values", 1, &value)};
  return add_op(bench, &(tspec_op_build_t){.kind = TSPEC_OP_constant, .nattrs = 3, .attrs = attrs});
}

tspec_value_t *bench_broadcast(bench_t *bench, tspec_value_t *x, int64_t dim, int rank,
                               const int64_t *dims) {
  tspec_attr_t attrs[2] = {tspec_attr_ints("shape", rank, dims),
                           tspec_attr_ints("dims", x->type.rank, &dim)};
  return bench_shaped(bench, TSPEC_OP_broadcast, x, 2, attrs);
}

tspec_value_t *bench_constraint(bench_t *bench, const char *name, tspec_value_t *x,
                                const char *sharding) {
  tspec_attr_t attr = tspec_attr_sharding("sharding", parse(bench, sharding, x->type.rank));
  tspec_value_t *value = bench_shaped(bench, TSPEC_OP_constraint, x, 1, &attr);
  value->name = name;
  return value;
}

void bench_result(bench_t *bench, const char *name, tspec_value_t *x, const char *sharding) {
  tspec_func_t *func = bench->func;
  tspec_result_t *results = TSPEC_ARENA_NEW(&bench->arena, tspec_result_t, func->nresults + 1);
  if (func->nresults > 0) {
    memcpy(results, func->results, sizeof *results * (size_t)func->nresults);
  }
  results[func->nresults++] = (tspec_result_t){.kind = TSPEC_SLOT_RESULT,
                                               .name = name,
                                               .value = x,
                                               .sharding = parse(bench, sharding, x->type.rank)};
  func->results = results;
}

void bench_run(bench_t *bench, const char *name, tspec_pass_fn_t pass) {
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  tspec_pass_run_t run = {.name = name,
                          .program = bench->program,
                          .scratch = &scratch,
                          .diag = &bench->diag,
                          .options = &bench->options};
  bool ok = pass(&run) && tspec_program_verify(run.program, name, &bench->diag);
  bench->program = run.program;
  tspec_arena_deinit(&scratch);
  cr_assert(ok, "%s: %s", name,
            bench->diag.count > 0 ? bench->diag.messages[bench->diag.count - 1].text : "?");
}

void bench_load(bench_t *bench, const char *text) {
  bench_start(bench, NULL, 0);
  bench->program = tspec_text_program(&bench->arena, &bench->diag, text);
  cr_assert(bench->program != NULL, "%s",
            bench->diag.count > 0 ? bench->diag.messages[0].text : "?");
  for (int i = 0; i < bench->program->nfuncs; i++) {
    for (tspec_op_t *op = bench->program->funcs[i]->first; op != NULL; op = op->next) {
      if (op->kind != TSPEC_OP_constraint && op->nresults == 1) {
        op->results[0]->name = NULL;
      }
    }
  }
  bench->func = bench->program->funcs[0];
  bench->global = tspec_program_clone(bench->program, &bench->arena);
}

void bench_check(bench_t *bench) {
  tspec_check_report_t report;
  tspec_check_ranks_options_t options = {.seed = 1, .small_ints = true};
  bench_run_all(bench);
  bool ok = tspec_check_ranks(bench->global, bench->program, &options, &bench->arena, &bench->diag,
                              &report);
  cr_expect(ok, "%s",
            bench->diag.count > 0 ? bench->diag.messages[bench->diag.count - 1].text : "?");
}

void bench_expect(const char *what, const char *got, const char *want) {
  cr_expect(strcmp(got, want) == 0, "%s:\n  want %s\n  got  %s", what, want, got);
}

void bench_run_all(bench_t *bench) {
  bench_run(bench, "propagate", tspec_pass_propagate);
  bench_run(bench, "reshard", tspec_pass_reshard);
  bench_run(bench, "partition", tspec_pass_partition);
  bench_run(bench, "optimize-collectives", tspec_pass_optimize_collectives);
}

const char *bench_collectives(bench_t *bench) {
  tspec_buf_t buf = {0};
  for (const tspec_op_t *op = bench->func->first; op != NULL; op = op->next) {
    if (!tspec_op_is_step(op)) {
      continue;
    }
    tspec_buf_printf(&buf, "%s%s", buf.length == 0 ? "" : "; ", tspec_op_info(op->kind)->name);
    for (int i = 0; i < op->nresults; i++) {
      tspec_buf_printf(&buf, "%s %s", i > 0 ? "," : "", bench_sharding(bench, op->results[i]));
    }
    int64_t bytes = tspec_op_cost_bytes(&bench->program->mesh, op);
    if (bytes > 0) {
      tspec_buf_printf(&buf, " %lld", (long long)bytes);
    }
  }
  const char *text = tspec_arena_strdup(&bench->arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

const char *bench_ops(bench_t *bench) {
  tspec_buf_t buf = {0};
  for (const tspec_op_t *op = bench->func->first; op != NULL; op = op->next) {
    tspec_buf_printf(&buf, "%s%s", buf.length == 0 ? "" : " ", tspec_op_info(op->kind)->name);
  }
  const char *text = tspec_arena_strdup(&bench->arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

const char *bench_sharding(bench_t *bench, const tspec_value_t *value) {
  return tspec_sharding_print(&bench->arena, &bench->program->mesh, value->sharding);
}

const tspec_value_t *bench_find(const bench_t *bench, const char *name) {
  for (int i = 0; i < bench->func->nargs; i++) {
    if (strcmp(bench->func->args[i].name, name) == 0) {
      return bench->func->args[i].value;
    }
  }
  for (const tspec_op_t *op = bench->func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      if (op->results[i]->name != NULL && strcmp(op->results[i]->name, name) == 0) {
        return op->results[i];
      }
    }
  }
  return NULL;
}

static void expect_program(const char *text, tspec_cost_model_t model, const char *ops,
                           const char *collectives) {
  bench_t bench;
  bench_load(&bench, text);
  bench.options.cost_model = model;
  bench_check(&bench);
  bench_expect("ops", bench_ops(&bench), ops);
  bench_expect("collectives", bench_collectives(&bench), collectives);
  bench_end(&bench);
}

void bench_expect_program(const char *text, const char *ops, const char *collectives) {
  expect_program(text, TSPEC_COST_VOTES, ops, collectives);
}

void bench_expect_by_cost(const char *text, const char *ops, const char *collectives) {
  expect_program(text, TSPEC_COST_BYTES, ops, collectives);
}
