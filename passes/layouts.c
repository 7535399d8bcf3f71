#include "passes/layouts.h"

#include "passes/layouts_internal.h"
#include "passes/pending.h"
#include "passes/steps.h"

struct tspec_layouts_t {
  const tspec_sharding_t *const **ops; // by the id of the first result; NULL: as voted
  TSPEC_VEC(tspec_moved_t) moved;
};

tspec_laid_value_t *tspec_laid_value(const tspec_laying_t *laying, const tspec_value_t *value) {
  return &laying->values[value->id];
}

tspec_laid_value_t *tspec_laid_tensor(const tspec_laying_t *laying, const tspec_op_t *op,
                                      int tensor) {
  return tspec_laid_value(laying, tspec_op_tensor(op, tensor));
}

// ---- what there is ----------------------------------------------------------------------------

static void note_value(tspec_laying_t *laying, const tspec_value_t *value, bool is_free) {
  tspec_laid_value_t *laid = tspec_laid_value(laying, value);
  laid->space = tspec_space_of(&laying->classes.spaces, laying->wire, value->type);
  laid->is_free = is_free && value->sharding->npending == 0;
  laid->may_pend = !tspec_pending_rounds(value->type.dtype);
  laid->kept[0] = true;
  laid->layouts[laid->count++] = tspec_space_number(laid->space, value->sharding);
  laid->chosen = laid->layouts[0];
}

static void note_reader(const tspec_laying_t *laying, const tspec_op_t *op, int index) {
  for (int i = 0; i < op->noperands; i++) {
    tspec_laid_value_t *value = tspec_laid_value(laying, op->operands[i]);
    if (value->readers.count == 0 || value->readers.items[value->readers.count - 1] != index) {
      TSPEC_VEC_PUSH(laying->arena, &value->readers, index);
    }
  }
}

static bool is_place(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0;
}

static void note_op(tspec_laying_t *laying, tspec_op_t *op) {
  bool has_rule = tspec_op_info(op->kind)->rules->rule != NULL && !is_place(op);
  for (int r = 0; r < op->nresults; r++) {
    note_value(laying, op->results[r], has_rule || op->noperands == 0);
  }
  if (!is_place(op)) {
    note_reader(laying, op, laying->nops);
    laying->ops[laying->nops++] = (tspec_laid_op_t){
        .op = op, .class = has_rule ? tspec_op_class_of(&laying->classes, op) : NULL};
  }
}

static void add_target(const tspec_laying_t *laying, tspec_laid_value_t *value, int layout) {
  for (size_t i = 0; i < value->targets.count; i++) {
    if (value->targets.items[i] == layout) {
      return;
    }
  }
  TSPEC_VEC_PUSH(laying->arena, &value->targets, layout);
}

// What is placed twice with nothing between is placed once (pass `reshard`).
static void note_place(const tspec_laying_t *laying, const tspec_op_t *op) {
  const tspec_laid_value_t *placed = tspec_laid_value(laying, op->results[0]);
  tspec_laid_value_t *value = tspec_laid_value(laying, op->operands[0]);
  if (placed->readers.count > 0 || placed->targets.count == 0) {
    add_target(laying, value, placed->layouts[0]);
    return;
  }
  for (size_t i = 0; i < placed->targets.count; i++) {
    add_target(laying, value, placed->targets.items[i]);
  }
}

static bool is_free_result(const tspec_result_t *result) {
  return result->is_free && tspec_sharding_same_layout(result->sharding, result->value->sharding);
}

static void note_results(const tspec_laying_t *laying) {
  for (int i = 0; i < laying->func->nresults; i++) {
    const tspec_result_t *result = &laying->func->results[i];
    tspec_laid_value_t *value = tspec_laid_value(laying, result->value);
    if (is_free_result(result) && value->is_free) {
      value->is_returned = true;
      value->may_pend = false;
    } else {
      bool is_placed = result->sharding != NULL;
      value->is_free &= is_placed;
      add_target(laying, value,
                 is_placed ? tspec_space_number(value->space, result->sharding)
                           : value->layouts[0]);
    }
  }
}

