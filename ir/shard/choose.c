#include "ir/shard/choose.h"

#include <string.h>

#include "ir/base/vec.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"
#include "ir/shard/projection.h"

// The axes of one factor.
typedef struct list_t {
  int count;
  tspec_axis_t *items;
} list_t;

typedef struct candidate_t {
  int factor;
  list_t axes;
} candidate_t;

typedef TSPEC_VEC(candidate_t) candidates_t;

typedef struct vote_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  const tspec_choose_op_t *op;
  const tspec_factor_rule_t *rule;
  tspec_projection_t projection; // as given
  int ntensors;
  int room;       // of each list
  list_t *chosen; // [factor]
  // [tensor * nfactors + factor]: a reshape that falls back by side; else NULL
  list_t *by_tensor;
  TSPEC_VEC(tspec_unsplit_t) unsplit;
  TSPEC_VEC(tspec_voted_t) voted;
} vote_t;

static const tspec_factor_axes_t *at(const vote_t *vote, int tensor, int factor) {
  return tspec_projection_at(&vote->projection, tensor, factor);
}

static tspec_factor_kind_t kind_of(const vote_t *vote, int factor) {
  return vote->rule->factors[factor].kind;
}

static bool is_scalar(const vote_t *vote, int tensor) {
  return tspec_factor_rule_tensor(vote->rule, tensor)->rank == 0;
}

static list_t make_list(const vote_t *vote, const tspec_axis_t *axes, int naxes) {
  list_t list = {.items = TSPEC_ARENA_NEW(vote->arena, tspec_axis_t, vote->room)};
  for (int i = 0; i < naxes; i++) {
    list.items[list.count++] = axes[i];
  }
  return list;
}

static int64_t shards_of(list_t list) {
  return tspec_axes_product(list.items, list.count);
}

static bool lists_equal(list_t a, list_t b) {
  return tspec_axes_equal(a.items, a.count, b.items, b.count);
}

// Cuts the list at the first axis that overlaps what other factors have; a part may stay.
static void truncate(const vote_t *vote, int factor, list_t *axes) {
  for (int i = 0; i < axes->count; i++) {
    tspec_axis_t whole = axes->items[i];
    tspec_axis_t rest = whole;
    bool left = true;
    for (int f = 0; left && f < vote->rule->nfactors; f++) {
      left = f == factor || tspec_axis_prefix_without_all(rest, vote->chosen[f].items,
                                                          vote->chosen[f].count, &rest);
    }
    if (!left || !tspec_axis_equal(rest, whole)) {
      axes->items[i] = rest;
      axes->count = left && rest.size > 1 ? i + 1 : i;
      return;
    }
  }
}

// ---- 1. nothing to choose ---------------------------------------------------------------------

static bool overlaps_another(const vote_t *vote, int factor) {
  list_t axes = vote->chosen[factor];
  for (int f = 0; f < factor; f++) {
    for (int i = 0; i < axes.count; i++) {
      if (tspec_axes_overlap(vote->chosen[f].items, vote->chosen[f].count, axes.items[i])) {
        return true;
      }
    }
  }
  return false;
}

// Takes the common axes of every factor; false if the tensors disagree.
static bool take_compatible(vote_t *vote) {
  for (int f = 0; f < vote->rule->nfactors; f++) {
    bool seen = false;
    for (int t = 0; t < vote->ntensors; t++) {
      const tspec_factor_axes_t *axes = at(vote, t, f);
      if (!axes->present) {
        continue;
      }
      if (axes->noverflow > 0 ||
          (kind_of(vote, f) == TSPEC_FACTOR_NEED_REPLICATION && axes->naxes > 0)) {
        return false;
      }
      list_t list = make_list(vote, axes->axes, axes->naxes);
      if (seen && !lists_equal(list, vote->chosen[f])) {
        return false;
      }
      vote->chosen[f] = list;
      seen = true;
    }
    if (overlaps_another(vote, f)) {
      return false;
    }
  }
  return true;
}

static void clear_chosen(vote_t *vote) {
  for (int f = 0; f < vote->rule->nfactors; f++) {
    vote->chosen[f] = make_list(vote, NULL, 0);
  }
}

// ---- 2. two tensors ---------------------------------------------------------------------------

