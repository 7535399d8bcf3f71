// Whether each rank can compute its blocks of an op's results from its blocks of the operands, and
// whether collectives have at their axes what they need.
#include <string.h>

#include "ir/program_steps.h"
#include "ir/program_verify.h"
#include "ir/shard/axes.h"
#include "ir/shard/decompose.h"

// ---- factors -----------------------------------------------------------------------------------

/// Where a factor was seen first.
typedef struct factor_place_t {
  const tspec_dim_t *dim;
  const tspec_value_t *value;
  bool in_operand;
  bool in_result;
} factor_place_t;

static bool same_axes(const tspec_dim_t *a, const tspec_dim_t *b) {
  return tspec_axes_equal(a->axes, a->naxes, b->axes, b->naxes);
}

/// Notes where the factors of a tensor lie and that they lie as in the tensors before.
static void place_factors(tspec_verifier_t *verifier, const tspec_factor_map_t *map,
                          const tspec_value_t *value, bool is_result, factor_place_t *places) {
  for (int i = 0; i < map->rank; i++) {
    TSPEC_CHECK(map->dims[i].nfactors == 1, "a dim of several factors");
    const tspec_dim_t *dim = &value->sharding->dims[i];
    factor_place_t *place = &places[map->dims[i].factors[0]];
    if (place->dim == NULL) {
      place->dim = dim;
      place->value = value;
    } else if (!same_axes(place->dim, dim)) {
      tspec_verifier_fail(
          verifier, "%s and %s are not split alike: %s and %s along a shared dim",
          tspec_verifier_value(verifier, place->value), tspec_verifier_value(verifier, value),
          place->dim->naxes == 0
              ? "-"
              : tspec_verifier_axes(verifier, place->dim->axes, place->dim->naxes),
          dim->naxes == 0 ? "-" : tspec_verifier_axes(verifier, dim->axes, dim->naxes));
    }
    place->in_operand = place->in_operand || !is_result;
    place->in_result = place->in_result || is_result;
  }
}

/// Why the factor may not be split, or NULL.
static const char *reason_unsplit(const tspec_factor_rule_t *rule, int factor,
                                  const factor_place_t *place) {
  switch (rule->factors[factor].kind) {
  case TSPEC_FACTOR_NEED_REPLICATION:
    return "the op needs that dim whole";
  case TSPEC_FACTOR_PERMUTATION:
    return "the op needs elements of other ranks along that dim";
  case TSPEC_FACTOR_REDUCTION:
    return rule->gathers_partials ? "partial results of the op do not combine" : NULL;
  case TSPEC_FACTOR_PASS_THROUGH:
    return place->in_operand && !place->in_result ? "the result repeats that dim" : NULL;
  }
  return NULL;
}

static void check_factor(tspec_verifier_t *verifier, const tspec_factor_rule_t *rule, int factor,
                         const factor_place_t *place) {
  if (place->dim == NULL || place->dim->naxes == 0) {
    return;
  }
  const char *reason = reason_unsplit(rule, factor, place);
  if (reason != NULL) {
    tspec_verifier_fail(verifier, "%s is split over %s, but %s",
                        tspec_verifier_value(verifier, place->value),
                        tspec_verifier_axes(verifier, place->dim->axes, place->dim->naxes), reason);
  }
}

// ---- the same elements on both sides of a reshape ----------------------------------------------

/// One digit of a set of element numbers { base + sum of stride * (0 .. count - 1) }.
typedef struct digit_t {
  int64_t stride;
  int64_t count;
} digit_t;

/// A block's elements by their row-major numbers in the whole tensor. Digits, minor first, are
/// reduced (no count of 1, neighbours that join are joined), so equal sets have equal digits.
typedef struct elements_t {
  int64_t base;
  bool empty;
  int ndigits;
  digit_t *digits;
  tspec_block_t *blocks; ///< per dim
} elements_t;

