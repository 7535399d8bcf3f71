// Random changes of sharding: what tests/property/reshards.c draws and what it checks.
#ifndef TSPEC_TESTS_PROPERTY_RESHARDS_H
#define TSPEC_TESTS_PROPERTY_RESHARDS_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/shard/decompose.h"

enum { RESHARDS_MAX_RANK = 4, RESHARDS_EVAL_RANKS = 96 };

/// One change of sharding; everything lies in `arena`.
typedef struct reshard_case_t {
  tspec_arena_t *arena;
  uint64_t seed;
  uint64_t draws;
  tspec_mesh_t mesh;
  int64_t nranks;
  tspec_type_t type;
  const tspec_sharding_t *from;
  const tspec_sharding_t *to;
  tspec_steps_t steps;
  bool has_failed;
  char message[512]; ///< of the first check that failed
} reshard_case_t;

/// What a plan moves, in elements that the busiest rank receives.
typedef struct reshard_traffic_t {
  int64_t plan;
  int64_t lacking;      ///< what a rank needs and does not hold
  int64_t gather;       ///< by gathering every dim that differs and slicing
  int64_t first_gather; ///< the same of rank 0
  bool is_full;         ///< every rank's senders were looked at, not a sample's
} reshard_traffic_t;

/// A number below `below`, the next one of the case's seed.
int64_t reshard_draw(reshard_case_t *c, int64_t below);
/// Draws mesh, type and shardings by `c->seed`: axes of sizes 2, 3, 4, 5, 6, 8, tensors of 1 to 4
/// dims; meshes of at most RESHARDS_EVAL_RANKS ranks get small tensors.
void reshard_draw_case(reshard_case_t *c);

/// Notes the first failure.
void reshard_fail(reshard_case_t *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Elements that a rank receives in steps; reductions are not counted.
int64_t reshard_received(const reshard_case_t *c, tspec_steps_t steps, int64_t rank);
/// Follows the steps by index arithmetic: who holds which elements, who can send them, how many.
void reshard_follow(reshard_case_t *c, reshard_traffic_t *out_traffic);
/// Plays the steps with values on all ranks in the evaluator, and compares bytes and values.
void reshard_evaluate(reshard_case_t *c);

#endif
