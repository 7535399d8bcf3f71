// Makes each op's shardings fit together: picks one split per op (ir/shard/choose.h), converts what
// differs, and writes the conversions as `reshard` ops. A pending result is completed right behind
// the op that makes it, unless everything on the way to a value that is written as pending is
// linear.
#include "ir/base/vec.h"
#include "ir/shard/choose.h"
#include "passes/cost_model.h"
#include "passes/decisions.h"
#include "passes/layouts.h"
#include "passes/pass.h"
#include "passes/pending.h"
#include "passes/reshard_expand.h"
#include "passes/reshard_parts.h"
#include "passes/steps.h"

// A conversion that exists already.
typedef struct converted_t {
  tspec_value_t *value;
  int next; // of the same source, or -1
} converted_t;

typedef struct reshard_t {
  tspec_pass_run_t *run;
  tspec_wire_t *wire;
  tspec_program_t *program;
  tspec_func_t *func;
  tspec_arena_t *arena;           // the program's
  const tspec_layouts_t *layouts; // NULL: by vote
  const tspec_pending_t *pending;
  TSPEC_VEC(tspec_value_t *) current; // by id: what reads the value now
  TSPEC_VEC(int) heads;               // by id: first conversion
  TSPEC_VEC(converted_t) converted;
  const tspec_decision_t *decision; // about the op in work; NULL: none, or not recorded
  const tspec_sharding_t **asked;   // by id, of values of the start: see find_asked
  int nasked;
} reshard_t;

static const char *spelling_of(const tspec_op_t *op) {
  return op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
}

static void note_value(reshard_t *pass, tspec_value_t *value) {
  value->id = (int)pass->current.count;
  TSPEC_VEC_PUSH(pass->run->scratch, &pass->current, value);
  TSPEC_VEC_PUSH(pass->run->scratch, &pass->heads, -1);
}

static bool records(const reshard_t *pass) {
  return pass->run->options != NULL && pass->run->options->explain;
}

// What a conversion of `value` is for.
static const tspec_decided_t *decided(const reshard_t *pass, const tspec_value_t *value,
                                      const tspec_op_t *reason) {
  if (!records(pass)) {
    return NULL;
  }
  tspec_decided_t *made = TSPEC_ARENA_NEW(pass->arena, tspec_decided_t, 1);
  *made = (tspec_decided_t){reason == NULL ? NULL : pass->decision, value->name};
  return made;
}

// The value as `wanted`: itself, a conversion made before, or a new one before `before`.
static tspec_value_t *convert(reshard_t *pass, tspec_value_t *value, const tspec_sharding_t *wanted,
                              const tspec_op_t *reason, tspec_op_t *before) {
  if (tspec_sharding_same_layout(value->sharding, wanted)) {
    return value;
  }
  for (int i = pass->heads.items[value->id]; i >= 0; i = pass->converted.items[i].next) {
    tspec_value_t *other = pass->converted.items[i].value;
    if (tspec_sharding_same_layout(other->sharding, wanted)) {
      return other;
    }
  }
  tspec_attr_t attr = tspec_attr_sharding("sharding", wanted);
  const char *why = reason == NULL ? "return" : spelling_of(reason);
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_op_t *op = tspec_op_create(
      pass->program, pass->func, before,
      &(tspec_op_build_t){.kind = TSPEC_OP_reshard,
                          .noperands = 1,
                          .operands = &value,
                          .nattrs = 1,
                          .attrs = &attr,
                          .range = reason == NULL ? value->range : reason->range,
                          .spelling = why,
                          .because = tspec_arena_printf(&work, "reshard for '%s'", why)},
      pass->run->diag);
  tspec_arena_deinit(&work);
  TSPEC_CHECK(op != NULL);
  op->results[0]->decided = decided(pass, value, reason);
  op->results[0]->sharding = wanted;
  note_value(pass, op->results[0]);
  TSPEC_VEC_PUSH(pass->run->scratch, &pass->converted,
                 (converted_t){op->results[0], pass->heads.items[value->id]});
  pass->heads.items[value->id] = (int)pass->converted.count - 1;
  return op->results[0];
}

// ---- one op -----------------------------------------------------------------------------------