static bool is_unary(const vote_t *vote, int out_tensors[2]) {
  int count = 0;
  for (int f = 0; f < vote->rule->nfactors; f++) {
    if (kind_of(vote, f) == TSPEC_FACTOR_NEED_REPLICATION) {
      return false;
    }
  }
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_factor_map_t *map = tspec_factor_rule_tensor(vote->rule, t);
    for (int d = 0; d < map->rank; d++) {
      if (map->dims[d].nfactors != 1) {
        return false;
      }
    }
    if (map->rank > 0) {
      if (count < 2) {
        out_tensors[count] = t;
      }
      count++;
    }
  }
  return count == 2;
}

static int64_t tensor_shards(const vote_t *vote, int tensor) {
  int64_t product = 1;
  for (int f = 0; f < vote->rule->nfactors; f++) {
    const tspec_factor_axes_t *axes = at(vote, tensor, f);
    if (axes->present) {
      product *= tspec_axes_product(axes->axes, axes->naxes) *
                 tspec_axes_product(axes->overflow, axes->noverflow);
    }
  }
  return product;
}

static bool permutes(const vote_t *vote, int tensor) {
  for (int f = 0; f < vote->rule->nfactors; f++) {
    const tspec_factor_axes_t *axes = at(vote, tensor, f);
    if (kind_of(vote, f) == TSPEC_FACTOR_PERMUTATION && axes->present && axes->naxes > 0) {
      return true;
    }
  }
  return false;
}

// The one without split permutation factors, else the larger, else the more split one.
static bool is_second_better(const vote_t *vote, const int tensors[2]) {
  bool permuted[2];
  int64_t elems[2];
  int64_t shards[2];
  for (int i = 0; i < 2; i++) {
    permuted[i] = permutes(vote, tensors[i]);
    elems[i] = tspec_type_elems(vote->op->types[tensors[i]]);
    shards[i] = tensor_shards(vote, tensors[i]);
  }
  if (permuted[0] != permuted[1]) {
    return permuted[0];
  }
  return elems[0] != elems[1] ? elems[1] > elems[0] : shards[1] > shards[0];
}

static void choose_for_two(vote_t *vote, const int tensors[2]) {
  bool second = is_second_better(vote, tensors);
  int best = tensors[second ? 1 : 0];
  int other = tensors[second ? 0 : 1];
  for (int f = 0; f < vote->rule->nfactors; f++) {
    const tspec_factor_axes_t *axes = at(vote, best, f);
    if (axes->present) {
      vote->chosen[f] = make_list(vote, axes->axes, axes->naxes);
    }
  }
  for (int f = 0; f < vote->rule->nfactors; f++) {
    const tspec_factor_axes_t *axes = at(vote, other, f);
    if (axes->present && !at(vote, best, f)->present) {
      vote->chosen[f] = make_list(vote, axes->axes, axes->naxes);
      truncate(vote, f, &vote->chosen[f]);
    }
  }
}

// ---- 3. the vote ------------------------------------------------------------------------------

static void add_candidate(const vote_t *vote, candidates_t *candidates, int factor, list_t axes) {
  for (size_t i = 0; i < candidates->count; i++) {
    if (candidates->items[i].factor == factor && lists_equal(candidates->items[i].axes, axes)) {
      return;
    }
  }
  TSPEC_VEC_PUSH(vote->arena, candidates, (candidate_t){factor, axes});
}

static candidates_t collect_candidates(const vote_t *vote) {
  candidates_t candidates = {0};
  for (int t = 0; t < vote->ntensors; t++) {
    for (int f = 0; f < vote->rule->nfactors; f++) {
      const tspec_factor_axes_t *axes = at(vote, t, f);
      for (int n = 1; axes->present && n <= axes->naxes; n++) {
        add_candidate(vote, &candidates, f, make_list(vote, axes->axes, n));
      }
    }
  }
  return candidates;
}

static bool is_whole(const vote_t *vote, int factor) {
  return shards_of(vote->chosen[factor]) == vote->rule->factors[factor].size;
}

// Every factor that is more major in its dim is split to the end.
static bool is_reachable(const vote_t *vote, int factor) {
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_factor_axes_t *axes = at(vote, t, factor);
    if (!axes->present) {
      continue;
    }
    const tspec_factor_dim_t *dim = &tspec_factor_rule_tensor(vote->rule, t)->dims[axes->dim];
    for (int i = 0; dim->factors[i] != factor; i++) {
      if (!is_whole(vote, dim->factors[i])) {
        return false;
      }
    }
  }
  return true;
}

