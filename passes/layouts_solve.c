#include "passes/layouts_internal.h"

static int64_t add(int64_t a, int64_t b) {
  return tspec_wire_add(a, b);
}

// True if an operand before this one is the same value in the same layout.
static bool is_repeated(const tspec_op_t *op, const tspec_way_t *way, int operand) {
  for (int i = 0; i < operand; i++) {
    if (op->operands[i] == op->operands[operand] && way->layouts[i] == way->layouts[operand]) {
      return true;
    }
  }
  return false;
}

static void keep_excess(int count, int64_t *costs) {
  int64_t least = costs[0];
  for (int i = 1; i < count; i++) {
    least = costs[i] < least ? costs[i] : least;
  }
  for (int i = 0; i < count; i++) {
    costs[i] -= least;
  }
}

// ---- what making a value costs ----------------------------------------------------------------

static int64_t least_inward(const tspec_laid_value_t *value, int wanted) {
  int64_t least = INT64_MAX;
  for (int c = 0; c < value->count; c++) {
    int64_t cost = add(value->costs[c], tspec_space_cost(value->space, value->layouts[c], wanted));
    least = cost < least ? cost : least;
  }
  return least;
}

static void add_before(const tspec_laying_t *laying, const tspec_laid_op_t *laid, size_t w,
                       int64_t cost) {
  const tspec_op_t *op = laid->op;
  for (int r = 0; r < op->nresults; r++) {
    tspec_laid_value_t *value = tspec_laid_value(laying, op->results[r]);
    int made = laid->ways.items[w].way->layouts[op->noperands + r];
    for (int c = 0; c < value->count; c++) {
      int64_t all = add(cost, tspec_space_cost(value->space, made, value->layouts[c]));
      value->costs[c] = w == 0 || all < value->costs[c] ? all : value->costs[c];
    }
  }
}

static void find_before(const tspec_laying_t *laying, tspec_laid_op_t *laid) {
  const tspec_op_t *op = laid->op;
  laid->inward = TSPEC_ARENA_NEW(laying->arena, int64_t, laid->ways.count *(size_t)op->noperands);
  for (size_t w = 0; w < laid->ways.count; w++) {
    const tspec_way_t *way = laid->ways.items[w].way;
    int64_t cost = way->exchange;
    for (int i = 0; i < op->noperands; i++) {
      const tspec_laid_value_t *value = tspec_laid_value(laying, op->operands[i]);
      int64_t *inward = &laid->inward[w * (size_t)op->noperands + (size_t)i];
      *inward = is_repeated(op, way, i) ? 0 : least_inward(value, way->layouts[i]);
      cost = add(cost, *inward);
    }
    add_before(laying, laid, w, cost);
  }
  for (int r = 0; r < op->nresults; r++) {
    tspec_laid_value_t *value = tspec_laid_value(laying, op->results[r]);
    keep_excess(value->count, value->costs);
  }
}

// ---- what reading a value costs ---------------------------------------------------------------

// Layouts that a value is converted to for one reader after the other.
typedef TSPEC_VEC(int) layouts_t;

static bool has(const layouts_t *layouts, int layout) {
  for (size_t i = 0; i < layouts->count; i++) {
    if (layouts->items[i] == layout) {
      return true;
    }
  }
  return false;
}

// Of one way of a reader, if the value lies as `from`.
static int64_t reading_cost(const tspec_laid_op_t *laid, size_t w, const tspec_value_t *value,
                            tspec_space_t *space, int from, const layouts_t *converted) {
  const tspec_op_t *op = laid->op;
  const tspec_way_t *way = laid->ways.items[w].way;
  int64_t cost = add(laid->outward[w], way->exchange);
  for (int i = 0; i < op->noperands; i++) {
    if (op->operands[i] != value) {
      cost = add(cost, laid->inward[w * (size_t)op->noperands + (size_t)i]);
    } else if (!is_repeated(op, way, i) && !has(converted, way->layouts[i])) {
      cost = add(cost, tspec_space_cost(space, from, way->layouts[i]));
    }
  }
  return cost;
}

static int64_t least_reading(const tspec_laying_t *laying, int reader, const tspec_value_t *value,
                             int from, layouts_t *converted, tspec_arena_t *work) {
  const tspec_laid_op_t *laid = &laying->ops[reader];
  tspec_space_t *space = tspec_laid_value(laying, value)->space;
  int64_t least = INT64_MAX;
  size_t best = 0;
  for (size_t w = 0; w < laid->ways.count; w++) {
    int64_t cost = reading_cost(laid, w, value, space, from, converted);
    if (cost < least) {
      least = cost;
      best = w;
    }
  }
  for (int i = 0; i < laid->op->noperands; i++) {
    int layout = laid->ways.items[best].way->layouts[i];
    if (laid->op->operands[i] == value && !has(converted, layout)) {
      TSPEC_VEC_PUSH(work, converted, layout);
    }
  }
  return least;
}

