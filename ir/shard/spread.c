#include "ir/shard/spread.h"

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

void tspec_spread_init(tspec_spread_t *spread, tspec_arena_t *arena, const tspec_mesh_t *mesh,
                       bool conservative) {
  *spread = (tspec_spread_t){.conservative = conservative};
  tspec_projection_init(&spread->projection, arena, mesh);
  spread->scratch = TSPEC_ARENA_NEW(arena, tspec_axis_t, spread->projection.max_pieces);
}

static void reserve(tspec_spread_t *spread, int nfactors, int ntensors) {
  tspec_arena_t *arena = spread->projection.arena;
  if (nfactors > spread->factor_capacity) {
    int capacity = 2 * nfactors;
    tspec_axis_t *pool = TSPEC_ARENA_NEW(arena, tspec_axis_t,
                                         (size_t)capacity * (size_t)spread->projection.max_pieces);
    spread->factors = TSPEC_ARENA_NEW(arena, tspec_spread_factor_t, capacity);
    spread->order = TSPEC_ARENA_NEW(arena, int, capacity);
    for (int i = 0; i < capacity; i++) {
      spread->factors[i].axes = pool + (size_t)i * (size_t)spread->projection.max_pieces;
    }
    spread->factor_capacity = capacity;
  }
  if (ntensors > spread->tensor_capacity) {
    spread->tensor_capacity = 2 * ntensors;
    spread->changed = TSPEC_ARENA_NEW(arena, bool, spread->tensor_capacity);
  }
}

void tspec_spread_start(tspec_spread_t *spread, const tspec_factor_rule_t *rule) {
  tspec_projection_start(&spread->projection, rule);
  reserve(spread, rule->nfactors, spread->projection.ntensors);
  for (int i = 0; i < rule->nfactors; i++) {
    spread->factors[i] = (tspec_spread_factor_t){.axes = spread->factors[i].axes, .source = -1};
  }
  for (int i = 0; i < spread->projection.ntensors; i++) {
    spread->changed[i] = false;
  }
}

// ---- what the tensors agree on ------------------------------------------------------------------

typedef struct agreement_t {
  tspec_axis_t *axes;
  int naxes;
  bool stopped; ///< two tensors contradict each other: the list only shrinks from now on
} agreement_t;

/// The rest of the other list follows if it may expand ours.
static void expand(agreement_t *agreed, const tspec_factor_axes_t *other, bool may_expand) {
  if (may_expand && !agreed->stopped) {
    tspec_axes_copy(agreed->axes, other->axes, other->naxes);
    agreed->naxes = other->naxes;
  }
}

static void combine(agreement_t *agreed, const tspec_factor_axes_t *other, bool may_expand) {
  int at = 0;
  while (at < agreed->naxes && at < other->naxes &&
         tspec_axis_equal(agreed->axes[at], other->axes[at])) {
    at++;
  }
  if (at == other->naxes) {
    return;
  }
  if (at == agreed->naxes) {
    expand(agreed, other, may_expand);
    return;
  }
  tspec_axis_t ours = agreed->axes[at];
  tspec_axis_t theirs = other->axes[at];
  if (tspec_axis_is_prefix(theirs, ours)) {
    if (at + 1 < other->naxes) {
      agreed->axes[at] = theirs;
      agreed->naxes = at + 1;
      agreed->stopped = true;
    }
  } else if (tspec_axis_is_prefix(ours, theirs)) {
    if (at + 1 == agreed->naxes) {
      expand(agreed, other, may_expand);
    } else {
      agreed->naxes = at + 1;
      agreed->stopped = true;
    }
  } else {
    agreed->naxes = at;
    agreed->stopped = true;
  }
}

static void combine_range(const tspec_spread_t *spread, agreement_t *agreed, int factor, int begin,
                          int end, bool may_expand) {
  for (int tensor = begin; tensor < end; tensor++) {
    const tspec_factor_axes_t *other = tspec_projection_at(&spread->projection, tensor, factor);
    if (other->present) {
      combine(agreed, other, may_expand);
    }
  }
}

static void find_source(tspec_spread_t *spread, int factor) {
  tspec_spread_factor_t *agreed = &spread->factors[factor];
  agreed->source = -1;
  agreed->source_elems = 0;
  for (int tensor = 0; agreed->naxes > 0 && tensor < spread->projection.ntensors; tensor++) {
    const tspec_factor_axes_t *axes = tspec_projection_at(&spread->projection, tensor, factor);
    if (!axes->present ||
        !tspec_axes_is_prefix(agreed->axes, agreed->naxes, axes->axes, axes->naxes)) {
      continue;
    }
    int64_t elems = tspec_factor_rule_elems(spread->projection.rule, tensor);
    if (agreed->source < 0 || elems > agreed->source_elems) {
      agreed->source = tensor;
      agreed->source_elems = elems;
    }
  }
}