// Elements of the tensors that are split so already.
static int64_t count_holders(const vote_t *vote, const candidate_t *candidate) {
  int64_t elems = 0;
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_factor_axes_t *axes = at(vote, t, candidate->factor);
    if (axes->present && tspec_axes_is_prefix(candidate->axes.items, candidate->axes.count,
                                              axes->axes, axes->naxes)) {
      elems += tspec_type_elems(vote->op->types[t]);
    }
  }
  return elems;
}

static int rank_of_kind(tspec_factor_kind_t kind) {
  switch (kind) {
  case TSPEC_FACTOR_PASS_THROUGH:
    return 3;
  case TSPEC_FACTOR_REDUCTION:
    return 2;
  case TSPEC_FACTOR_PERMUTATION:
    return 1;
  case TSPEC_FACTOR_NEED_REPLICATION:
    return 0;
  }
  return 0;
}

// By name of the axis, then by start, then by size: independent of the mesh's order.
static int compare_axes(const tspec_mesh_t *mesh, list_t a, list_t b) {
  for (int i = 0; i < a.count && i < b.count; i++) {
    int order = strcmp(mesh->axes[a.items[i].axis].name, mesh->axes[b.items[i].axis].name);
    if (order == 0 && !tspec_axis_equal(a.items[i], b.items[i])) {
      order = tspec_axis_compare(a.items[i], b.items[i]);
    }
    if (order != 0) {
      return order;
    }
  }
  return a.count - b.count;
}

static int compare_numbers(int64_t a, int64_t b) {
  return a < b ? -1 : a > b;
}

static bool is_better(const vote_t *vote, const candidate_t *a, const candidate_t *b) {
  int order = compare_numbers(count_holders(vote, a), count_holders(vote, b));
  if (order == 0) {
    order = compare_numbers(rank_of_kind(kind_of(vote, a->factor)),
                            rank_of_kind(kind_of(vote, b->factor)));
  }
  if (order == 0) {
    order = compare_numbers(shards_of(a->axes) / shards_of(vote->chosen[a->factor]),
                            shards_of(b->axes) / shards_of(vote->chosen[b->factor]));
  }
  if (order == 0) {
    order = compare_numbers(a->factor, b->factor);
  }
  return (order == 0 ? compare_axes(vote->mesh, a->axes, b->axes) : order) > 0;
}

// Drops what does not extend the choice, and cuts what overlaps it.
static void narrow(const vote_t *vote, candidates_t *candidates) {
  candidates_t kept = {0};
  for (size_t i = 0; i < candidates->count; i++) {
    candidate_t candidate = candidates->items[i];
    list_t chosen = vote->chosen[candidate.factor];
    truncate(vote, candidate.factor, &candidate.axes);
    if (tspec_axes_is_strict_prefix(chosen.items, chosen.count, candidate.axes.items,
                                    candidate.axes.count)) {
      add_candidate(vote, &kept, candidate.factor, candidate.axes);
    }
  }
  *candidates = kept;
}

static void list_voted(vote_t *vote, const candidates_t *candidates) {
  for (size_t i = 0; i < candidates->count; i++) {
    const candidate_t *candidate = &candidates->items[i];
    if (is_reachable(vote, candidate->factor)) {
      TSPEC_VEC_PUSH(vote->arena, &vote->voted,
                     (tspec_voted_t){candidate->factor, candidate->axes.count,
                                     tspec_arena_copy(vote->arena, candidate->axes.items,
                                                      sizeof *candidate->axes.items *
                                                          (size_t)candidate->axes.count),
                                     count_holders(vote, candidate)});
    }
  }
}

static void choose_by_vote(vote_t *vote) {
  candidates_t candidates = collect_candidates(vote);
  list_voted(vote, &candidates);
  const tspec_voted_t *begin = vote->op->begin;
  if (begin != NULL) {
    vote->chosen[begin->factor] = make_list(vote, begin->axes, begin->naxes);
    narrow(vote, &candidates);
  }
  for (;;) {
    const candidate_t *best = NULL;
    for (size_t i = 0; i < candidates.count; i++) {
      const candidate_t *candidate = &candidates.items[i];
      if (is_reachable(vote, candidate->factor) &&
          (best == NULL || is_better(vote, candidate, best))) {
        best = candidate;
      }
    }
    if (best == NULL) {
      return;
    }
    vote->chosen[best->factor] = make_list(vote, best->axes.items, best->axes.count);
    narrow(vote, &candidates);
  }
}

