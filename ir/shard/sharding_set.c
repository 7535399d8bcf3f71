// Copies of shardings, and one object for all that are equal.
#include <string.h>

#include "ir/shard/axes.h"
#include "ir/shard/sharding.h"

static const tspec_axis_t *copy_axes(tspec_arena_t *arena, const tspec_axis_t *axes, int naxes) {
  return naxes == 0 ? NULL : tspec_arena_copy(arena, axes, sizeof *axes * (size_t)naxes);
}

static const tspec_said_t *copy_said(tspec_arena_t *arena, const tspec_sharding_t *sharding) {
  if (sharding->said == NULL) {
    return NULL;
  }
  tspec_said_t *said =
      tspec_arena_copy(arena, sharding->said, sizeof *said * (size_t)sharding->rank);
  for (int i = 0; i < sharding->rank; i++) {
    if (said[i].rule != NULL) {
      said[i].rule = tspec_arena_strdup(arena, said[i].rule, strlen(said[i].rule));
    }
  }
  return said;
}

const tspec_sharding_t *tspec_sharding_copy(tspec_arena_t *arena,
                                            const tspec_sharding_t *sharding) {
  tspec_sharding_t *copy = tspec_arena_copy(arena, sharding, sizeof *sharding);
  tspec_dim_t *dims =
      tspec_arena_copy(arena, sharding->dims, sizeof *dims * (size_t)sharding->rank);
  for (int i = 0; i < sharding->rank; i++) {
    dims[i].axes = copy_axes(arena, dims[i].axes, dims[i].naxes);
  }
  copy->dims = dims;
  copy->pending = copy_axes(arena, sharding->pending, sharding->npending);
  copy->replicated = copy_axes(arena, sharding->replicated, sharding->nreplicated);
  copy->said = copy_said(arena, sharding);
  return copy;
}

// ---- equal ones ---------------------------------------------------------------------------------

static uint64_t hash_axes(uint64_t hash, const tspec_axis_t *axes, int naxes) {
  hash = tspec_hash_number(hash, (uint64_t)naxes);
  for (int i = 0; i < naxes; i++) {
    hash = tspec_hash_number(hash, (uint64_t)axes[i].axis);
    hash = tspec_hash_number(hash, (uint64_t)axes[i].pre);
    hash = tspec_hash_number(hash, (uint64_t)axes[i].size);
  }
  return hash;
}

static uint64_t hash_sharding(const void *object) {
  const tspec_sharding_t *sharding = object;
  uint64_t hash = tspec_hash_number(TSPEC_HASH_START, (uint64_t)sharding->rank);
  for (int i = 0; i < sharding->rank; i++) {
    hash = tspec_hash_number(hash, (uint64_t)sharding->dims[i].open);
    hash = tspec_hash_number(hash, (uint64_t)sharding->dims[i].priority);
    hash = hash_axes(hash, sharding->dims[i].axes, sharding->dims[i].naxes);
    if (sharding->said != NULL) {
      hash = tspec_hash_number(hash, (uint64_t)sharding->said[i].range.line);
      hash = tspec_hash_number(hash, (uint64_t)sharding->said[i].range.col);
    }
  }
  hash = tspec_hash_number(hash, (uint64_t)sharding->pending_kind);
  hash = hash_axes(hash, sharding->pending, sharding->npending);
  return hash_axes(hash, sharding->replicated, sharding->nreplicated);
}

static bool ranges_equal(tspec_range_t a, tspec_range_t b) {
  return a.file == b.file && a.line == b.line && a.col == b.col && a.end_line == b.end_line &&
         a.end_col == b.end_col;
}

static bool rules_equal(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool said_equal(const tspec_sharding_t *a, const tspec_sharding_t *b) {
  if (a->said == NULL || b->said == NULL) {
    return a->said == b->said;
  }
  for (int i = 0; i < a->rank; i++) {
    if (!ranges_equal(a->said[i].range, b->said[i].range) ||
        !rules_equal(a->said[i].rule, b->said[i].rule) ||
        a->said[i].is_blocked != b->said[i].is_blocked) {
      return false;
    }
  }
  return true;
}

static bool is_same(const void *a, const void *b) {
  return tspec_sharding_equal(a, b) && said_equal(a, b);
}

static const void *copy_sharding(tspec_arena_t *arena, const void *object) {
  return tspec_sharding_copy(arena, object);
}

tspec_intern_t tspec_sharding_set(tspec_arena_t *arena) {
  static const tspec_intern_kind_t kind = {hash_sharding, is_same, copy_sharding};
  return (tspec_intern_t){.kind = &kind, .arena = arena};
}
