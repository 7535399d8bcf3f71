// Whole commands: tspecc, and a compiled program up to its first step.
#include <jansson.h>
#include <stdio.h>

#include "bench/parts.h"

enum { REPEATS = 11, START_REPEATS = 25 };

#define DIGITS BENCH_WORK "/digits"
#define PROFILE BENCH_WORK "/digits.trace.json"

void bench_compile(bench_tally_t *tally) {
  static const char *const to_exe[] = {BENCH_TSPECC,
                                       BENCH_EXAMPLES "/programs/dotreludot.tspec",
                                       "--entry=forward",
                                       "-o",
                                       BENCH_WORK "/dotreludot",
                                       NULL};
  static const char *const to_object[] = {BENCH_TSPECC,
                                          BENCH_EXAMPLES "/programs/dotreludot.tspec",
                                          "--entry=forward",
                                          "--emit=obj",
                                          "-o",
                                          BENCH_WORK "/dotreludot.o",
                                          NULL};
  double whole[REPEATS], object[REPEATS], link[REPEATS];
  bench_process_t process = {0};
  for (int i = 0; i < REPEATS; ++i) {
    if (!bench_run_process(to_exe, &process)) {
      return;
    }
    whole[i] = process.cpu;
    if (!bench_run_process(to_object, &process)) {
      return;
    }
    object[i] = process.cpu;
    link[i] = whole[i] - object[i];
  }
  double seconds = bench_median(whole, REPEATS);
  printf("  dotreludot forward to an executable: %.3f s of CPU (tspecc %.3f, cc and the linker "
         "%.3f), %.0f MiB; aim < 0.5 s: %s\n",
         seconds, bench_median(object, REPEATS), bench_median(link, REPEATS), process.largest_mib,
         bench_tally_add(tally, seconds < 0.5));
}

// Seconds on CLOCK_MONOTONIC when the first step began; negative if there is none.
static double first_step(const char *file) {
  json_t *root = json_load_file(file, 0, NULL);
  const json_t *events = json_is_object(root) ? json_object_get(root, "traceEvents") : root;
  double first = -1;
  for (size_t i = 0; i < json_array_size(events); ++i) {
    const json_t *ts = json_object_get(json_array_get(events, i), "ts");
    double seconds = json_number_value(ts) * 1e-6;
    if (ts != NULL && (first < 0 || seconds < first)) {
      first = seconds;
    }
  }
  json_decref(root);
  return first;
}

// Times START_REPEATS runs of `argv`, which writes PROFILE, up to their first step. Milliseconds;
// false if it fails.
static bool time_starts(const char *const *argv, double *out_start, double *out_whole,
                        double *out_cpu) {
  bench_process_t process = {0};
  for (int i = 0; i < START_REPEATS; ++i) {
    double first = bench_run_process(argv, &process) ? first_step(PROFILE) : -1;
    if (first < 0) {
      return false;
    }
    out_start[i] = (first - process.begin) * 1e3;
    out_whole[i] = process.wall * 1e3;
    out_cpu[i] = process.cpu * 1e3;
  }
  return true;
}

#define PREDICT(steps)                                                                             \
  {DIGITS,                                                                                         \
   "predict",                                                                                      \
   "--quiet",                                                                                      \
   "--load",                                                                                       \
   BENCH_EXAMPLES "/digits/weights.safetensors",                                                   \
   "--in",                                                                                         \
   "x=" BENCH_EXAMPLES "/digits/test_x.npy",                                                       \
   "--profile",                                                                                    \
   PROFILE,                                                                                        \
   "--steps",                                                                                      \
   steps,                                                                                          \
   NULL}

void bench_start(bench_tally_t *tally) {
  static const char *const compile[] = {
      BENCH_TSPECC, BENCH_EXAMPLES "/digits/digits.tspec", "--mesh=data=1,model=1", "-o", DIGITS,
      NULL};
  static const char *const once[] = PREDICT("1");
  static const char *const often[] = PREDICT("200");
  bench_process_t process = {0};
  double start[START_REPEATS], whole[START_REPEATS], cpu[START_REPEATS];
  if (!bench_run_process(compile, &process) || !time_starts(once, start, whole, cpu)) {
    return;
  }
  double middle = bench_median(start, START_REPEATS);
  printf(
      "  digits predict, 1 rank, from before fork to the first step of --profile: %.1f ms of wall "
      "time (least %.1f); to its end %.1f ms, %.1f ms of CPU; aim < 50 ms: %s\n",
      middle, start[0], bench_median(whole, START_REPEATS), bench_median(cpu, START_REPEATS),
      bench_tally_add(tally, middle < 50));
  if (time_starts(often, start, whole, cpu)) {
    middle = bench_median(start, START_REPEATS);
    printf("  the same with --steps 200, for which oneDNN is started: %.1f ms (least %.1f)\n",
           middle, start[0]);
  }
}
