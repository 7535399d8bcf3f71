#include "ir/base/intern.h"

uint64_t tspec_hash_number(uint64_t hash, uint64_t more) {
  return (hash ^ more) * 1099511628211u;
}

/// The slot that holds an equal object, or the empty one where it belongs.
static size_t find_slot(const tspec_intern_t *set, const void *object) {
  uint64_t hash = set->kind->hash(object);
  size_t slot = (size_t)(hash ^ hash >> 32) & (set->nslots - 1);
  while (set->slots[slot] != 0 && !set->kind->equal(set->objects[set->slots[slot] - 1], object)) {
    slot = (slot + 1) & (set->nslots - 1);
  }
  return slot;
}

static void grow(tspec_intern_t *set) {
  const void **objects = set->objects;
  set->nslots = set->nslots == 0 ? 16 : 2 * set->nslots;
  set->slots = TSPEC_ARENA_NEW(set->arena, uint32_t, set->nslots);
  set->objects = TSPEC_ARENA_NEW(set->arena, const void *, set->nslots / 2);
  for (size_t i = 0; i < set->count; i++) {
    set->objects[i] = objects[i];
    set->slots[find_slot(set, objects[i])] = (uint32_t)i + 1;
  }
}

const void *tspec_intern(tspec_intern_t *set, const void *object) {
  if (set->count == set->nslots / 2) {
    grow(set);
  }
  uint32_t *slot = &set->slots[find_slot(set, object)];
  if (*slot == 0) {
    set->objects[set->count] = set->kind->copy(set->arena, object);
    *slot = (uint32_t)++set->count;
  }
  return set->objects[*slot - 1];
}
