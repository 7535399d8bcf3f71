#define _GNU_SOURCE // sched_getaffinity

#include "runtime/launch.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_number(const char *variable, int64_t *out_number) {
  const char *text = getenv(variable);
  if (text == NULL || *text == '\0') {
    return false;
  }
  char *end = NULL;
  *out_number = strtoll(text, &end, 10);
  return *end == '\0';
}

tspec_rt_launch_t tspec_rt_launch_get(void) {
  // Open MPI, MPICH's and Intel's mpiexec, srun. SLURM_NTASKS alone is no sign: a batch script has
  // it, too.
  static const char *const variables[][2] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
      {"PMI_SIZE", "PMI_RANK"},
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
  };
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
    tspec_rt_launch_t launch = {.launched = true};
    if (read_number(variables[i][0], &launch.nranks) &&
        read_number(variables[i][1], &launch.rank)) {
      return launch;
    }
  }
  return (tspec_rt_launch_t){.nranks = 1};
}

int64_t tspec_rt_core_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
    return CPU_COUNT(&set);
  }
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? count : 1;
}

void tspec_rt_malloc_tune(void) {
  (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
  (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
  (void)mallopt(M_TOP_PAD, 64 << 20);
}

// What the user has set stays.
static void set_default(const char *name, const char *value) {
  (void)setenv(name, value, 0);
}

static void set_environment(int64_t nranks) {
  set_default("OMPI_ALLOW_RUN_AS_ROOT", "1");
  set_default("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  set_default("OMPI_MCA_pml", "ob1");                     // no search for fabrics: 0.2 s
  set_default("OMPI_MCA_odls_base_sigkill_timeout", "0"); // after a failure the rest go at once
  set_default("OMPI_MCA_btl_base_warn_component_unused", "0");
  set_default("OMP_NUM_THREADS", "1");
  set_default("OMP_WAIT_POLICY", "passive");
  set_default("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  if (nranks > tspec_rt_core_count()) {
    set_default("OMPI_MCA_mpi_yield_when_idle", "1"); // else a small message takes milliseconds
    set_default("OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
    set_default("OMPI_MCA_coll_tuned_allreduce_algorithm", "1");
  }
}

tspec_rt_status_t tspec_rt_launch_exec(int64_t nranks, char **argv, tspec_rt_error_t *error) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) {
    return tspec_rt_fail(error, TSPEC_RT_RANKS, "cannot find this executable: %s", strerror(errno));
  }
  self[length] = '\0';
  char count[32];
  (void)snprintf(count, sizeof count, "%lld", (long long)nranks);
  // -q: a rank's own line says why it failed; mpirun has nothing to add
  const char *head[] = {"mpirun", "-q", "--oversubscribe", "--bind-to", "none", "-n", count, self};
  size_t nhead = sizeof head / sizeof head[0];
  size_t nargs = 0;
  while (argv[nargs] != NULL) {
    nargs += 1;
  }
  char **command = calloc(nhead + nargs + 1, sizeof *command);
  if (command == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory");
  }
  for (size_t i = 0; i < nhead; ++i) {
    command[i] = (char *)(uintptr_t)head[i];
  }
  for (size_t i = 1; i < nargs; ++i) {
    command[nhead + i - 1] = argv[i];
  }
  set_environment(nranks);
  (void)execvp("mpirun", command);
  int reason = errno;
  free(command);
  return tspec_rt_fail(error, TSPEC_RT_RANKS,
                       "%lld ranks are needed, but mpirun cannot be started: %s", (long long)nranks,
                       strerror(reason));
}
