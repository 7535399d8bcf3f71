#define _GNU_SOURCE // sched_getaffinity, pipe2, basename

#include "runtime/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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
  // When ranks end early, mpirun's libevent may warn of a descriptor that epoll no longer knows.
  set_default("EVENT_NOEPOLL", "1");
  set_default("OMP_NUM_THREADS", "1");
  set_default("OMP_WAIT_POLICY", "passive");
  set_default("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  if (nranks > tspec_rt_core_count()) {
    set_default("OMPI_MCA_mpi_yield_when_idle", "1"); // else a small message takes milliseconds
    set_default("OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
    set_default("OMPI_MCA_coll_tuned_allreduce_algorithm", "1");
  }
}

// The command line of mpirun. NULL when out of memory.
static char **make_command(const char *self, const char *count, char **argv) {
  // -q: a rank's own line says why it failed; mpirun has nothing to add.
  const char *head[] = {
      "mpirun", "-q", "--oversubscribe", "--bind-to", "none", "--stdin", "none", "-n", count, self};
  size_t nhead = sizeof head / sizeof head[0];
  size_t nargs = 0;
  while (argv[nargs] != NULL) {
    nargs += 1;
  }
  char **command = (char **)calloc(nhead + nargs + 1, sizeof *command);
  if (command == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < nhead; ++i) {
    command[i] = (char *)(uintptr_t)head[i];
  }
  for (size_t i = 1; i < nargs; ++i) {
    command[nhead + i - 1] = argv[i];
  }
  return command;
}

// In the child: becomes mpirun, or writes errno to the pipe.
static void become_mpirun(char **command, int64_t nranks, int pipe_end) {
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM); // no ranks without a parent
  set_environment(nranks);
  (void)execvp(command[0], command);
  int reason = errno;
  (void)!write(pipe_end, &reason, sizeof reason);
  _exit(127);
}

static volatile sig_atomic_t mpirun_process; // for the handler alone

static void pass_on(int number) {
  if (mpirun_process > 0) {
    (void)kill((pid_t)mpirun_process, number);
  }
}

// SIGTERM goes on to mpirun; SIGINT reaches it by itself, as all are in the terminal's group.
static int wait_for(pid_t child) {
  struct sigaction forward = {.sa_handler = pass_on};
  mpirun_process = (sig_atomic_t)child;
  (void)sigaction(SIGTERM, &forward, NULL);
  (void)sigaction(SIGHUP, &forward, NULL);
  (void)signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool is_crash(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
}

tspec_rt_status_t tspec_rt_launch_run(int64_t nranks, char **argv, tspec_rt_error_t *error,
                                      int *out_exit_code) {
  char self[PATH_MAX];
  char count[32];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  (void)snprintf(count, sizeof count, "%lld", (long long)nranks);
  char **command = make_command(self, count, argv);
  int ends[2] = {-1, -1};
  (void)fflush(NULL);
  if (command == NULL || pipe2(ends, O_CLOEXEC) != 0) {
    free((void *)command);
    return tspec_rt_fail(error, TSPEC_RT_RANKS, "cannot start mpirun: %s", strerror(errno));
  }
  pid_t child = fork();
  if (child == 0) {
    become_mpirun(command, nranks, ends[1]);
  }
  free((void *)command);
  (void)close(ends[1]);
  int reason = child < 0 ? errno : 0;
  if (child > 0) {
    (void)!read(ends[0], &reason, sizeof reason); // nothing comes if mpirun runs
    *out_exit_code = wait_for(child);
  }
  (void)close(ends[0]);
  if (reason != 0) {
    return tspec_rt_fail(error, TSPEC_RT_RANKS,
                         "%lld ranks are needed, but mpirun cannot be started: %s",
                         (long long)nranks, strerror(reason));
  }
  int number = *out_exit_code - 128;
  if (number > 0 && !is_crash(number)) {
    (void)fprintf(stderr, "%s: a rank was ended by signal %d (%s)\n", basename(self), number,
                  strsignal(number));
  }
  return TSPEC_RT_OK;
}
