// A program compiled by tspecc and run over MPI.
#ifndef TSPEC_TESTS_PROPERTY_NATIVE_H
#define TSPEC_TESTS_PROPERTY_NATIVE_H

#include "ir/eval/eval.h"
#include "tests/property/check.h"
#include "tests/property/compile.h"

/// Runs an entry natively: its results must be those of `whole`, which has just run it, and its
/// collectives must send what was predicted. The first entry's call compiles.
void prop_native_check(const prop_program_t *program, const prop_compiled_t *compiled, int entry,
                       const prop_check_options_t *options, tspec_eval_t *whole,
                       prop_outcome_t *outcome);

#endif
