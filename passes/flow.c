#include "passes/flow.h"

#include <stdlib.h>

#include "passes/wire.h"

typedef struct reader_t {
  const tspec_op_t *op; ///< NULL: returned
  int next;             ///< of the same value, later, or -1
} reader_t;

struct tspec_flow_t {
  tspec_arena_t *arena;
  const tspec_program_t *program;
  const tspec_func_t *func;
  tspec_wire_t wire;
  int nvalues;
  int *first; ///< by value: the first reader, or -1
  int *last;
  TSPEC_VEC(reader_t) readers;
  bool *reached; ///< work space by value
};

static void add_reader(tspec_flow_t *flow, const tspec_value_t *value, const tspec_op_t *op) {
  int index = (int)flow->readers.count;
  TSPEC_VEC_PUSH(flow->arena, &flow->readers, (reader_t){op, -1});
  int *link = flow->first[value->id] < 0 ? &flow->first[value->id]
                                         : &flow->readers.items[flow->last[value->id]].next;
  *link = index;
  flow->last[value->id] = index;
}

tspec_flow_t *tspec_flow_create(tspec_arena_t *arena, const tspec_program_t *program,
                                tspec_func_t *func) {
  tspec_flow_t *flow = TSPEC_ARENA_NEW(arena, tspec_flow_t, 1);
  *flow = (tspec_flow_t){.arena = arena,
                         .program = program,
                         .func = func,
                         .wire = {.mesh = &program->mesh, .arena = arena},
                         .nvalues = tspec_func_number(func)};
  flow->first = TSPEC_ARENA_NEW(arena, int, flow->nvalues);
  flow->last = TSPEC_ARENA_NEW(arena, int, flow->nvalues);
  flow->reached = TSPEC_ARENA_NEW(arena, bool, flow->nvalues);
  for (int i = 0; i < flow->nvalues; i++) {
    flow->first[i] = -1;
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    for (int i = 0; i < op->noperands; i++) {
      add_reader(flow, op->operands[i], op);
    }
  }
  for (int i = 0; i < func->nresults; i++) {
    add_reader(flow, func->results[i].value, NULL);
  }
  return flow;
}

// ---- readers ----

typedef TSPEC_VEC(const tspec_op_t *) ops_t;

static bool same_place(const tspec_op_t *a, const tspec_op_t *b) {
  return a == b || (a != NULL && b != NULL && a->spelling == b->spelling && a->kind == b->kind &&
                    a->range.file == b->range.file && a->range.line == b->range.line);
}

static void add_place(tspec_flow_t *flow, ops_t *ops, const tspec_op_t *op) {
  for (size_t i = 0; i < ops->count; i++) {
    if (same_place(ops->items[i], op)) {
      return;
    }
  }
  TSPEC_VEC_PUSH(flow->arena, ops, op);
}

/// What a reader of the value gives: of a call the result of its place.
static const tspec_value_t *made_of(const tspec_op_t *reader, const tspec_value_t *value) {
  int place = 0;
  for (int i = 0; i < reader->noperands && reader->nresults == reader->noperands; i++) {
    place = reader->operands[i] == value ? i : place;
  }
  return reader->results[place];
}

int tspec_flow_readers(tspec_flow_t *flow, const tspec_op_t *op,
                       const tspec_op_t *const **out_readers) {
  ops_t readers = {0};
  TSPEC_VEC(const tspec_value_t *) parts = {0};
  TSPEC_VEC_PUSH(flow->arena, &parts, op->results[0]);
  for (size_t p = 0; p < parts.count; p++) {
    for (int i = flow->first[parts.items[p]->id]; i >= 0; i = flow->readers.items[i].next) {
      const tspec_op_t *reader = flow->readers.items[i].op;
      const tspec_value_t *part = reader == NULL ? NULL : made_of(reader, parts.items[p]);
      if (part != NULL && part->decided != NULL && part->decided == op->results[0]->decided) {
        TSPEC_VEC_PUSH(flow->arena, &parts, part);
      } else {
        add_place(flow, &readers, reader);
      }
    }
  }
  *out_readers = readers.items;
  return (int)readers.count;
}

// ---- partial results ----

static bool is_pending(const tspec_sharding_t *sharding, tspec_axis_t axis) {
  bool any = false;
  for (int i = 0; !any && i < sharding->npending; i++) {
    any = tspec_axis_overlap(sharding->pending[i], axis);
  }
  return any;
}

/// True if an operand is pending over one of the axes: the op hands partial results on.
static bool carries(const tspec_op_t *op, int operand, int naxes, const tspec_axis_t *axes) {
  bool any = false;
  for (int i = 0; !any && i < naxes; i++) {
    any = is_pending(op->operands[operand]->sharding, axes[i]);
  }
  return any;
}

