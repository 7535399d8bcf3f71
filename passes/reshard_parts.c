#include "passes/reshard_parts.h"

#include "ir/program_steps.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"

/// The op as it would be, in `arena`.
static tspec_op_t laid_out(tspec_arena_t *arena, const tspec_op_t *op,
                           const tspec_sharding_t *const *tensors) {
  tspec_op_t copy = *op;
  copy.operands = TSPEC_ARENA_NEW(arena, tspec_value_t *, op->noperands);
  copy.results = TSPEC_ARENA_NEW(arena, tspec_value_t *, op->nresults);
  for (int t = 0; t < op->noperands + op->nresults; t++) {
    bool is_operand = t < op->noperands;
    tspec_value_t *value = TSPEC_ARENA_NEW(arena, tspec_value_t, 1);
    *value = *tspec_op_tensor(op, t);
    value->sharding = tensors[t];
    *(is_operand ? &copy.operands[t] : &copy.results[t - op->noperands]) = value;
  }
  return copy;
}

// True if all tensors cut the mesh's axes so that one collective can move between them.
static bool have_common_cuts(const tspec_mesh_t *mesh, const tspec_op_t *op) {
  bool common = true;
  for (int a = 0; common && a < mesh->naxes; a++) {
    tspec_cuts_t cuts = {0};
    for (int t = 0; common && t < op->noperands + op->nresults; t++) {
      common = tspec_cuts_add_dims(&cuts, a, tspec_op_tensor(op, t)->sharding);
    }
  }
  return common;
}

// Of the exchange that the op is: 0 if it is none, INT64_MAX if no collective can be.
static int64_t exchange_bytes(const tspec_wire_t *wire, const tspec_op_t *op) {
  if (!tspec_op_is_exchanged(op)) {
    return 0;
  }
  return have_common_cuts(wire->mesh, op) ? tspec_op_cost_bytes(wire->mesh, op) : INT64_MAX;
}

int64_t tspec_layout_cost_bytes(tspec_wire_t *wire, const tspec_op_t *op,
                                const tspec_sharding_t *const *wanted,
                                const tspec_sharding_t *const *tensors) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  int64_t cost = 0;
  for (int i = 0; i < op->noperands; i++) {
    const tspec_value_t *value = op->operands[i];
    cost = tspec_wire_add(cost, tspec_wire_bytes(wire, value->type, value->sharding, tensors[i]));
  }
  for (int i = 0; i < op->nresults; i++) {
    cost = tspec_wire_add(
        cost, tspec_wire_bytes(wire, op->results[i]->type, tensors[op->noperands + i], wanted[i]));
  }
  tspec_op_t copy = laid_out(&work, op, tensors);
  cost = tspec_wire_add(cost, exchange_bytes(wire, &copy));
  tspec_arena_deinit(&work);
  return cost;
}

int64_t tspec_layout_exchange_cost(const tspec_wire_t *wire, const tspec_op_t *op,
                                   const tspec_sharding_t *const *tensors) {
  if (tspec_op_info(op->kind)->rules->windows == NULL) {
    return 0;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_op_t copy = laid_out(&work, op, tensors);
  int64_t cost = exchange_bytes(wire, &copy);
  if (cost > 0 && cost < INT64_MAX) {
    const tspec_step_t *step = tspec_op_parts(&copy, wire->mesh, &work);
    cost = tspec_wire_weigh(wire->mesh, step->axes, step->naxes, cost);
  }
  tspec_arena_deinit(&work);
  return cost;
}

typedef struct parts_t {
  tspec_arena_t *arena;
  tspec_wire_t *wire;
  const tspec_op_t *op;
  const tspec_sharding_t *wanted;
  const tspec_choice_t *choice;
  int64_t best;
  const tspec_sharding_t **tensors; ///< of the best so far; NULL: `choice` itself
} parts_t;

/// The dims of one sharding, pending over what another one is. NULL if the two clash.
static const tspec_sharding_t *combine(const parts_t *parts, const tspec_sharding_t *dims,
                                       const tspec_sharding_t *pending) {
  for (int d = 0; d < dims->rank; d++) {
    for (int i = 0; i < dims->dims[d].naxes; i++) {
      if (tspec_axes_overlap(pending->pending, pending->npending, dims->dims[d].axes[i])) {
        return NULL;
      }
    }
  }
  return tspec_sharding_with_pending(parts->arena, parts->wire->mesh,
                                     tspec_sharding_complete(parts->arena, dims),
                                     pending->pending_kind, pending->pending, pending->npending);
}

/// Considers operands as they are or as voted for, and the result as wanted or as voted for.
static void consider(parts_t *parts, const tspec_choice_t *voted, bool moves_operands,
                     bool moves_result) {
  const tspec_op_t *op = parts->op;
  const tspec_sharding_t **tensors =
      TSPEC_ARENA_NEW(parts->arena, const tspec_sharding_t *, op->noperands + 1);
  for (int i = 0; i <= op->noperands; i++) {
    const tspec_sharding_t *dims = i == op->noperands && !moves_result ? parts->wanted
                                   : i < op->noperands && !moves_operands
                                       ? op->operands[i]->sharding
                                       : voted->tensors[i];
    tensors[i] = combine(parts, dims, parts->choice->tensors[i]);
    if (tensors[i] == NULL) {
      return;
    }
  }
  int64_t cost = tspec_layout_cost_bytes(parts->wire, op, &parts->wanted, tensors);
  if (cost < parts->best) {
    parts->best = cost;
    parts->tensors = tensors;
  }
}

void tspec_choose_parts(tspec_arena_t *arena, tspec_wire_t *wire, const tspec_op_t *op,
                        const tspec_sharding_t *wanted, const tspec_choice_t *voted,
                        tspec_choice_t *choice) {
  parts_t parts = {.arena = arena, .wire = wire, .op = op, .wanted = wanted, .choice = choice};
  parts.best = tspec_layout_cost_bytes(wire, op, &wanted, choice->tensors);
  for (int i = 0; i < 4 && parts.best > 0; i++) {
    consider(&parts, voted, i / 2 == 1, i % 2 == 1);
  }
  if (parts.tensors != NULL) {
    choice->tensors = parts.tensors;
    choice->nunsplit = 0;
  }
}
