// Looks at a module's text before MLIR does. MLIR's parser and printer recurse without a limit and
// write shared attributes out each time: a text that nests too deep would overflow the stack, one
// whose aliases double would never end.
#ifndef TSPEC_IR_MLIR_GUARD_H
#define TSPEC_IR_MLIR_GUARD_H

#include <stdbool.h>

#include "ir/base/diag.h"

/// How deep brackets may nest, aliases within each other included, and how many operators may
/// follow each other in an expression.
enum { TSPEC_MLIR_MAX_DEPTH = 256 };
/// How many brackets, names and aliases a text may have once its aliases are written out.
enum { TSPEC_MLIR_MAX_WEIGHT = 1 << 26 };

/// Errors: false after reporting the first place that goes over a limit.
bool tspec_mlir_guard(uint32_t file, tspec_diag_t *diag);

#endif
