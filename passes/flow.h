// What stands around a collective: where the partial results that it reduces were made, and who
// reads what it gives.
#ifndef TSPEC_PASSES_FLOW_H
#define TSPEC_PASSES_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "passes/collectives.h"

/// One function of level local, with the readers of its values.
typedef struct tspec_flow_t tspec_flow_t;

/// Numbers the function's values, which must not be renumbered while this is read. In `arena`.
tspec_flow_t *tspec_flow_create(tspec_arena_t *arena, const tspec_program_t *program,
                                tspec_func_t *func);

/// The ops that read what a collective gives, in program order, each place once; NULL stands for a
/// result that is returned. What is part of the same conversion is no reader, but its readers are.
/// Returns how many; the list lies in the arena.
int tspec_flow_readers(tspec_flow_t *flow, const tspec_op_t *op,
                       const tspec_op_t *const **out_readers);

/// An op that made partial results by itself.
typedef struct tspec_maker_t {
  const tspec_op_t *op;
  int naxes;
  const tspec_axis_t *axes; ///< over which its split reduction left them
  int64_t bytes;            ///< that reducing them right behind it would send
} tspec_maker_t;

/// Partial results that travelled.
typedef struct tspec_travelled_t {
  TSPEC_VEC(tspec_maker_t) makers;     ///< in program order
  TSPEC_VEC(const tspec_op_t *) along; ///< the ops between them and the collective, in that order
} tspec_travelled_t;

/// What a collective reduces that was not made right before it. False: nothing.
bool tspec_flow_travelled(tspec_flow_t *flow, const tspec_collective_use_t *use,
                          tspec_travelled_t *out);

#endif