static tspec_laying_t lay_out(tspec_arena_t *arena, tspec_wire_t *wire, tspec_func_t *func) {
  int nops = 0;
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    nops++;
  }
  tspec_laying_t laying = {.arena = arena,
                           .wire = wire,
                           .func = func,
                           .classes = tspec_op_classes_create(wire, nops),
                           .nvalues = tspec_func_number(func),
                           .ops = TSPEC_ARENA_NEW(arena, tspec_laid_op_t, nops)};
  laying.values = TSPEC_ARENA_NEW(arena, tspec_laid_value_t, laying.nvalues);
  const int *nreads = tspec_func_count_reads(arena, func);
  for (int i = 0; i < laying.nvalues; i++) {
    TSPEC_VEC_RESERVE(arena, &laying.values[i].readers, nreads[i]);
  }
  for (int i = 0; i < func->nargs; i++) {
    note_value(&laying, func->args[i].value, false);
  }
  for (tspec_op_t *op = func->first; op != NULL; op = op->next) {
    note_op(&laying, op);
  }
  note_results(&laying);
  for (const tspec_op_t *op = func->last; op != NULL; op = op->prev) {
    if (is_place(op)) {
      note_place(&laying, op);
    }
  }
  return laying;
}

// ---- what is partial --------------------------------------------------------------------------

// How the first reader that needs the value complete wants it.
static int first_complete(const tspec_laying_t *laying, const tspec_value_t *value) {
  const tspec_laid_value_t *laid = tspec_laid_value(laying, value);
  for (size_t i = 0; i < laid->readers.count; i++) {
    const tspec_laid_op_t *reader = &laying->ops[laid->readers.items[i]];
    for (int k = 0; k < reader->op->noperands; k++) {
      int layout = reader->chosen->layouts[k];
      if (reader->op->operands[k] == value && tspec_space_complete(laid->space, layout) == layout) {
        return layout;
      }
    }
  }
  return tspec_space_complete(laid->space,
                              laid->targets.count > 0 ? laid->targets.items[0] : laid->chosen);
}

// Values have complete layouts here; where they are pending, passes/pending.c finds out.
static void complete_values(const tspec_laying_t *laying) {
  for (int i = 0; i < laying->nops; i++) {
    const tspec_op_t *op = laying->ops[i].op;
    for (int r = 0; r < op->nresults; r++) {
      tspec_laid_value_t *value = tspec_laid_value(laying, op->results[r]);
      if (value->is_free && tspec_space_complete(value->space, value->chosen) != value->chosen) {
        value->chosen = first_complete(laying, op->results[r]);
      }
    }
  }
}

// ---- what was decided -------------------------------------------------------------------------

static bool is_moved(const tspec_laying_t *laying, const tspec_laid_op_t *laid) {
  bool moved = laid->chosen != NULL && laid->chosen != laid->ways.items[0].way;
  for (int t = 0; !moved && t < laid->op->noperands + laid->op->nresults; t++) {
    const tspec_laid_value_t *value = tspec_laid_tensor(laying, laid->op, t);
    moved = value->chosen != value->layouts[0];
  }
  return moved;
}

static const tspec_sharding_t *const *tensors_of(const tspec_laying_t *laying,
                                                 const tspec_laid_op_t *laid) {
  int ntensors = laid->class->ntensors;
  const tspec_sharding_t **tensors =
      TSPEC_ARENA_NEW(laying->wire->arena, const tspec_sharding_t *, ntensors);
  for (int t = 0; t < ntensors; t++) {
    tspec_space_t *space = laid->class->spaces[t];
    tensors[t] = tspec_space_sharding(space, tspec_space_complete(space, laid->chosen->layouts[t]));
  }
  return tensors;
}

