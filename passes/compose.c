#include "passes/compose.h"

#include <string.h>

#include "ir/base/vec.h"
#include "passes/steps.h"

enum { kMostParts = 64 }; // of one collective: a value that is read often is a part each time

typedef struct compose_t {
  tspec_pass_run_t *run;
  tspec_wire_t *wire;
  tspec_func_t *func;
  int *nreads; // by id
} compose_t;

// What the result of the op on top shows of values before, all of one rank.
typedef struct tree_t {
  const compose_t *pass;
  tspec_arena_t *arena;
  int rank;
  bool through_shared; // also take ops apart whose result others read
  bool places;         // some op in it does not just lay out
  bool fails;
  const tspec_attr_t *fill;
  int64_t saved; // bytes of the ops that are not needed any more
  int nsteps;    // collectives that those would be
  TSPEC_VEC(tspec_value_t *) leaves;
  TSPEC_VEC(tspec_window_t) windows; // [leaf * rank + dim]
} tree_t;

static bool lays_out(const tspec_op_t *op) {
  return (tspec_op_info(op->kind)->rules->traits & TSPEC_TRAIT_IDENTITY) != 0;
}

static bool is_placing(const tspec_op_t *op) {
  return !tspec_op_is_step(op) && tspec_op_info(op->kind)->rules->windows != NULL;
}

// Counts an op that is not needed any more.
static void save_op(tree_t *tree, const tspec_op_t *op) {
  const tspec_value_t *from = op->operands[0];
  tspec_wire_t *wire = tree->pass->wire;
  int64_t bytes = 0;
  if (lays_out(op)) {
    const tspec_wire_plan_t *plan =
        tspec_wire_plan(wire, from->type, from->sharding, op->results[0]->sharding);
    bytes = plan->bytes;
    tree->nsteps += plan->steps.count;
  } else if (tspec_op_is_exchanged(op)) {
    bytes = tspec_op_cost_bytes(wire->mesh, op);
    tree->nsteps++;
  }
  tree->saved = tspec_wire_add(tree->saved, bytes);
}

static const tspec_window_t *windows_of(const tree_t *tree, const tspec_op_t *op) {
  if (is_placing(op)) {
    return tspec_op_windows(op, tree->arena);
  }
  tspec_window_t *same = TSPEC_ARENA_NEW(tree->arena, tspec_window_t, tree->rank);
  for (int d = 0; d < tree->rank; d++) {
    int64_t size = op->results[0]->type.dims[d];
    same[d] = tspec_window_make(size, size, 0, 0, 1);
  }
  return same;
}

