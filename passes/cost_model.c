#include "passes/cost_model.h"

#include "passes/collectives.h"
#include "passes/wire.h"

static tspec_spent_t count_func(const tspec_program_t *program, const tspec_func_t *func) {
  tspec_spent_t spent = {0};
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_collective_use_t use;
    if (tspec_collective_of(program, op, &use)) {
      spent.bytes = tspec_wire_add(spent.bytes, use.bytes);
      spent.cost = tspec_wire_add(spent.cost,
                                  tspec_wire_weigh(&program->mesh, use.axes, use.naxes, use.bytes));
    }
  }
  return spent;
}

static tspec_options_t quiet_options(const tspec_pass_run_t *run) {
  tspec_options_t quiet = run->options == NULL ? (tspec_options_t){0} : *run->options;
  quiet.lint = false;
  quiet.explain = false;
  return quiet;
}

// Lays out all entries by one of the two models: which ones cost changes. Returns whether there is
// anything to count.
static bool lay_out(tspec_pass_run_t trial, tspec_fit_fn_t fit, bool by_cost, bool *out_moved) {
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  trial.scratch = &scratch;
  bool any = !by_cost;
  for (int i = 0; i < trial.program->nfuncs; i++) {
    out_moved[i] = fit(&trial, trial.program->funcs[i], by_cost) != NULL;
    any |= out_moved[i];
  }
  tspec_arena_deinit(&scratch);
  return any;
}

// What a copy of the program spends by one of the two models, and which entries cost changes.
// Returns false, and does not look further, if there are none.
static bool try_model(const tspec_pass_run_t *run, tspec_fit_fn_t fit, bool by_cost,
                      tspec_spent_t *out_spent, bool *out_moved) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_options_t quiet = quiet_options(run);
  tspec_pass_run_t trial = *run;
  trial.program = tspec_program_fork(run->program, &arena);
  trial.options = &quiet;
  bool any = lay_out(trial, fit, by_cost, out_moved);
  if (any) {
    trial.scratch = &arena;
    bool ok = tspec_pass_partition(&trial) && tspec_pass_optimize_collectives(&trial);
    TSPEC_CHECK(ok);
    for (int i = 0; i < trial.program->nfuncs; i++) {
      out_spent[i] = count_func(trial.program, trial.program->funcs[i]);
    }
  }
  tspec_arena_deinit(&arena);
  return any;
}

static bool is_less(tspec_spent_t a, tspec_spent_t b) {
  return a.cost != b.cost ? a.cost < b.cost : a.bytes < b.bytes;
}

const tspec_model_choice_t *tspec_cost_model_choose(const tspec_pass_run_t *run,
                                                    tspec_fit_fn_t fit) {
  int nfuncs = run->program->nfuncs;
  tspec_model_choice_t *choices = TSPEC_ARENA_NEW(run->scratch, tspec_model_choice_t, nfuncs);
  tspec_spent_t *costs = TSPEC_ARENA_NEW(run->scratch, tspec_spent_t, nfuncs);
  tspec_spent_t *votes = TSPEC_ARENA_NEW(run->scratch, tspec_spent_t, nfuncs);
  bool *moved = TSPEC_ARENA_NEW(run->scratch, bool, nfuncs);
  bool *same = TSPEC_ARENA_NEW(run->scratch, bool, nfuncs);
  bool asks_votes = run->options != NULL && run->options->cost_model == TSPEC_COST_VOTES;
  if (asks_votes || !try_model(run, fit, true, costs, moved)) {
    return choices;
  }
  try_model(run, fit, false, votes, same);
  for (int i = 0; i < nfuncs; i++) {
    choices[i] =
        (tspec_model_choice_t){moved[i] && is_less(costs[i], votes[i]), costs[i], votes[i]};
  }
  return choices;
}

// ---- before the pass --------------------------------------------------------------------------

// The results of a function's ops, in order.
static const tspec_value_t **list_values(tspec_arena_t *arena, tspec_func_t *func) {
  const tspec_value_t **values =
      TSPEC_ARENA_NEW(arena, const tspec_value_t *, tspec_func_number(func));
  int count = 0;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int r = 0; r < op->nresults; r++) {
      values[count++] = op->results[r];
    }
  }
  return values;
}

// Lays the values of `func` like those of its copy, which were `values` before the pass ran there.
static void lay_like(tspec_func_t *func, const tspec_func_t *copy,
                     const tspec_value_t *const *values) {
  int next = 0; // what has moved is in the order of ops
  int at = 0;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int r = 0; r < op->nresults; r++, at++) {
      if (copy->by_cost != NULL && next < copy->by_cost->nmoved &&
          copy->by_cost->moved[next].value == values[at]) {
        op->results[r]->sharding = copy->by_cost->moved[next++].now;
      }
    }
  }
  for (int r = 0; r < func->nresults; r++) {
    func->results[r].sharding = copy->results[r].sharding;
  }
}

const tspec_program_t *tspec_cost_model_preview(const tspec_pass_run_t *run) {
  tspec_program_t *preview = tspec_program_clone(run->program, run->scratch);
  tspec_options_t quiet = quiet_options(run);
  tspec_pass_run_t trial = *run;
  trial.program = tspec_program_clone(run->program, run->scratch);
  trial.options = &quiet;
  int nfuncs = preview->nfuncs;
  const tspec_value_t *const **values =
      TSPEC_ARENA_NEW(run->scratch, const tspec_value_t *const *, nfuncs);
  for (int i = 0; i < nfuncs; i++) {
    values[i] = list_values(run->scratch, trial.program->funcs[i]);
  }
  bool ok = tspec_pass_reshard(&trial);
  TSPEC_CHECK(ok);
  for (int i = 0; i < nfuncs; i++) {
    lay_like(preview->funcs[i], trial.program->funcs[i], values[i]);
  }
  return preview;
}
