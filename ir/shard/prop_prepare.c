// The steps before propagation, on the graph. Source: `propagation.md` 2.6.
#include "ir/base/diag.h"
#include "ir/shard/prop_graph.h"

// ---- constants ----------------------------------------------------------------------------------

typedef struct splitter_t {
  tspec_prop_graph_t *graph;
  tspec_arena_t *arena; ///< until the end of the step
  bool *constant;       ///< per original node: an expression of constants alone
  bool *split;          ///< per original node: one copy per use (also a broadcast of any scalar)
  bool *claimed;        ///< per original value: its first use has it
} splitter_t;

/// The node that makes a value, if that is to be copied per use; else -1.
static int split_definition(const splitter_t *splitter, int value) {
  int from = splitter->graph->values.items[value].definition;
  return from >= 0 && splitter->split[splitter->graph->nodes.items[from].origin] ? from : -1;
}

static bool is_constant(const splitter_t *splitter, const tspec_prop_node_t *node) {
  const unsigned pure = TSPEC_PROP_ELEMENTWISE | TSPEC_PROP_RESHAPE_LIKE | TSPEC_PROP_BROADCAST;
  if (node->kind != TSPEC_PROP_NODE_OP || (node->traits & TSPEC_PROP_CONSTRAINT) != 0 ||
      node->allowed != TSPEC_PROP_BOTH) {
    return false;
  }
  if ((node->traits & TSPEC_PROP_CONSTANT_LIKE) != 0) {
    return true;
  }
  for (int i = 0; i < node->noperands; i++) {
    int from = splitter->graph->values.items[node->operands[i]].definition;
    if (from < 0 || !splitter->constant[from]) {
      return false;
    }
  }
  return (node->traits & pure) != 0 && node->noperands > 0;
}

static bool is_scalar_broadcast(const splitter_t *splitter, const tspec_prop_node_t *node) {
  return node->kind == TSPEC_PROP_NODE_OP && (node->traits & TSPEC_PROP_BROADCAST) != 0 &&
         splitter->graph->values.items[node->operands[0]].type.rank == 0;
}

/// A copy of the expression that makes an original value.
static int copy_value(splitter_t *splitter, int value) {
  tspec_prop_graph_t *graph = splitter->graph;
  int from = split_definition(splitter, value);
  if (from < 0) {
    return value;
  }
  tspec_prop_node_t node = graph->nodes.items[from];
  int noperands = node.noperands;
  int *operands = TSPEC_ARENA_NEW(splitter->arena, int, noperands);
  for (int i = 0; i < noperands; i++) {
    operands[i] = copy_value(splitter, node.operands[i]);
  }
  TSPEC_CHECK(node.nresults == 1);
  int copy = tspec_prop_add_value(graph, graph->values.items[value].type,
                                  graph->values.items[value].initial);
  tspec_prop_op_t op = {.rule = node.rule,
                        .traits = node.traits,
                        .noperands = noperands,
                        .operands = operands,
                        .nresults = 1,
                        .results = &copy};
  int id = tspec_prop_add_op(graph, &op);
  graph->values.items[copy].origin = graph->values.items[value].origin;
  graph->nodes.items[id].origin = node.origin;
  return copy;
}

static void split_operand(splitter_t *splitter, int *operand) {
  if (split_definition(splitter, *operand) < 0) {
    return;
  }
  if (splitter->claimed[*operand]) {
    *operand = copy_value(splitter, *operand);
  } else {
    splitter->claimed[*operand] = true;
  }
}

