#include "ir/eval/eval.h"

#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/eval/init.h"
#include "ir/eval/ops.h"
#include "ir/program_steps.h"

void *tspec_eval_allocate(size_t bytes) {
  void *memory = calloc(bytes > 0 ? bytes : 1, 1);
  TSPEC_CHECK(memory != NULL, "out of memory for %zu bytes", bytes);
  return memory;
}

// ---- blocks ------------------------------------------------------------------------------------

tspec_block_t *tspec_eval_blocks(tspec_eval_t *eval, tspec_type_t type,
                                 const tspec_sharding_t *sharding, int64_t rank) {
  tspec_block_t *blocks = TSPEC_ARENA_NEW(&eval->scratch, tspec_block_t, type.rank);
  if (eval->is_local) {
    tspec_sharding_blocks(&eval->program->mesh, sharding, type, rank, blocks);
    return blocks;
  }
  for (int i = 0; i < type.rank; i++) {
    blocks[i].end = type.dims[i];
  }
  return blocks;
}

tspec_dense_t *tspec_eval_new_block(tspec_eval_t *eval, const tspec_value_t *value, int64_t rank) {
  const tspec_block_t *blocks = tspec_eval_blocks(eval, value->type, value->sharding, rank);
  int64_t *sizes = TSPEC_ARENA_NEW(&eval->scratch, int64_t, value->type.rank);
  for (int i = 0; i < value->type.rank; i++) {
    sizes[i] = blocks[i].end - blocks[i].begin;
  }
  return tspec_dense_create(value->type.dtype, value->type.rank, sizes);
}

int64_t tspec_eval_holder_key(const tspec_eval_t *eval, const tspec_sharding_t *sharding,
                              int64_t rank) {
  const tspec_mesh_t *mesh = &eval->program->mesh;
  int64_t key = 0;
  for (int i = 0; eval->is_local && i < sharding->rank; i++) {
    key = key * tspec_dim_nblocks(&sharding->dims[i]) +
          tspec_dim_block_index(mesh, &sharding->dims[i], rank);
  }
  for (int i = 0; eval->is_local && i < sharding->npending; i++) {
    key = key * sharding->pending[i].size + tspec_axis_coordinate(mesh, rank, sharding->pending[i]);
  }
  return key;
}

/// Puts the whole tensor together; holders of one block agree already.
static tspec_dense_t *assemble(tspec_eval_t *eval, tspec_type_t type,
                               const tspec_sharding_t *sharding, tspec_dense_t *const *blocks) {
  tspec_dense_t *whole = tspec_dense_create(type.dtype, type.rank, type.dims);
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    tspec_dense_paste(whole, blocks[rank], tspec_eval_blocks(eval, type, sharding, rank));
  }
  return whole;
}

static void cut_for_ranks(tspec_eval_t *eval, const tspec_dense_t *whole,
                          const tspec_sharding_t *sharding, tspec_dense_t **out_blocks) {
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    tspec_dense_destroy(out_blocks[rank]);
    out_blocks[rank] = tspec_dense_cut(whole, tspec_eval_blocks(eval, whole->type, sharding, rank));
  }
}

static void destroy_blocks(tspec_dense_t **blocks, int64_t count) {
  for (int64_t i = 0; blocks != NULL && i < count; i++) {
    tspec_dense_destroy(blocks[i]);
    blocks[i] = NULL;
  }
}

// ---- parameters --------------------------------------------------------------------------------

tspec_eval_t *tspec_eval_create(const tspec_program_t *program, tspec_diag_t *diag) {
  if (program->level > TSPEC_LEVEL_LOCAL) {
    tspec_diag_error(diag, (tspec_range_t){0}, "a program at level %s cannot be evaluated",
                     tspec_level_name(program->level));
    return NULL;
  }
  tspec_eval_t *eval = tspec_eval_allocate(sizeof *eval);
  eval->program = program;
  eval->diag = diag;
  eval->is_local = program->level == TSPEC_LEVEL_LOCAL;
  eval->nranks = eval->is_local ? tspec_mesh_nranks(&program->mesh) : 1;
  tspec_arena_init(&eval->scratch);
  tspec_arena_init(&eval->kept);
  eval->param_names = tspec_program_param_names(program, &eval->kept);
  eval->params =
      tspec_eval_allocate(sizeof *eval->params * (size_t)(program->nparams * eval->nranks));
  for (int i = 0; i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    tspec_value_t value = {.type = param->type, .sharding = param->sharding};
    for (int64_t rank = 0; rank < eval->nranks; rank++) {
      eval->params[i * eval->nranks + rank] = tspec_eval_new_block(eval, &value, rank);
    }
  }
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_func_number(program->funcs[i]);
  }
  tspec_arena_deinit(&eval->scratch);
  return eval;
}

