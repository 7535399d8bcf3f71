// Whether layouts by cost (passes/layouts.h) send less than the vote's, entry by entry: by trial.
#ifndef TSPEC_PASSES_COST_MODEL_H
#define TSPEC_PASSES_COST_MODEL_H

#include "passes/layouts.h"
#include "passes/pass.h"

/// Makes the shardings of an entry's ops fit together, by cost or by vote. Returns NULL if that is
/// by vote, or the same.
typedef tspec_by_cost_t *(*tspec_fit_fn_t)(tspec_pass_run_t *run, tspec_func_t *func, bool by_cost);

typedef struct tspec_model_choice_t {
  bool by_cost;
  tspec_spent_t cost; ///< if by cost: what that spends, and the vote
  tspec_spent_t vote;
} tspec_model_choice_t;

/// For each entry of the program, which is left as it is: by cost if `fit` so, and the passes up to
/// the end of the local level behind it, lead to collectives that cost less than by vote; of equal
/// cost, to fewer bytes. By vote for all where options ask for that. In run->scratch.
const tspec_model_choice_t *tspec_cost_model_choose(const tspec_pass_run_t *run,
                                                    tspec_fit_fn_t fit);

/// A copy of a program before pass `reshard`, in run->scratch, whose values and results lie as that
/// pass will have them lie.
const tspec_program_t *tspec_cost_model_preview(const tspec_pass_run_t *run);

#endif
