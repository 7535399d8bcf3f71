#include "passes/pending.h"

#include "ir/shard/choose.h"
#include "ir/shard/decompose.h"
#include "passes/pending_internal.h"

typedef tspec_pending_set_t set_t;
typedef tspec_pending_facts_t facts_t;

static facts_t *facts_of(const tspec_pending_t *pending, const tspec_value_t *value) {
  return &pending->facts[value->id];
}

static bool is_identity(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0;
}

bool tspec_pending_enters_by(const tspec_pending_t *pending, const tspec_op_t *op, int index) {
  if (op->nresults != 1) {
    return false;
  }
  int entry = facts_of(pending, op->results[0])->entry;
  return entry == index || entry == op->noperands;
}

// ---- forward: what could be pending -----------------------------------------------------------

// Through which operands partial results can pass, and over which axes.
static set_t enter(const tspec_pending_t *pending, const tspec_op_t *op, tspec_arena_t *work,
                   int *out_entry) {
  tspec_op_view_t view = tspec_op_view(op, work);
  *out_entry = -1;
  for (int i = 0; i < op->noperands; i++) {
    set_t may = facts_of(pending, op->operands[i])->may;
    if (may.count == 0) {
      continue;
    }
    tspec_linear_t linear = tspec_op_linear(&view, may.kind);
    if (linear == TSPEC_LINEAR_EACH) {
      for (int j = i + 1; j < op->noperands; j++) {
        may = tspec_pending_set_join(work, may, facts_of(pending, op->operands[j])->may);
      }
      *out_entry = op->noperands;
      return may;
    }
    if (linear == TSPEC_LINEAR_ONE || (linear == TSPEC_LINEAR_FIRST && i == 0)) {
      *out_entry = i;
      return may;
    }
  }
  return (set_t){0};
}

static bool reads_possible(const tspec_pending_t *pending, const tspec_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    if (facts_of(pending, op->operands[i])->may.count > 0) {
      return true;
    }
  }
  return false;
}

static bool reduces(const tspec_factor_rule_t *rule) {
  for (int f = 0; f < rule->nfactors; f++) {
    if (rule->factors[f].kind == TSPEC_FACTOR_REDUCTION) {
      return true;
    }
  }
  return false;
}

// The op's choice where nothing is pending and nothing is split over `stripped`.
static tspec_choice_t choose_complete(const tspec_pending_t *pending, const tspec_op_t *op,
                                      const tspec_factor_rule_t *rule, set_t stripped,
                                      tspec_arena_t *work) {
  int ntensors = op->noperands + op->nresults;
  const tspec_sharding_t **shardings = TSPEC_ARENA_NEW(work, const tspec_sharding_t *, ntensors);
  tspec_type_t *types = TSPEC_ARENA_NEW(work, tspec_type_t, ntensors);
  const tspec_sharding_t *const *laid = tspec_layouts_of(pending->layouts, op);
  for (int t = 0; t < ntensors; t++) {
    const tspec_value_t *value = tspec_op_tensor(op, t);
    shardings[t] =
        tspec_pending_set_strip(work, laid == NULL ? value->sharding : laid[t], stripped);
    types[t] = value->type;
  }
  unsigned traits = tspec_op_info(op->kind)->rules->traits;
  return tspec_choose(
      work, &pending->program->mesh,
      &(tspec_choose_op_t){.rule = rule,
                           .types = types,
                           .shardings = shardings,
                           .keeps_elements = (traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0,
                           .executable = true});
}

// The program's own, complete.
static const tspec_sharding_t *keep(const tspec_pending_t *pending,
                                    const tspec_sharding_t *sharding) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  sharding = tspec_sharding_drop_ones(&work, tspec_sharding_complete(&work, sharding));
  sharding = tspec_program_sharding(pending->program, sharding);
  tspec_arena_deinit(&work);
  return sharding;
}

// Notes that a reader needs the value like this.
static void want(const tspec_pending_t *pending, tspec_pending_wants_t *wants,
                 const tspec_sharding_t *sharding) {
  for (int i = 0; i < wants->count; i++) {
    if (tspec_sharding_same_layout(wants->items[i], sharding)) {
      return;
    }
  }
  if (wants->count < TSPEC_PENDING_MAX_WANTS) {
    wants->items[wants->count++] = keep(pending, sharding);
  }
}