static void forget_results(tspec_eval_t *eval) {
  if (eval->ran != NULL) {
    destroy_blocks(eval->results, eval->ran->nresults * eval->nranks);
    free(eval->results);
  }
  eval->ran = NULL;
  eval->results = NULL;
  eval->ntraffic = 0;
}

void tspec_eval_destroy(tspec_eval_t *eval) {
  if (eval == NULL) {
    return;
  }
  forget_results(eval);
  destroy_blocks(eval->params, eval->program->nparams * eval->nranks);
  free(eval->params);
  free(eval->traffic);
  tspec_arena_deinit(&eval->scratch);
  tspec_arena_deinit(&eval->kept);
  free(eval);
}

int64_t tspec_eval_nranks(const tspec_eval_t *eval) {
  return eval->nranks;
}

void tspec_eval_init_params(tspec_eval_t *eval, uint64_t seed) {
  for (int i = 0; i < eval->program->nparams; i++) {
    const tspec_param_t *param = &eval->program->params[i];
    tspec_type_t type = param->type;
    uint64_t hash = tspec_init_hash(param->path);
    tspec_dense_t *whole = tspec_dense_create(type.dtype, type.rank, type.dims);
    for (int64_t k = 0; k < whole->count; k++) {
      tspec_dense_set(whole, k,
                      tspec_init_element(param->init, param->init_args, seed, hash, (uint64_t)k));
    }
    cut_for_ranks(eval, whole, param->sharding, &eval->params[i * eval->nranks]);
    tspec_dense_destroy(whole);
    tspec_arena_deinit(&eval->scratch);
  }
}

/// Index of a parameter, or -1 after reporting.
static int find_param(const tspec_eval_t *eval, const char *path) {
  const tspec_param_t *param = tspec_names_get(&eval->param_names, path);
  if (param == NULL) {
    tspec_diag_error(eval->diag, (tspec_range_t){0}, "'%s' is no parameter or state", path);
    return -1;
  }
  return (int)(param - eval->program->params);
}

static bool check_type(tspec_eval_t *eval, const char *what, tspec_type_t wanted,
                       tspec_type_t got) {
  if (tspec_type_equal(wanted, got)) {
    return true;
  }
  tspec_diag_error(eval->diag, (tspec_range_t){0}, "'%s' has type %s, got %s", what,
                   tspec_type_print(&eval->scratch, wanted), tspec_type_print(&eval->scratch, got));
  return false;
}

bool tspec_eval_set_param(tspec_eval_t *eval, const char *path, const tspec_dense_t *whole) {
  int index = find_param(eval, path);
  if (index < 0 || !check_type(eval, path, eval->program->params[index].type, whole->type)) {
    return false;
  }
  cut_for_ranks(eval, whole, eval->program->params[index].sharding,
                &eval->params[index * eval->nranks]);
  tspec_arena_deinit(&eval->scratch);
  return true;
}

tspec_dense_t *tspec_eval_get_param(tspec_eval_t *eval, const char *path) {
  int index = find_param(eval, path);
  if (index < 0) {
    return NULL;
  }
  const tspec_param_t *param = &eval->program->params[index];
  tspec_dense_t *whole =
      assemble(eval, param->type, param->sharding, &eval->params[index * eval->nranks]);
  tspec_arena_deinit(&eval->scratch);
  return whole;
}

// ---- one run -----------------------------------------------------------------------------------

/// The values of the function in work, by id.
typedef struct run_t {
  const tspec_func_t *func;
  int nvalues;
  tspec_eval_value_t *values;
} run_t;

