// A set of immutable objects of which no two are equal. For what a program has many of and few
// kinds of: shardings, factor rules.
#ifndef TSPEC_IR_BASE_INTERN_H
#define TSPEC_IR_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/// Equal objects have equal hashes. A hash is a function of contents, never of addresses.
typedef struct tspec_intern_kind_t {
  uint64_t (*hash)(const void *object);
  bool (*equal)(const void *a, const void *b);
  const void *(*copy)(tspec_arena_t *arena, const void *object); ///< deep
} tspec_intern_kind_t;

/// All zero but for `kind` and `arena` is the empty one.
typedef struct tspec_intern_t {
  const tspec_intern_kind_t *kind;
  tspec_arena_t *arena;
  const void **objects; ///< in order of insertion
  size_t count;
  uint32_t *slots; ///< open addressing, index + 1; its layout never shows in any order
  size_t nslots;
} tspec_intern_t;

/// The set's object that equals `object`: one that was there, or a copy in the set's arena.
const void *tspec_intern(tspec_intern_t *set, const void *object) __attribute__((returns_nonnull));

/// What a hash begins with. Source: FNV-1a, 64 bits.
#define TSPEC_HASH_START 14695981039346656037u

/// The hash with one more number in it.
uint64_t tspec_hash_number(uint64_t hash, uint64_t more);

#endif
