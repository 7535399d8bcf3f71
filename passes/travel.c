// Where reductions are done: as a cheapest cut between the ops that make partial results and those
// that need complete values.
//
// A value is two nodes. IN is on the source side if the op reads partial results, OUT if its
// readers find it pending. What a value costs, in bytes:
//   neither       `apart`: its own partials reduced, if it has any, and moved to where it is read
//   IN alone      `together`: own and others' reduced right behind the op
//   both          `moved`: what moving partial results to the readers costs
// so there is an edge from the source to OUT of `apart`, from IN to OUT of `together` - `apart`,
// from OUT to the sink of `moved`, and from IN to the sink of what other operands then cost. A
// pending value is pending for all of its readers: OUT has an edge to IN of each that no cut may
// take, and one to the sink if any needs it complete.
#include "passes/cut.h"
#include "passes/pending_internal.h"

typedef tspec_pending_set_t set_t;
typedef tspec_pending_facts_t facts_t;

typedef struct travel_t {
  const tspec_pending_t *pending;
  const tspec_mesh_t *mesh;
  tspec_cut_t *cut;
} travel_t;

static int in_node(const tspec_value_t *value) {
  return 2 * value->id;
}

static int out_node(const tspec_value_t *value) {
  return 2 * value->id + 1;
}

static facts_t *facts_of(const travel_t *travel, const tspec_value_t *value) {
  return &travel->pending->facts[value->id];
}

static const tspec_sharding_t *with_set(const travel_t *travel, const tspec_sharding_t *sharding,
                                        set_t set, tspec_arena_t *work) {
  return tspec_sharding_with_pending(work, travel->mesh,
                                     tspec_pending_set_strip(work, sharding, set), set.kind,
                                     set.axes, set.count);
}

// From how the op makes it, pending over `made`, to how readers want it, pending over `found`.
static int64_t moving_cost(const travel_t *travel, const tspec_value_t *value,
                           const tspec_sharding_t *computed, set_t made, set_t found) {
  const facts_t *facts = facts_of(travel, value);
  const tspec_pending_wants_t *wants = found.count > 0 ? &facts->carried : &facts->wants;
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t *from = with_set(travel, computed, made, &work);
  const tspec_sharding_t *placed = with_set(travel, value->sharding, found, &work);
  int64_t cost = 0;
  if (wants->count == 1) {
    placed = from; // moved once
  } else {
    cost = tspec_wire_conversion(travel->pending->wire, value->type, from, placed);
  }
  for (int i = 0; i < wants->count; i++) {
    const tspec_sharding_t *wanted = with_set(travel, wants->items[i], found, &work);
    cost = tspec_wire_add(
        cost, tspec_wire_conversion(travel->pending->wire, value->type, placed, wanted));
  }
  tspec_arena_deinit(&work);
  return cost;
}

// What reducing an operand that is written as pending costs.
static int64_t reducing_cost(const travel_t *travel, const tspec_value_t *value) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t *from =
      with_set(travel, value->sharding, facts_of(travel, value)->asked, &work);
  int64_t cost = tspec_wire_conversion(travel->pending->wire, value->type, from,
                                       tspec_sharding_complete(&work, from));
  tspec_arena_deinit(&work);
  return cost;
}

static void add_op(const travel_t *travel, const tspec_op_t *op, tspec_arena_t *work) {
  const tspec_value_t *result = op->results[0];
  const facts_t *facts = facts_of(travel, result);
  set_t none = {0};
  set_t all = tspec_pending_set_join(work, facts->joined.own, facts->through);
  int64_t apart = moving_cost(travel, result, facts->alone.computed, facts->alone.own, none);
  tspec_cut_source(travel->cut, out_node(result), apart);
  int64_t moved = TSPEC_CUT_NEVER;
  if (!facts->barred && facts->may.count > 0) {
    moved = facts->through.count > 0 ? moving_cost(travel, result, facts->joined.computed, all, all)
                                     : moving_cost(travel, result, facts->alone.computed,
                                                   facts->alone.own, facts->alone.own);
  }
  tspec_cut_sink(travel->cut, out_node(result), moved);
  if (facts->through.count == 0) {
    return;
  }
  int64_t together = moving_cost(travel, result, facts->joined.computed, all, none);
  tspec_cut_edge(travel->cut, in_node(result), out_node(result),
                 together > apart ? together - apart : 0);
  tspec_cut_sink(travel->cut, in_node(result), facts->entry_cost);
  for (int i = 0; i < op->noperands; i++) {
    const tspec_value_t *operand = op->operands[i];
    const facts_t *read = facts_of(travel, operand);
    if (!tspec_pending_enters_by(travel->pending, op, i) || read->may.count == 0) {
      continue;
    }
    if (read->asked.count > 0) {
      tspec_cut_source(travel->cut, in_node(result), reducing_cost(travel, operand));
    } else {
      tspec_cut_edge(travel->cut, out_node(operand), in_node(result), TSPEC_CUT_NEVER);
    }
  }
}

static bool is_free(const travel_t *travel, const tspec_op_t *op) {
  if (op->nresults != 1) {
    return false;
  }
  const facts_t *facts = facts_of(travel, op->results[0]);
  return facts->asked.count == 0 && (facts->alone.own.count > 0 || facts->through.count > 0);
}

void tspec_pending_travel(tspec_pending_t *pending, const tspec_func_t *func) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  travel_t travel = {.pending = pending,
                     .mesh = &pending->program->mesh,
                     .cut = tspec_cut_create(&arena, 2 * pending->nvalues)};
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (is_free(&travel, op)) {
      tspec_arena_t work;
      tspec_arena_init(&work);
      add_op(&travel, op, &work);
      tspec_arena_deinit(&work);
      continue;
    }
    for (int i = 0; i < op->noperands; i++) { // what is asked for reads as it is written
      if (facts_of(&travel, op->operands[i])->may.count > 0) {
        tspec_cut_sink(travel.cut, out_node(op->operands[i]), TSPEC_CUT_NEVER);
      }
    }
  }
  const bool *sides = tspec_cut_solve(travel.cut);
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    if (is_free(&travel, op)) {
      facts_t *facts = facts_of(&travel, op->results[0]);
      facts->enters = sides[in_node(op->results[0])];
      facts->stays = sides[out_node(op->results[0])];
    }
  }
  tspec_arena_deinit(&arena);
}
