// The command line of a compiled program: tspec_rt_main.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch.h"
#include "runtime/options.h"
#include "runtime/session.h"

enum { MOST_EVENTS = 4 << 20 };

// A failure before the ranks can talk: all see the same, the first one says it.
static int fail_early(const tspec_rt_error_t *error, const char *executable) {
  if (tspec_rt_launch_get().rank == 0) {
    const char *slash = strrchr(executable, '/');
    (void)fprintf(stderr, "%s: %s\n", slash != NULL ? slash + 1 : executable, error->text);
  }
  return tspec_rt_status_exit_code(error->status);
}

// Sees to the ranks that the mesh needs: they are there, or mpirun runs them, and *out_exit_code is
// their outcome.
static tspec_rt_status_t gather_ranks(const tspec_rt_program_t *program, char **argv,
                                      tspec_rt_error_t *error, bool *out_done, int *out_exit_code) {
  tspec_rt_launch_t launch = tspec_rt_launch_get();
  int64_t wanted = program->mesh.nranks;
  *out_done = false;
  if (launch.nranks == wanted) {
    return TSPEC_RT_OK;
  }
  if (!launch.launched) {
    *out_done = true;
    return tspec_rt_launch_run(wanted, argv, error, out_exit_code);
  }
  char mesh[512] = "no axes";
  size_t at = 0;
  for (int i = 0; i < program->mesh.naxes && at < sizeof mesh; ++i) {
    const tspec_image_axis_t *axis = &program->mesh.axes[i];
    at +=
        (size_t)snprintf(mesh + at, sizeof mesh - at, "%s%s=%lld", i > 0 ? ", " : "",
                         tspec_rt_image_string(program->image, axis->name), (long long)axis->size);
  }
  return tspec_rt_fail(error, TSPEC_RT_RANKS, "the mesh (%s) needs %lld rank%s, started with %lld",
                       mesh, (long long)wanted, wanted == 1 ? "" : "s", (long long)launch.nranks);
}

// Everything that needs no communication: parsing, --help and its like, checks, the start of
static void print_about(const tspec_rt_program_t *program, tspec_rt_mode_t mode,
                        const char *executable) {
  switch (mode) {
  case TSPEC_RT_MODE_HELP:
    tspec_rt_print_help(program, executable, stdout);
    break;
  case TSPEC_RT_MODE_VERSION:
    tspec_rt_print_version(program, stdout);
    break;
  case TSPEC_RT_MODE_INFO:
    tspec_rt_print_info(program, stdout);
    break;
  case TSPEC_RT_MODE_RUN:
    break;
  }
}

// What needs no communication: parsing, --help and its like, checks, the start of mpirun. True if
// this process goes on to run the entry; else *out_exit_code is final.
static bool begin(int argc, char **argv, const tspec_compiled_t *compiled, tspec_rt_pool_t *pool,
                  tspec_rt_options_t *options, int *out_exit_code) {
  tspec_rt_error_t error = {0};
  tspec_rt_program_t program = {0};
  *out_exit_code = 0;
  tspec_rt_status_t status = tspec_rt_image_check(compiled, &error);
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_options_parse(argc, argv, pool, &error, options);
  }
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_program_init(&program, compiled, 0, &error);
  }
  bool done = status == TSPEC_RT_OK && options->mode != TSPEC_RT_MODE_RUN;
  if (done && tspec_rt_launch_get().rank == 0) {
    print_about(&program, options->mode, argv[0]);
  }
  if (status == TSPEC_RT_OK && options->mode == TSPEC_RT_MODE_RUN) {
    status = tspec_rt_options_check(options, &program, &error);
    if (status == TSPEC_RT_OK) {
      status = gather_ranks(&program, argv, &error, &done, out_exit_code);
    }
  }
  if (status != TSPEC_RT_OK) {
    *out_exit_code = fail_early(&error, argv[0]);
  }
  tspec_rt_program_deinit(&program);
  return status == TSPEC_RT_OK && !done;
}

static tspec_rt_status_t read_values(tspec_rt_t *rt, const tspec_rt_options_t *options) {
  if (options->load != NULL) {
    TSPEC_RT_TRY(tspec_rt_load_params(rt, options->load));
  } else {
    TSPEC_RT_TRY(tspec_rt_init_params(rt, options->seed));
  }
  const tspec_rt_entry_t *entry = tspec_rt_find_entry(rt, options->entry);
  for (int i = 0; i < entry->ninputs; ++i) {
    const char *name = entry->inputs[i].name;
    TSPEC_RT_TRY(tspec_rt_read_input(rt, options->entry, name,
                                     tspec_rt_binding_find(options->ins, options->nins, name)));
  }
  return TSPEC_RT_OK;
}

static void print_scalar(const tspec_rt_slot_t *result, FILE *stream) {
  const void *memory = tspec_rt_result_memory(result);
  tspec_rt_dtype_t dtype = result->buffer->tensor->dtype;
  if (dtype == TSPEC_RT_BOOL) {
    (void)fprintf(stream, "%s %s", result->name,
                  tspec_rt_dtype_load(dtype, memory) != 0 ? "true" : "false");
  } else if (dtype == TSPEC_RT_I64) {
    int64_t number = 0;
    memcpy(&number, memory, sizeof number);
    (void)fprintf(stream, "%s %lld", result->name, (long long)number);
  } else {
    const char *format = tspec_rt_dtype_is_float(dtype) ? "%s %.9g" : "%s %.0f";
    (void)fprintf(stream, format, result->name, tspec_rt_dtype_load(dtype, memory));
  }
}

