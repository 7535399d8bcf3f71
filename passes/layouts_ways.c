#include "passes/layouts_ways.h"

#include <string.h>

#include "ir/program_equal.h"
#include "ir/program_steps.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"
#include "passes/reshard_parts.h"

// ---- classes ----------------------------------------------------------------------------------

tspec_op_classes_t tspec_op_classes_create(tspec_wire_t *wire, int nops) {
  size_t nbuckets = (size_t)nops + 1;
  return (tspec_op_classes_t){.wire = wire,
                              .nbuckets = nbuckets,
                              .buckets =
                                  TSPEC_ARENA_NEW(wire->arena, tspec_op_class_t *, nbuckets)};
}

static uint64_t hash_op(const tspec_op_t *op) {
  uint64_t hash = tspec_hash_number(TSPEC_HASH_START, (uint64_t)op->kind);
  for (int t = 0; t < op->noperands + op->nresults; t++) {
    tspec_type_t type = tspec_op_tensor(op, t)->type;
    hash = tspec_hash_number(hash, (uint64_t)type.dtype);
    for (int d = 0; d < type.rank; d++) {
      hash = tspec_hash_number(hash, (uint64_t)type.dims[d]);
    }
  }
  for (int i = 0; i < op->nattrs; i++) {
    hash = tspec_hash_attr(hash, &op->attrs[i]);
  }
  return hash;
}

static bool is_alike(const tspec_op_t *a, const tspec_op_t *b) {
  bool alike = a->kind == b->kind && a->noperands == b->noperands && a->nresults == b->nresults &&
               a->nattrs == b->nattrs;
  for (int t = 0; alike && t < a->noperands + a->nresults; t++) {
    alike = tspec_type_equal(tspec_op_tensor(a, t)->type, tspec_op_tensor(b, t)->type);
  }
  for (int i = 0; alike && i < a->nattrs; i++) {
    alike = tspec_attr_equal(&a->attrs[i], &b->attrs[i]);
  }
  return alike;
}

static const tspec_op_rules_t *rules_of(const tspec_op_t *op) {
  return tspec_op_info(op->kind)->rules;
}

static const tspec_factor_rule_t *rule_of(const tspec_op_t *op, tspec_arena_t *arena) {
  tspec_op_view_t view = tspec_op_view(op, arena);
  return rules_of(op)->rule(&view, arena, false);
}

static bool is_product(const tspec_op_t *op) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_factor_rule_t *rule = rule_of(op, &work);
  bool reduces = false;
  for (int f = 0; f < rule->nfactors; f++) {
    reduces |= rule->factors[f].kind == TSPEC_FACTOR_REDUCTION;
  }
  tspec_arena_deinit(&work);
  return reduces && op->noperands > 1;
}

static tspec_op_class_t *create_class(tspec_op_classes_t *classes, const tspec_op_t *op) {
  tspec_arena_t *arena = classes->wire->arena;
  tspec_op_class_t *class = TSPEC_ARENA_NEW(arena, tspec_op_class_t, 1);
  *class = (tspec_op_class_t){.op = op,
                              .noperands = op->noperands,
                              .ntensors = op->noperands + op->nresults,
                              .is_product = is_product(op)};
  class->spaces = TSPEC_ARENA_NEW(arena, tspec_space_t *, class->ntensors);
  for (int t = 0; t < class->ntensors; t++) {
    class->spaces[t] =
        tspec_space_of(&classes->spaces, classes->wire, tspec_op_tensor(op, t)->type);
  }
  return class;
}

tspec_op_class_t *tspec_op_class_of(tspec_op_classes_t *classes, const tspec_op_t *op) {
  tspec_op_class_t **bucket = &classes->buckets[hash_op(op) % classes->nbuckets];
  // The rule of an op that places several operands looks at where they come from.
  bool is_alone = rules_of(op)->windows != NULL && op->noperands > 1;
  for (tspec_op_class_t *class = *bucket; class != NULL && !is_alone; class = class->next) {
    if (is_alike(class->op, op)) {
      return class;
    }
  }
  tspec_op_class_t *class = create_class(classes, op);
  class->next = *bucket;
  *bucket = class;
  return class;
}

// ---- ways -------------------------------------------------------------------------------------

static int64_t count_parts(tspec_arena_t *work, int ntensors,
                           const tspec_sharding_t *const *tensors) {
  tspec_axis_t *used = TSPEC_ARENA_NEW(work, tspec_axis_t, TSPEC_MAX_ATOMS);
  int nused = 0;
  int64_t nparts = 1;
  for (int t = 0; t < ntensors; t++) {
    for (int d = 0; d < tensors[t]->rank; d++) {
      const tspec_dim_t *dim = &tensors[t]->dims[d];
      for (int i = 0; i < dim->naxes; i++) {
        if (!tspec_axes_overlap(used, nused, dim->axes[i]) && nused < TSPEC_MAX_ATOMS) {
          used[nused++] = dim->axes[i];
          nparts *= dim->axes[i].size;
        }
      }
    }
  }
  return nparts;
}

