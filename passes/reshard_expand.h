// Ops whose partial results do not combine (argmax: an index alone does not say which value it
// stands for), taken apart into ops whose do. Private to pass `reshard`.
#ifndef TSPEC_PASSES_RESHARD_EXPAND_H
#define TSPEC_PASSES_RESHARD_EXPAND_H

#include "passes/pass.h"

/// Takes apart those ops of `func` along a split dim for which that sends less than making the dim
/// whole. The new ops have shardings as `propagate` would give them.
void tspec_expand_partials(tspec_pass_run_t *run, tspec_func_t *func);

#endif
