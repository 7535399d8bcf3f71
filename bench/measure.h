// Measuring: CPU time of this thread, in pairs that alternate, so that a noisy machine disturbs
// both sides alike; and other processes.
#ifndef TSPEC_BENCH_MEASURE_H
#define TSPEC_BENCH_MEASURE_H

#include <stdbool.h>

/// How many of the aims were met; every part counts its own here.
typedef struct bench_tally_t {
  int met, aims;
} bench_tally_t;

/// Counts one aim and returns "met" or "missed".
const char *bench_tally_add(bench_tally_t *tally, bool met);

typedef void (*bench_fn_t)(void *user);

/// Medians over the repeats of bench_compare.
typedef struct bench_pair_t {
  double a, b;  ///< seconds of one call
  double ratio; ///< of b's time to a's, within each repeat: over 1 if a is the faster
} bench_pair_t;

/// Calls a and b in turn, each often enough that a sample is long against the clock.
bench_pair_t bench_compare(bench_fn_t a, bench_fn_t b, void *user);

/// Median of `count` numbers, which it sorts.
double bench_median(double *numbers, int count);

/// CPU seconds of this thread.
double bench_cpu_seconds(void);
/// Seconds of CLOCK_MONOTONIC, the clock of --profile.
double bench_wall_seconds(void);

/// What a process took.
typedef struct bench_process_t {
  double begin;       ///< bench_wall_seconds just before it was made
  double wall;        ///< seconds from then to its end
  double cpu;         ///< user + system seconds of it and the children it waited for
  double largest_mib; ///< peak memory
} bench_process_t;

/// Runs `argv` (NULL at the end) to its end, its output dropped. False with a line on stderr if
/// it fails.
bool bench_run_process(const char *const *argv, bench_process_t *out_process);

#endif
