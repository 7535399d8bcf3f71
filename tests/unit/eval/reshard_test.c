// Random changes of sharding, and random slices, paddings and concatenations from any sharding to
// any, as collectives that are played on all ranks: every rank ends up with its block, each step is
// legal, and what it moves is what it was predicted to cost.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval.h"
#include "ir/eval/init.h"
#include "ir/program_steps.h"
#include "ir/shard/axes.h"
#include "ir/shard/decompose.h"
#include "passes/pass.h"
#include "tests/support/program_text.h"

enum { NROUNDS = 1500, MAX_DIMS = 3, MAX_AXES = 3, MAX_OPERANDS = 3 };

typedef struct round_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_mesh_t mesh;
  tspec_type_t type;
  uint64_t seed;
  uint64_t draws;
} round_t;

static int64_t draw(round_t *round, int64_t below) {
  return (int64_t)(tspec_init_bits(round->seed, 0, round->draws++) >> 33) % below;
}

static void draw_mesh(round_t *round) {
  static const char *const names[MAX_AXES] = {"x", "y", "z"};
  static const int64_t sizes[] = {1, 2, 2, 3, 4, 4};
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(&round->arena, tspec_mesh_axis_t, MAX_AXES);
  round->mesh.naxes = 1 + (int)draw(round, MAX_AXES);
  for (int i = 0; i < round->mesh.naxes; i++) {
    axes[i].name = names[i];
    axes[i].size = sizes[draw(round, 6)];
  }
  round->mesh.axes = axes;
}