static run_t start_run(tspec_eval_t *eval, const tspec_func_t *func) {
  int nvalues = func->nargs;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    nvalues += op->nresults;
  }
  run_t run = {func, nvalues, tspec_eval_allocate(sizeof *run.values * (size_t)nvalues)};
  for (int i = 0; i < nvalues; i++) {
    run.values[i].blocks = tspec_eval_allocate(sizeof *run.values[i].blocks * (size_t)eval->nranks);
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->noperands; i++) {
      run.values[op->operands[i]->id].nreads++;
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    run.values[func->results[i].value->id].nreads++;
  }
  return run;
}

static void end_run(tspec_eval_t *eval, run_t *run) {
  for (int i = 0; i < run->nvalues; i++) {
    destroy_blocks(run->values[i].blocks, eval->nranks);
    free(run->values[i].blocks);
  }
  free(run->values);
}

static void release_read(tspec_eval_t *eval, run_t *run, const tspec_value_t *value) {
  tspec_eval_value_t *held = &run->values[value->id];
  if (--held->nreads == 0) {
    destroy_blocks(held->blocks, eval->nranks);
  }
}

static const tspec_dense_t *find_input(const tspec_eval_input_t *inputs, int ninputs,
                                       const char *name) {
  for (int i = 0; i < ninputs; i++) {
    if (strcmp(inputs[i].name, name) == 0) {
      return inputs[i].whole;
    }
  }
  return NULL;
}

static bool load_arg(tspec_eval_t *eval, run_t *run, const tspec_arg_t *arg,
                     const tspec_eval_input_t *inputs, int ninputs) {
  tspec_dense_t **blocks = run->values[arg->value->id].blocks;
  if (arg->kind == TSPEC_SLOT_INPUT) {
    const tspec_dense_t *whole = find_input(inputs, ninputs, arg->name);
    if (whole == NULL) {
      tspec_diag_error(eval->diag, run->func->range, "entry '%s' needs the input '%s'",
                       run->func->name, arg->name);
      return false;
    }
    if (!check_type(eval, arg->name, arg->value->type, whole->type)) {
      return false;
    }
    cut_for_ranks(eval, whole, arg->value->sharding, blocks);
    return true;
  }
  int index = find_param(eval, arg->name);
  for (int64_t rank = 0; index >= 0 && rank < eval->nranks; rank++) {
    blocks[rank] = tspec_dense_clone(eval->params[index * eval->nranks + rank]);
  }
  return index >= 0;
}

/// Ranks that hold the same block must hold the same bits.
static bool check_replicas(tspec_eval_t *eval, const tspec_value_t *value,
                           tspec_dense_t *const *blocks, tspec_range_t range) {
  int64_t *first = TSPEC_ARENA_NEW(&eval->scratch, int64_t, eval->nranks);
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    int64_t *holder = &first[tspec_eval_holder_key(eval, value->sharding, rank)];
    if (*holder == 0) {
      *holder = rank + 1;
    } else if (!tspec_dense_equal(blocks[*holder - 1], blocks[rank])) {
      tspec_diag_error(eval->diag, range, "ranks %lld and %lld disagree about their block of '%s'",
                       (long long)*holder - 1, (long long)rank,
                       value->name != NULL ? value->name
                                           : tspec_arena_printf(&eval->scratch, "%%%d", value->id));
      return false;
    }
  }
  return true;
}

static void run_on_rank(tspec_eval_t *eval, run_t *run, const tspec_op_t *op, int64_t rank) {
  const tspec_dense_t **operands =
      TSPEC_ARENA_NEW(&eval->scratch, const tspec_dense_t *, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = run->values[op->operands[i]->id].blocks[rank];
  }
  const tspec_value_t *value = op->results[0];
  tspec_eval_call_t call = {
      .op = op,
      .operands = operands,
      .blocks = tspec_eval_blocks(eval, value->type, value->sharding, rank),
      .result = tspec_eval_new_block(eval, value, rank),
      .scratch = &eval->scratch,
  };
  run->values[value->id].blocks[rank] = call.result;
  tspec_eval_op(&call);
}

static bool run_step(tspec_eval_t *eval, const run_t *run, const tspec_op_t *op) {
  tspec_dense_t *const **operands =
      TSPEC_ARENA_NEW(&eval->scratch, tspec_dense_t *const *, op->noperands);
  tspec_dense_t ***results = TSPEC_ARENA_NEW(&eval->scratch, tspec_dense_t **, op->nresults);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = run->values[op->operands[i]->id].blocks;
  }
  for (int i = 0; i < op->nresults; i++) {
    results[i] = run->values[op->results[i]->id].blocks;
  }
  return tspec_eval_collective(eval, op, operands, results);
}

