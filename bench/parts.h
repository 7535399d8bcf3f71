// The parts of bench. Each prints its lines and counts its aims.
#ifndef TSPEC_BENCH_PARTS_H
#define TSPEC_BENCH_PARTS_H

#include "bench/measure.h"

/// CPU time of tspecc on examples/programs/dotreludot.tspec.
void bench_compile(bench_tally_t *tally);
/// From the start of the process of `digits predict` to its first step.
void bench_start(bench_tally_t *tally);
/// Products against oneDNN called by itself.
void bench_products(bench_tally_t *tally);
/// Fused elementwise chains against plain loops with the same traffic.
void bench_chains(bench_tally_t *tally);

#endif
