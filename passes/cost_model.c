#include "passes/cost_model.h"

#include "passes/collectives.h"
#include "passes/wire.h"

typedef struct spent_t {
  bool moved; // by cost: not as by vote
  int64_t cost;
  int64_t bytes;
} spent_t;

static spent_t count_func(const tspec_program_t *program, const tspec_func_t *func) {
  spent_t spent = {0};
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

// What a copy of the program spends by one of the two models. Returns false, and does not look
// further, if cost moves nothing.
static bool try_model(const tspec_pass_run_t *run, tspec_fit_fn_t fit, bool by_cost,
                      spent_t *out_spent) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_options_t quiet = run->options == NULL ? (tspec_options_t){0} : *run->options;
  quiet.lint = false;
  quiet.explain = false;
  tspec_pass_run_t trial = *run;
  trial.program = tspec_program_clone(run->program, &arena);
  trial.scratch = &arena;
  trial.options = &quiet;
  int nfuncs = trial.program->nfuncs;
  bool *moved = TSPEC_ARENA_NEW(&arena, bool, nfuncs);
  bool any = !by_cost;
  for (int i = 0; i < nfuncs; i++) {
    moved[i] = fit(&trial, trial.program->funcs[i], by_cost);
    any |= moved[i];
  }
  if (any) {
    bool ok = tspec_pass_partition(&trial) && tspec_pass_optimize_collectives(&trial);
    TSPEC_CHECK(ok);
    for (int i = 0; i < nfuncs; i++) {
      out_spent[i] = count_func(trial.program, trial.program->funcs[i]);
      out_spent[i].moved = moved[i];
    }
  }
  tspec_arena_deinit(&arena);
  return any;
}

static bool is_less(spent_t a, spent_t b) {
  return a.cost != b.cost ? a.cost < b.cost : a.bytes < b.bytes;
}

const bool *tspec_cost_model_choose(const tspec_pass_run_t *run, tspec_fit_fn_t fit) {
  int nfuncs = run->program->nfuncs;
  bool *by_cost = TSPEC_ARENA_NEW(run->scratch, bool, nfuncs);
  spent_t *costs = TSPEC_ARENA_NEW(run->scratch, spent_t, nfuncs);
  spent_t *votes = TSPEC_ARENA_NEW(run->scratch, spent_t, nfuncs);
  bool asks_votes = run->options != NULL && run->options->cost_model == TSPEC_COST_VOTES;
  if (asks_votes || !try_model(run, fit, true, costs)) {
    return by_cost;
  }
  try_model(run, fit, false, votes);
  for (int i = 0; i < nfuncs; i++) {
    by_cost[i] = costs[i].moved && is_less(costs[i], votes[i]);
  }
  return by_cost;
}
