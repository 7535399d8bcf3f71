// The engine: fixpoints of steps, nested in op priority levels and user priority rounds.
// Source: `propagation.md` 2.5.
#include "ir/shard/propagate.h"

#include "ir/base/diag.h"
#include "ir/shard/axes.h"
#include "ir/shard/prop_graph.h"

enum { LAST_LEVEL = 4 };

typedef struct engine_t {
  tspec_prop_graph_t *graph;
  const tspec_prop_options_t *options;
  tspec_spread_t spread;
  int *queue; ///< a ring of as many nodes as there are, each at most once
  int head;
  int nqueued;
  int level;
  int round;
} engine_t;

// ---- directions ---------------------------------------------------------------------------------

tspec_prop_direction_t tspec_prop_factor_direction(const tspec_prop_node_t *node, int factor,
                                                   int level) {
  const tspec_factor_t *of = &node->rule->factors[factor];
  const unsigned pass = TSPEC_PROP_ELEMENTWISE | TSPEC_PROP_RESHAPE_LIKE;
  if (of->blocked) {
    return TSPEC_PROP_NONE;
  }
  tspec_prop_direction_t direction = TSPEC_PROP_NONE;
  if (node->kind != TSPEC_PROP_NODE_OP) {
    direction = TSPEC_PROP_BOTH;
  } else if (node->single_use || level >= 1) {
    if ((node->traits & pass) != 0) {
      direction = TSPEC_PROP_BOTH;
    } else if ((node->traits & TSPEC_PROP_SLICE_LIKE) != 0) {
      direction = TSPEC_PROP_FORWARD;
    }
  }
  if (level >= LAST_LEVEL) {
    direction = TSPEC_PROP_BOTH;
  } else if (level >= 3 || (level == 2 && of->kind == TSPEC_FACTOR_PASS_THROUGH)) {
    direction |= (node->traits & TSPEC_PROP_BROADCAST) != 0 ? TSPEC_PROP_BACKWARD : TSPEC_PROP_BOTH;
  }
  return direction & node->allowed;
}

// ---- records ------------------------------------------------------------------------------------

static tspec_cause_kind_t cause_kind(const tspec_prop_node_t *node) {
  switch (node->kind) {
  case TSPEC_PROP_NODE_OP:
    return TSPEC_CAUSE_OP;
  case TSPEC_PROP_NODE_EDGE:
    return TSPEC_CAUSE_EDGE;
  case TSPEC_PROP_NODE_GROUP:
    return TSPEC_CAUSE_GROUP;
  case TSPEC_PROP_NODE_RETURN:
    return TSPEC_CAUSE_RETURN;
  }
  return TSPEC_CAUSE_OP;
}

/// Records one new piece of a dim, by the factors that it lies on.
static void record_piece(const engine_t *engine, const tspec_prop_node_t *node, int tensor, int dim,
                         tspec_axis_t piece) {
  tspec_prop_graph_t *graph = engine->graph;
  const tspec_factor_dim_t *map = &tspec_factor_rule_tensor(node->rule, tensor)->dims[dim];
  for (int i = 0; i < map->nfactors; i++) {
    int factor = map->factors[i];
    const tspec_factor_axes_t *axes =
        tspec_projection_at(&engine->spread.projection, tensor, factor);
    for (int a = 0; a < axes->naxes; a++) {
      tspec_axis_t part;
      if (!tspec_axis_intersect(axes->axes[a], piece, &part)) {
        continue;
      }
      int source = engine->spread.factors[factor].source;
      bool is_op = node->kind != TSPEC_PROP_NODE_RETURN;
      tspec_causes_add(
          graph->causes,
          (tspec_cause_t){.kind = cause_kind(node),
                          .value = tspec_prop_root(graph, tspec_prop_tensor(node, tensor)),
                          .dim = dim,
                          .axis = part,
                          .source = source < 0 ? -1 : tspec_prop_tensor(node, source),
                          .op = is_op ? (int)(node - graph->nodes.items) : -1,
                          .factor = factor,
                          .level = engine->level,
                          .round = engine->round});
    }
  }
}