// `-Wlint`: what the choice gathers though it is split.
static void lint_unsplit(reshard_t *pass, const tspec_op_t *op, const tspec_choice_t *choice) {
  if (pass->run->options == NULL || !pass->run->options->lint) {
    return;
  }
  tspec_arena_t *scratch = pass->run->scratch;
  for (int i = 0; i < choice->nunsplit; i++) {
    const tspec_unsplit_t *unsplit = &choice->unsplit[i];
    if (unsplit->tensor >= op->noperands) {
      continue;
    }
    const tspec_value_t *value = op->operands[unsplit->tensor];
    tspec_diag_warning(
        pass->run->diag, op->range, "'%s' needs dim %d of %s whole: gathered over %s, %lld bytes",
        spelling_of(op), unsplit->dim,
        value->name == NULL ? "its operand" : tspec_arena_printf(scratch, "'%s'", value->name),
        tspec_axes_print(scratch, &pass->program->mesh, unsplit->axes, unsplit->naxes),
        (long long)tspec_wire_bytes(pass->wire, value->type, value->sharding,
                                    choice->tensors[unsplit->tensor]));
  }
}

// The op's result as readers want it: as propagated, pending where that was asked for.
static void place_results(reshard_t *pass, tspec_op_t *op, const tspec_sharding_t *const *wanted,
                          const tspec_sharding_t *const *computed) {
  for (int i = 0; i < op->nresults; i++) {
    tspec_value_t *result = op->results[i];
    result->sharding = computed[i];
    tspec_value_t *placed = convert(pass, result, wanted[i], op, op->next);
    if (placed != result) {
      placed->name = result->name;
      placed->range = result->range;
      result->name = NULL;
      pass->current.items[result->id] = placed;
    }
  }
}

// What is read of the value in the end: its one reader may only lay it out otherwise.
static const tspec_sharding_t *asked_of(const reshard_t *pass, const tspec_value_t *value,
                                        const tspec_sharding_t *wanted) {
  const tspec_sharding_t *asked = value->id < pass->nasked ? pass->asked[value->id] : NULL;
  return asked == NULL || asked->npending > 0 || wanted->npending > 0 ? wanted : asked;
}

// An op that places elements moves no more of them than its readers ask for.
static void fit_parts(reshard_t *pass, const tspec_op_t *op, tspec_choose_op_t given,
                      const tspec_sharding_t **wanted, tspec_choice_t *choice,
                      tspec_arena_t *work) {
  given.executable = false;
  tspec_choice_t voted = tspec_choose(work, &pass->program->mesh, &given);
  *wanted = asked_of(pass, op->results[0], *wanted);
  tspec_choose_parts(work, pass->wire, op, *wanted, &voted, choice);
}

// Makes the shardings the program's own.
static void keep_all(const reshard_t *pass, const tspec_sharding_t **shardings, int count) {
  for (int i = 0; i < count; i++) {
    shardings[i] = tspec_program_sharding(pass->program, shardings[i]);
  }
}

// How the op's tensors are split, as `laid` or, if that is NULL, as propagated, and pending.
static void split_tensors(const reshard_t *pass, const tspec_op_t *op,
                          const tspec_sharding_t *const *laid, const tspec_sharding_t **shardings,
                          tspec_arena_t *work) {
  for (int i = 0; i < op->noperands; i++) {
    const tspec_sharding_t *split = laid == NULL ? op->operands[i]->sharding : laid[i];
    shardings[i] = tspec_pending_entering(pass->pending, op, i, split, work);
  }
  for (int i = 0; i < op->nresults; i++) {
    int t = op->noperands + i;
    const tspec_sharding_t *split = laid == NULL ? op->results[i]->sharding : laid[t];
    shardings[t] = tspec_pending_made(pass->pending, op->results[i], split, work);
  }
}

