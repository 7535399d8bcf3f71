#include "passes/steps.h"

bool tspec_op_is_step(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) != 0 ||
         op->kind == TSPEC_OP_make_pending;
}

tspec_step_t tspec_step_of_op(const tspec_op_t *op) {
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  const tspec_attr_t *kind = tspec_op_get_attr(op, "kind");
  tspec_step_t step = {.reduce = kind == NULL ? TSPEC_REDUCE_SUM : kind->reduce,
                       .naxes = (int)axes->count,
                       .axes = axes->axes,
                       .from = op->operands[0]->sharding,
                       .to = op->results[0]->sharding,
                       .src_dim = -1,
                       .dst_dim = -1};
  for (int i = 0; i <= TSPEC_COLLECTIVE_MAKE_PENDING; i++) {
    if (tspec_op_find(tspec_collective_name((tspec_collective_t)i)) == op->kind) {
      step.kind = (tspec_collective_t)i;
    }
  }
  return step;
}

tspec_op_t *tspec_step_emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *reason,
                            tspec_value_t *value, const tspec_step_t *step) {
  const char *name = tspec_collective_name(step->kind);
  bool reduces = step->kind == TSPEC_COLLECTIVE_ALL_REDUCE ||
                 step->kind == TSPEC_COLLECTIVE_REDUCE_SCATTER ||
                 step->kind == TSPEC_COLLECTIVE_MAKE_PENDING;
  tspec_attr_t attrs[2] = {tspec_attr_axes("axes", step->naxes, step->axes),
                           tspec_attr_reduce("kind", step->reduce)};
  const char *spelling =
      reason->spelling != NULL ? reason->spelling : tspec_op_info(reason->kind)->name;
  tspec_op_t *op =
      tspec_op_create(run->program, func, reason,
                      &(tspec_op_build_t){.kind = tspec_op_find(name),
                                          .noperands = 1,
                                          .operands = &value,
                                          .nattrs = reduces ? 2 : 1,
                                          .attrs = attrs,
                                          .range = reason->range,
                                          .spelling = spelling,
                                          .because = tspec_arena_printf(run->scratch, "%s for '%s'",
                                                                        name, spelling)},
                      run->diag);
  TSPEC_CHECK(op != NULL);
  op->decided = reason->decided;
  op->results[0]->sharding = step->to;
  op->results[0]->range = reason->results[0]->range;
  return op;
}

void tspec_op_replace(tspec_func_t *func, tspec_op_t *op, tspec_value_t *value) {
  if (value->name == NULL) {
    value->name = op->results[0]->name;
  }
  op->results[0]->replaced_by = value;
  tspec_op_remove(func, op);
}

static tspec_value_t *settled(tspec_value_t *value) {
  while (value->replaced_by != NULL) {
    value = value->replaced_by;
  }
  return value;
}

void tspec_op_settle(tspec_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    op->operands[i] = settled(op->operands[i]);
  }
}

void tspec_func_settle(tspec_func_t *func) {
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    tspec_op_settle(op);
  }
  for (int i = 0; i < func->nresults; i++) {
    func->results[i].value = settled(func->results[i].value);
  }
}

int *tspec_func_count_reads(tspec_arena_t *arena, tspec_func_t *func) {
  int *nreads = TSPEC_ARENA_NEW(arena, int, tspec_func_number(func));
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->noperands; i++) {
      nreads[op->operands[i]->id]++;
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    nreads[func->results[i].value->id]++;
  }
  return nreads;
}