static void record_added(engine_t *engine, const tspec_prop_node_t *node, int tensor, int dim,
                         const tspec_dim_t *old, const tspec_dim_t *new) {
  if (engine->options->silent) {
    return;
  }
  int at = 0;
  while (at < old->naxes && tspec_axis_equal(old->axes[at], new->axes[at])) {
    at++;
  }
  for (; at < new->naxes; at++) {
    tspec_axis_t piece = new->axes[at];
    if (at < old->naxes) {
      piece = tspec_axis_minor(piece, piece.size / old->axes[at].size);
    }
    record_piece(engine, node, tensor, dim, piece);
  }
}

static void record_annotation(const engine_t *engine, int root, int dim) {
  if (engine->options->silent) {
    return;
  }
  tspec_prop_graph_t *graph = engine->graph;
  const tspec_prop_value_t *value = &graph->values.items[root];
  int taken = graph->values.items[value->initial_value].taken;
  tspec_cause_t cause = {.kind = taken < 0 ? TSPEC_CAUSE_ANNOTATION : TSPEC_CAUSE_CONSTRAINT,
                         .value = root,
                         .dim = dim,
                         .source = value->initial_value,
                         .op = taken,
                         .factor = -1,
                         .round = engine->round};
  const tspec_dim_t *axes = &value->initial->dims[dim];
  for (int i = 0; i < axes->naxes; i++) {
    cause.axis = axes->axes[i];
    tspec_causes_add(graph->causes, cause);
  }
}

// ---- steps --------------------------------------------------------------------------------------

static void enqueue(engine_t *engine, int node) {
  tspec_prop_node_t *at = &engine->graph->nodes.items[node];
  if (at->queued || at->rule == NULL) {
    return;
  }
  at->queued = true;
  int capacity = (int)engine->graph->nodes.count;
  engine->queue[(engine->head + engine->nqueued) % capacity] = node;
  engine->nqueued++;
}

static void enqueue_readers(engine_t *engine, int root) {
  const tspec_prop_value_t *value = &engine->graph->values.items[root];
  for (int i = 0; i < value->ntouches; i++) {
    int node = engine->graph->touches[value->first_touch + i];
    engine->graph->nodes.items[node].changed = true;
    enqueue(engine, node);
  }
}

/// The hidden axes of a manual region before those that were found inside. Copies the axes.
static void set_dim(engine_t *engine, const tspec_prop_value_t *seen, tspec_dim_t *dim,
                    const tspec_dim_t *new) {
  int hidden = tspec_prop_nhidden(seen, dim);
  tspec_axis_t *axes = TSPEC_ARENA_NEW(engine->graph->arena, tspec_axis_t, hidden + new->naxes);
  tspec_axes_copy(axes, dim->axes, hidden);
  tspec_axes_copy(axes + hidden, new->axes, new->naxes);
  dim->axes = axes;
  dim->naxes = hidden + new->naxes;
}

/// True if an earlier tensor of the node is the same value and was written in this step: what this
/// one got was worked out before that, and may use an axis twice. The node is in the queue again.
static bool is_stale(const engine_t *engine, const tspec_prop_node_t *node, int tensor) {
  int root = tspec_prop_root(engine->graph, tspec_prop_tensor(node, tensor));
  for (int i = 0; i < tensor; i++) {
    if (engine->spread.changed[i] &&
        tspec_prop_root(engine->graph, tspec_prop_tensor(node, i)) == root) {
      return true;
    }
  }
  return false;
}

/// Writes back what one tensor of a node got. False if that was nothing.
static bool write_back(engine_t *engine, const tspec_prop_node_t *node, int tensor) {
  tspec_prop_graph_t *graph = engine->graph;
  int value = tspec_prop_tensor(node, tensor);
  int root_id = tspec_prop_root(graph, value);
  const tspec_prop_value_t *seen = &graph->values.items[value];
  tspec_prop_value_t *root = &graph->values.items[root_id];
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_dim_t *dims = tspec_projection_get(&engine->spread.projection, tensor, &work);
  bool any = false;
  for (int i = 0; i < root->type.rank; i++) {
    tspec_dim_t old = tspec_prop_look(graph, value)->dims[i];
    if (!tspec_axes_is_strict_prefix(old.axes, old.naxes, dims[i].axes, dims[i].naxes)) {
      continue;
    }
    record_added(engine, node, tensor, i, &old, &dims[i]);
    root->nsplit += root->dims[i].naxes == 0;
    set_dim(engine, seen, &root->dims[i], &dims[i]);
    any = true;
  }
  tspec_arena_deinit(&work);
  if (any) {
    enqueue_readers(engine, root_id);
  }
  return any;
}