/// Room for the elements of one value's blocks.
static elements_t new_elements(tspec_verifier_t *verifier, const tspec_value_t *value) {
  return (elements_t){
      .digits = TSPEC_ARENA_NEW(&verifier->scratch, digit_t, value->type.rank),
      .blocks = TSPEC_ARENA_NEW(&verifier->scratch, tspec_block_t, value->type.rank),
  };
}

static void find_elements(tspec_verifier_t *verifier, const tspec_value_t *value, int64_t rank,
                          elements_t *set) {
  tspec_type_t type = value->type;
  tspec_sharding_blocks(&verifier->program->mesh, value->sharding, type, rank, set->blocks);
  set->base = 0;
  set->empty = false;
  set->ndigits = 0;
  int64_t stride = 1;
  for (int i = type.rank - 1; i >= 0; i--) {
    int64_t count = set->blocks[i].end - set->blocks[i].begin;
    set->empty = set->empty || count == 0;
    set->base += set->blocks[i].begin * stride;
    digit_t *last = set->ndigits > 0 ? &set->digits[set->ndigits - 1] : NULL;
    if (last != NULL && last->stride * last->count == stride) {
      last->count *= count;
    } else if (count > 1) {
      set->digits[set->ndigits++] = (digit_t){stride, count};
    }
    stride *= type.dims[i];
  }
}

static bool same_elements(const elements_t *a, const elements_t *b) {
  if (a->empty || b->empty) {
    return a->empty == b->empty;
  }
  bool same = a->base == b->base && a->ndigits == b->ndigits;
  for (int i = 0; same && i < a->ndigits; i++) {
    same = a->digits[i].stride == b->digits[i].stride && a->digits[i].count == b->digits[i].count;
  }
  return same;
}

/// Marks the mesh axes that split the value.
static void mark_axes(const tspec_sharding_t *sharding, bool *used) {
  for (int i = 0; i < sharding->rank; i++) {
    for (int k = 0; k < sharding->dims[i].naxes; k++) {
      used[sharding->dims[i].axes[k].axis] = true;
    }
  }
}

/// The next rank, where only the used axes' coordinates count. False at the end.
static bool next_rank(const tspec_mesh_t *mesh, const bool *used, int64_t *coordinates,
                      int64_t *out_rank) {
  int at = mesh->naxes - 1;
  while (at >= 0 && (!used[at] || coordinates[at] + 1 == mesh->axes[at].size)) {
    coordinates[at--] = 0;
  }
  if (at < 0) {
    return false;
  }
  coordinates[at]++;
  *out_rank = 0;
  for (int i = 0; i < mesh->naxes; i++) {
    *out_rank = *out_rank * mesh->axes[i].size + coordinates[i];
  }
  return true;
}

static const char *reshape_key(tspec_verifier_t *verifier, const tspec_value_t *in,
                               const tspec_value_t *out) {
  tspec_arena_t *scratch = &verifier->scratch;
  const tspec_mesh_t *mesh = &verifier->program->mesh;
  return tspec_arena_printf(scratch, "%s %s %s %s", tspec_type_print(scratch, in->type),
                            tspec_sharding_print(scratch, mesh, in->sharding),
                            tspec_type_print(scratch, out->type),
                            tspec_sharding_print(scratch, mesh, out->sharding));
}

