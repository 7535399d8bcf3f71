#include "runtime/watchdog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NAMED_RANKS = 8, ABORT_SECONDS = 5 };

struct tspec_rt_watchdog_t {
  tspec_comm_t *comm;
  int64_t timeout_ns;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  bool stopping;            ///< under the mutex
  _Atomic int64_t began_ns; ///< 0: no collective runs
  _Atomic(const char *) what;
  _Atomic(const char *) where;
  int64_t begun; ///< collectives so far
  _Atomic int64_t
      *board; ///< of each rank of this host, how many it has begun; then: who reports. NULL: none
  int nboard;
  const int *board_ranks;
  int board_place; ///< of this rank
};

int64_t tspec_rt_clock_ns(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// "; rank 3 has not come to it": those that have begun fewer collectives than this rank. Empty if
// that is not known.
static void list_missing(const tspec_rt_watchdog_t *watchdog, char *out, size_t out_bytes) {
  int named = 0;
  int missing = 0;
  size_t at = 0;
  out[0] = '\0';
  if (watchdog->board == NULL) {
    return;
  }
  int64_t mine = atomic_load(&watchdog->board[watchdog->board_place]);
  for (int i = 0; i < watchdog->nboard; ++i) {
    if (atomic_load(&watchdog->board[i]) >= mine) {
      continue;
    }
    missing += 1;
    if (named < NAMED_RANKS && at < out_bytes) {
      at +=
          (size_t)snprintf(out + at, out_bytes - at, "%s%d",
                           named == 0 ? "; not there yet: rank " : ", ", watchdog->board_ranks[i]);
      named += 1;
    }
  }
  if (missing > named && at < out_bytes) {
    (void)snprintf(out + at, out_bytes - at, " and %d more", missing - named);
  }
}

// True if this rank is the one of its host that speaks: the first, of those that have got furthest,
// to get here.
static bool claim_report(tspec_rt_watchdog_t *watchdog) {
  if (watchdog->board == NULL) {
    return true;
  }
  int64_t nobody = 0;
  return atomic_compare_exchange_strong(&watchdog->board[watchdog->nboard], &nobody, 1);
}

// Does not return.
static void report(tspec_rt_watchdog_t *watchdog) {
  const tspec_comm_t *comm = watchdog->comm;
  if (!claim_report(watchdog)) {
    (void)sleep(ABORT_SECONDS); // the one that speaks ends this rank, too
  } else {
    char missing[256];
    list_missing(watchdog, missing, sizeof missing);
    const char *where = atomic_load(&watchdog->where);
    (void)fprintf(stderr, "rank %d/%d: %s%s%s has not ended within %.0f s%s\n", comm->rank,
                  comm->nranks, atomic_load(&watchdog->what), where[0] != '\0' ? " at " : "", where,
                  (double)watchdog->timeout_ns * 1e-9, missing);
    (void)fflush(stderr);
  }
  (void)alarm(ABORT_SECONDS); // should MPI_Abort hang as well
  comm->ops->abort(watchdog->comm, 1);
}

static void *watch(void *user) {
  tspec_rt_watchdog_t *watchdog = user;
  int64_t pause = watchdog->timeout_ns / 8;
  pause = pause > 1000000000 ? 1000000000 : pause;
  (void)pthread_mutex_lock(&watchdog->mutex);
  bool late = false;
  while (!watchdog->stopping && !late) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + pause;
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    (void)pthread_cond_timedwait(&watchdog->wake, &watchdog->mutex, &until);
    int64_t began = atomic_load(&watchdog->began_ns);
    late = !watchdog->stopping && began != 0 && tspec_rt_clock_ns() - began > watchdog->timeout_ns;
  }
  (void)pthread_mutex_unlock(&watchdog->mutex);
  if (late) {
    report(watchdog);
  }
  return NULL;
}

tspec_rt_watchdog_t *tspec_rt_watchdog_create(tspec_comm_t *comm, double timeout_seconds) {
  if (comm->nranks == 1) {
    return NULL;
  }
  // Before anything can fail on this rank alone: the others take part in it.
  int nboard = 0;
  const int *board_ranks = NULL;
  int64_t *board = comm->ops->board_create(comm, &nboard, &board_ranks);
  tspec_rt_watchdog_t *watchdog = calloc(1, sizeof *watchdog);
  if (watchdog == NULL) {
    return NULL;
  }
  watchdog->comm = comm;
  watchdog->board = (_Atomic int64_t *)board;
  watchdog->nboard = nboard;
  watchdog->board_ranks = board_ranks;
  for (int i = 0; i < nboard; ++i) {
    watchdog->board_place = board_ranks[i] == comm->rank ? i : watchdog->board_place;
  }
  double ns = timeout_seconds * 1e9;
  watchdog->timeout_ns = ns < 1e18 ? (int64_t)ns + 1 : INT64_MAX / 2;
  atomic_store(&watchdog->what, "start");
  atomic_store(&watchdog->where, "");
  pthread_condattr_t monotonic;
  (void)pthread_condattr_init(&monotonic);
  (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  (void)pthread_mutex_init(&watchdog->mutex, NULL);
  (void)pthread_cond_init(&watchdog->wake, &monotonic);
  (void)pthread_condattr_destroy(&monotonic);
  if (pthread_create(&watchdog->thread, NULL, watch, watchdog) != 0) {
    free(watchdog);
    return NULL;
  }
  return watchdog;
}

void tspec_rt_watchdog_begin(tspec_rt_watchdog_t *watchdog, const char *what, const char *where) {
  if (watchdog == NULL) {
    return;
  }
  atomic_store_explicit(&watchdog->what, what, memory_order_relaxed);
  atomic_store_explicit(&watchdog->where, where, memory_order_relaxed);
  watchdog->begun += 1;
  if (watchdog->board != NULL) {
    atomic_store_explicit(&watchdog->board[watchdog->board_place], watchdog->begun,
                          memory_order_relaxed);
  }
  atomic_store_explicit(&watchdog->began_ns, tspec_rt_clock_ns(), memory_order_release);
}

void tspec_rt_watchdog_end(tspec_rt_watchdog_t *watchdog) {
  if (watchdog != NULL) {
    atomic_store_explicit(&watchdog->began_ns, 0, memory_order_release);
  }
}

void tspec_rt_watchdog_destroy(tspec_rt_watchdog_t *watchdog) {
  if (watchdog == NULL) {
    return;
  }
  (void)pthread_mutex_lock(&watchdog->mutex);
  watchdog->stopping = true;
  (void)pthread_cond_signal(&watchdog->wake);
  (void)pthread_mutex_unlock(&watchdog->mutex);
  (void)pthread_join(watchdog->thread, NULL);
  (void)pthread_cond_destroy(&watchdog->wake);
  (void)pthread_mutex_destroy(&watchdog->mutex);
  free(watchdog);
}