static tspec_layouts_t *keep(const tspec_laying_t *laying) {
  tspec_arena_t *arena = laying->wire->arena;
  tspec_layouts_t *layouts = NULL;
  for (int i = 0; i < laying->nops; i++) {
    const tspec_laid_op_t *laid = &laying->ops[i];
    if (laid->op->nresults == 0 || !is_moved(laying, laid)) {
      continue;
    }
    if (layouts == NULL) {
      layouts = TSPEC_ARENA_NEW(arena, tspec_layouts_t, 1);
      layouts->ops =
          TSPEC_ARENA_NEW(arena, const tspec_sharding_t *const *, tspec_func_number(laying->func));
    }
    if (laid->class != NULL) {
      layouts->ops[laid->op->results[0]->id] = tensors_of(laying, laid);
    }
  }
  return layouts;
}

static const tspec_sharding_t *layout_of(const tspec_program_t *program,
                                         const tspec_laid_value_t *value) {
  return tspec_program_sharding(program, tspec_space_sharding(value->space, value->chosen));
}

// Results first: whether one is free shows in how its value lies.
static void set_results(const tspec_laying_t *laying, const tspec_program_t *program) {
  for (int i = 0; i < laying->func->nresults; i++) {
    tspec_result_t *result = &laying->func->results[i];
    const tspec_laid_value_t *value = tspec_laid_value(laying, result->value);
    if (is_free_result(result) && value->chosen != value->layouts[0]) {
      result->sharding = layout_of(program, value);
    }
  }
}

// Its own, or that under which it is returned.
static const char *name_of(const tspec_func_t *func, const tspec_value_t *value) {
  const char *name = value->name;
  for (int i = 0; i < func->nresults && name == NULL; i++) {
    name = func->results[i].value == value ? func->results[i].name : NULL;
  }
  return name;
}

static void set_values(const tspec_laying_t *laying, tspec_layouts_t *layouts,
                       const tspec_program_t *program) {
  for (int i = 0; i < laying->nops; i++) {
    const tspec_op_t *op = laying->ops[i].op;
    for (int r = 0; r < op->nresults; r++) {
      tspec_value_t *value = op->results[r];
      const tspec_laid_value_t *laid = tspec_laid_value(laying, value);
      if (laid->chosen != laid->layouts[0]) {
        const tspec_sharding_t *now = layout_of(program, laid);
        TSPEC_VEC_PUSH(laying->wire->arena, &layouts->moved,
                       (tspec_moved_t){value, name_of(laying->func, value), value->sharding, now});
        value->sharding = now;
      }
    }
  }
}

const tspec_layouts_t *tspec_layouts_decide(tspec_wire_t *wire, const tspec_program_t *program,
                                            tspec_func_t *func) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_laying_t laying = lay_out(&arena, wire, func);
  tspec_layouts_spread(&laying);
  tspec_layouts_solve(&laying);
  complete_values(&laying);
  tspec_layouts_t *layouts = keep(&laying);
  set_results(&laying, program);
  set_values(&laying, layouts, program);
  tspec_arena_deinit(&arena);
  return layouts;
}

tspec_by_cost_t *tspec_layouts_report(const tspec_layouts_t *layouts, tspec_arena_t *arena) {
  tspec_by_cost_t *report = TSPEC_ARENA_NEW(arena, tspec_by_cost_t, 1);
  size_t bytes = sizeof *layouts->moved.items * layouts->moved.count;
  report->nmoved = (int)layouts->moved.count;
  report->moved = tspec_arena_copy(arena, layouts->moved.items, bytes);
  return report;
}

const tspec_sharding_t *const *tspec_layouts_of(const tspec_layouts_t *layouts,
                                                const tspec_op_t *op) {
  return layouts == NULL || op->nresults == 0 ? NULL : layouts->ops[op->results[0]->id];
}
