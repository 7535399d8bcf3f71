// The collectives of an entry, as reports, `expect` and tests count them.
#ifndef TSPEC_PASSES_COLLECTIVES_H
#define TSPEC_PASSES_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/program.h"
#include "ir/shard/cost.h"

/// One collective op of a local or kernels program that sends something: one call, whatever the
/// number of its operands.
typedef struct tspec_collective_use_t {
  const tspec_op_t *op;
  tspec_collective_t kind;
  int naxes;
  const tspec_axis_t *axes;
  int64_t bytes; ///< sent per call by the rank that sends most, ring convention
} tspec_collective_use_t;

/// The collective that an op is. False if it is none, or a local one (all_slice, make_pending).
bool tspec_collective_of(const tspec_program_t *program, const tspec_op_t *op,
                         tspec_collective_use_t *out_use);

/// All collectives of `func` in program order. Returns how many; the list lies in `arena`.
int tspec_func_collectives(const tspec_program_t *program, const tspec_func_t *func,
                           tspec_arena_t *arena, tspec_collective_use_t **out_uses);

/// Where a collective comes from: "mlp.tspec:9", or each line of those that became one call, up to
/// TSPEC_COLLECTIVE_MAX_LINES of them: "mlp.tspec:9, mlp.tspec:12 and 3 more". In `arena`.
enum { TSPEC_COLLECTIVE_MAX_LINES = 8 };
const char *tspec_collective_lines(tspec_arena_t *arena, const tspec_sources_t *sources,
                                   const tspec_op_t *op);

/// The place of what a collective does with operand `index`.
tspec_range_t tspec_collective_range(const tspec_op_t *op, int index);

/// "all_reduce over model, 16384 bytes, all_reduce for 'dot' (mlp.tspec:9)", in `arena`.
const char *tspec_collective_print(tspec_arena_t *arena, const tspec_program_t *program,
                                   const tspec_sources_t *sources,
                                   const tspec_collective_use_t *use);

#endif
