// Ops on single elements, per dtype: f64 in double; f32, bf16 and f16 in float and rounded to their
// dtype; integers wrap at their width.
#ifndef TSPEC_IR_EVAL_SCALAR_H
#define TSPEC_IR_EVAL_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/op_rules.h"

/// One element: `f` of float dtypes, `i` of integers and bool.
typedef union tspec_element_t {
  double f;
  int64_t i;
} tspec_element_t;

/// An elementwise op but select and convert; `dtype` is the operands'. The result is of the op's
/// result dtype (bool for comparisons), float ones rounded to f32's or f64's numbers: the one who
/// stores it rounds to bf16 or f16.
tspec_element_t tspec_scalar_eval(tspec_op_kind_t kind, tspec_dtype_t dtype,
                                  const tspec_element_t *args);
/// The larger (smaller) float, NaN if either is; of zeros +0 is larger.
double tspec_scalar_max(double a, double b);
double tspec_scalar_min(double a, double b);

#endif
