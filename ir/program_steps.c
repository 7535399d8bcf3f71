#include "ir/program_steps.h"

#include "ir/shard/axes.h"
#include "ir/shard/decompose.h"

static bool is_collective(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) != 0;
}

bool tspec_op_is_step(const tspec_op_t *op) {
  return is_collective(op) || op->kind == TSPEC_OP_make_pending;
}

bool tspec_op_has_parts(const tspec_op_t *op) {
  return is_collective(op) && tspec_op_get_attr(op, "shape") != NULL;
}

tspec_step_t tspec_step_of_op(const tspec_op_t *op, int index) {
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  const tspec_attr_t *kind = tspec_op_get_attr(op, "kind");
  tspec_step_t step = {.reduce = kind == NULL ? TSPEC_REDUCE_SUM : kind->reduce,
                       .naxes = (int)axes->count,
                       .axes = axes->axes,
                       .from = op->operands[index]->sharding,
                       .to = op->results[op->nresults == 1 ? 0 : index]->sharding,
                       .src_dim = -1,
                       .dst_dim = -1};
  for (int i = 0; i <= TSPEC_COLLECTIVE_MAKE_PENDING; i++) {
    if (tspec_op_find(tspec_collective_name((tspec_collective_t)i)) == op->kind) {
      step.kind = (tspec_collective_t)i;
    }
  }
  return step;
}

tspec_op_build_t tspec_step_build(tspec_arena_t *arena, tspec_value_t *value,
                                  const tspec_step_t *step) {
  bool reduces = step->kind == TSPEC_COLLECTIVE_ALL_REDUCE ||
                 step->kind == TSPEC_COLLECTIVE_REDUCE_SCATTER ||
                 step->kind == TSPEC_COLLECTIVE_MAKE_PENDING;
  tspec_attr_t attrs[2] = {tspec_attr_axes("axes", step->naxes, step->axes),
                           tspec_attr_reduce("kind", step->reduce)};
  tspec_value_t **operands = TSPEC_ARENA_NEW(arena, tspec_value_t *, 1);
  operands[0] = value;
  return (tspec_op_build_t){.kind = tspec_op_find(tspec_collective_name(step->kind)),
                            .noperands = 1,
                            .operands = operands,
                            .nattrs = reduces ? 2 : 1,
                            .attrs = tspec_arena_copy(arena, attrs, sizeof attrs)};
}

// ---- parts of operands -------------------------------------------------------------------------

const tspec_window_t *tspec_op_windows(const tspec_op_t *op, tspec_arena_t *arena) {
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  if (rules->windows == NULL) {
    return NULL;
  }
  tspec_op_view_t view = tspec_op_view(op, arena);
  return rules->windows(&view, arena);
}

static bool same_split(const tspec_sharding_t *a, const tspec_sharding_t *b, int d) {
  return tspec_axes_equal(a->dims[d].axes, a->dims[d].naxes, b->dims[d].axes, b->dims[d].naxes);
}

// All lie alike in every dim, and where elements change their place, the dim is whole.
static bool is_local(const tspec_op_t *op, const tspec_window_t *windows) {
  const tspec_value_t *result = op->results[0];
  int rank = result->type.rank;
  for (int i = 0; i < op->noperands * rank; i++) {
    const tspec_value_t *operand = op->operands[i / rank];
    int d = i % rank;
    if (!same_split(operand->sharding, result->sharding, d) ||
        (result->sharding->dims[d].naxes > 0 &&
         !tspec_window_is_identity(&windows[i], operand->type.dims[d]))) {
      return false;
    }
  }
  return true;
}

bool tspec_op_is_exchanged(const tspec_op_t *op) {
  if (is_collective(op) || tspec_op_info(op->kind)->rules->windows == NULL) {
    return false;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  bool exchanged = !is_local(op, tspec_op_windows(op, &work));
  tspec_arena_deinit(&work);
  return exchanged;
}

void tspec_steps_find_form(const tspec_mesh_t *mesh, int count, const tspec_type_t *types,
                           tspec_step_t *steps, tspec_arena_t *arena) {
  tspec_steps_join_axes(arena, mesh, count, types, steps);
  bool sends = tspec_steps_joint_cost_bytes(mesh, count, types, steps) > 0;
  for (int k = 0; k < count; k++) {
    steps[k].kind = sends ? TSPEC_COLLECTIVE_PERMUTE : TSPEC_COLLECTIVE_ALL_SLICE;
  }
}

static const tspec_type_t *operand_types(const tspec_op_t *op, tspec_arena_t *arena) {
  tspec_type_t *types = TSPEC_ARENA_NEW(arena, tspec_type_t, op->noperands);
  for (int k = 0; k < op->noperands; k++) {
    types[k] = op->operands[k]->type;
  }
  return types;
}

tspec_step_t *tspec_op_parts(const tspec_op_t *op, const tspec_mesh_t *mesh, tspec_arena_t *arena) {
  const tspec_window_t *windows = tspec_op_windows(op, arena);
  if (windows == NULL) {
    return NULL;
  }
  const tspec_type_t *types = operand_types(op, arena);
  tspec_step_t *steps = TSPEC_ARENA_NEW(arena, tspec_step_t, op->noperands);
  tspec_step_t base = {.to = op->results[0]->sharding, .src_dim = -1, .dst_dim = -1};
  if (is_collective(op)) {
    base = tspec_step_of_op(op, 0);
  }
  for (int k = 0; k < op->noperands; k++) {
    steps[k] = base;
    steps[k].from = op->operands[k]->sharding;
    steps[k].windows = windows + (ptrdiff_t)k * types[k].rank;
  }
  if (!is_collective(op)) {
    tspec_steps_find_form(mesh, op->noperands, types, steps, arena);
  }
  return steps;
}

int64_t tspec_op_cost_bytes(const tspec_mesh_t *mesh, const tspec_op_t *op) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_step_t *parts = tspec_op_parts(op, mesh, &work);
  int64_t bytes = 0;
  if (parts == NULL) {
    tspec_step_t *steps = TSPEC_ARENA_NEW(&work, tspec_step_t, op->noperands);
    for (int k = 0; k < op->noperands; k++) {
      steps[k] = tspec_step_of_op(op, k);
    }
    bytes = tspec_steps_combined_cost_bytes(mesh, op->noperands, operand_types(op, &work), steps);
  } else if (parts[0].kind != TSPEC_COLLECTIVE_ALL_SLICE) {
    bytes = tspec_steps_joint_cost_bytes(mesh, op->noperands, operand_types(op, &work), parts);
  }
  tspec_arena_deinit(&work);
  return bytes;
}