// Both blocks list their elements in increasing order, so the local reshape is right if they are
// the same ones.
static void check_same_elements(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_mesh_t *mesh = &verifier->program->mesh;
  const tspec_value_t *in = op->operands[0];
  const tspec_value_t *out = op->results[0];
  const char *key = reshape_key(verifier, in, out);
  if (tspec_names_get(&verifier->reshapes, key) != NULL) {
    return;
  }
  bool *used = TSPEC_ARENA_NEW(&verifier->scratch, bool, mesh->naxes);
  int64_t *coordinates = TSPEC_ARENA_NEW(&verifier->scratch, int64_t, mesh->naxes);
  mark_axes(in->sharding, used);
  mark_axes(out->sharding, used);
  elements_t a = new_elements(verifier, in);
  elements_t b = new_elements(verifier, out);
  int64_t rank = 0;
  do {
    find_elements(verifier, in, rank, &a);
    find_elements(verifier, out, rank, &b);
    if (!same_elements(&a, &b)) {
      tspec_verifier_fail(verifier, "rank %lld's block of %s and of %s hold different elements",
                          (long long)rank, tspec_verifier_value(verifier, in),
                          tspec_verifier_value(verifier, out));
      return;
    }
  } while (next_rank(mesh, used, coordinates, &rank));
  key = tspec_arena_strdup(verifier->kept, key, strlen(key));
  tspec_names_set(verifier->kept, &verifier->reshapes, key, (void *)(uintptr_t)key);
}

// ---- pending axes ------------------------------------------------------------------------------

/// The pending axes that an op's result must have.
typedef struct pending_t {
  int naxes;
  tspec_axis_t *axes;
  tspec_reduce_t kind;
} pending_t;

static bool add_pending(tspec_verifier_t *verifier, pending_t *pending, tspec_reduce_t kind,
                        const tspec_axis_t *axes, int naxes) {
  if (naxes == 0) {
    return true;
  }
  if (pending->naxes > 0 && pending->kind != kind) {
    tspec_verifier_fail(verifier, "partial results of kinds %s and %s meet in it",
                        tspec_reduce_name(pending->kind), tspec_reduce_name(kind));
    return false;
  }
  pending->kind = kind;
  for (int i = 0; i < naxes; i++) {
    if (tspec_axes_overlap(pending->axes, pending->naxes, axes[i])) {
      tspec_verifier_fail(verifier, "its result would be pending over %s twice",
                          tspec_verifier_axes(verifier, &axes[i], 1));
      return false;
    }
    pending->axes[pending->naxes++] = axes[i];
  }
  return true;
}

static bool same_pending(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  return tspec_axes_equal(a->pending, a->npending, b->pending, b->npending) &&
         (a->npending == 0 || a->pending_kind == b->pending_kind);
}

/// The operand may be pending, and the others lie with it as they must.
static bool may_be_pending(tspec_verifier_t *verifier, const tspec_op_t *op, int operand) {
  const tspec_value_t *value = op->operands[operand];
  tspec_op_view_t view = tspec_op_view(op, &verifier->scratch);
  tspec_linear_t linear = tspec_op_linear(&view, value->sharding->pending_kind);
  if (linear == TSPEC_LINEAR_NONE || (linear == TSPEC_LINEAR_FIRST && operand > 0)) {
    tspec_verifier_fail(verifier, "it reads %s, which is pending, but is not linear in it",
                        tspec_verifier_value(verifier, value));
    return false;
  }
  for (int i = 0; linear == TSPEC_LINEAR_EACH && i < op->noperands; i++) {
    if (!same_pending(value->sharding, op->operands[i]->sharding)) {
      tspec_verifier_fail(verifier, "%s and %s must be pending over the same axes",
                          tspec_verifier_value(verifier, value),
                          tspec_verifier_value(verifier, op->operands[i]));
      return false;
    }
  }
  return true;
}

static bool collect_operands_pending(tspec_verifier_t *verifier, const tspec_op_t *op,
                                     pending_t *pending) {
  for (int i = 0; i < op->noperands; i++) {
    const tspec_sharding_t *sharding = op->operands[i]->sharding;
    if (sharding->npending == 0) {
      continue;
    }
    if (!may_be_pending(verifier, op, i)) {
      return false;
    }
    tspec_op_view_t view = tspec_op_view(op, &verifier->scratch);
    bool counted = tspec_op_linear(&view, sharding->pending_kind) == TSPEC_LINEAR_EACH && i > 0;
    if (!counted && !add_pending(verifier, pending, sharding->pending_kind, sharding->pending,
                                 sharding->npending)) {
      return false;
    }
  }
  return true;
}

