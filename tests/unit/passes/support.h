// Programs built by hand, and passes run on them with the verifier behind each.
#ifndef TSPEC_TESTS_UNIT_PASSES_SUPPORT_H
#define TSPEC_TESTS_UNIT_PASSES_SUPPORT_H

#include "ir/program.h"
#include "passes/pass.h"

/// A program of one function "main" under construction.
typedef struct bench_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag; ///< keeps messages, prints none
  tspec_options_t options;
  tspec_program_t *program;
  tspec_program_t *global; ///< as loaded
  tspec_func_t *func;
} bench_t;

/// Starts with a mesh of `naxes` axes (borrowed). Layouts are chosen by vote, so that a test sees
/// what one op's shardings lead to.
void bench_start(bench_t *bench, const tspec_mesh_axis_t *axes, int naxes);
void bench_end(bench_t *bench);

#define DIMS(...)                                                                                  \
  (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

/// An f32 input; `sharding` may be NULL.
tspec_value_t *bench_input(bench_t *bench, const char *name, const char *sharding, int rank,
                           const int64_t *dims);
/// A parameter and the function's read of it.
tspec_value_t *bench_param(bench_t *bench, const char *path, const char *sharding, int rank,
                           const int64_t *dims);
tspec_value_t *bench_unary(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x);
tspec_value_t *bench_binary(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x,
                            tspec_value_t *y);
/// x @ y of matrices.
tspec_value_t *bench_matmul(bench_t *bench, tspec_value_t *x, tspec_value_t *y);
/// An op of one operand with attributes.
tspec_value_t *bench_shaped(bench_t *bench, tspec_op_kind_t kind, tspec_value_t *x, int nattrs,
                            const tspec_attr_t *attrs);
tspec_value_t *bench_reduce(bench_t *bench, tspec_reduce_t kind, tspec_value_t *x, int64_t dim);
/// A constant of one value.
tspec_value_t *bench_splat(bench_t *bench, double value, int rank, const int64_t *dims);
tspec_value_t *bench_broadcast(bench_t *bench, tspec_value_t *x, int64_t dim, int rank,
                               const int64_t *dims);
/// `let name @ sharding = x`.
tspec_value_t *bench_constraint(bench_t *bench, const char *name, tspec_value_t *x,
                                const char *sharding);
void bench_result(bench_t *bench, const char *name, tspec_value_t *x, const char *sharding);

/// Starts with a program from text (tests/support/program_text.h); `func` is its first entry. Ops'
/// results lose their names, but for those of constraints.
void bench_load(bench_t *bench, const char *text);

/// Runs a pass and the verifier; the test fails where one of them does.
void bench_run(bench_t *bench, const char *name, tspec_pass_fn_t pass);
/// propagate, reshard, partition, optimize-collectives.
void bench_run_all(bench_t *bench);

/// Runs all passes and compares what all ranks compute with what `global` does.
void bench_check(bench_t *bench);

/// The collectives in order, "all_reduce [data, -] 16384; ..." with their results and bytes; local
/// ones without bytes. In the bench's arena.
const char *bench_collectives(bench_t *bench);
/// Names of the ops in order, "dot relu dot".
const char *bench_ops(bench_t *bench);
const char *bench_sharding(bench_t *bench, const tspec_value_t *value);
void bench_expect(const char *what, const char *got, const char *want);
/// Loads a program, takes it through the passes, and expects these ops and collectives of it.
void bench_expect_program(const char *text, const char *ops, const char *collectives);
/// The same with layouts chosen by cost.
void bench_expect_by_cost(const char *text, const char *ops, const char *collectives);
/// The value with that name (a let, an argument), or NULL.
const tspec_value_t *bench_find(const bench_t *bench, const char *name);

#endif
