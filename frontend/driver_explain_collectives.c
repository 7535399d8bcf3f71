// What --explain tells of collectives: for which op, which conversion, and what the op could have
// had instead.
#include <string.h>

#include "frontend/driver.h"
#include "frontend/json.h"
#include "passes/collectives.h"
#include "passes/decisions.h"
#include "passes/flow.h"
#include "passes/layouts.h"

typedef struct writer_t {
  const tspec_driver_t *driver;
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  tspec_buf_t *buf;
  tspec_flow_t *flow; ///< of the entry
} writer_t;

static const char *sharding_text(const writer_t *writer, const tspec_sharding_t *sharding) {
  return tspec_sharding_print(writer->arena, writer->mesh, sharding);
}

static const tspec_decision_t *decision_of(const tspec_collective_use_t *use) {
  return use->op->results[0]->decided == NULL ? NULL : use->op->results[0]->decided->decision;
}

/// What is converted: its name, or NULL.
static const char *value_of(const tspec_collective_use_t *use) {
  if (use->op->results[0]->decided != NULL && use->op->results[0]->decided->value != NULL) {
    return use->op->results[0]->decided->value;
  }
  return use->op->operands[0]->name;
}

static const char *spelling_of(const tspec_op_t *op) {
  return op->spelling != NULL ? op->spelling : tspec_op_info(op->kind)->name;
}

/// The same for readers: what makes it where it has no name.
static const char *label_of(const writer_t *writer, const tspec_collective_use_t *use) {
  const char *name = value_of(use);
  const tspec_op_t *def = use->op->operands[0]->def;
  if (name != NULL || def == NULL) {
    return name != NULL ? name : "an argument";
  }
  return tspec_arena_printf(writer->arena, "'%s'", spelling_of(def));
}

/// "'@' (mlp.tspec:4)"
static void put_op(const writer_t *writer, const tspec_op_t *op) {
  tspec_buf_printf(writer->buf, "'%s' (%s)", spelling_of(op),
                   tspec_range_brief(&writer->driver->sources, op->range));
}

// ---- which ----

/// True if a wanted value, given as in a path or by its last part, is `name`.
static bool is_wanted_name(const char *wanted, const char *name) {
  size_t length = name == NULL ? 0 : strlen(name);
  size_t tail = strlen(wanted);
  if (name == NULL) {
    return false;
  }
  return strcmp(name, wanted) == 0 ||
         (length > tail && name[length - tail - 1] == '/' &&
          strcmp(name + length - tail, wanted) == 0) ||
         (tail > length && wanted[tail - length - 1] == '/' &&
          strcmp(wanted + tail - length, name) == 0);
}

/// Collectives of the values that are named: that convert one, or belong to an op that reads or
/// makes one.
static bool is_wanted(const writer_t *writer, const tspec_collective_use_t *use) {
  const tspec_words_t *wanted = &writer->driver->command->explained;
  const tspec_decision_t *decision = decision_of(use);
  for (size_t i = 0; i < wanted->count; i++) {
    if (is_wanted_name(wanted->items[i], value_of(use)) ||
        is_wanted_name(wanted->items[i], use->op->results[0]->name) ||
        strcmp(tspec_range_brief(&writer->driver->sources, use->op->range), wanted->items[i]) ==
            0) {
      return true;
    }
    for (int t = 0; decision != NULL && t < decision->noperands + decision->nresults; t++) {
      if (is_wanted_name(wanted->items[i], decision->names[t])) {
        return true;
      }
    }
  }
  return wanted->count == 0;
}

// ---- text ----

/// "h [data, model], w2 [model, -] -> [data, -] sum(model)"
static void put_layout(const writer_t *writer, const tspec_decision_t *decision,
                       const tspec_sharding_t *const *tensors) {
  for (int t = 0; t < decision->noperands + decision->nresults; t++) {
    const char *name = decision->names[t];
    tspec_buf_puts(writer->buf, t == 0 ? "" : t == decision->noperands ? " -> " : ", ");
    tspec_buf_printf(writer->buf, "%s%s%s", name == NULL ? "" : name, name == NULL ? "" : " ",
                     sharding_text(writer, tensors[t]));
  }
}