static void check_pending(tspec_verifier_t *verifier, const tspec_op_t *op,
                          const tspec_factor_rule_t *rule, const factor_place_t *places) {
  int capacity =
      (op->noperands + rule->nfactors + 1) * tspec_mesh_max_pieces(&verifier->program->mesh);
  pending_t pending = {.axes = TSPEC_ARENA_NEW(&verifier->scratch, tspec_axis_t, capacity)};
  if (!collect_operands_pending(verifier, op, &pending)) {
    return;
  }
  for (int i = 0; i < rule->nfactors; i++) {
    const tspec_dim_t *dim = places[i].dim;
    if (rule->factors[i].kind == TSPEC_FACTOR_REDUCTION && dim != NULL &&
        !add_pending(verifier, &pending, rule->reduce, dim->axes, dim->naxes)) {
      return;
    }
  }
  pending.naxes = tspec_axes_sort(pending.axes, pending.naxes);
  for (int i = 0; i < op->nresults; i++) {
    const tspec_sharding_t *sharding = op->results[i]->sharding;
    bool fits =
        tspec_axes_equal(pending.axes, pending.naxes, sharding->pending, sharding->npending);
    if (!fits || (pending.naxes > 0 && pending.kind != sharding->pending_kind)) {
      tspec_verifier_fail(
          verifier, "result %s should be %s%s", tspec_verifier_value(verifier, op->results[i]),
          pending.naxes == 0 ? "complete" : tspec_reduce_name(pending.kind),
          pending.naxes == 0
              ? ""
              : tspec_arena_printf(&verifier->scratch, "(%s)",
                                   tspec_verifier_axes(verifier, pending.axes, pending.naxes)));
    }
  }
}

void tspec_verify_factors(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_op_rules_t *rules = tspec_op_info(op->kind)->rules;
  bool keeps_elements = op->kind == TSPEC_OP_reshape || op->kind == TSPEC_OP_view;
  if (rules->rule == NULL && !keeps_elements) {
    // a kernel without operands may sum what it makes itself
    bool sums_nothing = (rules->traits & TSPEC_TRAIT_CONSTANT_LIKE) != 0;
    for (int i = 0; i < op->nresults && sums_nothing; i++) {
      if (op->results[i]->sharding->npending > 0) {
        tspec_verifier_fail(verifier, "%s is pending, but nothing was summed",
                            tspec_verifier_value(verifier, op->results[i]));
      }
    }
    return;
  }
  const tspec_factor_rule_t *rule = NULL;
  static const tspec_factor_rule_t no_factors = {0};
  if (keeps_elements) {
    check_same_elements(verifier, op);
    rule = &no_factors;
  } else if (rules->windows != NULL &&
             (verifier->program->level == TSPEC_LEVEL_SHARDED || !tspec_op_is_exchanged(op))) {
    rule = &no_factors; // `partition` makes a collective of those that move elements
  } else {
    tspec_op_view_t view = tspec_op_view(op, &verifier->scratch);
    rule = rules->rule(&view, &verifier->scratch, false);
  }
  factor_place_t *places = TSPEC_ARENA_NEW(&verifier->scratch, factor_place_t, rule->nfactors);
  for (int i = 0; i < rule->noperands; i++) {
    place_factors(verifier, &rule->operands[i], op->operands[i], false, places);
  }
  for (int i = 0; i < rule->nresults; i++) {
    place_factors(verifier, &rule->results[i], op->results[i], true, places);
  }
  for (int i = 0; i < rule->nfactors; i++) {
    check_factor(verifier, rule, i, &places[i]);
  }
  check_pending(verifier, op, rule, places);
}

// ---- collectives -------------------------------------------------------------------------------

