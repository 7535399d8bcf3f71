// Whether layouts by cost (passes/layouts.h) send less than the vote's, entry by entry: by trial.
#ifndef TSPEC_PASSES_COST_MODEL_H
#define TSPEC_PASSES_COST_MODEL_H

#include "passes/pass.h"

/// Makes the shardings of an entry's ops fit together, by cost or by vote. Returns false if cost
/// changes nothing there.
typedef bool (*tspec_fit_fn_t)(tspec_pass_run_t *run, tspec_func_t *func, bool by_cost);

/// For each entry of the program, which is left as it is: true if `fit` by cost, and the passes up
/// to the end of the local level behind it, lead to collectives that cost less (tspec_wire_weigh)
/// than by vote; of equal cost, to fewer bytes. False for all where options ask for votes. In
/// run->scratch.
const bool *tspec_cost_model_choose(const tspec_pass_run_t *run, tspec_fit_fn_t fit);

#endif
