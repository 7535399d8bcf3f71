// One row of the bytes benchmark: a program, an entry, a mesh, and what others send for it.
#ifndef TSPEC_BENCH_COMM_H
#define TSPEC_BENCH_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"

enum { COMM_MAX_ARGS = 16 };

typedef struct comm_row_t {
  const char *id;
  const char *file; ///< path of the program
  const char *entry;
  const char *mesh; ///< --mesh of its flags, or NULL: the program's own
  int nsets;
  const char *sets[COMM_MAX_ARGS]; ///< NAME=VALUE
  int nrules;
  const char *rules[COMM_MAX_ARGS]; ///< paths
  int64_t jax_bytes;
  int64_t aim_bytes; ///< `plain_bytes`; where absent, `least_bytes`
} comm_row_t;

typedef enum comm_outcome_t {
  COMM_DONE,    ///< predicted, and counted where that was asked for
  COMM_SKIPPED, ///< the entry needs an op or a form that is not built
  COMM_FAILED,  ///< the compiler refused or broke it, or the counts differ
} comm_outcome_t;

typedef struct comm_bytes_t {
  int64_t predicted;       ///< per call, sum over collectives of what the busiest rank sends
  int64_t counted;         ///< the same as the evaluator counted it on all ranks
  const char *why;         ///< skipped or failed: the reason, in the arena
  const char *collectives; ///< one line each, in the arena
} comm_bytes_t;

/// Compiles the row's program and, with `evaluate`, runs it once on all ranks in the evaluator with
/// zeros. Strings lie in `arena`.
comm_outcome_t comm_measure(const comm_row_t *row, bool evaluate, tspec_arena_t *arena,
                            comm_bytes_t *out_bytes);

#endif