/// Those of the axes that the op's result is pending over, and none of its operands.
static tspec_maker_t maker_of(tspec_flow_t *flow, const tspec_op_t *op, int naxes,
                              const tspec_axis_t *axes) {
  const tspec_sharding_t *made = op->results[0]->sharding;
  tspec_axis_t *own = TSPEC_ARENA_NEW(flow->arena, tspec_axis_t, naxes);
  tspec_maker_t maker = {.op = op, .axes = own};
  for (int a = 0; a < naxes; a++) {
    bool is_own = is_pending(made, axes[a]);
    for (int i = 0; i < op->noperands; i++) {
      is_own = is_own && !is_pending(op->operands[i]->sharding, axes[a]);
    }
    if (is_own) {
      own[maker.naxes++] = axes[a];
    }
  }
  return maker;
}

static int64_t reducing_bytes(tspec_flow_t *flow, const tspec_maker_t *maker) {
  const tspec_value_t *made = maker->op->results[0];
  tspec_sharding_t *reduced = tspec_arena_copy(flow->arena, made->sharding, sizeof *made->sharding);
  tspec_axis_t *left = TSPEC_ARENA_NEW(flow->arena, tspec_axis_t, made->sharding->npending);
  reduced->pending = left;
  reduced->npending = 0;
  for (int i = 0; i < made->sharding->npending; i++) {
    bool goes = false;
    for (int a = 0; a < maker->naxes; a++) {
      goes = goes || tspec_axis_overlap(made->sharding->pending[i], maker->axes[a]);
    }
    if (!goes) {
      left[reduced->npending++] = made->sharding->pending[i];
    }
  }
  return tspec_wire_bytes(&flow->wire, made->type, made->sharding, reduced);
}

static int compare_ops(const void *a, const void *b) {
  const tspec_op_t *first = *(const tspec_op_t *const *)a, *second = *(const tspec_op_t *const *)b;
  return first->results[0]->id - second->results[0]->id;
}

static bool reads_partials(const tspec_op_t *op, const tspec_collective_use_t *use) {
  bool any = false;
  for (int i = 0; !any && i < op->noperands; i++) {
    any = carries(op, i, use->naxes, use->axes);
  }
  return any;
}

/// All ops that hand partial results to the collective, in program order.
static ops_t find_sources(tspec_flow_t *flow, const tspec_collective_use_t *use) {
  ops_t ops = {0};
  const tspec_op_t *op = use->op;
  for (size_t i = 0;; op = ops.items[i++]) {
    for (int o = 0; o < op->noperands; o++) {
      const tspec_value_t *operand = op->operands[o];
      if (operand->def != NULL && operand->def->nresults == 1 && !flow->reached[operand->id] &&
          carries(op, o, use->naxes, use->axes)) {
        flow->reached[operand->id] = true;
        TSPEC_VEC_PUSH(flow->arena, &ops, operand->def);
      }
    }
    if (i == ops.count) {
      break;
    }
  }
  for (size_t i = 0; i < ops.count; i++) {
    flow->reached[ops.items[i]->results[0]->id] = false;
  }
  if (ops.count > 1) {
    qsort(ops.items, ops.count, sizeof *ops.items, compare_ops);
  }
  return ops;
}

static bool is_written(const tspec_op_t *op) {
  return op->because == NULL;
}

/// The last op of the user's in front of a collective.
static const tspec_op_t *op_before(const tspec_op_t *collective) {
  const tspec_op_t *op = collective->operands[0]->def;
  while (op != NULL && !is_written(op)) {
    op = op->noperands > 0 ? op->operands[0]->def : NULL;
  }
  return op;
}

static bool is_reduction(const tspec_collective_use_t *use) {
  bool reduces = false;
  for (int a = 0; !reduces && a < use->naxes; a++) {
    reduces = is_pending(use->op->operands[0]->sharding, use->axes[a]) &&
              !is_pending(use->op->results[0]->sharding, use->axes[a]);
  }
  return reduces;
}

bool tspec_flow_travelled(tspec_flow_t *flow, const tspec_collective_use_t *use,
                          tspec_travelled_t *out) {
  *out = (tspec_travelled_t){0};
  ops_t ops = is_reduction(use) ? find_sources(flow, use) : (ops_t){0};
  const tspec_op_t *before = op_before(use->op);
  for (size_t i = 0; i < ops.count; i++) {
    const tspec_op_t *op = ops.items[i];
    tspec_maker_t maker = maker_of(flow, op, use->naxes, use->axes);
    if (maker.naxes > 0 && is_written(op) && op != before) {
      maker.bytes = reducing_bytes(flow, &maker);
      TSPEC_VEC_PUSH(flow->arena, &out->makers, maker);
    }
    if (is_written(op) && reads_partials(op, use)) {
      TSPEC_VEC_PUSH(flow->arena, &out->along, op);
    }
  }
  return out->makers.count > 0;
}
