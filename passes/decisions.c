#include "passes/decisions.h"

#include "passes/reshard_parts.h"

tspec_decision_t *tspec_decision_create(tspec_arena_t *arena, const tspec_op_t *op,
                                        const tspec_sharding_t *const *wanted) {
  int ntensors = op->noperands + op->nresults;
  const char **names = TSPEC_ARENA_NEW(arena, const char *, ntensors);
  tspec_type_t *types = TSPEC_ARENA_NEW(arena, tspec_type_t, ntensors);
  const tspec_sharding_t **given = TSPEC_ARENA_NEW(arena, const tspec_sharding_t *, ntensors);
  for (int t = 0; t < ntensors; t++) {
    const tspec_value_t *value = tspec_op_tensor(op, t);
    names[t] = value->name;
    types[t] = value->type;
    given[t] = t < op->noperands ? value->sharding : wanted[t - op->noperands];
  }
  tspec_decision_t *decision = TSPEC_ARENA_NEW(arena, tspec_decision_t, 1);
  *decision = (tspec_decision_t){.spelling = op->spelling != NULL ? op->spelling
                                                                  : tspec_op_info(op->kind)->name,
                                 .range = op->range,
                                 .noperands = op->noperands,
                                 .nresults = op->nresults,
                                 .names = names,
                                 .types = types,
                                 .given = given};
  return decision;
}

static bool is_alike(const tspec_decision_t *decision, const tspec_candidate_t *candidate,
                     const tspec_sharding_t *const *tensors) {
  bool alike = true;
  for (int t = 0; alike && t < decision->noperands + decision->nresults; t++) {
    alike = tspec_sharding_same_layout(candidate->tensors[t], tensors[t]);
  }
  return alike;
}

void tspec_decision_consider(tspec_decision_t *decision, tspec_arena_t *arena, tspec_wire_t *wire,
                             const tspec_op_t *op, const char *what,
                             const tspec_sharding_t *const *tensors) {
  for (size_t i = 0; i < decision->candidates.count; i++) {
    if (is_alike(decision, &decision->candidates.items[i], tensors)) {
      return;
    }
  }
  int ntensors = decision->noperands + decision->nresults;
  tspec_candidate_t candidate = {
      .what = what,
      .tensors = tspec_arena_copy(arena, tensors, sizeof(void *) * (size_t)ntensors),
      .nelems = -1};
  candidate.bytes =
      tspec_layout_cost_bytes(wire, op, decision->given + decision->noperands, tensors);
  TSPEC_VEC_PUSH(arena, &decision->candidates, candidate);
}

static const char *tensor_text(const tspec_decision_t *decision, tspec_arena_t *arena, int tensor) {
  bool is_operand = tensor < decision->noperands;
  return decision->names[tensor] != NULL
             ? tspec_arena_printf(arena, "'%s'", decision->names[tensor])
             : tspec_arena_printf(arena, "%s %d", is_operand ? "operand" : "result",
                                  is_operand ? tensor : tensor - decision->noperands);
}

static bool moves(const tspec_decision_t *decision, const tspec_op_t *op,
                  const tspec_choice_t *choice) {
  bool any = tspec_op_info(op->kind)->rules->windows != NULL;
  for (int t = 0; !any && t < choice->ntensors; t++) {
    any = !tspec_sharding_same_layout(decision->given[t], choice->tensors[t]);
  }
  return any;
}

/// What the vote would have come to from each of its other beginnings.
static void consider_voted(tspec_decision_t *decision, tspec_arena_t *arena, tspec_wire_t *wire,
                           const tspec_op_t *op, const tspec_choose_op_t *choose,
                           tspec_choice_t vote) {
  for (int i = 0; i < vote.nvoted; i++) {
    const tspec_voted_t *voted = &vote.voted[i];
    tspec_choose_op_t other = *choose;
    other.begin = voted;
    size_t count = decision->candidates.count;
    tspec_decision_consider(
        decision, arena, wire, op,
        tspec_arena_printf(arena, "first %s on %s", tspec_factor_name(arena, voted->factor),
                           tspec_axes_print(arena, wire->mesh, voted->axes, voted->naxes)),
        tspec_choose(arena, wire->mesh, &other).tensors);
    if (decision->candidates.count > count) {
      decision->candidates.items[count].nelems = voted->nelems;
    }
  }
}

const tspec_decision_t *tspec_decision_of_vote(tspec_arena_t *arena, tspec_wire_t *wire,
                                               const tspec_op_t *op,
                                               const tspec_choose_op_t *choose,
                                               const tspec_sharding_t *const *wanted,
                                               const tspec_choice_t *choice) {
  tspec_decision_t *decision = tspec_decision_create(arena, op, wanted);
  if (!moves(decision, op, choice)) {
    return NULL;
  }
  tspec_decision_consider(decision, arena, wire, op, "chosen", choice->tensors);
  tspec_choice_t vote = tspec_choose(arena, wire->mesh, choose);
  tspec_decision_consider(decision, arena, wire, op, "by vote", vote.tensors);
  const tspec_sharding_t **one = TSPEC_ARENA_NEW(arena, const tspec_sharding_t *, choice->ntensors);
  tspec_choose_op_t other = *choose;
  other.shardings = one;
  for (int t = 0; t <= choice->ntensors; t++) { // the last time with none
    bool is_tensor = t < choice->ntensors;
    if (is_tensor) {
      one[t] = choose->shardings[t];
    }
    tspec_choice_t found = tspec_choose(arena, wire->mesh, &other);
    tspec_decision_consider(
        decision, arena, wire, op,
        is_tensor ? tspec_arena_printf(arena, "all as %s lies", tensor_text(decision, arena, t))
                  : "nothing split",
        found.tensors);
    if (is_tensor) {
      one[t] = NULL;
    }
  }
  consider_voted(decision, arena, wire, op, choose, vote);
  return decision;
}
