#include "ir/shard/causes.h"

#include "ir/base/diag.h"
#include "ir/shard/axes.h"

const char *tspec_cause_kind_name(tspec_cause_kind_t kind) {
  switch (kind) {
  case TSPEC_CAUSE_ANNOTATION:
    return "annotation";
  case TSPEC_CAUSE_CONSTRAINT:
    return "constraint";
  case TSPEC_CAUSE_OP:
    return "op";
  case TSPEC_CAUSE_EDGE:
    return "edge";
  case TSPEC_CAUSE_GROUP:
    return "group";
  case TSPEC_CAUSE_RETURN:
    return "return";
  }
  TSPEC_CHECK(false, "kind %d", (int)kind);
  return NULL;
}

const char *tspec_refusal_reason_name(tspec_refusal_reason_t reason) {
  static const char *const names[TSPEC_REFUSAL_COUNT] = {
      [TSPEC_REFUSAL_CLOSED] = "closed",         [TSPEC_REFUSAL_AXIS_USED] = "axis used",
      [TSPEC_REFUSAL_REPLICATED] = "replicated", [TSPEC_REFUSAL_PENDING] = "pending",
      [TSPEC_REFUSAL_BLOCKED] = "blocked",       [TSPEC_REFUSAL_NO_DIVIDE] = "does not divide",
      [TSPEC_REFUSAL_CONFLICT] = "conflict",     [TSPEC_REFUSAL_LEVEL] = "level not reached",
  };
  TSPEC_CHECK(reason >= 0 && reason < TSPEC_REFUSAL_COUNT);
  return names[reason];
}

static int *filled(tspec_arena_t *arena, int count) {
  int *items = TSPEC_ARENA_NEW(arena, int, count);
  for (int i = 0; i < count; i++) {
    items[i] = -1;
  }
  return items;
}

tspec_causes_t *tspec_causes_create(tspec_arena_t *arena, int nvalues) {
  tspec_causes_t *causes = TSPEC_ARENA_NEW(arena, tspec_causes_t, 1);
  causes->arena = arena;
  causes->nvalues = nvalues;
  causes->root = TSPEC_ARENA_NEW(arena, int, nvalues);
  for (int i = 0; i < nvalues; i++) {
    causes->root[i] = i;
  }
  causes->first_cause = filled(arena, nvalues);
  causes->last_cause = filled(arena, nvalues);
  causes->first_refusal = filled(arena, nvalues);
  causes->last_refusal = filled(arena, nvalues);
  return causes;
}

void tspec_causes_add(tspec_causes_t *causes, tspec_cause_t cause) {
  TSPEC_CHECK(cause.value >= 0 && cause.value < causes->nvalues);
  int index = (int)causes->causes.count;
  cause.next = -1;
  TSPEC_VEC_PUSH(causes->arena, &causes->causes, cause);
  int last = causes->last_cause[cause.value];
  if (last >= 0) {
    causes->causes.items[last].next = index;
  } else {
    causes->first_cause[cause.value] = index;
  }
  causes->last_cause[cause.value] = index;
}

void tspec_causes_add_refusal(tspec_causes_t *causes, tspec_refusal_t refusal) {
  TSPEC_CHECK(refusal.value >= 0 && refusal.value < causes->nvalues);
  int index = (int)causes->refusals.count;
  refusal.next = -1;
  TSPEC_VEC_PUSH(causes->arena, &causes->refusals, refusal);
  int last = causes->last_refusal[refusal.value];
  if (last >= 0) {
    causes->refusals.items[last].next = index;
  } else {
    causes->first_refusal[refusal.value] = index;
  }
  causes->last_refusal[refusal.value] = index;
  causes->nrefused[refusal.reason]++;
}

static const tspec_cause_t *cause_at(const tspec_causes_t *causes, int index) {
  return index < 0 ? NULL : &causes->causes.items[index];
}

const tspec_cause_t *tspec_causes_first(const tspec_causes_t *causes, int value) {
  TSPEC_CHECK(value >= 0 && value < causes->nvalues);
  return cause_at(causes, causes->first_cause[causes->root[value]]);
}

const tspec_cause_t *tspec_causes_next(const tspec_causes_t *causes, const tspec_cause_t *cause) {
  return cause_at(causes, cause->next);
}

const tspec_cause_t *tspec_causes_find(const tspec_causes_t *causes, int value, int dim,
                                       tspec_axis_t axis) {
  const tspec_cause_t *cause = tspec_causes_first(causes, value);
  for (; cause != NULL; cause = tspec_causes_next(causes, cause)) {
    if (cause->dim == dim && tspec_axis_overlap(cause->axis, axis)) {
      return cause;
    }
  }
  return NULL;
}

static const tspec_refusal_t *refusal_at(const tspec_causes_t *causes, int index) {
  return index < 0 ? NULL : &causes->refusals.items[index];
}

const tspec_refusal_t *tspec_causes_first_refusal(const tspec_causes_t *causes, int value) {
  TSPEC_CHECK(value >= 0 && value < causes->nvalues);
  return refusal_at(causes, causes->first_refusal[causes->root[value]]);
}

const tspec_refusal_t *tspec_causes_next_refusal(const tspec_causes_t *causes,
                                                 const tspec_refusal_t *refusal) {
  return refusal_at(causes, refusal->next);
}
