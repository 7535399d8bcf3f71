// Cleans up collectives: equal ones of one value are one, what leads back to a value is that value,
// chains that cost less in another form take that (an all_reduce that is only sliced becomes a
// reduce_scatter), what nothing reads goes, small ones share a call. Source: `propagation.md` 3.4
// (Shardy).
#include "ir/shard/axes.h"
#include "passes/combine.h"
#include "passes/pass.h"
#include "passes/steps.h"
#include "passes/wire.h"

// Collectives whose result is their operand, laid out otherwise; parts of operands are other
// values.
static bool is_link(const tspec_op_t *op) {
  return tspec_op_is_step(op) && !tspec_op_has_parts(op);
}

// ---- equal ones -------------------------------------------------------------------------------

// The value before `op` that lies like its result: one that `op` came from by collectives alone, or
// what another collective made of its operand.
static tspec_value_t *find_equal(const tspec_op_t *op, tspec_op_t *const *last_reader,
                                 tspec_op_t *const *previous) {
  const tspec_sharding_t *wanted = op->results[0]->sharding;
  tspec_value_t *value = op->operands[0];
  while (value->def != NULL && is_link(value->def)) {
    value = value->def->operands[0];
    if (tspec_sharding_same_layout(value->sharding, wanted)) {
      return value;
    }
  }
  for (tspec_op_t *other = last_reader[op->operands[0]->id]; other != NULL;
       other = previous[other->results[0]->id]) {
    if (tspec_sharding_same_layout(other->results[0]->sharding, wanted)) {
      return other->results[0];
    }
  }
  return NULL;
}

static void share_equal(tspec_pass_run_t *run, tspec_func_t *func) {
  int nvalues = tspec_func_number(func);
  tspec_op_t **last_reader = TSPEC_ARENA_NEW(run->scratch, tspec_op_t *, nvalues);
  tspec_op_t **previous = TSPEC_ARENA_NEW(run->scratch, tspec_op_t *, nvalues);
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    tspec_op_settle(op);
    if (!is_link(op)) {
      continue;
    }
    tspec_value_t *equal = find_equal(op, last_reader, previous);
    if (equal != NULL) {
      tspec_op_replace(func, op, equal);
    } else {
      previous[op->results[0]->id] = last_reader[op->operands[0]->id];
      last_reader[op->operands[0]->id] = op;
    }
  }
  tspec_func_settle(func);
  tspec_func_remove_dead(func);
}

// ---- chains -----------------------------------------------------------------------------------

typedef struct chain_t {
  tspec_value_t *start;
  int length;
} chain_t;

// The collectives that end in `end`, as far back as nothing else reads what they make.
static chain_t find_chain(const tspec_op_t *end, const int *nreads) {
  chain_t chain = {0};
  for (const tspec_op_t *op = end;;) {
    chain.start = op->operands[0];
    chain.length++;
    op = chain.start->def;
    if (op == NULL || !is_link(op) || nreads[chain.start->id] != 1) {
      return chain;
    }
  }
}

static int64_t chain_cost(const tspec_mesh_t *mesh, const chain_t *chain, const tspec_op_t *end) {
  int64_t cost = 0;
  for (int i = 0; i < chain->length; i++) {
    tspec_step_t step = tspec_step_of_op(end, 0);
    cost += tspec_step_cost_bytes(mesh, chain->start->type, &step);
    end = end->operands[0]->def;
  }
  return cost;
}

// True if the op does that step; both turn the same value into the same.
static bool is_step(const tspec_op_t *op, const tspec_step_t *step) {
  tspec_step_t own = tspec_step_of_op(op, 0);
  return own.kind == step->kind && own.reduce == step->reduce &&
         tspec_axes_equal(own.axes, own.naxes, step->axes, step->naxes);
}

// Makes the end of a chain anew from its start if that costs less, or as much in fewer steps.
static void shorten_chain(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func,
                          tspec_op_t *end, const int *nreads) {
  chain_t chain = find_chain(end, nreads);
  tspec_value_t *value = chain.start;
  const tspec_wire_plan_t *plan =
      tspec_wire_plan(wire, value->type, value->sharding, end->results[0]->sharding);
  tspec_steps_t steps = plan->steps;
  if (chain.length == 1 && steps.count == 1 && is_step(end, &steps.items[0])) {
    return;
  }
  int64_t cost = chain_cost(wire->mesh, &chain, end);
  if (plan->bytes > cost || (plan->bytes == cost && steps.count >= chain.length)) {
    return;
  }
  for (int i = 0; i < steps.count; i++) {
    value = tspec_step_emit(run, func, end, value, &steps.items[i])->results[0];
    value->id = end->results[0]->id; // read as often, as far as chains behind it ask
  }
  tspec_op_replace(func, end, value);
}

// Marks, by id, what a collective makes for just one other collective.
static bool *find_links(tspec_pass_run_t *run, const tspec_func_t *func, const int *nreads,
                        int nvalues) {
  bool *goes_on = TSPEC_ARENA_NEW(run->scratch, bool, nvalues);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (is_link(op)) {
      goes_on[op->operands[0]->id] = nreads[op->operands[0]->id] == 1;
    }
  }
  return goes_on;
}

static void shorten_chains(tspec_pass_run_t *run, tspec_func_t *func) {
  tspec_wire_t wire = {.mesh = &run->program->mesh, .arena = run->program->arena};
  int *nreads = tspec_func_count_reads(run->scratch, func);
  bool *goes_on = find_links(run, func, nreads, tspec_func_number(func));
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    tspec_op_settle(op);
    if (is_link(op) && !goes_on[op->results[0]->id]) {
      shorten_chain(run, &wire, func, op, nreads);
    }
  }
  tspec_func_settle(func);
  tspec_func_remove_dead(func);
}

// True if the pass has been here. Chains that end in a call, and what members left behind, are not
// to be looked at again: what was weighed as a whole is no longer there.
static bool has_calls(const tspec_func_t *func) {
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (tspec_op_is_step(op) && op->nresults > 1) {
      return true;
    }
  }
  return false;
}

bool tspec_pass_optimize_collectives(tspec_pass_run_t *run) {
  for (int i = 0; i < run->program->nfuncs; i++) {
    tspec_func_t *func = run->program->funcs[i];
    if (!has_calls(func)) {
      share_equal(run, func);
      shorten_chains(run, func);
      share_equal(run, func);
      tspec_combine_collectives(run, func);
    }
  }
  return true;
}