static void find_behind(const tspec_laying_t *laying, const tspec_value_t *value) {
  tspec_laid_value_t *laid = tspec_laid_value(laying, value);
  tspec_arena_t work;
  tspec_arena_init(&work);
  for (int c = 0; c < laid->count && laid->count > 1; c++) {
    layouts_t converted = {0};
    int64_t cost = 0;
    for (size_t i = 0; i < laid->readers.count; i++) {
      cost = add(cost, least_reading(laying, laid->readers.items[i], value, laid->layouts[c],
                                     &converted, &work));
    }
    for (size_t i = 0; i < laid->targets.count; i++) {
      if (!has(&converted, laid->targets.items[i])) {
        cost = add(cost, tspec_space_cost(laid->space, laid->layouts[c], laid->targets.items[i]));
        TSPEC_VEC_PUSH(&work, &converted, laid->targets.items[i]);
      }
    }
    laid->costs[c] = cost;
  }
  tspec_arena_deinit(&work);
  keep_excess(laid->count, laid->costs);
}

// The layout of the value in which it costs least from here on, made as `made`.
static int best_layout(const tspec_laid_value_t *value, int made, int64_t *out_cost) {
  int best = 0;
  *out_cost = INT64_MAX;
  for (int c = 0; c < value->count; c++) {
    int64_t cost = add(value->costs[c], tspec_space_cost(value->space, made, value->layouts[c]));
    if (cost < *out_cost) {
      *out_cost = cost;
      best = c;
    }
  }
  return value->layouts[best];
}

static int64_t outward_cost(const tspec_laying_t *laying, const tspec_op_t *op,
                            const tspec_way_t *way) {
  int64_t sum = 0;
  for (int r = 0; r < op->nresults; r++) {
    int64_t cost = 0;
    best_layout(tspec_laid_value(laying, op->results[r]), way->layouts[op->noperands + r], &cost);
    sum = add(sum, cost);
  }
  return sum;
}

static void find_outward(const tspec_laying_t *laying, tspec_laid_op_t *laid) {
  for (int r = 0; r < laid->op->nresults; r++) {
    find_behind(laying, laid->op->results[r]);
  }
  laid->outward = TSPEC_ARENA_NEW(laying->arena, int64_t, laid->ways.count);
  for (size_t w = 0; w < laid->ways.count; w++) {
    laid->outward[w] = outward_cost(laying, laid->op, laid->ways.items[w].way);
  }
}

// ---- the choice -------------------------------------------------------------------------------

static bool is_converted(const tspec_laid_value_t *value, int layout) {
  for (size_t i = 0; i < value->converted.count; i++) {
    if (value->converted.items[i] == layout) {
      return true;
    }
  }
  return false;
}

// With the operands as they were decided to lie.
static int64_t way_cost(const tspec_laying_t *laying, const tspec_laid_op_t *laid, size_t w) {
  const tspec_op_t *op = laid->op;
  const tspec_way_t *way = laid->ways.items[w].way;
  int64_t cost = add(laid->outward[w], way->exchange);
  for (int i = 0; i < op->noperands; i++) {
    const tspec_laid_value_t *value = tspec_laid_value(laying, op->operands[i]);
    if (!is_repeated(op, way, i) && !is_converted(value, way->layouts[i])) {
      cost = add(cost, tspec_space_cost(value->space, value->chosen, way->layouts[i]));
    }
  }
  return cost;
}

static void choose_way(const tspec_laying_t *laying, tspec_laid_op_t *laid) {
  int64_t least = INT64_MAX;
  laid->chosen = laid->ways.items[0].way;
  for (size_t w = 0; w < laid->ways.count; w++) {
    int64_t cost = way_cost(laying, laid, w);
    if (cost < least) {
      least = cost;
      laid->chosen = laid->ways.items[w].way;
    }
  }
  for (int i = 0; i < laid->op->noperands; i++) {
    tspec_laid_value_t *value = tspec_laid_value(laying, laid->op->operands[i]);
    if (!is_converted(value, laid->chosen->layouts[i])) {
      TSPEC_VEC_RESERVE(laying->arena, &value->converted, value->readers.count);
      TSPEC_VEC_PUSH(laying->arena, &value->converted, laid->chosen->layouts[i]);
    }
  }
}

static void choose(const tspec_laying_t *laying, tspec_laid_op_t *laid) {
  const tspec_op_t *op = laid->op;
  if (laid->ways.count > 0) {
    choose_way(laying, laid);
  }
  for (int r = 0; r < op->nresults; r++) {
    tspec_laid_value_t *value = tspec_laid_value(laying, op->results[r]);
    int64_t cost = 0;
    if (laid->chosen != NULL) {
      value->chosen = best_layout(value, laid->chosen->layouts[op->noperands + r], &cost);
      continue;
    }
    value->chosen = value->layouts[0]; // made from nothing: wherever it is cheapest to read
    for (int c = 1; c < value->count; c++) {
      if (value->costs[c] < value->costs[0] && value->chosen == value->layouts[0]) {
        value->chosen = value->layouts[c];
      }
    }
  }
}

void tspec_layouts_solve(tspec_laying_t *laying) {
  for (int i = 0; i < laying->nvalues; i++) {
    tspec_laid_value_t *value = &laying->values[i];
    value->costs = TSPEC_ARENA_NEW(laying->arena, int64_t, value->count);
  }
  for (int i = 0; i < laying->nops; i++) {
    find_before(laying, &laying->ops[i]);
  }
  for (int i = laying->nops - 1; i >= 0; i--) {
    find_outward(laying, &laying->ops[i]);
  }
  for (int i = 0; i < laying->nops; i++) {
    choose(laying, &laying->ops[i]);
  }
}