void tspec_prop_split_constants(tspec_prop_graph_t *graph) {
  size_t nnodes = graph->nodes.count;
  tspec_arena_t work;
  tspec_arena_init(&work);
  splitter_t splitter = {.graph = graph,
                         .arena = &work,
                         .constant = TSPEC_ARENA_NEW(&work, bool, nnodes),
                         .split = TSPEC_ARENA_NEW(&work, bool, nnodes),
                         .claimed = TSPEC_ARENA_NEW(&work, bool, graph->values.count)};
  for (size_t i = 0; i < nnodes; i++) {
    const tspec_prop_node_t *node = &graph->nodes.items[i];
    splitter.constant[i] = node->nresults == 1 && is_constant(&splitter, node);
    splitter.split[i] =
        splitter.constant[i] || (node->nresults == 1 && is_scalar_broadcast(&splitter, node));
  }
  for (size_t i = 0; i < nnodes; i++) {
    int *operands = graph->nodes.items[i].operands;
    for (int o = 0; o < graph->nodes.items[i].noperands; o++) {
      split_operand(&splitter, &operands[o]);
    }
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    split_operand(&splitter, &graph->returns.items[i].operands[0]);
  }
  tspec_arena_deinit(&work);
}

// ---- constraints --------------------------------------------------------------------------------

/// One read of a value: operand of a node, or (after all nodes) a function's result.
typedef struct reader_t {
  int position; ///< in program order: the node; of a copy, the one that it is a copy of
  int *operand;
  int next; ///< of the same value, later, or -1
} reader_t;

/// What reads a value.
typedef struct readers_t {
  int first;
  int count;
  int nconstraints;                   ///< constraints and manual regions among them
  const tspec_sharding_t *constraint; ///< the first one's
  bool differ;                        ///< not all of these ask for the same
} readers_t;

typedef struct mover_t {
  tspec_prop_graph_t *graph;
  reader_t *readers;
  readers_t *values;
} mover_t;

/// The sharding that a node asks its operands to have, or NULL: constraints, entries of manual
/// regions.
static const tspec_sharding_t *asked_for(const tspec_prop_graph_t *graph,
                                         const tspec_prop_node_t *node) {
  const tspec_prop_value_t *result =
      node->nresults == 0 ? NULL : &graph->values.items[node->results[0]];
  bool asks = (node->kind == TSPEC_PROP_NODE_OP && (node->traits & TSPEC_PROP_CONSTRAINT) != 0) ||
              (node->kind == TSPEC_PROP_NODE_EDGE && result->has_view);
  return asks ? result->initial : NULL;
}

static void add_reader(mover_t *mover, int index, int position, const tspec_prop_node_t *node,
                       int which) {
  int *operand = &node->operands[which];
  readers_t *readers = &mover->values[*operand];
  mover->readers[index] =
      (reader_t){.position = position, .operand = operand, .next = readers->first};
  readers->first = index;
  readers->count++;
}

static void find_readers(mover_t *mover, tspec_arena_t *work) {
  tspec_prop_graph_t *graph = mover->graph;
  size_t total = graph->returns.count;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    total += (size_t)graph->nodes.items[i].noperands;
  }
  mover->readers = TSPEC_ARENA_NEW(work, reader_t, total);
  mover->values = TSPEC_ARENA_NEW(work, readers_t, graph->values.count);
  for (size_t i = 0; i < graph->values.count; i++) {
    mover->values[i].first = -1;
  }
  int next = 0;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const tspec_prop_node_t *node = &graph->nodes.items[i];
    const tspec_sharding_t *asked = asked_for(graph, node);
    for (int o = 0; o < node->noperands; o++) {
      readers_t *readers = &mover->values[node->operands[o]];
      if (asked != NULL) {
        readers->differ = readers->differ || (readers->constraint != NULL &&
                                              !tspec_sharding_equal(readers->constraint, asked));
        readers->constraint = readers->constraint == NULL ? asked : readers->constraint;
        readers->nconstraints++;
      }
      add_reader(mover, next++, node->origin, node, o);
    }
  }
  for (size_t i = 0; i < graph->returns.count; i++) {
    add_reader(mover, next++, (int)(graph->nodes.count + i), &graph->returns.items[i], 0);
  }
}