// ---- 4. factors that must be whole ------------------------------------------------------------

static bool is_in_all(const vote_t *vote, int factor) {
  for (int t = 0; t < vote->ntensors; t++) {
    if (!is_scalar(vote, t) && !at(vote, t, factor)->present) {
      return false;
    }
  }
  return true;
}

// Gives axes that lost their factor to one that all tensors share and that they divide.
static void give_away(vote_t *vote, const tspec_axis_t *axes, int naxes) {
  for (int i = 0; i < naxes; i++) {
    for (int f = 0; f < vote->rule->nfactors; f++) {
      list_t *list = &vote->chosen[f];
      if (kind_of(vote, f) == TSPEC_FACTOR_PASS_THROUGH && is_in_all(vote, f) &&
          vote->rule->factors[f].size % (shards_of(*list) * axes[i].size) == 0) {
        tspec_axes_push(list->items, &list->count, axes[i]);
        break;
      }
    }
  }
}

static void unsplit_replicated(vote_t *vote) {
  for (int f = 0; f < vote->rule->nfactors; f++) {
    list_t axes = vote->chosen[f];
    if (kind_of(vote, f) == TSPEC_FACTOR_NEED_REPLICATION && axes.count > 0) {
      vote->chosen[f] = make_list(vote, NULL, 0);
      if (is_in_all(vote, f)) {
        give_away(vote, axes.items, axes.count);
      }
    }
  }
}

// ---- 5. a reshape with axes that fit no factor ------------------------------------------------

static bool has_overflow(const vote_t *vote) {
  for (int t = 0; t < vote->ntensors; t++) {
    for (int f = 0; f < vote->rule->nfactors; f++) {
      if (at(vote, t, f)->present && at(vote, t, f)->noverflow > 0) {
        return true;
      }
    }
  }
  return false;
}

static list_t all_axes(const vote_t *vote, int tensor) {
  list_t all = make_list(vote, NULL, 0);
  const tspec_factor_map_t *map = tspec_factor_rule_tensor(vote->rule, tensor);
  for (int d = 0; d < map->rank; d++) {
    for (int i = 0; i < map->dims[d].nfactors; i++) {
      const tspec_factor_axes_t *axes = at(vote, tensor, map->dims[d].factors[i]);
      for (int a = 0; a < axes->naxes + axes->noverflow; a++) {
        tspec_axis_t axis = a < axes->naxes ? axes->axes[a] : axes->overflow[a - axes->naxes];
        tspec_axes_push(all.items, &all.count, axis);
      }
    }
  }
  return all;
}

static int64_t gcd64(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Axis by axis to the first factor that takes a part of it; what fits nowhere is dropped.
static void deal_out(const vote_t *vote, int tensor, list_t axes) {
  const tspec_factor_map_t *map = tspec_factor_rule_tensor(vote->rule, tensor);
  list_t *lists = vote->by_tensor + (ptrdiff_t)tensor * vote->rule->nfactors;
  int d = 0;
  int i = 0;
  for (int a = 0; a < axes.count && d < map->rank;) {
    if (i == map->dims[d].nfactors) {
      d++;
      i = 0;
      continue;
    }
    int f = map->dims[d].factors[i];
    int64_t room = vote->rule->factors[f].size / shards_of(lists[f]);
    int64_t part = gcd64(room, axes.items[a].size);
    if (part <= 1) {
      i++;
      continue;
    }
    tspec_axes_push(lists[f].items, &lists[f].count, tspec_axis_major(axes.items[a], part));
    if (part == axes.items[a].size) {
      a++;
    } else {
      axes.items[a] = tspec_axis_minor(axes.items[a], axes.items[a].size / part);
    }
  }
}

static void keep_common(const vote_t *vote, int factor) {
  list_t *first = NULL;
  for (int t = 0; t < vote->ntensors; t++) {
    list_t *list = &vote->by_tensor[t * vote->rule->nfactors + factor];
    if (!at(vote, t, factor)->present) {
      continue;
    }
    if (first == NULL) {
      first = list;
      continue;
    }
    int same = 0;
    while (same < first->count && same < list->count &&
           tspec_axis_equal(first->items[same], list->items[same])) {
      same++;
    }
    first->count = same;
    list->count = same;
  }
  if (first != NULL) {
    vote->chosen[factor] = *first;
  }
}

static void choose_by_side(vote_t *vote) {
  int nfactors = vote->rule->nfactors;
  vote->by_tensor = TSPEC_ARENA_NEW(vote->arena, list_t, vote->ntensors * nfactors);
  for (int i = 0; i < vote->ntensors * nfactors; i++) {
    vote->by_tensor[i] = make_list(vote, NULL, 0);
  }
  int best = 0;
  for (int t = 1; t < vote->ntensors; t++) {
    best = tensor_shards(vote, t) > tensor_shards(vote, best) ? t : best;
  }
  for (int t = 0; t < vote->ntensors; t++) {
    deal_out(vote, t, all_axes(vote, best));
  }
  for (int f = 0; f < nfactors; f++) {
    keep_common(vote, f);
  }
}

// ---- 6. what a rank cannot compute ------------------------------------------------------------

// Whether the factor stands in a dim together with others.
static bool shares_dim(const vote_t *vote, int factor) {
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_factor_axes_t *axes = at(vote, t, factor);
    if (axes->present && tspec_factor_rule_tensor(vote->rule, t)->dims[axes->dim].nfactors > 1) {
      return true;
    }
  }
  return false;
}

