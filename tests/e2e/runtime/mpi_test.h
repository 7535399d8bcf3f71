// What the runtime's MPI programs share: counted checks and one closing line from rank 0.
#ifndef TSPEC_TESTS_MPI_TEST_H
#define TSPEC_TESTS_MPI_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/comm.h"

typedef struct mpi_test_t {
  tspec_comm_t *comm;
  int64_t checks;
  int64_t failures;
  uint64_t random; ///< equal on all ranks
} mpi_test_t;

#define MPI_CHECK(test, condition, ...)                                                            \
  do {                                                                                             \
    (test)->checks += 1;                                                                           \
    if (!(condition) && (test)->failures++ < 5) {                                                  \
      fprintf(stderr, "rank %d: %s:%d: %s: ", (test)->comm->rank, __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fprintf(stderr, "\n");                                                                       \
    }                                                                                              \
  } while (0)

/// 0 .. limit - 1, the same on all ranks (xorshift64*; Vigna 2016).
static inline int64_t mpi_test_random(mpi_test_t *test, int64_t limit) {
  uint64_t x = test->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  test->random = x;
  return (int64_t)((x * 2685821657736338717u >> 33) % (uint64_t)limit);
}

/// One rank without MPI where there is only one, unless the environment says that mpirun started
/// it.
static inline void mpi_test_start(mpi_test_t *test, uint64_t seed) {
  tspec_rt_error_t error = {0};
  *test = (mpi_test_t){.random = seed * 2 + 1};
  if (getenv("OMPI_COMM_WORLD_SIZE") == NULL) {
    test->comm = tspec_comm_self_create();
  } else if (tspec_comm_mpi_create(NULL, &error, &test->comm) != TSPEC_RT_OK) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
}

/// Sums up over the ranks, prints, ends MPI. Returns the exit code.
static inline int mpi_test_finish(mpi_test_t *test, const char *name) {
  int64_t totals[2] = {test->checks, test->failures};
  tspec_comm_t *comm = test->comm;
  if (comm->ops->allreduce(comm->world, totals, 2, TSPEC_RT_I64, TSPEC_RT_SUM) != TSPEC_RT_OK) {
    totals[1] += 1;
  }
  if (comm->rank == 0) {
    printf("%s: %lld checks on %d ranks, %lld failed\n", name, (long long)totals[0], comm->nranks,
           (long long)totals[1]);
  }
  comm->ops->destroy(comm);
  return totals[1] == 0 ? 0 : 1;
}

#endif