/// Reads of `from` after a node become reads of `to`.
static void move_later_reads(mover_t *mover, int from, int to, int position) {
  int *link = &mover->values[from].first;
  while (*link >= 0) {
    reader_t *reader = &mover->readers[*link];
    if (reader->position <= position) {
      link = &reader->next;
      continue;
    }
    int index = *link;
    *link = reader->next;
    *reader->operand = to;
    reader->next = mover->values[to].first;
    mover->values[to].first = index;
    mover->values[from].count--;
    mover->values[to].count++;
  }
}

static bool is_closed(const tspec_sharding_t *sharding) {
  for (int i = 0; i < sharding->rank; i++) {
    if (sharding->dims[i].open) {
      return false;
    }
  }
  return true;
}

static void apply_to_operand(mover_t *mover, int position, int value,
                             const tspec_sharding_t *asked) {
  tspec_prop_graph_t *graph = mover->graph;
  tspec_prop_value_t *input = &graph->values.items[value];
  const tspec_prop_node_t *node = &graph->nodes.items[position];
  // What is to be pending is made so by the constraint itself.
  if (mover->values[value].differ || !is_closed(asked) || asked->npending > 0) {
    return;
  }
  if (input->is_edge_target || input->is_view) {
    if (node->kind == TSPEC_PROP_NODE_OP) {
      move_later_reads(mover, value, node->results[0], position);
    }
  } else if (!tspec_prop_says_anything(input->initial)) {
    input->initial = asked;
    input->taken = position;
  }
}

static bool is_constraint(const tspec_prop_graph_t *graph, int node) {
  return node >= 0 && graph->nodes.items[node].kind == TSPEC_PROP_NODE_OP &&
         (graph->nodes.items[node].traits & TSPEC_PROP_CONSTRAINT) != 0;
}

/// If `tail` ends a chain of at least two constraints, later reads of what the first one reads move
/// to the tail's result.
static void apply_chain(mover_t *mover, int tail) {
  const tspec_prop_graph_t *graph = mover->graph;
  const readers_t *after = &mover->values[graph->nodes.items[tail].results[0]];
  if (after->count == 1 && after->nconstraints == 1) {
    return;
  }
  int head = tail;
  for (;;) {
    int input = graph->nodes.items[head].operands[0];
    int before = graph->values.items[input].definition;
    if (!is_constraint(graph, before)) {
      break;
    }
    if (mover->values[input].count != 1) {
      return;
    }
    head = before;
  }
  int input = graph->nodes.items[head].operands[0];
  if (head != tail && mover->values[input].nconstraints == 1) {
    move_later_reads(mover, input, graph->nodes.items[tail].results[0], tail);
  }
}

/// Members of a group lie alike, so that what is asked of one is asked of all.
static void compare_members(mover_t *mover, const tspec_prop_group_t *group) {
  const tspec_sharding_t *asked = NULL;
  bool differ = false;
  for (int m = 0; m < group->nmembers; m++) {
    const readers_t *readers = &mover->values[group->members[m]];
    differ = differ || readers->differ ||
             (asked != NULL && readers->constraint != NULL &&
              !tspec_sharding_equal(asked, readers->constraint));
    asked = asked == NULL ? readers->constraint : asked;
  }
  for (int m = 0; m < group->nmembers; m++) {
    mover->values[group->members[m]].differ = differ;
  }
}

void tspec_prop_apply_constraints(tspec_prop_graph_t *graph) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  mover_t mover = {.graph = graph};
  find_readers(&mover, &work);
  for (size_t i = 0; i < graph->groups.count; i++) {
    compare_members(&mover, &graph->groups.items[i]);
  }
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const tspec_prop_node_t *node = &graph->nodes.items[i];
    const tspec_sharding_t *asked = asked_for(graph, node);
    for (int o = 0; asked != NULL && o < node->noperands; o++) {
      apply_to_operand(&mover, (int)i, node->operands[o], asked);
    }
    if (is_constraint(graph, (int)i)) {
      apply_chain(&mover, (int)i);
    }
  }
  tspec_arena_deinit(&work);
}
