#include <string.h>

#include "ir/shard/axes.h"
#include "passes/layouts_internal.h"
#include "passes/pending_sets.h"

// ---- layouts of values ------------------------------------------------------------------------

// True if each dim is split as it was, and perhaps more.
static bool splits_more(const tspec_laid_value_t *value, int layout) {
  const tspec_sharding_t *was = tspec_space_sharding(value->space, value->layouts[0]);
  const tspec_sharding_t *now = tspec_space_sharding(value->space, layout);
  for (int d = 0; d < was->rank; d++) {
    if (!tspec_axes_is_prefix(was->dims[d].axes, was->dims[d].naxes, now->dims[d].axes,
                              now->dims[d].naxes)) {
      return false;
    }
  }
  return true;
}

// What is returned keeps how it is split; it only takes on what operands are split by and it is
// not. So a sum that is returned is reduced, not scattered.
static void add_layout(tspec_laid_value_t *value, int layout, bool kept) {
  for (int i = 0; i < value->count; i++) {
    if (value->layouts[i] == layout) {
      value->kept[i] |= kept;
      return;
    }
  }
  if (value->is_free && value->count < TSPEC_LAYOUTS_MOST &&
      (!value->is_returned || (kept && splits_more(value, layout)))) {
    value->kept[value->count] = kept;
    value->layouts[value->count++] = layout;
  }
}

// Whole, as an all_reduce leaves it, and on each dim as a reduce_scatter does.
static void add_completed(tspec_laid_value_t *value, int layout, bool kept) {
  const tspec_sharding_t *made = tspec_space_sharding(value->space, layout);
  int complete = tspec_space_complete(value->space, layout);
  add_layout(value, complete, kept && complete == layout);
  if (value->may_pend) {
    add_layout(value, layout, false);
  }
  for (int d = 0; d < made->rank && made->npending > 0; d++) {
    int scattered = tspec_space_split(value->space, complete, d, made->pending, made->npending);
    if (scattered >= 0) {
      add_layout(value, scattered, false);
    }
  }
}

static void add_layouts(const tspec_laying_t *laying, const tspec_op_t *op,
                        const tspec_laid_way_t *laid) {
  for (int t = 0; t < op->noperands + op->nresults; t++) {
    tspec_laid_value_t *value = tspec_laid_tensor(laying, op, t);
    if (t < op->noperands) {
      add_layout(value, tspec_space_complete(value->space, laid->way->layouts[t]), false);
    } else {
      add_completed(value, laid->way->layouts[t], laid->kept);
    }
  }
}

// ---- ways of ops ------------------------------------------------------------------------------

typedef struct collect_t {
  tspec_arena_t *arena;
  tspec_laying_t *laying;
  tspec_laid_op_t *laid;
  int *lies;  // per tensor: complete, as propagated
  int *given; // the same, for changes
  int *alone; // all -1, for changes
  tspec_laid_ways_t ways;
} collect_t;

static void add_way(collect_t *collect, const tspec_way_t *way, bool kept) {
  const tspec_op_class_t *class = collect->laid->class;
  if (way == NULL || collect->ways.count == TSPEC_WAYS_MOST ||
      (class->is_product && collect->ways.count > 0 &&
       way->nparts < collect->ways.items[0].way->nparts)) {
    return;
  }
  for (size_t i = 0; i < collect->ways.count; i++) {
    tspec_laid_way_t *other = &collect->ways.items[i];
    if (memcmp(other->way->layouts, way->layouts, sizeof *way->layouts * (size_t)class->ntensors) ==
        0) {
      other->kept |= kept;
      return;
    }
  }
  TSPEC_VEC_PUSH(collect->arena, &collect->ways, (tspec_laid_way_t){way, kept});
}

static void ask(collect_t *collect, const int *given, bool kept) {
  tspec_op_class_t *class = collect->laid->class;
  tspec_op_classes_t *classes = &collect->laying->classes;
  add_way(collect, tspec_op_class_way(classes, class, given, TSPEC_WAY_ALONE), kept);
  if (tspec_op_info(class->op->kind)->rules->windows != NULL) {
    add_way(collect, tspec_op_class_way(classes, class, given, TSPEC_WAY_VOTED), kept);
    add_way(collect, tspec_op_class_way(classes, class, given, TSPEC_WAY_GIVEN), kept);
  }
}

