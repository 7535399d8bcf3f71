// Slices, paddings, concatenations and conversions of each other as one exchange, from where the
// elements lie in the first place to where they are wanted in the end: a turn of a split tensor,
// concat of two slices, sends what crosses a border once. For pass `partition`.
#ifndef TSPEC_PASSES_COMPOSE_H
#define TSPEC_PASSES_COMPOSE_H

#include "passes/pass.h"
#include "passes/wire.h"

/// Makes one collective of each tree of such ops of `func` for which that sends less than the ops
/// one by one, or as much in fewer collectives. Takes a sharded program; numbers the values.
void tspec_compose_parts(tspec_pass_run_t *run, tspec_wire_t *wire, tspec_func_t *func);

#endif
