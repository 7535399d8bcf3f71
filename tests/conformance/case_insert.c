// Kind "insert_reshards": the conversions between ops whose shardings disagree. The choice of one
// op is the compiler's; the walk over the program and its printing are here.
#include "case.h"

#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/axes.h"
#include "ir/shard/choose.h"

/// What a value is called now and how it lies.
typedef struct place_t {
  const char *name;
  const tspec_sharding_t *sharding;
} place_t;

typedef struct walk_t {
  case_t *c;
  tspec_names_t places; ///< place_t by the value's name
  tspec_buf_t got;
  int nnew;
} walk_t;

static const tspec_sharding_t *closed(const case_t *c, const case_value_t *value) {
  return value->sharding == NULL ? tspec_sharding_replicated(c->arena, value->type.rank)
                                 : tspec_sharding_close(c->arena, value->sharding);
}

static place_t *place_of(walk_t *walk, case_value_t *value) {
  place_t *place = tspec_names_get(&walk->places, value->name);
  if (place == NULL) {
    place = TSPEC_ARENA_NEW(walk->c->arena, place_t, 1);
    *place = (place_t){.name = value->name, .sharding = closed(walk->c, value)};
    tspec_names_set(walk->c->arena, &walk->places, value->name, place);
  }
  return place;
}

static place_t emit(walk_t *walk, const char *op, const place_t *from, const tspec_sharding_t *to) {
  place_t place = {.name = tspec_arena_printf(walk->c->arena, "n%d", ++walk->nnew), .sharding = to};
  tspec_buf_printf(&walk->got, "    %s = %s %s %s\n", place.name, op, from->name,
                   case_print(walk->c, to));
  return place;
}

static bool same_dims(const case_t *c, const tspec_sharding_t *a, const tspec_sharding_t *b) {
  return tspec_sharding_same_layout(tspec_sharding_complete(c->arena, a),
                                    tspec_sharding_complete(c->arena, b));
}

/// Pending axes of `from` that `to` does not keep, and with them taken away.
static const tspec_sharding_t *reduced_to(const case_t *c, const tspec_sharding_t *from,
                                          const tspec_sharding_t *to) {
  return tspec_sharding_with_pending(c->arena, &c->mesh, tspec_sharding_complete(c->arena, from),
                                     from->pending_kind, to->pending, to->npending);
}

static place_t reduce_to(walk_t *walk, place_t from, const tspec_sharding_t *target) {
  if (from.sharding->npending == 0 ||
      tspec_axes_equal(from.sharding->pending, from.sharding->npending, target->pending,
                       target->npending)) {
    return from;
  }
  return emit(walk, "all_reduce", &from, reduced_to(walk->c, from.sharding, target));
}

static place_t convert_to(walk_t *walk, place_t from, const tspec_sharding_t *target) {
  from = reduce_to(walk, from, target);
  return same_dims(walk->c, from.sharding, target) ? from : emit(walk, "reshard", &from, target);
}

static void print_op(walk_t *walk, const case_op_t *op, const place_t *operands,
                     const tspec_sharding_t *const *results) {
  tspec_buf_printf(&walk->got, "    %s(", op->name);
  for (int i = 0; i < op->noperands; i++) {
    tspec_buf_printf(&walk->got, "%s%s", i > 0 ? ", " : "", operands[i].name);
  }
  tspec_buf_puts(&walk->got, ") =");
  for (int i = 0; i < op->nresults; i++) {
    tspec_buf_printf(&walk->got, " %s %s", op->results[i]->name, case_print(walk->c, results[i]));
  }
  tspec_buf_puts(&walk->got, "\n");
}

/// Operands may stay pending only over what the first result is pending over. One all_reduce per
/// use, as in Shardy; equal ones are shared later.
static void reduce_operands(walk_t *walk, const case_op_t *op, place_t *operands) {
  if (op->nresults == 0) {
    return;
  }
  const tspec_sharding_t *result = closed(walk->c, op->results[0]);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = reduce_to(walk, operands[i], result);
  }
}

/// What the op computes, and its way to what the results should be.
static void walk_results(walk_t *walk, const case_op_t *op, const place_t *operands,
                         const tspec_choice_t *choice) {
  case_t *c = walk->c;
  place_t *places = TSPEC_ARENA_NEW(c->arena, place_t, op->nresults);
  const tspec_sharding_t **kept = TSPEC_ARENA_NEW(c->arena, const tspec_sharding_t *, op->nresults);
  for (int i = 0; i < op->nresults; i++) {
    const tspec_sharding_t *computed = choice->tensors[op->noperands + i];
    places[i] = (place_t){.name = op->results[i]->name, .sharding = computed};
    // Shardy writes on the op what is left of its pending axes after the all_reduce.
    kept[i] = reduced_to(c, computed, closed(c, op->results[i]));
  }
  print_op(walk, op, operands, kept);
  for (int i = 0; choice->nreduced > 0 && i < op->nresults; i++) {
    places[i] = reduce_to(walk, places[i], closed(c, op->results[i]));
  }
  for (int i = 0; i < op->nresults; i++) {
    const tspec_sharding_t *wanted = closed(c, op->results[i]);
    if (!same_dims(c, places[i].sharding, wanted)) {
      places[i] = emit(walk, "reshard", &places[i], wanted);
    }
    *place_of(walk, op->results[i]) = places[i];
  }
}