bool tspec_pending_rounds(tspec_dtype_t dtype) {
  return dtype == TSPEC_DTYPE_BF16 || dtype == TSPEC_DTYPE_F16;
}

// Whatever reads a value through which nothing can pass needs it complete.
static void bar_operands(const tspec_pending_t *pending, const tspec_op_t *op,
                         tspec_arena_t *work) {
  for (int i = 0; i < op->noperands; i++) {
    facts_t *facts = facts_of(pending, op->operands[i]);
    facts->barred |=
        !tspec_pending_enters_by(pending, op, i) ||
        !tspec_pending_set_covers(work, facts_of(pending, op->results[0])->through, facts->may);
  }
}

// A constraint does, a barrier does not.
static bool passes_partials(const tspec_op_t *op, tspec_reduce_t kind, tspec_arena_t *work) {
  tspec_op_view_t view = tspec_op_view(op, work);
  return tspec_op_linear(&view, kind) != TSPEC_LINEAR_NONE;
}

static void find_identity(const tspec_pending_t *pending, const tspec_op_t *op,
                          tspec_arena_t *work) {
  const tspec_sharding_t *sharding = op->results[0]->sharding;
  facts_t *facts = facts_of(pending, op->results[0]);
  facts_t *read = facts_of(pending, op->operands[0]);
  facts->alone.computed = facts->joined.computed = keep(pending, sharding);
  if (sharding->npending > 0) {
    facts->alone.own = facts->may = tspec_pending_set_of(sharding);
  } else if (read->may.count > 0 && passes_partials(op, read->may.kind, work)) {
    facts->entry = 0;
    facts->through = facts->may = read->may;
    facts->joined.computed = keep(pending, tspec_pending_set_strip(work, sharding, facts->through));
    want(pending, &read->carried, facts->joined.computed);
  }
  want(pending, &read->wants, sharding);
}

static set_t set_of_choice(const tspec_choice_t *choice) {
  return (set_t){choice->reduce, choice->nreduced, choice->reduced};
}

static int64_t conversion_cost(const tspec_pending_t *pending, const tspec_value_t *value,
                               const tspec_sharding_t *wanted) {
  return tspec_wire_conversion(pending->wire, value->type, value->sharding, wanted);
}

// Finds what can pass the op and how it then has to be split. An op that would have more to compute
// if it were not split over the axes in question (a matrix product) lets nothing through that its
// own choice, `alone`, splits over.
static set_t find_through(const tspec_pending_t *pending, const tspec_op_t *op,
                          const tspec_factor_rule_t *rule, const tspec_choice_t *alone,
                          tspec_choice_t *out_joined, tspec_arena_t *work) {
  facts_t *facts = facts_of(pending, op->results[0]);
  set_t through = enter(pending, op, work, &facts->entry);
  bool elementwise = (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_ELEMENTWISE) != 0;
  bool may_unsplit = elementwise || facts->entry == op->noperands;
  for (int t = 0; t < alone->ntensors && !may_unsplit; t++) {
    through = tspec_pending_set_without_splits(work, through, alone->tensors[t]);
    through = tspec_pending_set_subtract(work, through, alone->reduced, alone->nreduced);
  }
  *out_joined = choose_complete(pending, op, rule, through, work);
  set_t own = set_of_choice(out_joined);
  if (through.count == 0 || (own.count > 0 && own.kind != through.kind)) {
    facts->entry = -1;
    *out_joined = *alone;
    through.count = 0;
  }
  return through;
}

static void note_operands(const tspec_pending_t *pending, const tspec_op_t *op,
                          const tspec_choice_t *alone, const tspec_choice_t *joined) {
  facts_t *facts = facts_of(pending, op->results[0]);
  int64_t cost = 0;
  for (int i = 0; i < op->noperands; i++) {
    facts_t *read = facts_of(pending, op->operands[i]);
    if (read->may.count > 0) {
      want(pending, &read->wants, alone->tensors[i]);
      want(pending, &read->carried, joined->tensors[i]);
    }
    if (facts->entry >= 0 && (read->may.count == 0 || !tspec_pending_enters_by(pending, op, i))) {
      cost += conversion_cost(pending, op->operands[i], joined->tensors[i]) -
              conversion_cost(pending, op->operands[i], alone->tensors[i]);
    }
  }
  facts->entry_cost = cost > 0 ? cost : 0;
}

