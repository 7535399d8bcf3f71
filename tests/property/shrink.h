// Makes a failing program smaller while it fails in the same way.
#ifndef TSPEC_TESTS_PROPERTY_SHRINK_H
#define TSPEC_TESTS_PROPERTY_SHRINK_H

#include "tests/property/check.h"

/// `outcome` is the failure; it is replaced by that of the smaller program.
void prop_shrink(prop_program_t *program, const prop_check_options_t *options,
                 prop_outcome_t *outcome);

#endif