static void fit_op(reshard_t *pass, tspec_op_t *op) {
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_op_view_t view = tspec_op_view(op, &work);
  int ntensors = op->noperands + op->nresults;
  const tspec_sharding_t **shardings = TSPEC_ARENA_NEW(&work, const tspec_sharding_t *, ntensors);
  const tspec_sharding_t **wanted = TSPEC_ARENA_NEW(&work, const tspec_sharding_t *, op->nresults);
  tspec_type_t *types = TSPEC_ARENA_NEW(&work, tspec_type_t, ntensors);
  const tspec_sharding_t *const *laid = tspec_layouts_of(pass->layouts, op);
  for (int t = 0; t < ntensors; t++) {
    types[t] = tspec_op_tensor(op, t)->type;
  }
  for (int i = 0; i < op->nresults; i++) {
    wanted[i] = tspec_pending_wanted(pass->pending, op->results[i], &work);
  }
  split_tensors(pass, op, laid, shardings, &work);
  const tspec_mesh_t *mesh = &pass->program->mesh;
  tspec_choose_op_t choose = {.rule = rules->rule(&view, &work, false),
                              .types = types,
                              .shardings = shardings,
                              .keeps_elements = (rules->traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0,
                              .executable = true};
  tspec_choice_t choice = tspec_choose(&work, mesh, &choose);
  if (rules->windows != NULL) {
    fit_parts(pass, op, choose, &wanted[0], &choice, &work);
  }
  keep_all(pass, wanted, op->nresults);
  keep_all(pass, choice.tensors, ntensors);
  pass->decision = NULL;
  if (records(pass)) {
    split_tensors(pass, op, NULL, shardings, &work); // what stood to the vote
    pass->decision = tspec_decision_of_vote(pass->arena, pass->wire, op, &choose, wanted, &choice);
  }
  op->results[0]->decided = rules->windows != NULL ? decided(pass, op->results[0], op) : NULL;
  lint_unsplit(pass, op, &choice);
  for (int i = 0; i < op->noperands; i++) {
    op->operands[i] = convert(pass, op->operands[i], choice.tensors[i], op, op);
  }
  place_results(pass, op, wanted, choice.tensors + op->noperands);
  tspec_arena_deinit(&work);
}

// A constraint or a conversion that was written: what it reads, laid out as it says.
static void fit_identity(reshard_t *pass, tspec_op_t *op) {
  tspec_value_t *result = op->results[0];
  pass->decision = NULL;
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t *wanted =
      tspec_program_sharding(pass->program, tspec_pending_wanted(pass->pending, result, &work));
  tspec_arena_deinit(&work);
  tspec_value_t *placed = convert(pass, op->operands[0], wanted, op, op);
  if (placed->name == NULL) {
    placed->name = result->name;
  }
  pass->current.items[result->id] = placed;
  tspec_op_remove(pass->func, op);
}

static void read_current(reshard_t *pass, tspec_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    op->operands[i] = pass->current.items[op->operands[i]->id];
  }
}

static void fit_func(reshard_t *pass) {
  tspec_func_t *func = pass->func;
  for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
    read_current(pass, op);
    if ((rules->traits & TSPEC_TRAIT_IDENTITY) != 0) {
      fit_identity(pass, op);
    } else if (rules->rule != NULL) {
      fit_op(pass, op);
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    tspec_result_t *result = &func->results[i];
    tspec_value_t *value = pass->current.items[result->value->id];
    if (result->sharding == NULL) {
      result->sharding = tspec_sharding_complete(pass->arena, value->sharding);
    }
    result->value = convert(pass, value, result->sharding, NULL, NULL);
  }
}

// ---- chains -----------------------------------------------------------------------------------

static int64_t conversion_cost(const reshard_t *pass, const tspec_value_t *from,
                               const tspec_value_t *to) {
  return tspec_wire_bytes(pass->wire, from->type, from->sharding, to->sharding);
}

// A conversion of a conversion reads the source itself where that costs no more.
static void shorten_chains(reshard_t *pass) {
  tspec_func_t *func = pass->func;
  int *nreads = tspec_func_count_reads(pass->run->scratch, func);
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_value_t *middle = op->noperands == 1 ? op->operands[0] : NULL;
    if (op->kind != TSPEC_OP_reshard || middle->def == NULL ||
        middle->def->kind != TSPEC_OP_reshard) {
      continue;
    }
    tspec_value_t *source = middle->def->operands[0];
    int64_t cost = conversion_cost(pass, middle, op->results[0]);
    if (nreads[middle->id] == 1) {
      cost += conversion_cost(pass, source, middle);
    }
    if (conversion_cost(pass, source, op->results[0]) <= cost) {
      op->operands[0] = source;
      nreads[middle->id]--;
      nreads[source->id]++;
    }
  }
}

