// Notices a collective that does not end: some rank is stuck elsewhere, or gone. A thread of its
// own looks at the clock; the steps only note when they begin and end.
#ifndef TSPEC_RUNTIME_WATCHDOG_H
#define TSPEC_RUNTIME_WATCHDOG_H

#include <stdint.h>

#include "runtime/comm.h"

typedef struct tspec_rt_watchdog_t tspec_rt_watchdog_t;

/// Starts it; with one rank, or if there is no memory for it, NULL, which the calls below accept.
/// `comm` is borrowed. When a collective takes longer than `timeout_seconds`, one rank prints what
/// waits where and for which ranks (of its host), and all are taken down with exit code 1. Ranks:
/// collective over all.
tspec_rt_watchdog_t *tspec_rt_watchdog_create(tspec_comm_t *comm, double timeout_seconds);

/// A collective begins: `what` and `where` as its step says; borrowed until it ends. Ranks: local.
void tspec_rt_watchdog_begin(tspec_rt_watchdog_t *watchdog, const char *what, const char *where);
/// It has ended. Ranks: local.
void tspec_rt_watchdog_end(tspec_rt_watchdog_t *watchdog);

/// Stops the thread. Ranks: local.
void tspec_rt_watchdog_destroy(tspec_rt_watchdog_t *watchdog);

/// Nanoseconds of a clock that only goes forward, the same for all ranks of a host.
int64_t tspec_rt_clock_ns(void);

#endif
