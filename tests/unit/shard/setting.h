// A mesh and a diagnostics sink for one test.
#ifndef TSPEC_TESTS_UNIT_SHARD_SETTING_H
#define TSPEC_TESTS_UNIT_SHARD_SETTING_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/shard/sharding.h"

typedef struct setting_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_mesh_t mesh;
} setting_t;

/// `axes` ends with a NULL name and must outlive the setting.
static inline void setting_open(setting_t *setting, const tspec_mesh_axis_t *axes) {
  tspec_arena_init(&setting->arena);
  tspec_sources_init(&setting->sources, &setting->arena);
  tspec_diag_init(&setting->diag, &setting->sources, NULL);
  setting->mesh = (tspec_mesh_t){.axes = axes};
  while (axes[setting->mesh.naxes].name != NULL) {
    setting->mesh.naxes++;
  }
}

static inline void setting_close(setting_t *setting) {
  tspec_arena_deinit(&setting->arena);
}

static inline const tspec_sharding_t *parse(setting_t *setting, const char *text, int rank) {
  return tspec_sharding_parse(&setting->arena, &setting->mesh, text, rank,
                              (tspec_about_t){.what = "'w'"}, &setting->diag);
}

static inline char *print(setting_t *setting, const tspec_sharding_t *sharding) {
  return (char *)(uintptr_t)tspec_sharding_print(&setting->arena, &setting->mesh, sharding);
}

/// A type from sizes that end with 0.
static inline tspec_type_t type_of(setting_t *setting, const int64_t *sizes) {
  int rank = 0;
  while (sizes[rank] != 0) {
    rank++;
  }
  return tspec_type_make(&setting->arena, TSPEC_DTYPE_F32, rank, sizes);
}

#define TYPE(setting, ...) type_of((setting), (const int64_t[]){__VA_ARGS__, 0})

/// A fixed sequence: xorshift64.
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static inline int below(uint64_t *state, int limit) {
  return (int)(next_random(state) % (uint64_t)limit);
}

/// A random piece of a random axis.
static inline tspec_axis_t random_piece(const tspec_mesh_t *mesh, uint64_t *state) {
  int axis = below(state, mesh->naxes);
  int64_t size = mesh->axes[axis].size;
  for (;;) {
    int64_t pre = 1 + below(state, (int)size);
    int64_t part = 1 + below(state, (int)size);
    if (size % (pre * part) == 0 && (part > 1 || part == size)) {
      return (tspec_axis_t){.axis = axis, .pre = pre, .size = part};
    }
  }
}

#endif