static bool is_on_side(const vote_t *vote, int factor, bool results) {
  int begin = results ? vote->rule->noperands : 0;
  int end = results ? vote->ntensors : vote->rule->noperands;
  for (int t = begin; t < end; t++) {
    if (at(vote, t, factor)->present) {
      return true;
    }
  }
  return false;
}

// How many parts the factor may be cut into: -1: any number.
static int64_t most_parts(const vote_t *vote, int factor) {
  const tspec_factor_t *info = &vote->rule->factors[factor];
  bool in_operands = is_on_side(vote, factor, false);
  bool in_results = is_on_side(vote, factor, true);
  switch (info->kind) {
  case TSPEC_FACTOR_NEED_REPLICATION:
  case TSPEC_FACTOR_PERMUTATION:
    return 1;
  case TSPEC_FACTOR_REDUCTION:
    return vote->rule->gathers_partials ? 1 : -1;
  case TSPEC_FACTOR_PASS_THROUGH:
    break;
  }
  if ((in_operands && !in_results) || (vote->op->keeps_elements && !in_operands)) {
    return 1;
  }
  return shares_dim(vote, factor) ? info->size : -1;
}

// The longest start of the list, the last axis cut if need be, whose parts divide `size`.
static void keep_dividing(list_t *list, int64_t size) {
  for (int i = 0; i < list->count; i++) {
    int64_t part = gcd64(size, list->items[i].size);
    if (part < list->items[i].size) {
      list->items[i] = tspec_axis_major(list->items[i], part);
      list->count = part > 1 ? i + 1 : i;
      return;
    }
    size /= part;
  }
}

static list_t all_of_factor(const vote_t *vote, const tspec_factor_axes_t *axes) {
  list_t had = make_list(vote, axes->axes, axes->present ? axes->naxes : 0);
  for (int i = 0; axes->present && i < axes->noverflow; i++) {
    tspec_axes_push(had.items, &had.count, axes->overflow[i]);
  }
  return had;
}

static void note_unsplit(vote_t *vote, int factor) {
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_factor_axes_t *axes = at(vote, t, factor);
    list_t had = all_of_factor(vote, axes);
    if (had.count == 0 || lists_equal(had, vote->chosen[factor])) {
      continue;
    }
    tspec_unsplit_t unsplit = {t, axes->dim, factor, had.count, had.items};
    TSPEC_VEC_PUSH(vote->arena, &vote->unsplit, unsplit);
  }
}

static void make_executable(vote_t *vote) {
  vote->by_tensor = NULL;
  for (int f = 0; f < vote->rule->nfactors; f++) {
    int64_t parts = most_parts(vote, f);
    if (parts >= 0) {
      keep_dividing(&vote->chosen[f], parts);
      note_unsplit(vote, f);
    }
  }
  // A factor behind one that is not split to the end would give strided blocks.
  for (int f = 0; f < vote->rule->nfactors; f++) {
    if (vote->chosen[f].count > 0 && !is_reachable(vote, f)) {
      vote->chosen[f].count = 0;
      note_unsplit(vote, f);
      f = -1;
    }
  }
}

