#include "passes/steps.h"

// Makes the op of a collective, before `reason`.
static tspec_op_t *emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *reason,
                        const tspec_step_t *step, tspec_op_build_t build) {
  const char *name = tspec_op_info(build.kind)->name;
  build.range = reason->range;
  build.spelling = reason->spelling != NULL ? reason->spelling : tspec_op_info(reason->kind)->name;
  build.because = tspec_arena_printf(run->scratch, "%s for '%s'", name, build.spelling);
  tspec_op_t *op = tspec_op_create(run->program, func, reason, &build, run->diag);
  TSPEC_CHECK(op != NULL);
  op->results[0]->decided = reason->results[0]->decided;
  op->results[0]->sharding = tspec_program_sharding(run->program, step->to);
  op->results[0]->range = reason->results[0]->range;
  return op;
}

tspec_op_t *tspec_step_emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *reason,
                            tspec_value_t *value, const tspec_step_t *step) {
  return emit(run, func, reason, step, tspec_step_build(run->scratch, value, step));
}

// True if some window shows fewer elements than there are.
static bool ends_early(const tspec_parts_t *parts, int rank) {
  for (int i = 0; i < parts->count * rank; i++) {
    const tspec_window_t *window = &parts->steps[i / rank].windows[i % rank];
    int64_t size = parts->operands[i / rank]->type.dims[i % rank];
    if (window->count !=
        tspec_window_make(window->size, size, window->lo, window->start, window->step).count) {
      return true;
    }
  }
  return false;
}

tspec_op_t *tspec_parts_emit(tspec_pass_run_t *run, tspec_func_t *func, tspec_op_t *op,
                             const tspec_parts_t *parts) {
  tspec_type_t type = op->results[0]->type;
  int count = parts->count * type.rank;
  int64_t *lo = TSPEC_ARENA_NEW(run->scratch, int64_t, count);
  int64_t *starts = TSPEC_ARENA_NEW(run->scratch, int64_t, count);
  int64_t *distances = TSPEC_ARENA_NEW(run->scratch, int64_t, count);
  int64_t *counts = TSPEC_ARENA_NEW(run->scratch, int64_t, count);
  for (int i = 0; i < count; i++) {
    const tspec_window_t *window = &parts->steps[i / type.rank].windows[i % type.rank];
    lo[i] = window->lo;
    starts[i] = window->start;
    distances[i] = window->step;
    counts[i] = window->count;
  }
  tspec_attr_t attrs[7] = {
      tspec_attr_axes("axes", parts->steps[0].naxes, parts->steps[0].axes),
      tspec_attr_ints("shape", type.rank, type.dims), tspec_attr_ints("lo", count, lo),
      tspec_attr_ints("starts", count, starts), tspec_attr_ints("steps", count, distances)};
  int nattrs = 5;
  if (ends_early(parts, type.rank)) {
    attrs[nattrs++] = tspec_attr_ints("counts", count, counts);
  }
  if (parts->value != NULL) {
    attrs[nattrs++] = *parts->value;
  }
  return emit(run, func, op, &parts->steps[0],
              (tspec_op_build_t){.kind = tspec_op_find(tspec_collective_name(parts->steps[0].kind)),
                                 .noperands = parts->count,
                                 .operands = parts->operands,
                                 .nattrs = nattrs,
                                 .attrs = attrs});
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
