// Pass `plan-memory`: gives every value of an entry a place in one arena.
//
// Steps run in order, so a value lives from the step that makes it to the last one that reads it.
// Inputs live from the start, where the runtime puts them before every run, results to the end.
// Values are placed in the order in which they come to life, each into the smallest gap that holds
// it; gaps grow together again when values die. A view lies where its operand lies.
#include <string.h>

#include "passes/pass.h"

#define ALIGNMENT 64 // a cache line, and the widest vector

typedef struct gap_t {
  int64_t begin;
  int64_t end;
} gap_t;

typedef struct planner_t {
  tspec_pass_run_t *run;
  tspec_func_t *func;
  int *last_use;                      ///< by value id of what is not a view: number of a step
  TSPEC_VEC(gap_t) gaps;              ///< by address, never touching each other
  int64_t top;                        ///< the arena's end so far
  TSPEC_VEC(tspec_value_t *) * dying; ///< by step
} planner_t;

static tspec_value_t *behind_views(tspec_value_t *value) {
  while (value->def != NULL && value->def->kind == TSPEC_OP_view) {
    value = value->def->operands[0];
  }
  return value;
}

static bool is_param(const tspec_func_t *func, const tspec_value_t *value) {
  return value->def == NULL && func->args[value->index].kind != TSPEC_SLOT_INPUT;
}

static int64_t capacity_bytes(planner_t *p, const tspec_value_t *value) {
  tspec_type_t block = tspec_sharding_local_type(p->run->scratch, value->sharding, value->type);
  int64_t bytes = tspec_type_bytes(block);
  return bytes < 1 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// ---- gaps --------------------------------------------------------------------------------------

static void remove_gap(planner_t *p, size_t index) {
  memmove(p->gaps.items + index, p->gaps.items + index + 1,
          sizeof(gap_t) * (p->gaps.count - index - 1));
  p->gaps.count--;
}

/// The first gap at or after `address`.
static size_t find_gap(const planner_t *p, int64_t address) {
  size_t lo = 0, hi = p->gaps.count;
  while (lo < hi) {
    size_t middle = (lo + hi) / 2;
    if (p->gaps.items[middle].begin < address) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

static void release(planner_t *p, int64_t begin, int64_t end) {
  size_t index = find_gap(p, begin);
  if (index < p->gaps.count && p->gaps.items[index].begin == end) {
    end = p->gaps.items[index].end;
    remove_gap(p, index);
  }
  if (index > 0 && p->gaps.items[index - 1].end == begin) {
    begin = p->gaps.items[index - 1].begin;
    remove_gap(p, --index);
  }
  TSPEC_VEC_PUSH(p->run->scratch, &p->gaps, (gap_t){0, 0});
  memmove(p->gaps.items + index + 1, p->gaps.items + index,
          sizeof(gap_t) * (p->gaps.count - 1 - index));
  p->gaps.items[index] = (gap_t){begin, end};
}

static int64_t take(planner_t *p, int64_t bytes) {
  size_t best = p->gaps.count;
  int64_t best_size = INT64_MAX;
  for (size_t i = 0; i < p->gaps.count; i++) {
    int64_t size = p->gaps.items[i].end - p->gaps.items[i].begin;
    if (size >= bytes && size < best_size) {
      best = i;
      best_size = size;
    }
  }
  if (best < p->gaps.count) {
    int64_t offset = p->gaps.items[best].begin;
    p->gaps.items[best].begin += bytes;
    if (p->gaps.items[best].begin == p->gaps.items[best].end) {
      remove_gap(p, best);
    }
    return offset;
  }
  // A gap at the end grows.
  int64_t offset = p->top;
  if (p->gaps.count > 0 && p->gaps.items[p->gaps.count - 1].end == p->top) {
    offset = p->gaps.items[--p->gaps.count].begin;
  }
  p->top = offset + bytes;
  return offset;
}

// ---- lives -------------------------------------------------------------------------------------

static void find_lives(planner_t *p) {
  int step = 0;
  for (tspec_op_t *op = p->func->first; op != NULL; op = op->next, step++) {
    for (int i = 0; i < op->nresults; i++) {
      p->last_use[op->results[i]->id] = step;
    }
    for (int i = 0; i < op->noperands; i++) {
      p->last_use[behind_views(op->operands[i])->id] = step;
    }
    if (op->kind == TSPEC_OP_view) {
      p->last_use[behind_views(op->results[0])->id] = step;
    }
  }
  for (int i = 0; i < p->func->nresults; i++) {
    p->last_use[behind_views(p->func->results[i].value)->id] = step;
  }
}

static void place(planner_t *p, tspec_value_t *value) {
  value->offset_bytes = take(p, capacity_bytes(p, value));
  int step = p->last_use[value->id];
  TSPEC_VEC_PUSH(p->run->scratch, &p->dying[step], value);
}

static void plan_func(tspec_pass_run_t *run, tspec_func_t *func) {
  planner_t p = {.run = run, .func = func};
  int nvalues = tspec_func_number(func), nsteps = 0;
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    nsteps++;
  }
  p.last_use = TSPEC_ARENA_NEW(run->scratch, int, nvalues);
  p.dying = tspec_arena_alloc(run->scratch, sizeof *p.dying * ((size_t)nsteps + 1));
  find_lives(&p);
  for (int i = 0; i < func->nargs; i++) {
    tspec_value_t *value = func->args[i].value;
    if (is_param(func, value)) {
      value->offset_bytes = -1;
    } else {
      place(&p, value);
    }
  }
  int step = 0;
  for (tspec_op_t *op = func->first; op != NULL; op = op->next, step++) {
    for (int i = 0; i < op->nresults; i++) {
      if (op->kind == TSPEC_OP_view) {
        op->results[i]->offset_bytes = behind_views(op->results[i])->offset_bytes;
      } else {
        place(&p, op->results[i]);
      }
    }
    // What this step reads last is free only after it.
    for (size_t i = 0; i < p.dying[step].count; i++) {
      const tspec_value_t *value = p.dying[step].items[i];
      release(&p, value->offset_bytes, value->offset_bytes + capacity_bytes(&p, value));
    }
  }
  func->arena_bytes = p.top;
}

bool tspec_pass_plan_memory(tspec_pass_run_t *run) {
  for (int i = 0; i < run->program->nfuncs; i++) {
    plan_func(run, run->program->funcs[i]);
  }
  return true;
}