// ---- the whole --------------------------------------------------------------------------------

static void add_reduced(const vote_t *vote, tspec_choice_t *choice) {
  tspec_axis_t *reduced = TSPEC_ARENA_NEW(vote->arena, tspec_axis_t, TSPEC_MAX_ATOMS);
  int count = 0;
  for (int f = 0; f < vote->rule->nfactors; f++) {
    if (kind_of(vote, f) == TSPEC_FACTOR_REDUCTION) {
      for (int i = 0; i < vote->chosen[f].count; i++) {
        reduced[count++] = vote->chosen[f].items[i];
      }
    }
  }
  choice->reduced = reduced;
  choice->nreduced = tspec_axes_sort(reduced, count);
  choice->reduce = vote->rule->reduce;
}

// The operand's pending axes that the first result has, too, and that split nothing here.
static int kept_pending(const vote_t *vote, int tensor, tspec_axis_t *out_axes) {
  const tspec_sharding_t *const *shardings = vote->op->shardings;
  const tspec_sharding_t *own = shardings[tensor];
  const tspec_sharding_t *result =
      vote->rule->nresults > 0 ? shardings[vote->rule->noperands] : NULL;
  if (own == NULL || result == NULL || own->npending == 0 || result->npending == 0 ||
      own->pending_kind != result->pending_kind) {
    return 0;
  }
  tspec_axis_t lost[TSPEC_MAX_ATOMS];
  int nlost = 0;
  int count = 0;
  if (!tspec_axes_subtract(own->pending, own->npending, result->pending, result->npending, lost,
                           &nlost) ||
      !tspec_axes_subtract(own->pending, own->npending, lost, nlost, out_axes, &count)) {
    return 0;
  }
  list_t kept = make_list(vote, out_axes, tspec_axes_sort(out_axes, count));
  for (int f = 0; f < vote->rule->nfactors; f++) {
    list_t rest = make_list(vote, NULL, 0);
    if (!tspec_axes_subtract(kept.items, kept.count, vote->chosen[f].items, vote->chosen[f].count,
                             rest.items, &rest.count)) {
      return 0;
    }
    kept = rest;
  }
  memcpy(out_axes, kept.items, sizeof *out_axes * (size_t)kept.count);
  return tspec_axes_sort(out_axes, kept.count);
}