// As the tensor lies so, with and without a say of the others.
static void ask_with(collect_t *collect, int tensor, int layout, bool kept) {
  collect->given[tensor] = layout;
  ask(collect, collect->given, kept);
  collect->given[tensor] = collect->lies[tensor];
  collect->alone[tensor] = layout;
  ask(collect, collect->alone, kept);
  collect->alone[tensor] = -1;
}

// The layout with the pending axes of another one, which then split nothing.
static int with_partials(const collect_t *collect, int tensor, int layout,
                         const tspec_sharding_t *partials) {
  tspec_space_t *space = collect->laid->class->spaces[tensor];
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_pending_set_t set = tspec_pending_set_of(partials);
  const tspec_sharding_t *split =
      layout < 0 ? tspec_sharding_replicated(&work, space->type.rank)
                 : tspec_pending_set_strip(&work, tspec_space_sharding(space, layout), set);
  int number =
      tspec_space_number(space, tspec_sharding_with_pending(&work, space->wire->mesh, split,
                                                            set.kind, set.axes, set.count));
  tspec_arena_deinit(&work);
  return number;
}

// How the op distributes over the operand's partial results.
static tspec_linear_t linear_over(const tspec_op_t *op, int tensor,
                                  const tspec_sharding_t *partials) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_op_view_t view = tspec_op_view(op, &work);
  tspec_linear_t linear = tspec_op_linear(&view, partials->pending_kind);
  tspec_arena_deinit(&work);
  return linear == TSPEC_LINEAR_FIRST && tensor > 0 ? TSPEC_LINEAR_NONE : linear;
}

// Partial results of the operand pass the op.
static void ask_pending(collect_t *collect, int tensor, int layout) {
  const tspec_op_t *op = collect->laid->op;
  tspec_op_class_t *class = collect->laid->class;
  const tspec_sharding_t *partials = tspec_space_sharding(class->spaces[tensor], layout);
  tspec_linear_t linear = tensor < op->noperands && op->nresults == 1
                              ? linear_over(op, tensor, partials)
                              : TSPEC_LINEAR_NONE;
  for (int alone = 0; alone < 2 && linear != TSPEC_LINEAR_NONE; alone++) {
    int *given = TSPEC_ARENA_NEW(collect->arena, int, class->ntensors);
    for (int t = 0; t < class->ntensors; t++) {
      int lies = alone == 1 ? -1 : collect->lies[t];
      bool joins = t >= op->noperands || linear == TSPEC_LINEAR_EACH;
      given[t] = t == tensor ? layout : joins ? with_partials(collect, t, lies, partials) : lies;
    }
    add_way(collect, tspec_op_class_way(&collect->laying->classes, class, given, TSPEC_WAY_ALONE),
            false);
  }
}

// True if the vote's way converts something, or sends something by itself.
static bool sends(const collect_t *collect, const tspec_way_t *way) {
  const tspec_op_t *op = collect->laid->op;
  for (int t = 0; t < op->noperands + op->nresults; t++) {
    const tspec_laid_value_t *value = tspec_laid_tensor(collect->laying, op, t);
    bool is_operand = t < op->noperands;
    int from = is_operand ? value->layouts[0] : way->layouts[t];
    int to = is_operand ? way->layouts[t] : value->layouts[0];
    if (tspec_space_cost(value->space, from, to) > 0) {
      return true;
    }
  }
  return way->exchange > 0;
}

// As all others vote.
static void ask_without(collect_t *collect, int tensor) {
  collect->given[tensor] = -1;
  ask(collect, collect->given, true);
  collect->given[tensor] = collect->lies[tensor];
}