// What completes a sum makes other values than it reads.
static bool keeps_values(const tspec_op_t *op) {
  bool keeps = lays_out(op) || is_placing(op);
  for (int i = 0; keeps && i < op->noperands; i++) {
    keeps = op->operands[i]->sharding->npending == 0;
  }
  return keeps && op->results[0]->sharding->npending == 0;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// All padding must have one value.
static void note_fill(tree_t *tree, const tspec_op_t *op) {
  const tspec_attr_t *fill = tspec_op_get_attr(op, "value");
  if (fill != NULL) {
    tree->fails |= tree->fill != NULL && bits_of(tree->fill->f) != bits_of(fill->f);
    tree->fill = fill;
  }
}

static void add_leaf(tree_t *tree, tspec_value_t *value, const tspec_window_t *windows) {
  tree->fails |= value->sharding->npending > 0 || tree->leaves.count == kMostParts;
  if (!tree->fails) {
    TSPEC_VEC_PUSH(tree->arena, &tree->leaves, value);
    for (int d = 0; d < tree->rank; d++) {
      TSPEC_VEC_PUSH(tree->arena, &tree->windows, windows[d]);
    }
  }
}

// The op's result is shown through `outer`. `is_gone`: nothing else needs it.
static void add_op(tree_t *tree, const tspec_op_t *op, const tspec_window_t *outer, bool is_gone) {
  if (is_gone) {
    save_op(tree, op);
  }
  tree->places |= is_placing(op);
  note_fill(tree, op);
  const tspec_window_t *inner = windows_of(tree, op);
  for (int k = 0; k < op->noperands && !tree->fails; k++) {
    tspec_value_t *value = op->operands[k];
    tspec_window_t *composed = TSPEC_ARENA_NEW(tree->arena, tspec_window_t, tree->rank);
    bool is_shown = true;
    for (int d = 0; d < tree->rank; d++) {
      composed[d] = tspec_window_compose(&outer[d], &inner[k * tree->rank + d]);
      is_shown &= composed[d].count > 0;
    }
    bool is_shared = tree->pass->nreads[value->id] > 1;
    bool is_inside =
        value->def != NULL && keeps_values(value->def) && (!is_shared || tree->through_shared);
    if (is_shown && is_inside) {
      add_op(tree, value->def, composed, is_gone && !is_shared);
    } else if (is_shown) {
      add_leaf(tree, value, composed);
    }
  }
}

// The tree as parts of one exchange, if that saves more than `*most` bytes; or none, but some of
// several collectives.
static void find_parts(tree_t *tree, const tspec_op_t *top, tspec_parts_t *out_parts,
                       int64_t *most) {
  tspec_window_t *whole = TSPEC_ARENA_NEW(tree->arena, tspec_window_t, tree->rank);
  for (int d = 0; d < tree->rank; d++) {
    int64_t size = top->results[0]->type.dims[d];
    whole[d] = tspec_window_make(size, size, 0, 0, 1);
  }
  add_op(tree, top, whole, true);
  int count = (int)tree->leaves.count;
  if (tree->fails || !tree->places || count == 0) {
    return;
  }
  tspec_step_t *steps = TSPEC_ARENA_NEW(tree->arena, tspec_step_t, count);
  tspec_type_t *types = TSPEC_ARENA_NEW(tree->arena, tspec_type_t, count);
  for (int k = 0; k < count; k++) {
    types[k] = tree->leaves.items[k]->type;
    steps[k] = (tspec_step_t){.from = tree->leaves.items[k]->sharding,
                              .to = top->results[0]->sharding,
                              .src_dim = -1,
                              .dst_dim = -1,
                              .windows = tree->windows.items + (ptrdiff_t)k * tree->rank};
  }
  const tspec_mesh_t *mesh = tree->pass->wire->mesh;
  tspec_steps_find_form(mesh, count, types, steps, tree->arena);
  int64_t saved = tree->saved - tspec_steps_joint_cost_bytes(mesh, count, types, steps);
  bool is_shorter = out_parts->count == 0 && saved == 0 && tree->nsteps > 1;
  if (steps[0].naxes > 0 && (saved > *most || is_shorter)) {
    *most = saved;
    *out_parts = (tspec_parts_t){count, tree->leaves.items, steps, tree->fill};
  }
}

// The value is read once less; if that was all, so are the operands of what made it.
static void drop_read(const compose_t *pass, const tspec_value_t *value) {
  if (--pass->nreads[value->id] == 0 && value->def != NULL) {
    for (int i = 0; i < value->def->noperands; i++) {
      drop_read(pass, value->def->operands[i]);
    }
  }
}

static bool reads_placed(const tspec_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    if (op->operands[i]->def != NULL && keeps_values(op->operands[i]->def)) {
      return true;
    }
  }
  return false;
}

static void compose(const compose_t *pass, tspec_op_t *top) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_parts_t parts = {0};
  int64_t most = 0;
  for (int i = 0; i < 2; i++) {
    tree_t tree = {
        .pass = pass, .arena = &work, .rank = top->results[0]->type.rank, .through_shared = i == 1};
    find_parts(&tree, top, &parts, &most);
  }
  if (parts.count > 0) {
    const tspec_op_t *made = tspec_parts_emit(pass->run, pass->func, top, &parts);
    for (int k = 0; k < parts.count; k++) {
      pass->nreads[parts.operands[k]->id]++;
    }
    for (int k = 0; k < top->noperands; k++) {
      drop_read(pass, top->operands[k]);
    }
    tspec_op_replace(pass->func, top, made->results[0]);
  }
  tspec_arena_deinit(&work);
}

void tspec_compose_parts(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func) {
  compose_t pass = {
      .run = run, .wire = wire, .func = func, .nreads = tspec_func_count_reads(run->scratch, func)};
  for (tspec_op_t *op = func->last, *before = NULL; op != NULL; op = before) {
    before = op->prev; // what is made stands between the two
    if (keeps_values(op) && reads_placed(op) && pass.nreads[op->results[0]->id] > 0) {
      compose(&pass, op);
    }
  }
  tspec_func_settle(func);
  tspec_func_remove_dead(func);
}