static const tspec_sharding_t *tensor_sharding(const vote_t *vote, tspec_projection_t *made,
                                               int tensor) {
  int rank = tspec_factor_rule_tensor(vote->rule, tensor)->rank;
  tspec_projection_set(made, tensor, tspec_sharding_replicated(vote->arena, rank));
  for (int f = 0; f < vote->rule->nfactors; f++) {
    list_t list = vote->by_tensor != NULL ? vote->by_tensor[tensor * vote->rule->nfactors + f]
                                          : vote->chosen[f];
    if (tspec_projection_at(made, tensor, f)->present) {
      tspec_projection_assign(made, tensor, f, list.items, list.count);
    }
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(vote->arena, tspec_sharding_t, 1);
  sharding->rank = rank;
  sharding->dims = tspec_projection_get(made, tensor, vote->arena);
  return tspec_sharding_close(vote->arena, sharding);
}

// Partial results over which the op's results stay pending.
typedef struct partials_t {
  tspec_reduce_t kind;
  int count;
  tspec_axis_t axes[4 * TSPEC_MAX_ATOMS];
} partials_t;

// An operand's sharding with the pending axes that it may keep, which are added to the results'.
static const tspec_sharding_t *operand_sharding(const vote_t *vote,
                                                const tspec_sharding_t *sharding, int tensor,
                                                partials_t *partials) {
  tspec_axis_t kept[TSPEC_MAX_ATOMS];
  int nkept = kept_pending(vote, tensor, kept);
  if (nkept == 0) {
    return sharding;
  }
  partials->kind = vote->op->shardings[tensor]->pending_kind;
  for (int i = 0; i < nkept; i++) {
    if (!tspec_axes_overlap(partials->axes, partials->count, kept[i])) {
      partials->axes[partials->count++] = kept[i];
    }
  }
  return tspec_sharding_with_pending(vote->arena, vote->mesh, sharding, partials->kind, kept,
                                     nkept);
}

static tspec_choice_t finish(const vote_t *vote) {
  tspec_choice_t choice = {
      .ntensors = vote->ntensors,
      .tensors = TSPEC_ARENA_NEW(vote->arena, const tspec_sharding_t *, vote->ntensors),
      .nvoted = (int)vote->voted.count,
      .voted = vote->voted.items,
      .nunsplit = (int)vote->unsplit.count,
      .unsplit = vote->unsplit.items};
  add_reduced(vote, &choice);
  tspec_projection_t made;
  tspec_projection_init(&made, vote->arena, vote->mesh);
  tspec_projection_start(&made, vote->rule);
  partials_t partials = {.kind = choice.reduce, .count = choice.nreduced};
  memcpy(partials.axes, choice.reduced, sizeof *partials.axes * (size_t)choice.nreduced);
  for (int t = 0; t < vote->ntensors; t++) {
    const tspec_sharding_t *sharding = tensor_sharding(vote, &made, t);
    choice.tensors[t] =
        t < vote->rule->noperands
            ? operand_sharding(vote, sharding, t, &partials)
            : tspec_sharding_with_pending(vote->arena, vote->mesh, sharding, partials.kind,
                                          partials.axes, partials.count);
  }
  return choice;
}

// All that the vote needs, in its arena: the choice included.
static tspec_choice_t hold_vote(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                const tspec_choose_op_t *op) {
  vote_t vote = {.arena = arena,
                 .mesh = mesh,
                 .op = op,
                 .rule = op->rule,
                 .ntensors = op->rule->noperands + op->rule->nresults,
                 .room = tspec_mesh_max_pieces(mesh) + 1,
                 .chosen = TSPEC_ARENA_NEW(arena, list_t, op->rule->nfactors)};
  tspec_projection_init(&vote.projection, arena, mesh);
  tspec_projection_start(&vote.projection, op->rule);
  for (int t = 0; t < vote.ntensors; t++) {
    int rank = tspec_factor_rule_tensor(op->rule, t)->rank;
    tspec_projection_set(&vote.projection, t,
                         op->shardings[t] != NULL ? op->shardings[t]
                                                  : tspec_sharding_replicated(arena, rank));
  }
  clear_chosen(&vote);
  int two[2];
  if (has_overflow(&vote)) {
    choose_by_side(&vote);
  } else if (!take_compatible(&vote)) {
    clear_chosen(&vote);
    if (is_unary(&vote, two)) {
      choose_for_two(&vote, two);
    } else {
      choose_by_vote(&vote);
    }
    unsplit_replicated(&vote);
  }
  if (op->executable) {
    make_executable(&vote);
  }
  return finish(&vote);
}

static const tspec_axis_t *copy_axes(tspec_arena_t *arena, const tspec_axis_t *axes, int naxes) {
  return tspec_arena_copy(arena, axes, sizeof *axes * (size_t)naxes);
}

static tspec_choice_t copy_choice(tspec_arena_t *arena, tspec_choice_t choice) {
  const tspec_sharding_t **tensors =
      TSPEC_ARENA_NEW(arena, const tspec_sharding_t *, choice.ntensors);
  for (int t = 0; t < choice.ntensors; t++) {
    tensors[t] = tspec_sharding_copy(arena, choice.tensors[t]);
  }
  tspec_unsplit_t *unsplit =
      tspec_arena_copy(arena, choice.unsplit, sizeof *unsplit * (size_t)choice.nunsplit);
  for (int i = 0; i < choice.nunsplit; i++) {
    unsplit[i].axes = copy_axes(arena, unsplit[i].axes, unsplit[i].naxes);
  }
  tspec_voted_t *voted =
      tspec_arena_copy(arena, choice.voted, sizeof *voted * (size_t)choice.nvoted);
  for (int i = 0; i < choice.nvoted; i++) {
    voted[i].axes = copy_axes(arena, voted[i].axes, voted[i].naxes);
  }
  choice.voted = voted;
  choice.tensors = tensors;
  choice.reduced = copy_axes(arena, choice.reduced, choice.nreduced);
  choice.unsplit = unsplit;
  return choice;
}

tspec_choice_t tspec_choose(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                            const tspec_choose_op_t *op) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  tspec_choice_t choice = copy_choice(arena, hold_vote(&work, mesh, op));
  tspec_arena_deinit(&work);
  return choice;
}