static bool run_op(tspec_eval_t *eval, run_t *run, const tspec_op_t *op) {
  bool ok = true;
  if (tspec_op_is_step(op)) {
    ok = run_step(eval, run, op);
  } else {
    for (int64_t rank = 0; rank < eval->nranks; rank++) {
      run_on_rank(eval, run, op, rank);
    }
  }
  for (int i = 0; ok && eval->is_local && i < op->nresults; i++) {
    const tspec_value_t *value = op->results[i];
    ok = check_replicas(eval, value, run->values[value->id].blocks, op->range);
  }
  for (int i = 0; i < op->noperands; i++) {
    release_read(eval, run, op->operands[i]);
  }
  for (int i = 0; i < op->nresults; i++) {
    if (run->values[op->results[i]->id].nreads == 0) {
      destroy_blocks(run->values[op->results[i]->id].blocks, eval->nranks);
    }
  }
  tspec_arena_deinit(&eval->scratch);
  return ok;
}

/// Keeps results, then gives assigned parameters their new values.
static void keep_results(tspec_eval_t *eval, const run_t *run) {
  const tspec_func_t *func = run->func;
  eval->ran = func;
  eval->results =
      tspec_eval_allocate(sizeof *eval->results * (size_t)(func->nresults * eval->nranks));
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    bool assigns = result->kind == TSPEC_SLOT_PARAM || result->kind == TSPEC_SLOT_STATE;
    int index = assigns ? find_param(eval, result->name) : -1;
    for (int64_t rank = 0; rank < eval->nranks; rank++) {
      const tspec_dense_t *block = run->values[result->value->id].blocks[rank];
      eval->results[i * eval->nranks + rank] = tspec_dense_clone(block);
      if (index >= 0) {
        tspec_dense_destroy(eval->params[index * eval->nranks + rank]);
        eval->params[index * eval->nranks + rank] = tspec_dense_clone(block);
      }
    }
  }
}

bool tspec_eval_run(tspec_eval_t *eval, const char *entry, const tspec_eval_input_t *inputs,
                    int ninputs) {
  forget_results(eval);
  const tspec_func_t *func = tspec_program_find_func(eval->program, entry);
  if (func == NULL) {
    tspec_diag_error(eval->diag, (tspec_range_t){0}, "'%s' is no entry", entry);
    return false;
  }
  run_t run = start_run(eval, func);
  bool ok = true;
  for (int i = 0; ok && i < func->nargs; i++) {
    ok = load_arg(eval, &run, &func->args[i], inputs, ninputs);
  }
  tspec_arena_deinit(&eval->scratch);
  for (const tspec_op_t *op = func->first; ok && op != NULL; op = op->next) {
    ok = run_op(eval, &run, op);
  }
  if (ok) {
    keep_results(eval, &run);
  }
  end_run(eval, &run);
  return ok;
}

tspec_dense_t *tspec_eval_result_at(tspec_eval_t *eval, int index) {
  if (eval->ran == NULL || index < 0 || index >= eval->ran->nresults) {
    return NULL;
  }
  const tspec_value_t *value = eval->ran->results[index].value;
  tspec_dense_t *whole =
      assemble(eval, value->type, value->sharding, &eval->results[index * eval->nranks]);
  tspec_arena_deinit(&eval->scratch);
  return whole;
}

tspec_dense_t *tspec_eval_result(tspec_eval_t *eval, const char *name) {
  for (int i = 0; eval->ran != NULL && i < eval->ran->nresults; i++) {
    const tspec_result_t *result = &eval->ran->results[i];
    if (result->kind == TSPEC_SLOT_RESULT && strcmp(result->name, name) == 0) {
      return tspec_eval_result_at(eval, i);
    }
  }
  return NULL;
}

const tspec_dense_t *tspec_eval_result_block(const tspec_eval_t *eval, int index, int64_t rank) {
  return eval->ran == NULL ? NULL : eval->results[index * eval->nranks + rank];
}

const tspec_eval_traffic_t *tspec_eval_traffic(const tspec_eval_t *eval, int64_t *out_count) {
  *out_count = eval->ntraffic;
  return eval->traffic;
}