static bool has_axes(const tspec_prop_graph_t *graph, const tspec_prop_node_t *node) {
  for (int i = 0; i < node->noperands + node->nresults; i++) {
    if (graph->values.items[tspec_prop_root(graph, tspec_prop_tensor(node, i))].nsplit > 0) {
      return true;
    }
  }
  return false;
}

void tspec_prop_load(tspec_prop_graph_t *graph, const tspec_prop_node_t *node,
                     tspec_spread_t *spread) {
  tspec_spread_start(spread, node->rule);
  spread->elementwise = (node->traits & TSPEC_PROP_ELEMENTWISE) != 0;
  for (int i = 0; i < node->noperands + node->nresults; i++) {
    tspec_projection_set(&spread->projection, i,
                         tspec_prop_look(graph, tspec_prop_tensor(node, i)));
  }
}

static void step(engine_t *engine, const tspec_prop_node_t *node) {
  if (!has_axes(engine->graph, node)) {
    return;
  }
  tspec_spread_t *spread = &engine->spread;
  tspec_prop_load(engine->graph, node, spread);
  bool allowed = false;
  for (int i = 0; i < node->rule->nfactors; i++) {
    spread->factors[i].direction = tspec_prop_factor_direction(node, i, engine->level);
    allowed = allowed || spread->factors[i].direction != TSPEC_PROP_NONE;
  }
  if (!allowed) {
    return;
  }
  if (engine->options->strategy == TSPEC_PROP_BASIC) {
    tspec_spread_basic(spread);
  } else {
    tspec_spread_aggressive(spread);
  }
  for (int i = 0; i < node->noperands + node->nresults; i++) {
    spread->changed[i] =
        spread->changed[i] && !is_stale(engine, node, i) && write_back(engine, node, i);
  }
}

// ---- strategies ---------------------------------------------------------------------------------

static void step_returns(engine_t *engine) {
  for (size_t i = 0; i < engine->graph->returns.count; i++) {
    step(engine, &engine->graph->returns.items[i]);
  }
}

/// False for a node that had its step with the same tensors, and may do no more at this level.
static bool has_news(const engine_t *engine, const tspec_prop_node_t *node) {
  bool has = node->changed;
  for (int i = 0; !has && i < node->rule->nfactors; i++) {
    has = tspec_prop_factor_direction(node, i, engine->level) !=
          tspec_prop_factor_direction(node, i, engine->level - 1);
  }
  return has;
}

static void drain(engine_t *engine) {
  int capacity = (int)engine->graph->nodes.count;
  while (engine->nqueued > 0) {
    tspec_prop_node_t *node = &engine->graph->nodes.items[engine->queue[engine->head]];
    engine->head = engine->head + 1 < capacity ? engine->head + 1 : 0;
    engine->nqueued--;
    node->queued = false;
    if (has_news(engine, node)) {
      node->changed = false;
      step(engine, node);
    }
  }
}

static void run_fixpoint(engine_t *engine) {
  step_returns(engine);
  for (size_t i = 0; i < engine->graph->nodes.count; i++) {
    enqueue(engine, (int)i);
  }
  drain(engine);
  step_returns(engine);
}

static void run_levels(engine_t *engine) {
  int first = engine->options->strategy >= TSPEC_PROP_OP_PRIORITY ? 0 : LAST_LEVEL;
  for (size_t i = 0; i < engine->graph->nodes.count; i++) {
    engine->graph->nodes.items[i].changed = true;
  }
  for (engine->level = first; engine->level <= LAST_LEVEL; engine->level++) {
    run_fixpoint(engine);
  }
  engine->level = LAST_LEVEL;
}

