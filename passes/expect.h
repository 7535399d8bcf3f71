// The program's promises about itself (`expect` blocks) against what was compiled.
#ifndef TSPEC_PASSES_EXPECT_H
#define TSPEC_PASSES_EXPECT_H

#include <stdbool.h>

#include "ir/program.h"

/// Which promises can be judged.
typedef enum tspec_expect_about_t {
  TSPEC_EXPECT_COMMUNICATION, ///< counts and bytes: at level local or kernels
  TSPEC_EXPECT_MEMORY,        ///< after plan-memory
} tspec_expect_about_t;

/// Checks the promises of that kind. A broken line is an error at the line (under --mesh or --set a
/// warning), with the collectives that it counts, each with its place and cause, as notes. An entry
/// that is not compiled keeps its promises. Errors: false after reporting.
bool tspec_expect_check(const tspec_program_t *program, tspec_expect_about_t about,
                        tspec_diag_t *diag);

#endif