static void walk_op(walk_t *walk, json_t *json) {
  case_t *c = walk->c;
  case_op_t op = case_read_op(c, json);
  int ntensors = op.noperands + op.nresults;
  place_t *operands = TSPEC_ARENA_NEW(c->arena, place_t, op.noperands);
  tspec_type_t *types = TSPEC_ARENA_NEW(c->arena, tspec_type_t, ntensors);
  const tspec_sharding_t **shardings =
      TSPEC_ARENA_NEW(c->arena, const tspec_sharding_t *, ntensors);
  for (int i = 0; i < op.noperands; i++) {
    operands[i] = *place_of(walk, op.operands[i]);
  }
  reduce_operands(walk, &op, operands);
  for (int i = 0; i < ntensors; i++) {
    bool is_operand = i < op.noperands;
    types[i] = is_operand ? op.operand_types[i] : op.result_types[i - op.noperands];
    shardings[i] = is_operand ? operands[i].sharding : closed(c, op.results[i - op.noperands]);
  }
  tspec_choose_op_t choose = {.rule = case_rule(c, &op),
                              .types = types,
                              .shardings = shardings,
                              .keeps_elements = strcmp(op.name, "reshape") == 0};
  if (choose.rule == NULL) {
    print_op(walk, &op, operands, shardings + op.noperands);
    return;
  }
  tspec_choice_t choice = tspec_choose(c->arena, &c->mesh, &choose);
  for (int i = 0; i < op.noperands; i++) {
    if (!same_dims(c, operands[i].sharding, choice.tensors[i])) {
      operands[i] = emit(walk, "reshard", &operands[i], choice.tensors[i]);
    }
  }
  walk_results(walk, &op, operands, &choice);
}

static void walk_outputs(walk_t *walk) {
  size_t i;
  json_t *output;
  tspec_buf_t returned = {0};
  json_array_foreach(json_object_get(walk->c->json, "outputs"), i, output) {
    case_value_t *value = case_find(walk->c, case_text(output, "value"));
    const tspec_sharding_t *asked = case_sharding(walk->c, output);
    place_t place = *place_of(walk, value);
    const tspec_sharding_t *target = asked != NULL
                                         ? tspec_sharding_close(walk->c->arena, asked)
                                         : tspec_sharding_complete(walk->c->arena, place.sharding);
    place = convert_to(walk, place, target);
    tspec_buf_printf(&returned, " %s", place.name);
  }
  tspec_buf_printf(&walk->got, "    return%s\n", tspec_buf_get(&returned));
  tspec_buf_deinit(&returned);
}

// ---- what is wanted -----------------------------------------------------------------------------

static const char *renamed(const tspec_names_t *names, const char *name) {
  const char *new = tspec_names_get(names, name);
  return new == NULL ? name : new;
}

static const char *print_entry(const case_t *c, json_t *entry, int rank) {
  const tspec_sharding_t *sharding = case_sharding(c, entry);
  if (sharding == NULL) {
    sharding = tspec_sharding_replicated(c->arena, rank);
  }
  return case_print(c, tspec_sharding_close(c->arena, sharding));
}

static void print_wanted_op(const case_t *c, tspec_buf_t *buf, const tspec_names_t *names,
                            json_t *op) {
  size_t i;
  json_t *item;
  tspec_buf_printf(buf, "    %s(", case_text(op, "op"));
  json_array_foreach(json_object_get(op, "operands"), i, item) {
    tspec_buf_printf(buf, "%s%s", i > 0 ? ", " : "", renamed(names, json_string_value(item)));
  }
  tspec_buf_puts(buf, ") =");
  if (case_text(op, "result") != NULL) {
    const case_value_t *value = case_find(c, case_text(op, "result"));
    tspec_buf_printf(buf, " %s %s", value->name, print_entry(c, op, value->type.rank));
  }
  json_array_foreach(json_object_get(op, "results"), i, item) {
    const case_value_t *value = case_find(c, json_string_value(item));
    json_t *entry = json_array_get(json_object_get(op, "shardings"), i);
    tspec_buf_printf(buf, " %s %s", value->name, print_entry(c, entry, value->type.rank));
  }
  tspec_buf_puts(buf, "\n");
}

/// New values are named in order of appearance, as the walk does.
static void print_wanted(const case_t *c, tspec_buf_t *buf) {
  tspec_names_t names = {0};
  int nnew = 0;
  size_t i;
  json_t *op;
  json_array_foreach(json_object_get(c->json, "expect_ops"), i, op) {
    const char *operand = case_text(op, "operand");
    if (operand == NULL) {
      print_wanted_op(c, buf, &names, op);
      continue;
    }
    char *name = tspec_arena_printf(c->arena, "n%d", ++nnew);
    tspec_buf_printf(buf, "    %s = %s %s %s\n", name, case_text(op, "op"),
                     renamed(&names, operand), print_entry(c, op, 0));
    tspec_names_set(c->arena, &names, case_text(op, "result"), name);
  }
  tspec_buf_puts(buf, "    return");
  json_array_foreach(json_object_get(c->json, "expect_return"), i, op) {
    tspec_buf_printf(buf, " %s", renamed(&names, json_string_value(op)));
  }
  tspec_buf_puts(buf, "\n");
}

verdict_t case_run_insert_reshards(case_t *c) {
  walk_t walk = {.c = c};
  size_t i;
  json_t *json;
  json_array_foreach(json_object_get(c->json, "ops"), i, json) {
    walk_op(&walk, json);
  }
  walk_outputs(&walk);
  tspec_buf_t wanted = {0};
  print_wanted(c, &wanted);
  verdict_t verdict = VERDICT_PASSED;
  if (strcmp(tspec_buf_get(&walk.got), tspec_buf_get(&wanted)) != 0) {
    tspec_buf_printf(c->complaint, "  got\n%s  wanted\n%s", tspec_buf_get(&walk.got),
                     tspec_buf_get(&wanted));
    verdict = VERDICT_FAILED;
  }
  tspec_buf_deinit(&walk.got);
  tspec_buf_deinit(&wanted);
  return verdict;
}
