// Initial parameters, as docs/numbers.md defines them: to the bit, by seed, path and index.
#ifndef TSPEC_IR_EVAL_INIT_H
#define TSPEC_IR_EVAL_INIT_H

#include <stdint.h>

#include "ir/program.h"

/// The key of a path.
uint64_t tspec_init_hash(const char *path);
/// The 64 bits of an element.
uint64_t tspec_init_bits(uint64_t seed, uint64_t path_hash, uint64_t index);
/// The quantile of the normal distribution; 0 < p < 1.
double tspec_init_normal_quantile(double p);
/// The initial value of element `index` (row-major in the whole tensor), not yet rounded to a
/// dtype.
double tspec_init_element(tspec_init_kind_t kind, const double args[2], uint64_t seed,
                          uint64_t path_hash, uint64_t index);

#endif
