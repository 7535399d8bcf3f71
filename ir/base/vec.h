// Typed growing arrays in an arena: TSPEC_VEC(int) xs = {0}; TSPEC_VEC_PUSH(arena, &xs, 3);
// xs.items[0].
#ifndef TSPEC_IR_BASE_VEC_H
#define TSPEC_IR_BASE_VEC_H

#include <stddef.h>

#include "ir/base/arena.h"

/// A growing array of `type`; all zero is the empty one. `items` moves when it grows: keep indices,
/// not pointers.
#define TSPEC_VEC(type)                                                                            \
  struct {                                                                                         \
    type *items;                                                                                   \
    size_t count;                                                                                  \
    size_t capacity;                                                                               \
  }

/// Room for one more item of `item_bytes`; returns the (possibly moved) storage. Old storage stays
/// in the arena.
void *tspec_vec_grow(tspec_arena_t *arena, void *items, size_t count, size_t *capacity,
                     size_t item_bytes) __attribute__((returns_nonnull));
/// The same with room for `room` items, no fewer than `count`.
void *tspec_vec_reserve(tspec_arena_t *arena, void *items, size_t count, size_t *capacity,
                        size_t item_bytes, size_t room) __attribute__((returns_nonnull));

/// Room for `room` items at least, for a vector (a pointer to a TSPEC_VEC) whose number of items is
/// known before: nothing moves until there are more.
#define TSPEC_VEC_RESERVE(arena, vec, room)                                                        \
  do {                                                                                             \
    if ((vec)->capacity < (size_t)(room)) {                                                        \
      (vec)->items = tspec_vec_reserve((arena), (vec)->items, (vec)->count, &(vec)->capacity,      \
                                       sizeof *(vec)->items, (size_t)(room));                      \
    }                                                                                              \
  } while (0)

/// Appends a value at the end of `vec` (a pointer to a TSPEC_VEC).
#define TSPEC_VEC_PUSH(arena, vec, ...)                                                            \
  do {                                                                                             \
    if ((vec)->count == (vec)->capacity) {                                                         \
      (vec)->items = tspec_vec_grow((arena), (vec)->items, (vec)->count, &(vec)->capacity,         \
                                    sizeof *(vec)->items);                                         \
    }                                                                                              \
    (vec)->items[(vec)->count++] = (__VA_ARGS__);                                                  \
  } while (0)

#endif
