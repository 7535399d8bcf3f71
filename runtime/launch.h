// Where a program finds itself: which processor, started by whom, as which rank of how many. Ranks:
// everything here is local, before communication begins.
#ifndef TSPEC_RUNTIME_LAUNCH_H
#define TSPEC_RUNTIME_LAUNCH_H

#include <stdint.h>

#include "runtime/status.h"

/// Who started this process, from the environment.
typedef struct tspec_rt_launch_t {
  bool launched;  ///< by mpirun, mpiexec or srun
  int64_t nranks; ///< 1 if not launched
  int64_t rank;
} tspec_rt_launch_t;

tspec_rt_launch_t tspec_rt_launch_get(void);

/// Replaces this process by mpirun with `nranks` copies of it and the environment that suits
/// (perf.md 7). Returns only on failure.
tspec_rt_status_t tspec_rt_launch_exec(int64_t nranks, char **argv, tspec_rt_error_t *error);

/// Checks that this processor has each of the features (comma-separated LLVM names, a leading '+'
/// allowed, '-' names are passed over, and so are those that code generation makes no use of).
/// Errors: TSPEC_RT_CPU, naming what is missing and `cpu`.
tspec_rt_status_t tspec_rt_cpu_check(const char *features, const char *cpu,
                                     tspec_rt_error_t *error);

/// Cores that this process may run on.
int64_t tspec_rt_core_count(void);

/// Keeps malloc from giving memory back that MPI's temporaries will touch again (perf.md 3). Before
/// MPI starts.
void tspec_rt_malloc_tune(void);

#endif