static bool same_splits(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  for (int i = 0; i < a->rank; i++) {
    if (!same_axes(&a->dims[i], &b->dims[i])) {
      return false;
    }
  }
  return true;
}

/// `more` is pending over exactly the axes of `fewer` and `axes`.
static bool differs_by(tspec_verifier_t *verifier, const tspec_sharding_t *more,
                       const tspec_sharding_t *fewer, const tspec_attr_t *axes) {
  int naxes = fewer->npending;
  tspec_axis_t *all = TSPEC_ARENA_NEW(&verifier->scratch, tspec_axis_t, naxes + axes->count);
  for (int i = 0; i < naxes; i++) {
    all[i] = fewer->pending[i];
  }
  for (int i = 0; i < axes->count; i++) {
    all[naxes++] = axes->axes[i];
  }
  naxes = tspec_axes_sort(all, naxes);
  return tspec_axes_equal(all, naxes, more->pending, more->npending);
}

/// What the kind says about pending axes and splits; NULL if that holds.
static const char *wrong_form(tspec_verifier_t *verifier, const tspec_op_t *op,
                              const tspec_step_t *step) {
  const tspec_sharding_t *from = step->from;
  const tspec_sharding_t *to = step->to;
  const tspec_attr_t *axes = tspec_op_get_attr(op, "axes");
  const tspec_attr_t *reduce = tspec_op_get_attr(op, "kind");
  switch (step->kind) {
  case TSPEC_COLLECTIVE_ALL_REDUCE:
  case TSPEC_COLLECTIVE_REDUCE_SCATTER:
    if (from->npending == 0 || reduce->reduce != from->pending_kind) {
      return "the operand is not pending by its kind";
    }
    if (step->kind == TSPEC_COLLECTIVE_ALL_REDUCE && !same_splits(from, to)) {
      return "it does not change splits";
    }
    return differs_by(verifier, from, to, axes) ? NULL : "it completes exactly its axes";
  case TSPEC_COLLECTIVE_MAKE_PENDING:
    if (!same_splits(from, to)) {
      return "it does not change splits";
    }
    if (to->pending_kind != reduce->reduce) {
      return "the result is not pending by its kind";
    }
    return differs_by(verifier, to, from, axes) ? NULL : "it makes exactly its axes pending";
  case TSPEC_COLLECTIVE_ALL_GATHER:
  case TSPEC_COLLECTIVE_ALL_TO_ALL:
  case TSPEC_COLLECTIVE_PERMUTE:
  case TSPEC_COLLECTIVE_ALL_SLICE:
    return same_pending(from, to) ? NULL : "it does not change what is pending";
  }
  return NULL;
}

/// One operand of a collective.
static void check_step(tspec_verifier_t *verifier, const tspec_op_t *op, int operand,
                       const tspec_step_t *step) {
  const tspec_value_t *value = op->operands[operand];
  const char *wrong = wrong_form(verifier, op, step);
  if (wrong == NULL && !tspec_step_is_local_to_axes(&verifier->program->mesh, value->type, step)) {
    wrong = "a rank needs elements that no rank along these axes holds";
  }
  if (wrong != NULL) {
    tspec_verifier_fail(
        verifier, "over %s it cannot turn %s into %s: %s",
        tspec_verifier_axes(verifier, step->axes, step->naxes),
        tspec_verifier_value(verifier, value),
        tspec_verifier_value(verifier, op->results[op->nresults == 1 ? 0 : operand]), wrong);
  }
}

void tspec_verify_collective(tspec_verifier_t *verifier, const tspec_op_t *op) {
  const tspec_step_t *parts = tspec_op_parts(op, &verifier->program->mesh, &verifier->scratch);
  for (int k = 0; k < op->noperands; k++) {
    tspec_step_t step = tspec_step_of_op(op, k);
    check_step(verifier, op, k, parts != NULL ? &parts[k] : &step);
  }
}
