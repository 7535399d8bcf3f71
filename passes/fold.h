// What an op on constants is, where the answer is the same bits as computing it: operations that
// IEEE 754 defines exactly, and integers.
#ifndef TSPEC_PASSES_FOLD_H
#define TSPEC_PASSES_FOLD_H

#include <stdbool.h>

#include "ir/program.h"

/// True if every element of the value is the same known number.
bool tspec_value_splat(const tspec_value_t *value, double *out_number);

/// True if every element of the op's result is the same number, known now: elementwise ops and
/// moves on splats. Functions whose last bit depends on who computes them are left alone.
bool tspec_fold_splat(const tspec_op_t *op, double *out_number);

/// The operand that the op's result equals bit by bit (x * 1, x / 1, x - 0, a conversion to its own
/// type), or NULL.
tspec_value_t *tspec_fold_neutral(const tspec_op_t *op);

#endif