/// Deals the mesh's axes, or halves of those of size 4, to dims, pending axes, or nobody.
static const tspec_sharding_t *draw_sharding(round_t *round, bool may_be_pending) {
  tspec_arena_t *arena = &round->arena;
  tspec_dim_t *dims = TSPEC_ARENA_NEW(arena, tspec_dim_t, round->type.rank);
  tspec_axis_t *lists[MAX_DIMS + 1];
  int counts[MAX_DIMS + 1] = {0};
  for (int i = 0; i <= round->type.rank; i++) {
    lists[i] = TSPEC_ARENA_NEW(arena, tspec_axis_t, 2 * MAX_AXES);
  }
  for (int k = 0; k < round->mesh.naxes; k++) {
    int axis = (int)draw(round, 2) == 0 ? k : round->mesh.naxes - 1 - k;
    bool taken = false;
    tspec_axis_t whole = tspec_axis_full(&round->mesh, axis);
    for (int i = 0; i <= round->type.rank; i++) {
      taken = taken || tspec_axes_overlap(lists[i], counts[i], whole);
    }
    bool halves = whole.size == 4 && draw(round, 3) == 0;
    for (int half = 0; !taken && whole.size > 1 && half < (halves ? 2 : 1); half++) {
      tspec_axis_t piece = halves ? (tspec_axis_t){axis, half == 0 ? 1 : 2, 2} : whole;
      int64_t to = draw(round, round->type.rank + (may_be_pending ? 2 : 1));
      if (to <= round->type.rank && (may_be_pending || to < round->type.rank)) {
        tspec_axes_push(lists[to], &counts[to], piece);
      }
    }
  }
  for (int i = 0; i < round->type.rank; i++) {
    dims[i].axes = lists[i];
    dims[i].naxes = counts[i];
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  sharding->rank = round->type.rank;
  sharding->dims = dims;
  int last = round->type.rank;
  return tspec_sharding_with_pending(arena, &round->mesh, sharding, TSPEC_REDUCE_SUM, lists[last],
                                     counts[last]);
}

static tspec_value_t *append(round_t *round, tspec_program_t *program, tspec_value_t *value,
                             const tspec_step_t *step) {
  tspec_op_build_t build = tspec_step_build(&round->arena, value, step);
  tspec_op_t *op = tspec_op_create(program, program->funcs[0], NULL, &build, &round->diag);
  op->results[0]->sharding = step->to;
  return op->results[0];
}

static tspec_program_t *write_program(round_t *round, const tspec_sharding_t *from,
                                      tspec_steps_t steps) {
  tspec_program_t *program = tspec_program_create(&round->arena, "round");
  program->mesh = round->mesh;
  program->level = TSPEC_LEVEL_LOCAL;
  tspec_func_t *func = tspec_program_add_func(program, "main", (tspec_range_t){0});
  tspec_value_t *value =
      tspec_func_add_arg(program, func, TSPEC_SLOT_INPUT, "a", round->type, (tspec_range_t){0});
  value->sharding = tspec_sharding_complete(&round->arena, from);
  if (from->npending > 0) {
    tspec_step_t pending = {.kind = TSPEC_COLLECTIVE_MAKE_PENDING,
                            .reduce = from->pending_kind,
                            .naxes = from->npending,
                            .axes = from->pending,
                            .from = value->sharding,
                            .to = from};
    value = append(round, program, value, &pending);
  }
  for (int i = 0; i < steps.count; i++) {
    value = append(round, program, value, &steps.items[i]);
  }
  func->nresults = 1;
  func->results = TSPEC_ARENA_NEW(&round->arena, tspec_result_t, 1);
  func->results[0] = (tspec_result_t){
      .kind = TSPEC_SLOT_RESULT, .name = "r", .value = value, .sharding = value->sharding};
  return program;
}

static void compare_costs(round_t *round, tspec_eval_t *eval, tspec_steps_t steps,
                          const char *what) {
  int64_t count = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(eval, &count);
  int64_t at = 0;
  for (int i = 0; i < steps.count; i++) {
    int64_t predicted = tspec_step_cost_bytes(&round->mesh, round->type, &steps.items[i]);
    if (steps.items[i].kind >= TSPEC_COLLECTIVE_ALL_SLICE) {
      cr_expect(eq(i64, predicted, 0), "%s", what);
      continue;
    }
    cr_assert(at < count, "%s", what);
    cr_expect(eq(i64, traffic[at].bytes, predicted), "%s, step %d", what, i);
    at++;
  }
  cr_expect(eq(i64, at, count), "%s", what);
}

static void play(round_t *round) {
  static const tspec_dtype_t dtypes[] = {TSPEC_DTYPE_F32, TSPEC_DTYPE_I32, TSPEC_DTYPE_I8};
  draw_mesh(round);
  int64_t sizes[MAX_DIMS];
  int rank = 1 + (int)draw(round, MAX_DIMS);
  for (int i = 0; i < rank; i++) {
    sizes[i] = draw(round, 2) == 0 ? 1 + draw(round, 9) : (int64_t)1 << draw(round, 4);
  }
  round->type = tspec_type_make(&round->arena, dtypes[draw(round, 3)], rank, sizes);
  const tspec_sharding_t *from = draw_sharding(round, true);
  const tspec_sharding_t *to = draw_sharding(round, false);
  tspec_steps_t steps = tspec_reshard_decompose(&round->arena, &round->mesh, round->type, from, to);
  const char *what = tspec_arena_printf(&round->arena, "seed %d, {%s} %s %s: %s", (int)round->seed,
                                        tspec_mesh_print(&round->arena, &round->mesh),
                                        tspec_type_print(&round->arena, round->type),
                                        tspec_sharding_print(&round->arena, &round->mesh, from),
                                        tspec_steps_print(&round->arena, &round->mesh, steps));
  const tspec_sharding_t *end = steps.count > 0 ? steps.items[steps.count - 1].to : from;
  cr_expect(tspec_sharding_same_layout(end, to), "%s", what);
  tspec_program_t *program = write_program(round, from, steps);
  cr_assert(tspec_program_verify(program, NULL, &round->diag), "%s\n%s", what,
            round->diag.count > 0 ? round->diag.messages[0].text : "");
  tspec_dense_t *a = tspec_dense_create(round->type.dtype, rank, sizes);
  for (int64_t i = 0; i < a->count; i++) {
    tspec_dense_set(a, i, (double)(i % 100 + 1));
  }
  tspec_eval_input_t input = {"a", a};
  tspec_eval_t *eval = tspec_eval_create(program, &round->diag);
  cr_assert(tspec_eval_run(eval, "main", &input, 1), "%s\n%s", what,
            round->diag.count > 0 ? round->diag.messages[0].text : "");
  tspec_dense_t *r = tspec_eval_result(eval, "r");
  cr_expect(tspec_dense_equal(a, r), "%s", what);
  compare_costs(round, eval, steps, what);
  tspec_dense_destroy(a);
  tspec_dense_destroy(r);
  tspec_eval_destroy(eval);
}

Test(eval_reshard, random_changes_arrive_and_cost_what_was_predicted) {
  for (int i = 0; i < NROUNDS; i++) {
    round_t round = {.seed = (uint64_t)i + 1};
    tspec_arena_init(&round.arena);
    tspec_sources_init(&round.sources, &round.arena);
    tspec_diag_init(&round.diag, &round.sources, NULL);
    play(&round);
    tspec_arena_deinit(&round.arena);
  }
}

// ---- slice, pad, concat ------------------------------------------------------------------------

/// Sizes that some rank may have nothing of.
static void draw_type(round_t *round) {
  int64_t sizes[MAX_DIMS];
  int rank = 1 + (int)draw(round, MAX_DIMS);
  for (int i = 0; i < rank; i++) {
    sizes[i] = 1 + draw(round, draw(round, 3) == 0 ? 3 : 11);
  }
  round->type = tspec_type_make(&round->arena, TSPEC_DTYPE_I32, rank, sizes);
}

static tspec_value_t *draw_operand(round_t *round, tspec_program_t *program, const char *name,
                                   int64_t dim) {
  tspec_type_t type = round->type;
  int64_t *sizes =
      tspec_arena_copy(&round->arena, type.dims, sizeof *type.dims * (size_t)type.rank);
  if (dim >= 0) {
    sizes[dim] = 1 + draw(round, 9);
  }
  return tspec_func_add_arg(program, program->funcs[0], TSPEC_SLOT_INPUT, name,
                            tspec_type_make(&round->arena, type.dtype, type.rank, sizes),
                            (tspec_range_t){0});
}

static tspec_op_t *draw_op(round_t *round, tspec_program_t *program) {
  static const char *const names[MAX_OPERANDS] = {"a", "b", "c"};
  tspec_type_t type = round->type;
  tspec_value_t *operands[MAX_OPERANDS];
  int64_t numbers[3][MAX_DIMS];
  int form = (int)draw(round, 3);
  int64_t dim = form == 2 ? draw(round, type.rank) : -1;
  int noperands = form == 2 ? 1 + (int)draw(round, MAX_OPERANDS) : 1;
  for (int k = 0; k < noperands; k++) {
    operands[k] =
        k > 0 && draw(round, 4) == 0 ? operands[0] : draw_operand(round, program, names[k], dim);
  }
  for (int d = 0; d < type.rank; d++) {
    int64_t start = draw(round, type.dims[d]);
    numbers[0][d] = form == 0 ? start : draw(round, 4);
    numbers[1][d] = form == 0 ? start + 1 + draw(round, type.dims[d] - start) : draw(round, 4);
    numbers[2][d] = 1 + draw(round, 3);
  }
  tspec_attr_t slice[] = {tspec_attr_ints("starts", type.rank, numbers[0]),
                          tspec_attr_ints("ends", type.rank, numbers[1]),
                          tspec_attr_ints("steps", type.rank, numbers[2])};
  tspec_attr_t pad[] = {tspec_attr_ints("lo", type.rank, numbers[0]),
                        tspec_attr_ints("hi", type.rank, numbers[1]),
                        tspec_attr_float("value", -7)};
  tspec_attr_t concat[] = {tspec_attr_int("dim", dim)};
  tspec_op_build_t builds[] = {
      {.kind = TSPEC_OP_slice, .nattrs = 3, .attrs = slice},
      {.kind = TSPEC_OP_pad, .nattrs = 3, .attrs = pad},
      {.kind = TSPEC_OP_concat, .nattrs = 1, .attrs = concat},
  };
  builds[form].noperands = noperands;
  builds[form].operands = operands;
  return tspec_op_create(program, program->funcs[0], NULL, &builds[form], &round->diag);
}

static tspec_dense_t *run_parts(round_t *round, const tspec_program_t *program,
                                tspec_eval_t **out_eval, const char *what) {
  const tspec_func_t *func = program->funcs[0];
  tspec_eval_input_t inputs[MAX_OPERANDS];
  for (int i = 0; i < func->nargs; i++) {
    tspec_type_t type = func->args[i].value->type;
    tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
    for (int64_t k = 0; k < dense->count; k++) {
      tspec_dense_set_int(dense, k, k + 1000 * i);
    }
    inputs[i] = (tspec_eval_input_t){func->args[i].name, dense};
  }
  tspec_eval_t *eval = tspec_eval_create(program, &round->diag);
  cr_assert(tspec_eval_run(eval, "main", inputs, func->nargs), "%s\n%s", what,
            round->diag.count > 0 ? round->diag.messages[0].text : "");
  for (int i = 0; i < func->nargs; i++) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  *out_eval = eval;
  return tspec_eval_result(eval, "r");
}

/// Lays operands and result out anew and makes the op a collective where that is needed.
static void partition_parts(round_t *round, tspec_program_t *program, tspec_op_t *op) {
  tspec_func_t *func = program->funcs[0];
  for (int i = 0; i < func->nargs; i++) {
    func->args[i].value->sharding = draw_sharding(round, false);
  }
  op->results[0]->sharding = draw_sharding(round, false);
  func->results[0].sharding = op->results[0]->sharding;
  program->level = TSPEC_LEVEL_SHARDED;
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  tspec_options_t options = {0};
  tspec_pass_run_t run = {.name = "partition",
                          .program = program,
                          .scratch = &scratch,
                          .diag = &round->diag,
                          .options = &options};
  cr_assert(tspec_program_verify(program, "reshard", &round->diag) && tspec_pass_partition(&run) &&
                tspec_program_verify(program, "partition", &round->diag),
            "seed %d: %s", (int)round->seed,
            round->diag.count > 0 ? round->diag.messages[0].text : "");
  tspec_arena_deinit(&scratch);
}

/// What the one op of a local program sends. Returns true if it is a collective that does.
static bool compare_parts_cost(round_t *round, tspec_eval_t *eval, const tspec_op_t *op) {
  int64_t count = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(eval, &count);
  bool sends = op->kind == TSPEC_OP_permute;
  cr_assert(eq(i64, count, sends), "seed %d", (int)round->seed);
  if (sends) {
    int64_t predicted = tspec_op_cost_bytes(&round->mesh, op);
    cr_expect(eq(i64, traffic[0].bytes, predicted), "seed %d", (int)round->seed);
    cr_expect(predicted > 0, "seed %d: nothing moves", (int)round->seed);
  }
  return sends;
}

static bool play_parts(round_t *round) {
  draw_mesh(round);
  draw_type(round);
  const char *what = tspec_arena_printf(&round->arena, "seed %d", (int)round->seed);
  tspec_program_t *program = tspec_program_create(&round->arena, "round");
  program->mesh = round->mesh;
  tspec_func_t *func = tspec_program_add_func(program, "main", (tspec_range_t){0});
  tspec_op_t *op = draw_op(round, program);
  cr_assert(ne(ptr, op, NULL), "%s", what);
  func->nresults = 1;
  func->results = TSPEC_ARENA_NEW(&round->arena, tspec_result_t, 1);
  func->results[0] =
      (tspec_result_t){.kind = TSPEC_SLOT_RESULT, .name = "r", .value = op->results[0]};
  tspec_eval_t *whole = NULL;
  tspec_eval_t *ranks = NULL;
  tspec_dense_t *want = run_parts(round, program, &whole, what);
  tspec_eval_destroy(whole);
  partition_parts(round, program, op);
  tspec_dense_t *got = run_parts(round, program, &ranks, what);
  cr_expect(tspec_dense_equal(want, got), "%s", what);
  bool sends = compare_parts_cost(round, ranks, func->last);
  tspec_dense_destroy(want);
  tspec_dense_destroy(got);
  tspec_eval_destroy(ranks);
  return sends;
}

Test(eval_reshard, random_parts_arrive_and_cost_what_was_predicted) {
  int nsent = 0;
  for (int i = 0; i < NROUNDS; i++) {
    round_t round = {.seed = (uint64_t)i + 1};
    tspec_arena_init(&round.arena);
    tspec_sources_init(&round.sources, &round.arena);
    tspec_diag_init(&round.diag, &round.sources, NULL);
    nsent += play_parts(&round);
    tspec_arena_deinit(&round.arena);
  }
  cr_expect(nsent > NROUNDS / 4, "%d of %d rounds send something", nsent, NROUNDS);
}