// A value that is converted back is itself.
static void drop_empty(reshard_t *pass) {
  for (tspec_op_t *op = pass->func->first, *next = NULL; op != NULL; op = next) {
    next = op->next;
    tspec_op_settle(op);
    if (op->kind == TSPEC_OP_reshard &&
        tspec_sharding_same_layout(op->operands[0]->sharding, op->results[0]->sharding)) {
      tspec_op_replace(pass->func, op, op->operands[0]);
    }
  }
  tspec_func_settle(pass->func);
}

// ---- the pass ---------------------------------------------------------------------------------

static const tspec_sharding_t *without_ones(const tspec_program_t *program,
                                            const tspec_sharding_t *sharding) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t *dropped = tspec_sharding_drop_ones(&work, sharding);
  dropped = tspec_program_sharding(program, dropped);
  tspec_arena_deinit(&work);
  return dropped;
}

static void drop_ones(const tspec_program_t *program, tspec_func_t *func) {
  for (int i = 0; i < func->nargs; i++) {
    tspec_value_t *value = func->args[i].value;
    value->sharding = without_ones(program, value->sharding);
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      op->results[i]->sharding = without_ones(program, op->results[i]->sharding);
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    if (func->results[i].sharding != NULL) {
      func->results[i].sharding = without_ones(program, func->results[i].sharding);
    }
  }
}

// For each value that is read once, by a constraint, a conversion or as a result: how that lies.
static void find_asked(reshard_t *pass) {
  const tspec_func_t *func = pass->func;
  const int *nreads = tspec_func_count_reads(pass->run->scratch, pass->func);
  pass->nasked = (int)pass->current.count;
  pass->asked = TSPEC_ARENA_NEW(pass->run->scratch, const tspec_sharding_t *, pass->nasked);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    bool lays_out = (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0;
    if (lays_out && nreads[op->operands[0]->id] == 1) {
      pass->asked[op->operands[0]->id] = op->results[0]->sharding;
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    if (nreads[func->results[i].value->id] == 1) {
      pass->asked[func->results[i].value->id] = func->results[i].sharding;
    }
  }
}

// By cost, or by vote. Returns NULL if that is the same here.
static tspec_by_cost_t *run_func(tspec_pass_run_t *run, tspec_func_t *func, bool by_cost) {
  drop_ones(run->program, func);
  tspec_wire_t wire = {.mesh = &run->program->mesh, .arena = run->scratch};
  tspec_expand_ops(run, &wire, func);
  const tspec_layouts_t *layouts = by_cost ? tspec_layouts_decide(&wire, run->program, func) : NULL;
  reshard_t pass = {.run = run,
                    .wire = &wire,
                    .program = run->program,
                    .func = func,
                    .arena = run->program->arena,
                    .layouts = layouts,
                    .pending = tspec_pending_analyze(&wire, run->program, func, layouts)};
  int nvalues = tspec_func_number(func);
  TSPEC_VEC_RESERVE(run->scratch, &pass.current, nvalues);
  TSPEC_VEC_RESERVE(run->scratch, &pass.heads, nvalues);
  for (int i = 0; i < func->nargs; i++) {
    note_value(&pass, func->args[i].value);
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      note_value(&pass, op->results[i]);
    }
  }
  find_asked(&pass);
  fit_func(&pass);
  tspec_func_remove_dead(func);
  shorten_chains(&pass);
  drop_empty(&pass);
  tspec_func_remove_dead(func);
  return layouts == NULL ? NULL : tspec_layouts_report(layouts, run->program->arena);
}

bool tspec_pass_reshard(tspec_pass_run_t *run) {
  const tspec_model_choice_t *choices = tspec_cost_model_choose(run, run_func);
  for (int i = 0; i < run->program->nfuncs; i++) {
    tspec_func_t *func = run->program->funcs[i];
    tspec_by_cost_t *report = run_func(run, func, choices[i].by_cost);
    if (report != NULL) {
      report->spent = choices[i].cost;
      report->by_vote = choices[i].vote;
    }
    func->by_cost = report;
    for (int r = 0; r < func->nresults; r++) {
      func->results[r].is_free = false; // decided
    }
  }
  for (int i = 0; i < run->program->nparams; i++) {
    tspec_param_t *param = &run->program->params[i];
    param->sharding = without_ones(run->program, param->sharding);
  }
  return true;
}
