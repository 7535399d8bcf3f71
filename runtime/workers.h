// Threads of one rank: a range cut into equal parts, one per thread. Kernels compute each index of
// their outer range independently, so the number of threads does not change a bit.
#ifndef TSPEC_RUNTIME_WORKERS_H
#define TSPEC_RUNTIME_WORKERS_H

#include <stdint.h>

typedef struct tspec_rt_workers_t tspec_rt_workers_t;

/// Starts `count` - 1 threads; the caller is one, too. NULL for count 1 or if no thread can be
/// started: work is done by the caller alone. Ownership: tspec_rt_workers_destroy. Ranks: local.
tspec_rt_workers_t *tspec_rt_workers_create(int count);
void tspec_rt_workers_destroy(tspec_rt_workers_t *workers);

/// Calls `work(user, begin, end)` for parts that cover [0, range), and returns when all are done.
/// `grain`: at least so many indices per part. Ranks: local. Threads: one caller at a time.
void tspec_rt_workers_run(tspec_rt_workers_t *workers, int64_t range, int64_t grain,
                          void (*work)(void *user, int64_t begin, int64_t end), void *user);

#endif