static void find_by_rule(const tspec_pending_t *pending, const tspec_op_t *op,
                         tspec_arena_t *work) {
  tspec_op_view_t view = tspec_op_view(op, work);
  const tspec_factor_rule_t *rule = tspec_op_info(op->kind)->rules->rule(&view, work, false);
  if (!reduces(rule) && !reads_possible(pending, op)) {
    return;
  }
  set_t none = {0};
  facts_t *facts = facts_of(pending, op->results[0]);
  tspec_choice_t alone = choose_complete(pending, op, rule, none, work);
  tspec_choice_t joined = alone;
  set_t through = find_through(pending, op, rule, &alone, &joined, work);
  note_operands(pending, op, &alone, &joined);
  if (alone.nreduced == 0 && through.count == 0) {
    return;
  }
  facts->alone =
      (tspec_pending_made_t){tspec_pending_set_copy(pending->arena, set_of_choice(&alone)),
                             keep(pending, alone.tensors[op->noperands])};
  facts->joined =
      (tspec_pending_made_t){tspec_pending_set_copy(pending->arena, set_of_choice(&joined)),
                             keep(pending, joined.tensors[op->noperands])};
  facts->through = tspec_pending_set_copy(pending->arena, through);
  set_t may = tspec_pending_set_join(work, facts->joined.own, through);
  may = tspec_pending_set_join(work, facts->alone.own, may);
  facts->may = tspec_pending_set_copy(pending->arena, may);
  facts->barred |= tspec_pending_rounds(op->results[0]->type.dtype);
}

static void find_possible(const tspec_pending_t *pending, const tspec_op_t *op,
                          tspec_arena_t *work) {
  for (int i = 0; i < op->nresults; i++) {
    facts_of(pending, op->results[i])->entry = -1;
  }
  if (op->nresults == 1 && is_identity(op)) {
    find_identity(pending, op, work);
  } else if (op->nresults == 1 && tspec_op_info(op->kind)->rules->rule != NULL) {
    find_by_rule(pending, op, work);
  }
  bar_operands(pending, op, work);
}

static void bar_results(const tspec_pending_t *pending, const tspec_func_t *func) {
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    facts_t *facts = facts_of(pending, result->value);
    want(pending, &facts->wants,
         result->sharding != NULL ? result->sharding : result->value->sharding);
    facts->barred = true;
  }
}

// ---- backward: what is written ----------------------------------------------------------------

static void ask(const tspec_pending_t *pending, const tspec_value_t *value, set_t wanted,
                tspec_arena_t *work) {
  facts_t *facts = facts_of(pending, value);
  set_t asked = tspec_pending_set_intersect(work, wanted, facts->may);
  asked = tspec_pending_set_join(work, facts->asked, asked);
  facts->asked = tspec_pending_set_copy(pending->arena, asked);
}

static void ask_operands(const tspec_pending_t *pending, const tspec_op_t *op,
                         tspec_arena_t *work) {
  if (op->nresults != 1) {
    return;
  }
  const tspec_value_t *result = op->results[0];
  facts_t *facts = facts_of(pending, result);
  ask(pending, result, tspec_pending_set_of(result->sharding), work);
  if (facts->asked.count == 0) {
    return;
  }
  if (is_identity(op)) {
    ask(pending, op->operands[0], facts->asked, work);
    return;
  }
  set_t own = facts->alone.own;
  set_t through = tspec_pending_set_subtract(work, facts->asked, own.axes, own.count);
  for (int i = 0; i < op->noperands; i++) {
    if (tspec_pending_enters_by(pending, op, i)) {
      ask(pending, op->operands[i], through, work);
    }
  }
}

// ---- forward: what will be --------------------------------------------------------------------

// What the operands bring along of what may pass.
static set_t brought(const tspec_pending_t *pending, const tspec_op_t *op, tspec_arena_t *work) {
  const facts_t *facts = facts_of(pending, op->results[0]);
  set_t through = {0};
  for (int i = 0; i < op->noperands; i++) {
    if (tspec_pending_enters_by(pending, op, i)) {
      set_t seen = facts_of(pending, op->operands[i])->seen;
      seen = tspec_pending_set_intersect(work, seen, facts->through);
      through = tspec_pending_set_join(work, through, seen);
    }
  }
  return through;
}

