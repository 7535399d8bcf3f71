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

/// Runs `nranks` copies of this process under mpirun, in the environment that suits (perf.md 7),
/// and waits for it. *out_exit_code: mpirun's, that is the failing rank's; where a signal ended a
/// rank, a line says so. Errors: TSPEC_RT_RANKS if mpirun cannot be started.
tspec_rt_status_t tspec_rt_launch_run(int64_t nranks, char **argv, tspec_rt_error_t *error,
                                      int *out_exit_code);

/// From now on a crash (a bad address, an illegal instruction, ..) prints one line that names the
/// rank and the step before it ends the process. For programs of our own alone: it sets handlers of
/// signals.
void tspec_rt_crash_watch(int rank, int nranks);
/// What runs now, for that line; borrowed.
void tspec_rt_crash_step(const char *what, const char *where);

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