bool tspec_spread_agree(tspec_spread_t *spread, int factor, tspec_prop_direction_t direction) {
  int noperands = spread->projection.rule->noperands;
  int ntensors = spread->projection.ntensors;
  agreement_t agreed = {.axes = spread->factors[factor].axes};
  // Those that only limit come last: before, there is nothing to limit.
  if (direction == TSPEC_PROP_BACKWARD) {
    combine_range(spread, &agreed, factor, noperands, ntensors, true);
    combine_range(spread, &agreed, factor, 0, noperands, false);
  } else if (direction != TSPEC_PROP_NONE) {
    combine_range(spread, &agreed, factor, 0, noperands, true);
    combine_range(spread, &agreed, factor, noperands, ntensors, direction == TSPEC_PROP_BOTH);
  }
  spread->factors[factor].naxes = agreed.naxes;
  find_source(spread, factor);
  return !agreed.stopped;
}

// ---- what a tensor can take ---------------------------------------------------------------------

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool has_piece(const tspec_factor_axes_t *axes, tspec_axis_t piece) {
  for (int i = 0; i < axes->naxes; i++) {
    if (tspec_axis_contains(axes->axes[i], piece)) {
      return true;
    }
  }
  return false;
}

bool tspec_spread_fits_factor(const tspec_spread_t *spread, int tensor, int factor,
                              tspec_axis_t piece, int64_t sharded, tspec_axis_t *out_part) {
  const tspec_factor_axes_t *axes = tspec_projection_at(&spread->projection, tensor, factor);
  const tspec_sharding_t *sharding = spread->projection.shardings[tensor];
  *out_part = piece;
  if (sharding != NULL && (!tspec_axis_prefix_without_all(*out_part, sharding->replicated,
                                                          sharding->nreplicated, out_part) ||
                           !tspec_axis_prefix_without_all(*out_part, sharding->pending,
                                                          sharding->npending, out_part))) {
    return false;
  }
  if (has_piece(axes, *out_part)) {
    return true;
  }
  if (!axes->open || axes->noverflow > 0) {
    if (axes->naxes == 0 || !tspec_axis_is_prefix(axes->axes[axes->naxes - 1], *out_part)) {
      return false;
    }
    *out_part = axes->axes[axes->naxes - 1];
    return true;
  }
  if (axes->minor_most) {
    return true;
  }
  int64_t size = spread->projection.rule->factors[factor].size;
  if (size % sharded != 0) {
    return false;
  }
  int64_t common = gcd(size / sharded, out_part->size);
  if (common == 1 && out_part->size != 1) {
    return false;
  }
  *out_part = tspec_axis_major(*out_part, common);
  return true;
}

bool tspec_spread_fits_tensor(const tspec_spread_t *spread, int tensor, int factor,
                              tspec_axis_t piece, tspec_axis_t *out_part) {
  *out_part = piece;
  for (int other = 0; other < spread->projection.nfactors; other++) {
    const tspec_factor_axes_t *axes = tspec_projection_at(&spread->projection, tensor, other);
    if (other != factor && axes->present &&
        (!tspec_axis_prefix_without_all(*out_part, axes->axes, axes->naxes, out_part) ||
         !tspec_axis_prefix_without_all(*out_part, axes->overflow, axes->noverflow, out_part))) {
      return false;
    }
  }
  return true;
}

/// What may stay of a piece; false if nothing.
typedef bool (*limit_fn_t)(const tspec_spread_t *spread, int tensor, int factor, tspec_axis_t piece,
                           int64_t sharded, tspec_axis_t *out_part);

/// Shortens a list at the first piece that is limited.
static void truncate_axes(const tspec_spread_t *spread, int tensor, int factor, limit_fn_t limit,
                          tspec_spread_factor_t *list) {
  int64_t sharded = 1;
  for (int i = 0; i < list->naxes; i++) {
    tspec_axis_t piece = list->axes[i];
    tspec_axis_t part;
    bool any = limit(spread, tensor, factor, piece, sharded, &part);
    if (any && tspec_axis_equal(part, piece) &&
        !(spread->conservative && !tspec_axis_is_full(spread->projection.mesh, part))) {
      sharded *= piece.size;
      continue;
    }
    list->naxes = i;
    if (any && !spread->conservative) {
      list->axes[list->naxes++] = part;
    }
    return;
  }
}

static bool limit_by_factor(const tspec_spread_t *spread, int tensor, int factor,
                            tspec_axis_t piece, int64_t sharded, tspec_axis_t *out_part) {
  return tspec_spread_fits_factor(spread, tensor, factor, piece, sharded, out_part);
}

static bool limit_by_tensor(const tspec_spread_t *spread, int tensor, int factor,
                            tspec_axis_t piece, int64_t sharded, tspec_axis_t *out_part) {
  (void)sharded;
  return tspec_spread_fits_tensor(spread, tensor, factor, piece, out_part);
}

/// By every tensor, whether it has the factor or not.
static bool limit_by_all(const tspec_spread_t *spread, int tensor, int factor, tspec_axis_t piece,
                         int64_t sharded, tspec_axis_t *out_part) {
  (void)tensor;
  *out_part = piece;
  for (int i = 0; i < spread->projection.ntensors; i++) {
    if (!tspec_spread_fits_tensor(spread, i, factor, *out_part, out_part) ||
        (tspec_projection_at(&spread->projection, i, factor)->present &&
         !tspec_spread_fits_factor(spread, i, factor, *out_part, sharded, out_part))) {
      return false;
    }
  }
  return true;
}