static void put_candidate(const writer_t *writer, const tspec_decision_t *decision,
                          const tspec_candidate_t *candidate) {
  tspec_buf_printf(writer->buf, "    %s, %lld bytes: ", candidate->what,
                   (long long)candidate->bytes);
  put_layout(writer, decision, candidate->tensors);
  tspec_buf_puts(writer->buf, "\n");
}

/// True if fewer than `most` of the others send less, or as much and come before.
static bool is_among(const tspec_decision_t *decision, size_t index, size_t most) {
  const tspec_candidate_t *items = decision->candidates.items;
  size_t before = 0;
  for (size_t i = 1; i < decision->candidates.count; i++) {
    before +=
        items[i].bytes < items[index].bytes || (items[i].bytes == items[index].bytes && i < index);
  }
  return before < most;
}

/// The chosen one, and of the others those that send least.
static void put_candidates(const writer_t *writer, const tspec_decision_t *decision) {
  enum { SHOWN = 5 };
  for (size_t i = 0; i < decision->candidates.count; i++) {
    if (i == 0 || is_among(decision, i, SHOWN - 1)) {
      put_candidate(writer, decision, &decision->candidates.items[i]);
    }
  }
  if (decision->candidates.count > SHOWN) {
    tspec_buf_printf(writer->buf, "    %zu more that send more: --explain=json\n",
                     decision->candidates.count - SHOWN);
  }
}

/// "    made over model by p = '@' (f:4), moved along '*' (f:5); reduced there: 64 bytes"
static void put_travelled(const writer_t *writer, const tspec_collective_use_t *use) {
  enum { SHOWN = 5 };
  tspec_travelled_t travelled;
  if (!tspec_flow_travelled(writer->flow, use, &travelled)) {
    return;
  }
  int64_t bytes = 0;
  for (size_t i = 0; i < travelled.makers.count; i++) {
    const tspec_maker_t *maker = &travelled.makers.items[i];
    tspec_buf_printf(writer->buf, "%sover %s by ", i == 0 ? "    made " : ", ",
                     tspec_axes_print(writer->arena, writer->mesh, maker->axes, maker->naxes));
    put_op(writer, maker->op);
    bytes += maker->bytes;
  }
  tspec_buf_puts(writer->buf, ", moved along ");
  for (size_t i = 0; i < travelled.along.count && i < SHOWN; i++) {
    tspec_buf_puts(writer->buf, i == 0 ? "" : ", ");
    put_op(writer, travelled.along.items[i]);
  }
  if (travelled.along.count > SHOWN) {
    tspec_buf_printf(writer->buf, ", %zu more", travelled.along.count - SHOWN);
  }
  tspec_buf_printf(writer->buf, "; reduced where %s made: %lld bytes\n",
                   travelled.makers.count > 1 ? "they are" : "it is", (long long)bytes);
}

/// All that read what comes out of it, where the op that it is for is not the only one.
static void put_readers(const writer_t *writer, const tspec_collective_use_t *use) {
  const tspec_op_t *const *readers = NULL;
  int count = tspec_flow_readers(writer->flow, use->op, &readers);
  for (int i = 0; count > 1 && i < count; i++) {
    tspec_buf_puts(writer->buf, i == 0 ? "    read by " : ", ");
    if (readers[i] == NULL) {
      tspec_buf_puts(writer->buf, "return");
    } else {
      put_op(writer, readers[i]);
    }
  }
  tspec_buf_puts(writer->buf, count > 1 ? "\n" : "");
}