static void settle(const tspec_pending_t *pending, const tspec_op_t *op, tspec_arena_t *work) {
  if (op->nresults != 1) {
    return;
  }
  facts_t *facts = facts_of(pending, op->results[0]);
  bool is_asked = facts->asked.count > 0;
  set_t entering = {0};
  if (is_asked || facts->enters) {
    entering = brought(pending, op, work);
  }
  if (is_asked) {
    entering = tspec_pending_set_intersect(work, entering, facts->asked);
  }
  set_t seen = {0};
  if (is_asked || facts->stays) {
    bool enters = entering.count > 0;
    seen = tspec_pending_set_join(work, enters ? facts->joined.own : facts->alone.own, entering);
  }
  if (is_asked) {
    seen = tspec_pending_set_intersect(work, seen, facts->asked);
  }
  facts->entering = tspec_pending_set_copy(pending->arena, entering);
  facts->seen = tspec_pending_set_copy(pending->arena, seen);
}

// ---- the whole --------------------------------------------------------------------------------

typedef void (*visit_fn_t)(const tspec_pending_t *pending, const tspec_op_t *op,
                           tspec_arena_t *work);

// Visits ops from `op` on with memory of its own for each.
static void walk(const tspec_pending_t *pending, const tspec_op_t *op, bool forward,
                 visit_fn_t visit) {
  for (; op != NULL; op = forward ? op->next : op->prev) {
    tspec_arena_t work;
    tspec_arena_init(&work);
    visit(pending, op, &work);
    tspec_arena_deinit(&work);
  }
}

const tspec_pending_t *tspec_pending_analyze(tspec_wire_t *wire, const tspec_program_t *program,
                                             tspec_func_t *func, const tspec_layouts_t *layouts) {
  tspec_arena_t *arena = wire->arena;
  tspec_pending_t *pending = TSPEC_ARENA_NEW(arena, tspec_pending_t, 1);
  *pending = (tspec_pending_t){.arena = arena,
                               .program = program,
                               .wire = wire,
                               .layouts = layouts,
                               .nvalues = tspec_func_number(func)};
  pending->facts = TSPEC_ARENA_NEW(arena, facts_t, pending->nvalues);
  for (int i = 0; i < func->nargs; i++) {
    facts_of(pending, func->args[i].value)->entry = -1;
  }
  walk(pending, func->first, true, find_possible);
  bar_results(pending, func);
  walk(pending, func->last, false, ask_operands);
  tspec_pending_travel(pending, func);
  walk(pending, func->first, true, settle);
  return pending;
}

// ---- reading ----------------------------------------------------------------------------------

// Split as `sharding` but for the axes of the set, and pending over these.
static const tspec_sharding_t *with_set(const tspec_pending_t *pending,
                                        const tspec_sharding_t *sharding, set_t set,
                                        tspec_arena_t *arena) {
  return tspec_sharding_with_pending(arena, &pending->program->mesh,
                                     tspec_pending_set_strip(arena, sharding, set), set.kind,
                                     set.axes, set.count);
}

const tspec_sharding_t *tspec_pending_made(const tspec_pending_t *pending,
                                           const tspec_value_t *value,
                                           const tspec_sharding_t *sharding, tspec_arena_t *arena) {
  return with_set(pending, sharding, facts_of(pending, value)->entering, arena);
}

const tspec_sharding_t *tspec_pending_wanted(const tspec_pending_t *pending,
                                             const tspec_value_t *value, tspec_arena_t *arena) {
  set_t seen = facts_of(pending, value)->seen;
  if (seen.count == 0) {
    return value->sharding;
  }
  set_t wanted = tspec_pending_set_join(arena, tspec_pending_set_of(value->sharding), seen);
  return with_set(pending, value->sharding, wanted, arena);
}

const tspec_sharding_t *tspec_pending_entering(const tspec_pending_t *pending, const tspec_op_t *op,
                                               int index, const tspec_sharding_t *sharding,
                                               tspec_arena_t *arena) {
  if (op->nresults != 1) {
    return tspec_sharding_complete(arena, sharding);
  }
  set_t entering = facts_of(pending, op->results[0])->entering;
  return tspec_pending_enters_by(pending, op, index)
             ? with_set(pending, sharding, entering, arena)
             : tspec_pending_set_strip(arena, sharding, entering);
}