static bool extends(const tspec_spread_t *spread, int tensor, int factor,
                    const tspec_spread_factor_t *list) {
  const tspec_factor_axes_t *axes = tspec_projection_at(&spread->projection, tensor, factor);
  return axes->present &&
         tspec_axes_is_strict_prefix(axes->axes, axes->naxes, list->axes, list->naxes);
}

static void adopt(tspec_spread_t *spread, int tensor, int factor,
                  const tspec_spread_factor_t *list) {
  if (extends(spread, tensor, factor, list)) {
    tspec_projection_assign(&spread->projection, tensor, factor, list->axes, list->naxes);
    spread->changed[tensor] = true;
  }
}

void tspec_spread_basic(tspec_spread_t *spread) {
  for (int factor = 0; factor < spread->projection.nfactors; factor++) {
    tspec_spread_factor_t *list = &spread->factors[factor];
    tspec_spread_agree(spread, factor, list->direction);
    truncate_axes(spread, 0, factor, limit_by_all, list);
    for (int tensor = 0; tensor < spread->projection.ntensors; tensor++) {
      adopt(spread, tensor, factor, list);
    }
  }
}

// ---- aggressive ---------------------------------------------------------------------------------

static bool wins(const tspec_spread_t *spread, int a, int b) {
  const tspec_spread_factor_t *fa = &spread->factors[a];
  const tspec_spread_factor_t *fb = &spread->factors[b];
  if (fa->source_elems != fb->source_elems) {
    return fa->source_elems > fb->source_elems;
  }
  if (spread->elementwise) {
    int64_t shards_a = tspec_axes_product(fa->axes, fa->naxes);
    int64_t shards_b = tspec_axes_product(fb->axes, fb->naxes);
    if (shards_a != shards_b) {
      return shards_a > shards_b;
    }
  }
  return fa->source != fb->source ? fa->source < fb->source : a < b;
}

/// Factors with axes, in the order in which they win conflicts. Returns how many.
static int sort_factors(tspec_spread_t *spread) {
  int count = 0;
  for (int factor = 0; factor < spread->projection.nfactors; factor++) {
    if (spread->factors[factor].naxes == 0) {
      continue;
    }
    int at = count++;
    for (; at > 0 && wins(spread, factor, spread->order[at - 1]); at--) {
      spread->order[at] = spread->order[at - 1];
    }
    spread->order[at] = factor;
  }
  return count;
}

/// An operand of an elementwise op gets no more than a result has: else the result would have to be
/// gathered from it.
static void cap_by_results(const tspec_spread_t *spread, int factor, tspec_spread_factor_t *list) {
  int longest = 0;
  const tspec_factor_axes_t *best = NULL;
  for (int i = spread->projection.rule->noperands; i < spread->projection.ntensors; i++) {
    const tspec_factor_axes_t *axes = tspec_projection_at(&spread->projection, i, factor);
    if (!axes->present) {
      continue;
    }
    int common = 0;
    while (common < axes->naxes && common < list->naxes &&
           tspec_axis_equal(axes->axes[common], list->axes[common])) {
      common++;
    }
    if (best == NULL || common > longest) {
      best = axes;
      longest = common;
    }
  }
  if (best == NULL || longest == list->naxes) {
    return;
  }
  list->naxes = longest;
  if (longest < best->naxes && tspec_axis_is_prefix(best->axes[longest], list->axes[longest])) {
    list->axes[list->naxes++] = best->axes[longest];
  }
}

static void spread_to_tensor(tspec_spread_t *spread, int tensor, int nordered) {
  bool is_operand = tensor < spread->projection.rule->noperands;
  for (int i = 0; i < nordered; i++) {
    int factor = spread->order[i];
    const tspec_spread_factor_t *agreed = &spread->factors[factor];
    tspec_spread_factor_t list = {.axes = spread->scratch, .naxes = agreed->naxes};
    if (!extends(spread, tensor, factor, agreed)) {
      continue;
    }
    tspec_axes_copy(spread->scratch, agreed->axes, agreed->naxes);
    if (is_operand && spread->elementwise) {
      cap_by_results(spread, factor, &list);
    }
    truncate_axes(spread, tensor, factor, limit_by_factor, &list);
    truncate_axes(spread, tensor, factor, limit_by_tensor, &list);
    adopt(spread, tensor, factor, &list);
  }
}

void tspec_spread_aggressive(tspec_spread_t *spread) {
  tspec_projection_t *projection = &spread->projection;
  for (int factor = 0; factor < projection->nfactors; factor++) {
    tspec_spread_agree(spread, factor, spread->factors[factor].direction);
  }
  int nordered = sort_factors(spread);
  if (nordered == 0) {
    return;
  }
  for (int tensor = projection->rule->noperands; tensor < projection->ntensors; tensor++) {
    spread_to_tensor(spread, tensor, nordered);
  }
  for (int tensor = 0; tensor < projection->rule->noperands; tensor++) {
    spread_to_tensor(spread, tensor, nordered);
  }
}