/// The head of an entry, with what choosing by cost did to it.
static void put_by_cost(const writer_t *writer, const tspec_func_t *func) {
  const tspec_by_cost_t *by_cost = func->by_cost;
  tspec_buf_printf(writer->buf, "collectives of %s", func->name);
  if (by_cost == NULL) {
    tspec_buf_puts(writer->buf, "\n");
    return;
  }
  tspec_buf_printf(writer->buf, ": laid out by cost, %lld bytes; by vote %lld\n",
                   (long long)by_cost->spent.bytes, (long long)by_cost->by_vote.bytes);
  if (by_cost->spent.cost != by_cost->spent.bytes ||
      by_cost->by_vote.cost != by_cost->by_vote.bytes) {
    tspec_buf_printf(writer->buf, "  weighed with bandwidths %lld; by vote %lld\n",
                     (long long)by_cost->spent.cost, (long long)by_cost->by_vote.cost);
  }
  for (int i = 0; i < by_cost->nmoved; i++) {
    const tspec_moved_t *moved = &by_cost->moved[i];
    if (moved->name != NULL) {
      tspec_buf_printf(writer->buf, "  %s %s lies as ", moved->name,
                       sharding_text(writer, moved->was));
      tspec_buf_printf(writer->buf, "%s\n", sharding_text(writer, moved->now));
    }
  }
}

static void put_text_use(const writer_t *writer, const tspec_collective_use_t *use, int nothers) {
  const tspec_op_t *op = use->op;
  const char *shared =
      nothers == 0 ? "" : tspec_arena_printf(writer->arena, ", one call with %d more", nothers);
  tspec_buf_printf(writer->buf, "  %s over %s, %lld bytes%s: %s %s -> %s, for '%s' (%s)\n",
                   tspec_collective_name(use->kind),
                   tspec_axes_print(writer->arena, writer->mesh, use->axes, use->naxes),
                   (long long)use->bytes, shared, label_of(writer, use),
                   sharding_text(writer, op->operands[0]->sharding),
                   sharding_text(writer, op->results[0]->sharding),
                   op->spelling != NULL ? op->spelling : "return",
                   tspec_range_brief(&writer->driver->sources, op->range));
  put_travelled(writer, use);
  put_readers(writer, use);
  const tspec_decision_t *decision = decision_of(use);
  if (decision != NULL) {
    put_candidates(writer, decision);
  }
}

// ---- JSON ----

static void put_json_layout(const writer_t *writer, const char *key, int count,
                            const tspec_sharding_t *const *tensors) {
  tspec_json_key(writer->buf, key);
  tspec_buf_puts(writer->buf, "[");
  for (int t = 0; t < count; t++) {
    tspec_buf_puts(writer->buf, t > 0 ? ", " : "");
    tspec_json_string(writer->buf, sharding_text(writer, tensors[t]));
  }
  tspec_buf_puts(writer->buf, "]");
}

static void put_json_candidates(const writer_t *writer, const tspec_decision_t *decision) {
  tspec_buf_t *buf = writer->buf;
  tspec_json_key(buf, "candidates");
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; decision != NULL && i < decision->candidates.count; i++) {
    const tspec_candidate_t *candidate = &decision->candidates.items[i];
    tspec_json_item(buf, 4);
    tspec_buf_puts(buf, "{");
    tspec_json_text(buf, "what", candidate->what);
    tspec_json_number(buf, "bytes", candidate->bytes);
    tspec_json_number(buf, "elements", candidate->nelems);
    put_json_layout(writer, "operands", decision->noperands, candidate->tensors);
    put_json_layout(writer, "results", decision->nresults,
                    candidate->tensors + decision->noperands);
    tspec_buf_puts(buf, "}");
  }
  tspec_buf_puts(buf, "]");
}

static void put_json_op(const writer_t *writer, const tspec_op_t *op) {
  tspec_json_text(writer->buf, "op", op == NULL ? NULL : tspec_op_info(op->kind)->name);
  tspec_json_text(writer->buf, "spelling", op == NULL ? "return" : op->spelling);
  tspec_json_text(writer->buf, "line",
                  op == NULL ? NULL : tspec_range_brief(&writer->driver->sources, op->range));
}

static void put_json_ops(const writer_t *writer, const char *key, int count,
                         const tspec_op_t *const *ops) {
  tspec_json_key(writer->buf, key);
  tspec_buf_puts(writer->buf, "[");
  for (int i = 0; i < count; i++) {
    tspec_json_item(writer->buf, 4);
    tspec_buf_puts(writer->buf, "{");
    put_json_op(writer, ops[i]);
    tspec_buf_puts(writer->buf, "}");
  }
  tspec_buf_puts(writer->buf, "]");
}

