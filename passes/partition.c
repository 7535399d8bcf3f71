// From whole tensors to a rank's blocks: `reshard` ops become collectives, constraints vanish, and
// so do ops that place elements across ranks (slice, pad, concat along a split dim), several of
// them at once where that sends less (passes/compose.h). All other ops
// stay as they are; at the local level they mean "each rank computes its block".
#include "passes/compose.h"
#include "passes/pass.h"
#include "passes/steps.h"
#include "passes/wire.h"

// Puts collectives in front of the conversion and gives their result to its readers.
static void expand(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func,
                   tspec_op_t *conversion) {
  tspec_value_t *value = conversion->operands[0];
  tspec_steps_t steps =
      tspec_wire_plan(wire, value->type, value->sharding, conversion->results[0]->sharding)->steps;
  for (int i = 0; i < steps.count; i++) {
    value = tspec_step_emit(run, func, conversion, value, &steps.items[i])->results[0];
  }
  tspec_op_replace(func, conversion, value);
}

// Puts the collective that an op which places elements stands for in front of it.
static tspec_value_t *exchange(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *op) {
  tspec_parts_t parts = {.count = op->noperands,
                         .operands = op->operands,
                         .steps = tspec_op_parts(op, &run->program->mesh, run->scratch),
                         .value = tspec_op_get_attr(op, "value")};
  return tspec_parts_emit(run, func, op, &parts)->results[0];
}

bool tspec_pass_partition(tspec_pass_run_t *run) {
  tspec_wire_t wire = {.mesh = &run->program->mesh, .arena = run->scratch};
  for (int i = 0; i < run->program->nfuncs; i++) {
    tspec_func_t *func = run->program->funcs[i];
    tspec_compose_parts(run, &wire, func);
    for (tspec_op_t *op = func->first, *next = NULL; op != NULL; op = next) {
      next = op->next;
      tspec_op_settle(op);
      if ((tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0) {
        expand(run, &wire, func, op);
      } else if (tspec_op_is_exchanged(op)) {
        tspec_op_replace(func, op, exchange(run, func, op));
      }
    }
    tspec_func_settle(func);
    tspec_func_remove_dead(func);
  }
  run->program->level = TSPEC_LEVEL_LOCAL;
  return true;
}
