// What the final shardings leave undone, and why: each way out of a step has a reason of its own.
#include "ir/base/diag.h"
#include "ir/shard/axes.h"
#include "ir/shard/prop_graph.h"

typedef struct recorder_t {
  tspec_prop_graph_t *graph;
  tspec_spread_t *spread;
  const tspec_prop_node_t *node;
  int node_id; ///< -1: a return
  int level;
} recorder_t;

/// Where a tensor already has (a part of) an axis, other than on a factor; -1: nowhere.
static int dim_with(const recorder_t *recorder, int tensor, int factor, tspec_axis_t piece) {
  const tspec_projection_t *projection = &recorder->spread->projection;
  for (int other = 0; other < projection->nfactors; other++) {
    const tspec_factor_axes_t *axes = tspec_projection_at(projection, tensor, other);
    if (other != factor && axes->present &&
        (tspec_axes_overlap(axes->axes, axes->naxes, piece) ||
         tspec_axes_overlap(axes->overflow, axes->noverflow, piece))) {
      return axes->dim;
    }
  }
  return -1;
}

static tspec_refusal_reason_t reason_of(const recorder_t *recorder, int tensor, int factor,
                                        tspec_axis_t piece, int64_t sharded, int *out_dim) {
  const tspec_projection_t *projection = &recorder->spread->projection;
  const tspec_factor_axes_t *axes = tspec_projection_at(projection, tensor, factor);
  const tspec_sharding_t *sharding = projection->shardings[tensor];
  bool is_result = tensor >= recorder->node->noperands;
  unsigned wanted = is_result ? TSPEC_PROP_FORWARD : TSPEC_PROP_BACKWARD;
  tspec_prop_direction_t allowed =
      tspec_prop_factor_direction(recorder->node, factor, recorder->level);
  tspec_axis_t part;
  *out_dim = -1;
  if (recorder->node->rule->factors[factor].blocked || (recorder->node->allowed & wanted) == 0) {
    return TSPEC_REFUSAL_BLOCKED;
  }
  if (!axes->open) {
    return TSPEC_REFUSAL_CLOSED;
  }
  if (tspec_axes_overlap(sharding->replicated, sharding->nreplicated, piece)) {
    return TSPEC_REFUSAL_REPLICATED;
  }
  if (tspec_axes_overlap(sharding->pending, sharding->npending, piece)) {
    return TSPEC_REFUSAL_PENDING;
  }
  *out_dim = dim_with(recorder, tensor, factor, piece);
  if (*out_dim >= 0) {
    return TSPEC_REFUSAL_AXIS_USED;
  }
  if (!tspec_spread_fits_factor(recorder->spread, tensor, factor, piece, sharded, &part)) {
    return TSPEC_REFUSAL_NO_DIVIDE;
  }
  return (allowed & wanted) == 0 ? TSPEC_REFUSAL_LEVEL : TSPEC_REFUSAL_CONFLICT;
}

/// The first level at which the op lets the factor's axes into a tensor, or -1.
static int first_level(const recorder_t *recorder, int tensor, int factor) {
  unsigned wanted = tensor >= recorder->node->noperands ? TSPEC_PROP_FORWARD : TSPEC_PROP_BACKWARD;
  for (int level = 0; level <= recorder->level; level++) {
    if ((tspec_prop_factor_direction(recorder->node, factor, level) & wanted) != 0) {
      return level;
    }
  }
  return -1;
}

static void record(recorder_t *recorder, int tensor, int factor, tspec_refusal_t refusal,
                   int source) {
  tspec_prop_graph_t *graph = recorder->graph;
  refusal.value = tspec_prop_root(graph, tspec_prop_tensor(recorder->node, tensor));
  refusal.dim = tspec_projection_at(&recorder->spread->projection, tensor, factor)->dim;
  refusal.source = tspec_prop_tensor(recorder->node, source);
  refusal.op = recorder->node_id;
  refusal.factor = factor;
  refusal.level = first_level(recorder, tensor, factor);
  tspec_causes_add_refusal(graph->causes, refusal);
}

/// The first piece of `longer` that `axes` lacks; `out_sharded`: product of what comes before.
static tspec_axis_t first_missing(const tspec_factor_axes_t *axes,
                                  const tspec_factor_axes_t *longer, int64_t *out_sharded) {
  int at = 0;
  *out_sharded = 1;
  while (at < axes->naxes && tspec_axis_equal(axes->axes[at], longer->axes[at])) {
    *out_sharded *= axes->axes[at++].size;
  }
  tspec_axis_t piece = longer->axes[at];
  if (at < axes->naxes) {
    *out_sharded *= axes->axes[at].size;
    piece = tspec_axis_minor(piece, piece.size / axes->axes[at].size);
  }
  return piece;
}

/// The tensor whose factor is split most; ties: the first. -1: none is.
static int most_split(const recorder_t *recorder, int factor) {
  int best = -1;
  int64_t most = 0;
  for (int tensor = 0; tensor < recorder->spread->projection.ntensors; tensor++) {
    const tspec_factor_axes_t *axes =
        tspec_projection_at(&recorder->spread->projection, tensor, factor);
    if (!axes->present || axes->naxes == 0) {
      continue;
    }
    int64_t shards = tspec_axes_product(axes->axes, axes->naxes);
    if (best < 0 || shards > most) {
      best = tensor;
      most = shards;
    }
  }
  return best;
}

static void record_factor(recorder_t *recorder, int factor) {
  const tspec_projection_t *projection = &recorder->spread->projection;
  int source = most_split(recorder, factor);
  if (source < 0) {
    return;
  }
  const tspec_factor_axes_t *longest = tspec_projection_at(projection, source, factor);
  for (int tensor = 0; tensor < projection->ntensors; tensor++) {
    const tspec_factor_axes_t *axes = tspec_projection_at(projection, tensor, factor);
    if (!axes->present ||
        tspec_axes_equal(axes->axes, axes->naxes, longest->axes, longest->naxes)) {
      continue;
    }
    tspec_refusal_t refusal = {.other_dim = -1};
    if (tspec_axes_is_strict_prefix(axes->axes, axes->naxes, longest->axes, longest->naxes)) {
      int64_t sharded = 1;
      refusal.axis = first_missing(axes, longest, &sharded);
      refusal.reason =
          reason_of(recorder, tensor, factor, refusal.axis, sharded, &refusal.other_dim);
    } else {
      refusal.reason = TSPEC_REFUSAL_CONFLICT;
      refusal.axis = longest->axes[0];
    }
    record(recorder, tensor, factor, refusal, source);
  }
}

static void record_node(recorder_t *recorder) {
  if (recorder->node->rule == NULL) {
    return;
  }
  tspec_prop_load(recorder->graph, recorder->node, recorder->spread);
  for (int factor = 0; factor < recorder->node->rule->nfactors; factor++) {
    record_factor(recorder, factor);
  }
}

void tspec_prop_record_refusals(tspec_prop_graph_t *graph, tspec_spread_t *spread, int level) {
  recorder_t recorder = {.graph = graph, .spread = spread, .level = level};
  for (size_t i = 0; i < graph->nodes.count; i++) {
    recorder.node = &graph->nodes.items[i];
    recorder.node_id = (int)i;
    record_node(&recorder);
  }
  recorder.node_id = -1;
  for (size_t i = 0; i < graph->returns.count; i++) {
    recorder.node = &graph->returns.items[i];
    record_node(&recorder);
  }
}