static void put_json_flow(const writer_t *writer, const tspec_collective_use_t *use) {
  tspec_buf_t *buf = writer->buf;
  const tspec_op_t *const *readers = NULL;
  int count = tspec_flow_readers(writer->flow, use->op, &readers);
  put_json_ops(writer, "read_by", count, readers);
  tspec_travelled_t travelled;
  tspec_flow_travelled(writer->flow, use, &travelled);
  tspec_json_key(buf, "made_over");
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; i < travelled.makers.count; i++) {
    const tspec_maker_t *maker = &travelled.makers.items[i];
    tspec_json_item(buf, 4);
    tspec_buf_puts(buf, "{");
    tspec_json_text(buf, "axes",
                    tspec_axes_print(writer->arena, writer->mesh, maker->axes, maker->naxes));
    put_json_op(writer, maker->op);
    tspec_json_number(buf, "bytes_there", maker->bytes);
    tspec_buf_puts(buf, "}");
  }
  tspec_buf_puts(buf, "]");
  put_json_ops(writer, "moved_along", travelled.makers.count == 0 ? 0 : (int)travelled.along.count,
               travelled.along.items);
}

static void put_json_use(const writer_t *writer, const char *entry,
                         const tspec_collective_use_t *use, int call) {
  tspec_buf_t *buf = writer->buf;
  const tspec_op_t *op = use->op;
  tspec_buf_puts(buf, buf->length == 0 ? "\n  {" : ",\n  {");
  tspec_json_text(buf, "entry", entry);
  tspec_json_text(buf, "kind", tspec_collective_name(use->kind));
  put_json_layout(
      writer, "shardings", 2,
      (const tspec_sharding_t *const[]){op->operands[0]->sharding, op->results[0]->sharding});
  tspec_json_text(buf, "value", value_of(use));
  if (value_of(use) == NULL) {
    tspec_json_text(buf, "made_by", label_of(writer, use));
  }
  tspec_json_number(buf, "bytes", use->bytes);
  tspec_json_number(buf, "call", call);
  tspec_json_text(buf, "for", op->spelling);
  tspec_json_text(buf, "line", tspec_range_brief(&writer->driver->sources, op->range));
  put_json_flow(writer, use);
  put_json_candidates(writer, decision_of(use));
  tspec_buf_puts(buf, "}");
}

/// One of several that share a call, as if it were alone.
static tspec_collective_use_t use_of(const writer_t *writer, const tspec_collective_use_t *call,
                                     int index) {
  if (call->op->nresults == 1) {
    return *call;
  }
  tspec_op_t *op = tspec_arena_copy(writer->arena, call->op, sizeof *op);
  op->noperands = op->nresults = 1;
  op->operands = &call->op->operands[index];
  op->results = &call->op->results[index];
  op->range = tspec_collective_range(call->op, index);
  const tspec_decided_t *decided = op->results[0]->decided;
  op->spelling = decided == NULL || decided->decision == NULL ? NULL : decided->decision->spelling;
  tspec_collective_use_t use;
  TSPEC_CHECK(tspec_collective_of(writer->driver->program, op, &use));
  return use;
}

void tspec_driver_explain_collectives(tspec_driver_t *driver, tspec_buf_t *buf) {
  const tspec_program_t *program = driver->program;
  writer_t writer = {driver, driver->arena, &program->mesh, buf, NULL};
  bool json = driver->command->explain == TSPEC_REPORT_JSON;
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_func_t *func = program->funcs[i];
    writer.flow = tspec_flow_create(driver->arena, program, func);
    tspec_collective_use_t *uses = NULL;
    int count = tspec_func_collectives(program, func, driver->arena, &uses);
    bool any = false;
    for (int u = 0; u < count; u++) {
      for (int k = 0; k < uses[u].op->nresults; k++) {
        tspec_collective_use_t use = use_of(&writer, &uses[u], k);
        if (!is_wanted(&writer, &use)) {
          continue;
        }
        if (json) {
          put_json_use(&writer, func->name, &use, u);
          continue;
        }
        if (!any) {
          put_by_cost(&writer, func);
        }
        any = true;
        put_text_use(&writer, &use, uses[u].op->nresults - 1);
      }
    }
  }
}
