// What a chain is measured against: as few operations as the traffic allows.
#ifndef TSPEC_BENCH_LOOPS_H
#define TSPEC_BENCH_LOOPS_H

#include <stdint.h>

/// y = x / 2. One array read, one written; y may be x.
void bench_scale(int64_t count, const float *x, float *y);
/// y = (x + a + b + c) / 4. Four read, one written; y may be any of them.
void bench_add4(int64_t count, const float *const in[4], float *y);

#endif