static void ask_all(collect_t *collect) {
  const tspec_op_t *op = collect->laid->op;
  int ntensors = op->noperands + op->nresults;
  ask(collect, collect->given, true);
  if (sends(collect, collect->ways.items[0].way)) {
    for (int t = ntensors - 1; t >= 0; t--) {
      ask_without(collect, t);
    }
    for (int t = 0; t < ntensors; t++) {
      ask_with(collect, t, collect->lies[t], true);
    }
    ask(collect, collect->alone, true);
    tspec_ways_t idle = {0};
    tspec_op_class_use_idle(&collect->laying->classes, collect->laid->class,
                            collect->ways.items[0].way, collect->lies, &idle);
    for (size_t i = 0; i < idle.count; i++) {
      add_way(collect, idle.items[i], true);
    }
  }
  for (int t = 0; t < ntensors; t++) {
    const tspec_laid_value_t *value = tspec_laid_tensor(collect->laying, op, t);
    for (int i = 1; i < value->count; i++) {
      if (tspec_space_complete(value->space, value->layouts[i]) != value->layouts[i]) {
        ask_pending(collect, t, value->layouts[i]);
        continue;
      }
      ask_with(collect, t, value->layouts[i], t < op->noperands && value->kept[i]);
    }
  }
}

static tspec_laid_ways_t collect_ways(tspec_arena_t *arena, tspec_laying_t *laying,
                                      tspec_laid_op_t *laid) {
  int ntensors = laid->op->noperands + laid->op->nresults;
  int *all = TSPEC_ARENA_NEW(arena, int, 3 * ntensors);
  collect_t collect = {.arena = arena,
                       .laying = laying,
                       .laid = laid,
                       .lies = all,
                       .given = all + ntensors,
                       .alone = all + (ptrdiff_t)2 * ntensors};
  for (int t = 0; t < ntensors; t++) {
    const tspec_laid_value_t *value = tspec_laid_tensor(laying, laid->op, t);
    collect.lies[t] = tspec_space_complete(value->space, value->layouts[0]);
    collect.given[t] = collect.lies[t];
    collect.alone[t] = -1;
  }
  ask_all(&collect);
  return collect.ways;
}

// An op without a rule: as its tensors lie.
static void add_fixed_way(const tspec_laying_t *laying, tspec_laid_op_t *laid) {
  const tspec_op_t *op = laid->op;
  int ntensors = op->noperands + op->nresults;
  int *layouts = TSPEC_ARENA_NEW(laying->arena, int, ntensors);
  for (int t = 0; t < ntensors; t++) {
    layouts[t] = tspec_laid_tensor(laying, op, t)->layouts[0];
  }
  tspec_way_t *way = TSPEC_ARENA_NEW(laying->arena, tspec_way_t, 1);
  *way = (tspec_way_t){.layouts = layouts, .nparts = 1};
  TSPEC_VEC_PUSH(laying->arena, &laid->ways, (tspec_laid_way_t){.way = way});
}

// ---- the walks --------------------------------------------------------------------------------

static void spread_op(tspec_laying_t *laying, tspec_laid_op_t *laid) {
  if (laid->class == NULL) {
    for (size_t i = 0; i < laid->ways.count; i++) {
      add_layouts(laying, laid->op, &laid->ways.items[i]);
    }
    return;
  }
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_laid_ways_t ways = collect_ways(&work, laying, laid);
  for (size_t i = 0; i < ways.count; i++) {
    add_layouts(laying, laid->op, &ways.items[i]);
  }
  tspec_arena_deinit(&work);
}

static void keep_ways(tspec_laying_t *laying, tspec_laid_op_t *laid) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_laid_ways_t ways = collect_ways(&work, laying, laid);
  ways.items = tspec_arena_copy(laying->arena, ways.items, sizeof *ways.items * ways.count);
  ways.capacity = ways.count;
  laid->ways = ways;
  tspec_arena_deinit(&work);
}

void tspec_layouts_spread(tspec_laying_t *laying) {
  for (int i = 0; i < laying->nops; i++) {
    tspec_laid_op_t *laid = &laying->ops[i];
    if (laid->class == NULL && laid->op->noperands > 0) {
      add_fixed_way(laying, laid);
    }
  }
  for (int i = 0; i < laying->nvalues; i++) {
    tspec_laid_value_t *value = &laying->values[i];
    for (size_t t = 0; t < value->targets.count; t++) {
      add_layout(value, value->targets.items[t], false);
    }
  }
  for (int i = laying->nops - 1; i >= 0; i--) {
    spread_op(laying, &laying->ops[i]);
  }
  for (int i = 0; i < laying->nops; i++) {
    spread_op(laying, &laying->ops[i]);
  }
  for (int i = 0; i < laying->nops; i++) {
    if (laying->ops[i].class != NULL) {
      keep_ways(laying, &laying->ops[i]);
    }
  }
}
