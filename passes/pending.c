#include "passes/pending.h"

#include "ir/shard/axes.h"
#include "ir/shard/choose.h"
#include "ir/shard/cuts.h"

// Axes over which partial results are combined by `kind`.
typedef struct set_t {
  tspec_reduce_t kind;
  int count;
  const tspec_axis_t *axes;
} set_t;

typedef struct facts_t {
  set_t own;   // split reductions of the op that makes it
  set_t may;   // over which it could be pending
  set_t asked; // over which it will be
  int entry;   // the operand through which partials come in: -1 none, noperands: all of them
} facts_t;

struct tspec_pending_t {
  tspec_arena_t *arena;
  const tspec_program_t *program;
  bool any;       // else nothing below is filled in
  facts_t *facts; // by value id
};

static set_t set_of(const tspec_sharding_t *sharding) {
  return (set_t){sharding->pending_kind, sharding->npending, sharding->pending};
}

// ---- sets -------------------------------------------------------------------------------------

static set_t subtract(tspec_arena_t *arena, set_t a, const tspec_axis_t *axes, int naxes) {
  tspec_axis_t *rest = TSPEC_ARENA_NEW(arena, tspec_axis_t, TSPEC_MAX_ATOMS);
  int count = 0;
  if (!tspec_axes_subtract(a.axes, a.count, axes, naxes, rest, &count)) {
    return (set_t){.kind = a.kind};
  }
  return (set_t){a.kind, tspec_axes_sort(rest, count), rest};
}

static set_t intersect(tspec_arena_t *arena, set_t a, set_t b) {
  if (a.count == 0 || b.count == 0 || a.kind != b.kind) {
    return (set_t){0};
  }
  set_t lost = subtract(arena, a, b.axes, b.count);
  return lost.count == 0 ? a : subtract(arena, a, lost.axes, lost.count);
}

// Where the kinds differ, the first stays alone.
static set_t join(tspec_arena_t *arena, set_t a, set_t b) {
  if (a.count == 0 || b.count == 0) {
    return a.count == 0 ? b : a;
  }
  if (a.kind != b.kind) {
    return a;
  }
  set_t more = subtract(arena, b, a.axes, a.count);
  tspec_axis_t *all = TSPEC_ARENA_NEW(arena, tspec_axis_t, a.count + more.count);
  for (int i = 0; i < a.count; i++) {
    all[i] = a.axes[i];
  }
  for (int i = 0; i < more.count; i++) {
    all[a.count + i] = more.axes[i];
  }
  return (set_t){a.kind, tspec_axes_sort(all, a.count + more.count), all};
}

static set_t without_splits(tspec_arena_t *arena, set_t set, const tspec_sharding_t *sharding) {
  for (int d = 0; d < sharding->rank && set.count > 0; d++) {
    set = subtract(arena, set, sharding->dims[d].axes, sharding->dims[d].naxes);
  }
  return set;
}

// ---- forward: what could be pending -----------------------------------------------------------

static facts_t *facts_of(const tspec_pending_t *pending, const tspec_value_t *value) {
  return &pending->facts[value->id];
}

// Through which operands partial results of that kind can pass, and over which axes.
static set_t enter(const tspec_pending_t *pending, const tspec_op_t *op, int *out_entry) {
  set_t common = {0};
  *out_entry = -1;
  for (int i = 0; i < op->noperands; i++) {
    set_t may = facts_of(pending, op->operands[i])->may;
    if (may.count == 0) {
      continue;
    }
    tspec_op_view_t view = tspec_op_view(op, pending->arena);
    switch (tspec_op_linear(&view, may.kind)) {
    case TSPEC_LINEAR_NONE:
      break;
    case TSPEC_LINEAR_EACH:
      common = may;
      for (int j = 0; j < op->noperands; j++) {
        common = intersect(pending->arena, common, facts_of(pending, op->operands[j])->may);
      }
      *out_entry = op->noperands;
      return common;
    case TSPEC_LINEAR_ONE:
      *out_entry = i;
      return may;
    case TSPEC_LINEAR_FIRST:
      if (i == 0) {
        *out_entry = 0;
        return may;
      }
      break;
    }
  }
  return common;
}

