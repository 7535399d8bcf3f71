// Small collectives of one kind become one call: the second half of `optimize-collectives`.
#ifndef TSPEC_PASSES_COMBINE_H
#define TSPEC_PASSES_COMBINE_H

#include "passes/pass.h"

/// Puts all_reduces, all_gathers and reduce_scatters that wait for latency rather than for bytes
/// into calls with several operands. A call stands where the last of its members stood. Earlier
/// members go down to it, and so do small ops that read them (docs/sharding.md says which). Values
/// keep their names, ids and places. Time: linear in the ops times the different sets of axes that
/// are in use at a time.
void tspec_combine_collectives(tspec_pass_run_t *run, tspec_func_t *func);

#endif
