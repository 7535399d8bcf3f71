// Initial parameters, as docs/numbers.md defines them to the bit. Ranks: everything here is local.
#ifndef TSPEC_RUNTIME_RANDOM_H
#define TSPEC_RUNTIME_RANDOM_H

#include <stdint.h>

#include "runtime/layout.h"

/// FNV-1a, 64 bits, of a string.
uint64_t tspec_rt_hash(const char *text);
/// Philox4x32-10: counter and key in, the same four words out.
void tspec_rt_philox(uint32_t counter[4], uint32_t key0, uint32_t key1);
/// The 64 random bits of element `index`.
uint64_t tspec_rt_random_bits(uint64_t seed, uint64_t path_hash, int64_t index);
/// Strictly between 0 and 1.
double tspec_rt_uniform(uint64_t bits);
/// Quantile of the normal distribution, 0 < p < 1.
double tspec_rt_normal_quantile(double p);

/// Fills this rank's block of a parameter. `init` and `args` as in tspec_image_param_t.
void tspec_rt_init_block(const tspec_rt_tensor_t *tensor, uint32_t init, const double args[2],
                         uint64_t seed, const char *path, void *out);

#endif
