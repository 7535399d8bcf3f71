#include "runtime/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/layout.h"

struct tspec_rt_workers_t {
  pthread_mutex_t mutex;
  pthread_cond_t start;
  pthread_cond_t done;
  int nthreads; ///< with the caller
  int64_t job;  ///< number of the current one; everything below is under the mutex
  int parts;
  int taken;    ///< parts handed out
  int finished; ///< parts done
  bool stopping;
  int64_t range;
  void (*work)(void *user, int64_t begin, int64_t end);
  void *user;
  pthread_t threads[];
};

// Takes parts of the current job until none is left. The mutex is held on entry and on return.
static void take_parts(tspec_rt_workers_t *workers) {
  while (workers->taken < workers->parts) {
    int part = workers->taken++;
    (void)pthread_mutex_unlock(&workers->mutex);
    int64_t begin = 0;
    int64_t end = 0;
    tspec_rt_block(workers->range, workers->parts, part, &begin, &end);
    if (begin < end) {
      workers->work(workers->user, begin, end);
    }
    (void)pthread_mutex_lock(&workers->mutex);
    if (++workers->finished == workers->parts) {
      (void)pthread_cond_signal(&workers->done);
    }
  }
}

static void *run_thread(void *user) {
  tspec_rt_workers_t *workers = user;
  int64_t seen = 0;
  (void)pthread_mutex_lock(&workers->mutex);
  while (!workers->stopping) {
    if (workers->job == seen) {
      (void)pthread_cond_wait(&workers->start, &workers->mutex);
      continue;
    }
    seen = workers->job;
    take_parts(workers);
  }
  (void)pthread_mutex_unlock(&workers->mutex);
  return NULL;
}

tspec_rt_workers_t *tspec_rt_workers_create(int count) {
  if (count <= 1) {
    return NULL;
  }
  tspec_rt_workers_t *workers =
      calloc(1, sizeof *workers + (size_t)(count - 1) * sizeof workers->threads[0]);
  if (workers == NULL) {
    return NULL;
  }
  (void)pthread_mutex_init(&workers->mutex, NULL);
  (void)pthread_cond_init(&workers->start, NULL);
  (void)pthread_cond_init(&workers->done, NULL);
  workers->nthreads = 1;
  for (int i = 0; i < count - 1; ++i) {
    if (pthread_create(&workers->threads[i], NULL, run_thread, workers) != 0) {
      break;
    }
    workers->nthreads += 1;
  }
  return workers;
}

void tspec_rt_workers_destroy(tspec_rt_workers_t *workers) {
  if (workers == NULL) {
    return;
  }
  (void)pthread_mutex_lock(&workers->mutex);
  workers->stopping = true;
  (void)pthread_cond_broadcast(&workers->start);
  (void)pthread_mutex_unlock(&workers->mutex);
  for (int i = 0; i < workers->nthreads - 1; ++i) {
    (void)pthread_join(workers->threads[i], NULL);
  }
  (void)pthread_cond_destroy(&workers->done);
  (void)pthread_cond_destroy(&workers->start);
  (void)pthread_mutex_destroy(&workers->mutex);
  free(workers);
}

void tspec_rt_workers_run(tspec_rt_workers_t *workers, int64_t range, int64_t grain,
                          void (*work)(void *user, int64_t begin, int64_t end), void *user) {
  int64_t most = range / (grain > 0 ? grain : 1);
  if (workers == NULL || workers->nthreads == 1 || most <= 1) {
    if (range > 0) {
      work(user, 0, range);
    }
    return;
  }
  (void)pthread_mutex_lock(&workers->mutex);
  workers->job += 1;
  workers->parts = (int)(most < workers->nthreads ? most : workers->nthreads);
  workers->taken = 0;
  workers->finished = 0;
  workers->range = range;
  workers->work = work;
  workers->user = user;
  (void)pthread_cond_broadcast(&workers->start);
  take_parts(workers);
  while (workers->finished < workers->parts) {
    (void)pthread_cond_wait(&workers->done, &workers->mutex);
  }
  (void)pthread_mutex_unlock(&workers->mutex);
}