static const tspec_way_t *keep_way(const tspec_op_classes_t *classes, const tspec_op_class_t *class,
                                   const tspec_sharding_t *const *tensors, tspec_arena_t *work) {
  tspec_arena_t *arena = classes->wire->arena;
  int *layouts = TSPEC_ARENA_NEW(arena, int, class->ntensors);
  for (int t = 0; t < class->ntensors; t++) {
    layouts[t] = tspec_space_number(class->spaces[t], tensors[t]);
  }
  tspec_way_t *way = TSPEC_ARENA_NEW(arena, tspec_way_t, 1);
  *way = (tspec_way_t){.layouts = layouts,
                       .exchange = tspec_layout_exchange_cost(classes->wire, class->op, tensors),
                       .nparts = count_parts(work, class->ntensors, tensors)};
  return way;
}

// What the op's vote chooses.
static tspec_choice_t vote(const tspec_op_classes_t *classes, const tspec_op_class_t *class,
                           const tspec_sharding_t *const *shardings, bool executable,
                           tspec_arena_t *work) {
  tspec_type_t *types = TSPEC_ARENA_NEW(work, tspec_type_t, class->ntensors);
  for (int t = 0; t < class->ntensors; t++) {
    types[t] = class->spaces[t]->type;
  }
  bool keeps_elements = (rules_of(class->op)->traits & TSPEC_TRAIT_RESHAPE_LIKE) != 0;
  return tspec_choose(work, classes->wire->mesh,
                      &(tspec_choose_op_t){.rule = rule_of(class->op, work),
                                           .types = types,
                                           .shardings = shardings,
                                           .keeps_elements = keeps_elements,
                                           .executable = executable});
}

static const tspec_way_t *find_way(const tspec_op_classes_t *classes, const tspec_op_class_t *class,
                                   const int *given, tspec_way_kind_t kind) {
  tspec_arena_t work;
  tspec_arena_init(&work);
  const tspec_sharding_t **shardings =
      TSPEC_ARENA_NEW(&work, const tspec_sharding_t *, class->ntensors);
  bool all_given = true;
  for (int t = 0; t < class->ntensors; t++) {
    all_given &= given[t] >= 0;
    shardings[t] = given[t] < 0 ? NULL : tspec_space_sharding(class->spaces[t], given[t]);
  }
  const tspec_way_t *way = NULL;
  if (kind != TSPEC_WAY_GIVEN) {
    tspec_choice_t choice = vote(classes, class, shardings, kind == TSPEC_WAY_ALONE, &work);
    way = keep_way(classes, class, choice.tensors, &work);
  } else if (all_given) {
    way = keep_way(classes, class, shardings, &work);
  }
  tspec_arena_deinit(&work);
  return way == NULL || way->exchange < INT64_MAX ? way : NULL;
}

const tspec_way_t *tspec_op_class_way(tspec_op_classes_t *classes, tspec_op_class_t *class,
                                      const int *given, tspec_way_kind_t kind) {
  size_t bytes = sizeof *given * (size_t)class->ntensors;
  for (size_t i = 0; i < class->asked.count; i++) {
    const tspec_asked_way_t *asked = &class->asked.items[i];
    if (asked->kind == kind && memcmp(asked->given, given, bytes) == 0) {
      return asked->way;
    }
  }
  tspec_asked_way_t asked = {.given = tspec_arena_copy(classes->wire->arena, given, bytes),
                             .kind = kind,
                             .way = find_way(classes, class, given, kind)};
  TSPEC_VEC_PUSH(classes->wire->arena, &class->asked, asked);
  return asked.way;
}

// ---- idle axes --------------------------------------------------------------------------------

static bool uses(const tspec_op_class_t *class, const tspec_way_t *way, tspec_axis_t axis) {
  for (int t = 0; t < class->ntensors; t++) {
    if (tspec_space_uses(class->spaces[t], way->layouts[t], axis)) {
      return true;
    }
  }
  return false;
}

static void use_axis(tspec_op_classes_t *classes, tspec_op_class_t *class, const tspec_way_t *way,
                     tspec_axis_t axis, tspec_ways_t *ways) {
  tspec_space_t *space = class->spaces[class->noperands];
  int *given = TSPEC_ARENA_NEW(classes->wire->arena, int, class->ntensors);
  for (int t = 0; t < class->ntensors; t++) {
    given[t] = tspec_space_complete(class->spaces[t], way->layouts[t]);
  }
  int result = given[class->noperands];
  for (int d = 0; d < space->type.rank; d++) {
    given[class->noperands] = tspec_space_split(space, result, d, &axis, 1);
    if (given[class->noperands] >= 0) {
      TSPEC_VEC_PUSH(classes->wire->arena, ways,
                     tspec_op_class_way(classes, class, given, TSPEC_WAY_ALONE));
    }
  }
}

void tspec_op_class_use_idle(tspec_op_classes_t *classes, tspec_op_class_t *class,
                             const tspec_way_t *way, const int *lies, tspec_ways_t *ways) {
  for (int t = 0; t < class->ntensors; t++) {
    const tspec_sharding_t *sharding = tspec_space_sharding(class->spaces[t], lies[t]);
    for (int d = 0; d < sharding->rank; d++) {
      for (int i = 0; i < sharding->dims[d].naxes; i++) {
        tspec_axis_t axis = sharding->dims[d].axes[i];
        if (!uses(class, way, axis)) {
          use_axis(classes, class, way, axis, ways);
        }
      }
    }
  }
}