// One line a step: every scalar result as NAME VALUE.
static void print_scalars(const tspec_rt_entry_t *entry, FILE *stream) {
  bool any = false;
  for (int i = 0; i < entry->nresults; ++i) {
    if (entry->results[i].buffer->tensor->layout.ndims == 0) {
      (void)fputs(any ? " " : "", stream);
      print_scalar(&entry->results[i], stream);
      any = true;
    }
  }
  if (any) {
    (void)fputs("\n", stream);
    (void)fflush(stream);
  }
}

// Where a terminal looks on, a line that says how far it is.
static void print_progress(int64_t done, int64_t steps, int64_t begin_ns, int64_t *last_ns) {
  int64_t now = tspec_rt_clock_ns();
  if (now - *last_ns < 500000000 || now - begin_ns < 2000000000) {
    return;
  }
  *last_ns = now;
  double seconds = (double)(now - begin_ns) * 1e-9;
  double rate = (double)done / seconds;
  (void)fprintf(stderr, "\rstep %lld/%lld, %.3g steps/s, %.0f s left ", (long long)done,
                (long long)steps, rate, (double)(steps - done) / rate);
  (void)fflush(stderr);
}

static void run_steps(tspec_rt_t *rt, const tspec_rt_options_t *options) {
  tspec_rt_entry_t *entry = tspec_rt_find_entry(rt, options->entry);
  bool first = tspec_rt_rank(rt) == 0;
  bool progress = first && !options->quiet && options->steps > 1 && isatty(STDERR_FILENO) == 1 &&
                  isatty(STDOUT_FILENO) != 1;
  int64_t begin_ns = tspec_rt_clock_ns();
  int64_t last_ns = begin_ns;
  for (int64_t step = 0; step < options->steps; ++step) {
    tspec_rt_status_t status = tspec_rt_run_entry(rt, entry);
    if (status != TSPEC_RT_OK) {
      tspec_rt_abort(rt, status);
    }
    if (first) {
      print_scalars(entry, stdout);
    }
    if (progress) {
      print_progress(step + 1, options->steps, begin_ns, &last_ns);
    }
  }
  if (last_ns != begin_ns) {
    (void)fputs("\n", stderr);
  }
}

static tspec_rt_status_t write_values(tspec_rt_t *rt, const tspec_rt_options_t *options) {
  const tspec_rt_entry_t *entry = tspec_rt_find_entry(rt, options->entry);
  for (int i = 0; i < entry->nresults; ++i) {
    const char *name = entry->results[i].name;
    const char *file = tspec_rt_binding_find(options->outs, options->nouts, name);
    if (file != NULL) {
      TSPEC_RT_TRY(tspec_rt_write_result(rt, options->entry, name, file));
    }
  }
  if (options->save != NULL) {
    TSPEC_RT_TRY(tspec_rt_save_params(rt, options->save));
  }
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (options->profile != NULL) {
    status = tspec_rt_write_profile(rt, options->profile);
  }
  if (options->counts != NULL) {
    tspec_rt_status_t counted = tspec_rt_write_counts(rt, options->entry, options->counts);
    status = status == TSPEC_RT_OK ? counted : status;
  }
  return status;
}

static int64_t events_of(const tspec_compiled_t *compiled, const tspec_rt_options_t *options) {
  const tspec_image_entry_t *entries =
      tspec_rt_image_span(compiled->image, compiled->image->entries);
  int64_t most = 0;
  for (uint32_t i = 0; i < compiled->image->entries.count; ++i) {
    most = entries[i].steps.count > most ? entries[i].steps.count : most;
  }
  most *= options->steps;
  return options->profile == NULL ? 0 : most < MOST_EVENTS ? most + 1 : MOST_EVENTS;
}

static int thread_count(const tspec_rt_options_t *options, int64_t nranks) {
  if (options->threads > 0) {
    return (int)options->threads;
  }
  int64_t share = tspec_rt_core_count() / nranks;
  return share > 1 ? (int)share : 1;
}

int tspec_rt_main(int argc, char **argv, const tspec_compiled_t *compiled) {
  tspec_rt_pool_t pool = {0};
  tspec_rt_options_t options;
  int exit_code = 0;
  tspec_rt_malloc_tune();
  if (!begin(argc, argv, compiled, &pool, &options, &exit_code)) {
    tspec_rt_pool_deinit(&pool);
    return exit_code;
  }
  tspec_rt_mesh_t mesh = tspec_rt_image_mesh(compiled->image);
  tspec_rt_open_t open = {.compiled = compiled,
                          .entries = &options.entry,
                          .nentries = 1,
                          .deterministic = options.deterministic,
                          .threads = thread_count(&options, mesh.nranks),
                          .timeout_seconds = options.timeout_seconds,
                          .profile_events = events_of(compiled, &options),
                          .runs = options.steps};
  tspec_rt_t *rt = NULL;
  tspec_rt_status_t status = tspec_rt_open(&open, &rt);
  if (rt == NULL) {
    (void)fprintf(stderr, "out of memory\n");
    return 1;
  }
  status = tspec_rt_settle(rt, status, &exit_code);
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_settle(rt, read_values(rt, &options), &exit_code);
  }
  if (status == TSPEC_RT_OK) {
    tspec_rt_crash_watch(tspec_rt_rank(rt), tspec_rt_nranks(rt));
    run_steps(rt, &options);
    status = tspec_rt_settle(rt, write_values(rt, &options), &exit_code);
  }
  tspec_rt_close(rt);
  tspec_rt_pool_deinit(&pool);
  return status == TSPEC_RT_OK ? 0 : exit_code;
}