/// Axes that a value must stay whole along in this round: those given, and those of later rounds.
static void set_replicated(engine_t *engine, tspec_prop_value_t *value) {
  const tspec_sharding_t *initial = value->initial;
  int room = initial->nreplicated;
  for (int i = 0; i < initial->rank; i++) {
    room += initial->dims[i].naxes;
  }
  tspec_axis_t *axes = TSPEC_ARENA_NEW(engine->graph->arena, tspec_axis_t, room);
  int count = initial->nreplicated;
  tspec_axes_copy(axes, initial->replicated, count);
  for (int i = 0; i < initial->rank; i++) {
    if (initial->dims[i].priority > engine->round) {
      tspec_axes_copy(axes + count, initial->dims[i].axes, initial->dims[i].naxes);
      count += initial->dims[i].naxes;
    }
  }
  value->current->replicated = axes;
  value->current->nreplicated = count;
}

/// A dim that takes part from this round on comes back, one of a later round is out of the way.
/// Returns whether it waits.
static bool start_dim(engine_t *engine, size_t v, int dim, int priority) {
  tspec_prop_value_t *value = &engine->graph->values.items[v];
  if (priority > engine->round) {
    value->nsplit -= engine->round == 0 && value->dims[dim].naxes > 0;
    value->dims[dim] = (tspec_dim_t){.priority = priority};
    return true;
  }
  if (priority == engine->round) {
    value->nsplit += engine->round > 0 && value->initial->dims[dim].naxes > 0;
    value->dims[dim] = engine->round > 0 ? value->initial->dims[dim] : value->dims[dim];
    record_annotation(engine, (int)v, dim);
  }
  return false;
}

/// Starts a round for all values. Returns the next round that any dim waits for, or -1.
static int start_round(engine_t *engine) {
  tspec_prop_graph_t *graph = engine->graph;
  bool rounds = engine->options->strategy >= TSPEC_PROP_USER_PRIORITY;
  int next = -1;
  for (size_t v = 0; v < graph->values.count; v++) {
    tspec_prop_value_t *value = &graph->values.items[v];
    if (value->is_view || value->share != (int)v || value->initial == NULL) {
      continue;
    }
    bool has_priority = false;
    for (int i = 0; i < value->type.rank; i++) {
      int priority = rounds ? value->initial->dims[i].priority : 0;
      has_priority = has_priority || priority > 0;
      if (start_dim(engine, v, i, priority)) {
        next = next < 0 || priority < next ? priority : next;
      }
    }
    if (has_priority) {
      set_replicated(engine, value);
    }
  }
  return next;
}

static void refresh_views(tspec_prop_graph_t *graph) {
  for (size_t i = 0; i < graph->values.count; i++) {
    tspec_prop_look(graph, (int)i);
  }
}

void tspec_prop_run(tspec_prop_graph_t *graph, const tspec_prop_options_t *options) {
  TSPEC_CHECK(graph->causes == NULL, "a graph runs once");
  if (options->strategy >= TSPEC_PROP_FULL) {
    tspec_prop_split_constants(graph);
    tspec_prop_apply_constraints(graph);
  }
  tspec_prop_finish(graph);
  graph->causes = tspec_causes_create(graph->arena, options->silent ? 0 : (int)graph->values.count);
  for (int i = 0; i < graph->causes->nvalues; i++) {
    graph->causes->root[i] = tspec_prop_root(graph, i);
  }
  engine_t engine = {.graph = graph, .options = options};
  tspec_spread_init(&engine.spread, graph->arena, graph->mesh, options->conservative);
  engine.queue = TSPEC_ARENA_NEW(graph->arena, int, graph->nodes.count);
  while (engine.round >= 0) {
    int next = start_round(&engine);
    run_levels(&engine);
    engine.round = next;
  }
  refresh_views(graph);
  if (!options->trial && !options->silent) {
    tspec_prop_record_refusals(graph, &engine.spread, LAST_LEVEL);
  }
}