static tspec_choice_t choose_complete(const tspec_pending_t *pending, const tspec_op_t *op) {
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  tspec_arena_t *arena = pending->arena;
  int ntensors = op->noperands + op->nresults;
  const tspec_sharding_t **shardings = TSPEC_ARENA_NEW(arena, const tspec_sharding_t *, ntensors);
  tspec_type_t *types = TSPEC_ARENA_NEW(arena, tspec_type_t, ntensors);
  for (int t = 0; t < ntensors; t++) {
    const tspec_value_t *value =
        t < op->noperands ? op->operands[t] : op->results[t - op->noperands];
    shardings[t] = tspec_sharding_complete(arena, value->sharding);
    types[t] = value->type;
  }
  tspec_op_view_t view = tspec_op_view(op, arena);
  return tspec_choose(
      arena, &pending->program->mesh,
      &(tspec_choose_op_t){.rule = rules->rule(&view, arena, false),
                           .types = types,
                           .shardings = shardings,
                           .keeps_elements = (rules->traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0,
                           .executable = true});
}

static void find_possible(const tspec_pending_t *pending, const tspec_op_t *op) {
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  tspec_arena_t *arena = pending->arena;
  if (op->nresults != 1) {
    return;
  }
  facts_t *facts = facts_of(pending, op->results[0]);
  facts->entry = -1;
  if ((rules->traits & TSPEC_TRAIT_IDENTITY) != 0) {
    facts->may = set_of(op->results[0]->sharding);
    return;
  }
  if (rules->rule == NULL) {
    return;
  }
  tspec_choice_t choice = choose_complete(pending, op);
  facts->own = (set_t){choice.reduce, choice.nreduced, choice.reduced};
  set_t through = enter(pending, op, &facts->entry);
  through = subtract(arena, through, choice.reduced, choice.nreduced);
  for (int t = 0; t < choice.ntensors; t++) {
    through = without_splits(arena, through, choice.tensors[t]);
  }
  if (through.count == 0) {
    facts->entry = -1;
  }
  facts->may = join(arena, facts->own, through);
  facts->may = without_splits(arena, facts->may, op->results[0]->sharding);
}

// ---- backward: what should be -----------------------------------------------------------------

static void ask(const tspec_pending_t *pending, const tspec_value_t *value, set_t wanted) {
  facts_t *facts = facts_of(pending, value);
  facts->asked = join(pending->arena, facts->asked, intersect(pending->arena, wanted, facts->may));
}

static void ask_operands(const tspec_pending_t *pending, const tspec_op_t *op) {
  if (op->nresults != 1) {
    return;
  }
  const tspec_value_t *result = op->results[0];
  facts_t *facts = facts_of(pending, result);
  if ((tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0) {
    ask(pending, op->operands[0], set_of(result->sharding));
    return;
  }
  ask(pending, result, set_of(result->sharding));
  set_t through = subtract(pending->arena, facts->asked, facts->own.axes, facts->own.count);
  for (int i = 0; i < op->noperands; i++) {
    if (facts->entry == i || facts->entry == op->noperands) {
      ask(pending, op->operands[i], through);
    }
  }
}

// ---- forward: what will be --------------------------------------------------------------------

static void settle(const tspec_pending_t *pending, const tspec_op_t *op) {
  tspec_arena_t *arena = pending->arena;
  if (op->nresults != 1) {
    return;
  }
  facts_t *facts = facts_of(pending, op->results[0]);
  if ((tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0) {
    facts->asked = set_of(op->results[0]->sharding);
    return;
  }
  set_t own = intersect(arena, facts->own, facts->asked);
  set_t through = subtract(arena, facts->asked, facts->own.axes, facts->own.count);
  for (int i = 0; i < op->noperands; i++) {
    if (facts->entry == i || facts->entry == op->noperands) {
      through = intersect(arena, through, facts_of(pending, op->operands[i])->asked);
    }
  }
  facts->asked = facts->entry < 0 ? own : join(arena, own, through);
}

// ---- reading ----------------------------------------------------------------------------------

static bool says_pending(const tspec_func_t *func) {
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->nresults; i++) {
      if (op->results[i]->sharding->npending > 0) {
        return true;
      }
    }
  }
  return false;
}

const tspec_pending_t *tspec_pending_analyze(tspec_arena_t *arena, const tspec_program_t *program,
                                             tspec_func_t *func) {
  tspec_pending_t *pending = TSPEC_ARENA_NEW(arena, tspec_pending_t, 1);
  *pending = (tspec_pending_t){.arena = arena, .program = program, .any = says_pending(func)};
  int nvalues = tspec_func_number(func);
  if (!pending->any) {
    return pending;
  }
  pending->facts = TSPEC_ARENA_NEW(arena, facts_t, nvalues);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    find_possible(pending, op);
  }
  for (const tspec_op_t *op = func->last; op != NULL; op = op->prev) {
    ask_operands(pending, op);
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    settle(pending, op);
  }
  return pending;
}

static const tspec_sharding_t *with_set(const tspec_pending_t *pending,
                                        const tspec_sharding_t *sharding, set_t set,
                                        tspec_arena_t *arena) {
  return tspec_sharding_with_pending(arena, &pending->program->mesh,
                                     tspec_sharding_complete(arena, sharding), set.kind, set.axes,
                                     set.count);
}

const tspec_sharding_t *tspec_pending_kept(const tspec_pending_t *pending,
                                           const tspec_value_t *value, tspec_arena_t *arena) {
  set_t none = {0};
  return with_set(pending, value->sharding, pending->any ? facts_of(pending, value)->asked : none,
                  arena);
}

const tspec_sharding_t *tspec_pending_wanted(const tspec_pending_t *pending,
                                             const tspec_value_t *value, tspec_arena_t *arena) {
  if (!pending->any) {
    return value->sharding;
  }
  set_t wanted = join(pending->arena, set_of(value->sharding), facts_of(pending, value)->asked);
  return with_set(pending, value->sharding, wanted, arena);
}

bool tspec_pending_may_enter(const tspec_pending_t *pending, const tspec_op_t *op, int index) {
  if (!pending->any || op->nresults != 1) {
    return false;
  }
  const facts_t *facts = facts_of(pending, op->results[0]);
  return facts->entry == index || facts->entry == op->noperands;
}
