#include "bench/measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 21 };
#define SAMPLE_SECONDS 0.01

const char *bench_tally_add(bench_tally_t *tally, bool met) {
  tally->aims += 1;
  tally->met += met;
  return met ? "met" : "missed";
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  (void)clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double bench_cpu_seconds(void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall_seconds(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  return numbers[count / 2];
}

static double time_calls(bench_fn_t fn, void *user, int count) {
  double begin = bench_cpu_seconds();
  for (int i = 0; i < count; ++i) {
    fn(user);
  }
  return (bench_cpu_seconds() - begin) / count;
}

// How many calls make a sample; the first ones also warm caches up.
static int choose_count(bench_fn_t fn, void *user) {
  int count = 1;
  while (time_calls(fn, user, count) * count < SAMPLE_SECONDS && count < 1 << 24) {
    count *= 2;
  }
  return count;
}

bench_pair_t bench_compare(bench_fn_t a, bench_fn_t b, void *user) {
  int acount = choose_count(a, user), bcount = choose_count(b, user);
  double as[REPEATS], bs[REPEATS], ratios[REPEATS];
  for (int i = 0; i < REPEATS; ++i) {
    as[i] = time_calls(a, user, acount);
    bs[i] = time_calls(b, user, bcount);
    ratios[i] = bs[i] / as[i];
  }
  return (bench_pair_t){bench_median(as, REPEATS), bench_median(bs, REPEATS),
                        bench_median(ratios, REPEATS)};
}

static double seconds_of_timeval(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

bool bench_run_process(const char *const *argv, bench_process_t *out_process) {
  out_process->begin = bench_wall_seconds();
  pid_t child = vfork();
  if (child == 0) {
    int file = open("/dev/null", O_WRONLY);
    (void)dup2(file, STDOUT_FILENO);
    (void)dup2(file, STDERR_FILENO);
    // It takes strings without const and does not change them.
    execv(argv[0], (char *const *)argv);
    _exit(127);
  }
  int status = -1;
  struct rusage usage = {0};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    (void)fprintf(stderr, "%s failed\n", argv[0]);
    return false;
  }
  out_process->wall = bench_wall_seconds() - out_process->begin;
  out_process->cpu = seconds_of_timeval(usage.ru_utime) + seconds_of_timeval(usage.ru_stime);
  out_process->largest_mib = (double)usage.ru_maxrss / 1024;
  return true;
}
