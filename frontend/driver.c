// tspecc: from a command line to an executable, a dump or a report.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/check.h"
#include "frontend/driver.h"
#include "frontend/parser.h"
#include "passes/cost_model.h"
#include "passes/expect.h"

// ---- what a command needs ----

static bool is_text(tspec_output_t output) {
  return output != TSPEC_OUTPUT_EXE && output != TSPEC_OUTPUT_OBJ;
}

static bool needs_codegen(tspec_output_t output) {
  return output != TSPEC_OUTPUT_MLIR && output != TSPEC_OUTPUT_TSPEC;
}

/// True if the command only looks: it prints what it asks for and makes no file.
static bool only_looks(const tspec_command_t *command) {
  return command->output == NULL && !command->emit_given &&
         (command->dumps.count > 0 || command->report != TSPEC_REPORT_NONE ||
          command->shardings != TSPEC_REPORT_NONE || command->explain != TSPEC_REPORT_NONE ||
          command->check || command->list_rules);
}

/// True if the program itself is the result, wherever the passes left it.
static bool prints_program(const tspec_command_t *command) {
  return !command->emit_given && (command->passes != NULL || command->stop_after != NULL) &&
         (command->output != NULL || !only_looks(command));
}

static bool makes_output(const tspec_command_t *command) {
  return !only_looks(command) && !prints_program(command);
}

/// Index of the step `name`, or the number of steps.
static int step_index(const tspec_pipeline_t *pipeline, const char *name) {
  int i = 0;
  while (i < pipeline->nsteps && strcmp(tspec_pipeline_step_name(&pipeline->steps[i]), name) != 0) {
    i++;
  }
  return i;
}

/// How many steps lead to the end of a level; `sharded` ends where `reshard` begins.
static int steps_to_level(const tspec_pipeline_t *pipeline, tspec_level_t level) {
  if (level == TSPEC_LEVEL_SHARDED) {
    int reshard = step_index(pipeline, "reshard");
    if (reshard < pipeline->nsteps) {
      return reshard;
    }
  }
  int count = 0;
  for (int i = 0; i < pipeline->nsteps; i++) {
    if (pipeline->steps[i].pass != NULL && pipeline->steps[i].pass->after <= level) {
      count = i + 1;
    }
  }
  return count;
}

static int max_int(int a, int b) {
  return a > b ? a : b;
}

static int steps_for_dump(const tspec_pipeline_t *pipeline, const tspec_dump_t *dump) {
  switch (dump->kind) {
  case TSPEC_DUMP_SOURCE:
    return 0;
  case TSPEC_DUMP_LEVEL:
    return steps_to_level(pipeline, dump->level);
  case TSPEC_DUMP_BEFORE:
    return step_index(pipeline, dump->pass);
  case TSPEC_DUMP_AFTER:
    return step_index(pipeline, dump->pass) + 1;
  case TSPEC_DUMP_ALL:
    break;
  }
  return pipeline->nsteps;
}

/// How many steps of the default pipeline the command needs.
static int steps_needed(const tspec_command_t *command, const tspec_pipeline_t *pipeline) {
  int count = 0;
  for (size_t i = 0; i < command->dumps.count; i++) {
    count = max_int(count, steps_for_dump(pipeline, &command->dumps.items[i]));
  }
  if (command->shardings != TSPEC_REPORT_NONE) {
    count = max_int(count, steps_to_level(pipeline, TSPEC_LEVEL_SHARDED));
  }
  if (command->report != TSPEC_REPORT_NONE || command->explain != TSPEC_REPORT_NONE ||
      command->check) {
    count = max_int(count, steps_to_level(pipeline, TSPEC_LEVEL_LOCAL));
  }
  if (makes_output(command)) {
    tspec_level_t level = needs_codegen(command->emit)          ? TSPEC_LEVEL_KERNELS
                          : command->emit == TSPEC_OUTPUT_TSPEC ? TSPEC_LEVEL_SHARDED
                                                                : TSPEC_LEVEL_LOCAL;
    count = max_int(count, steps_to_level(pipeline, level));
  }
  if (command->stop_after != NULL) {
    count = pipeline->nsteps;
  }
  return count < pipeline->nsteps ? count : pipeline->nsteps;
}

// ---- reading the input ----

static bool has_ending(const char *path, const char *ending) {
  size_t length = strlen(path);
  return length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

/// The file's name without folder and ending.
static const char *base_name(tspec_arena_t *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *start = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(start, '.');
  return tspec_arena_strdup(arena, start, dot == NULL ? strlen(start) : (size_t)(dot - start));
}

static bool read_tspec(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  driver->ast = tspec_parse(driver->arena, &driver->sources, driver->file, &driver->diag);
  if (driver->diag.nerrors > 0 || !tspec_driver_dump_source(driver)) {
    return false;
  }
  tspec_check_options_t options = {
      .nsets = command->sets.count,
      .sets = command->sets.items,
      .mesh = command->mesh,
      .nranks = command->nranks,
      .nrules = command->rules.count,
      .rules = command->rules.items,
      .nentries = command->entries.count,
      .entries = command->entries.items,
      .strict = command->strict,
      .lint = command->lint,
  };
  driver->program =
      tspec_check(driver->arena, &driver->sources, driver->ast, &options, &driver->diag);
  return driver->program != NULL && driver->diag.nerrors == 0;
}

/// The option that only means something for a source file, if one is given.
static const char *source_option(const tspec_command_t *command) {
  return command->mesh != NULL                                        ? "--mesh"
         : command->nranks != 0                                       ? "--ranks"
         : command->sets.count > 0                                    ? "--set"
         : command->rules.count > 0                                   ? "--rules"
         : command->emit_given && command->emit == TSPEC_OUTPUT_TSPEC ? "--emit=tspec"
                                                                      : NULL;
}

static bool read_mlir(tspec_driver_t *driver) {
  const char *option = source_option(driver->command);
  if (option != NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "%s: '%s' is no source program", option,
                     driver->command->input);
    return false;
  }
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  if (backend == NULL) {
    return false;
  }
  driver->program = backend->read(driver->context, driver->file, driver->arena, &driver->diag);
  if (driver->program == NULL) {
    return false;
  }
  for (size_t i = 0; i < driver->command->entries.count; i++) {
    const char *entry = driver->command->entries.items[i];
    if (tspec_program_find_func(driver->program, entry) == NULL) {
      tspec_diag_error(&driver->diag, (tspec_range_t){0}, "--entry: there is no entry '%s'", entry);
      return false;
    }
  }
  return true;
}

static bool read_input(tspec_driver_t *driver) {
  const char *path = driver->command->input;
  driver->name = base_name(driver->arena, path);
  driver->file = tspec_sources_read(&driver->sources, path);
  if (driver->file == 0) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "'%s' cannot be read: %s", path,
                     strerror(errno));
    return false;
  }
  bool ok = has_ending(path, ".mlir") ? read_mlir(driver) : read_tspec(driver);
  return ok && tspec_program_verify(driver->program, NULL, &driver->diag);
}

// ---- around passes ----

/// Drops entries that --entry does not name; all were propagated together before.
static void select_entries(tspec_driver_t *driver, tspec_program_t *program) {
  const tspec_words_t *entries = &driver->command->entries;
  int kept = 0;
  for (int i = 0; i < program->nfuncs && entries->count > 0; i++) {
    for (size_t j = 0; j < entries->count; j++) {
      if (strcmp(program->funcs[i]->name, entries->items[j]) == 0) {
        program->funcs[kept++] = program->funcs[i];
        break;
      }
    }
  }
  program->nfuncs = entries->count > 0 ? kept : program->nfuncs;
}

static tspec_options_t pass_options(const tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  return (tspec_options_t){.cpu = command->cpu == NULL ? "native" : command->cpu,
                           .cost_model = command->cost_model,
                           .lint = command->lint,
                           .explain = command->explain != TSPEC_REPORT_NONE,
                           .strict = command->strict,
                           .verify_each = command->verify_each,
                           .nranks = tspec_mesh_nranks(&driver->program->mesh)};
}

/// What is asked for about where values lie: as pass `reshard` will have them.
static void show_layouts(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  bool annotates = command->emit == TSPEC_OUTPUT_TSPEC;
  if (command->shardings == TSPEC_REPORT_NONE && !annotates) {
    return;
  }
  tspec_options_t options = pass_options(driver);
  const tspec_program_t *program =
      tspec_cost_model_preview(&(tspec_pass_run_t){.name = "reshard",
                                                   .program = driver->program,
                                                   .scratch = driver->arena,
                                                   .diag = &driver->diag,
                                                   .options = &options});
  if (command->shardings != TSPEC_REPORT_NONE) {
    tspec_driver_shardings(driver, program, command->shardings == TSPEC_REPORT_JSON,
                           &driver->shardings);
  }
  if (annotates) {
    tspec_driver_annotate(driver, program, &driver->annotated);
  }
}

/// What is done with a program as its level ends; once per level. Errors: false after reporting.
static bool end_level(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  tspec_level_t level = driver->program->level;
  if (driver->ended[level]) {
    return true;
  }
  driver->ended[level] = true;
  if (!tspec_driver_dump_level(driver)) {
    return false;
  }
  if (level == TSPEC_LEVEL_SHARDED) {
    show_layouts(driver);
  }
  if (level < TSPEC_LEVEL_LOCAL) {
    return true;
  }
  if (command->report != TSPEC_REPORT_NONE && driver->report.length == 0) {
    tspec_driver_report(driver, command->report == TSPEC_REPORT_JSON, &driver->report);
  }
  if (command->explain != TSPEC_REPORT_NONE && driver->collectives.length == 0) {
    tspec_driver_explain_collectives(driver, &driver->collectives);
  }
  if (level == TSPEC_LEVEL_KERNELS) {
    return tspec_expect_check(driver->program, TSPEC_EXPECT_MEMORY, &driver->diag);
  }
  bool kept = tspec_expect_check(driver->program, TSPEC_EXPECT_COMMUNICATION, &driver->diag);
  return (!command->check || tspec_driver_check(driver)) && kept;
}

/// The same before pass `next` (NULL: no more passes).
static bool before_next(tspec_driver_t *driver, const char *next) {
  if (tspec_driver_ends_level(driver, next) && !end_level(driver)) {
    return false;
  }
  driver->npasses++;
  return next == NULL || tspec_driver_dump_before(driver, next);
}

static bool before_pass(void *user, const char *name, tspec_program_t *program) {
  tspec_driver_t *driver = user;
  driver->program = program;
  if (driver->command->explain != TSPEC_REPORT_NONE && strcmp(name, "propagate") == 0) {
    driver->propagated = tspec_program_clone(program, driver->arena);
  }
  if (driver->command->verbose) {
    fprintf(stderr, "tspecc: %s\n", name);
  }
  if (!before_next(driver, name)) {
    return false;
  }
  tspec_driver_watch_pass(name);
  return true;
}

static bool after_pass(void *user, const char *name, tspec_program_t *program) {
  tspec_driver_t *driver = user;
  driver->program = program;
  tspec_driver_watch_pass(NULL);
  if (strcmp(name, "propagate") == 0) {
    select_entries(driver, program);
  }
  return tspec_driver_dump_after(driver, name);
}

static bool run_upstream(void *user, const char *text, tspec_program_t **program) {
  tspec_driver_t *driver = user;
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  return backend != NULL && backend->run_upstream(driver->context, text, program, &driver->diag);
}

static bool run_extra(void *user, const tspec_extra_pass_t *pass, tspec_program_t **program) {
  tspec_driver_t *driver = user;
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  return backend != NULL && backend->run_plugin(driver->context, pass, program, &driver->diag);
}

/// Reports a pass named by `option` that is no step of the pipeline.
static bool want_step(tspec_driver_t *driver, const tspec_pipeline_t *pipeline, const char *option,
                      const char *pass) {
  if (pass == NULL || step_index(pipeline, pass) < pipeline->nsteps) {
    return true;
  }
  if (tspec_driver_find_pass(driver, pass) != NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "%s: pass '%s' does not run here", option,
                     pass);
    return false;
  }
  const char *nearest = tspec_pass_nearest(driver->arena, &driver->extras, pass);
  tspec_diag_error(&driver->diag, (tspec_range_t){0}, "%s: there is no pass '%s'%s%s%s", option,
                   pass, nearest == NULL ? " (--list-passes shows them)" : "; did you mean '",
                   nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
  return false;
}

static bool want_steps(tspec_driver_t *driver, const tspec_pipeline_t *pipeline) {
  const tspec_command_t *command = driver->command;
  for (size_t i = 0; i < command->dumps.count; i++) {
    if (!want_step(driver, pipeline, "--dump-ir", command->dumps.items[i].pass)) {
      return false;
    }
  }
  return want_step(driver, pipeline, "--stop-after", command->stop_after);
}

static bool choose_pipeline(tspec_driver_t *driver, tspec_pipeline_t *out_pipeline,
                            const char **out_next) {
  const tspec_command_t *command = driver->command;
  *out_next = NULL;
  if (command->passes != NULL) {
    return tspec_pipeline_parse(driver->arena, command->passes, &driver->extras, (tspec_range_t){0},
                                &driver->diag, out_pipeline) &&
           want_steps(driver, out_pipeline);
  }
  tspec_pipeline_t ours =
      tspec_pipeline_default(driver->arena, driver->program->level, TSPEC_LEVEL_KERNELS);
  *out_pipeline = tspec_pipeline_place(driver->arena, &ours, &driver->extras, &driver->diag);
  if (!want_steps(driver, out_pipeline)) {
    return false;
  }
  int count = steps_needed(command, out_pipeline);
  if (count < out_pipeline->nsteps) {
    *out_next = tspec_pipeline_step_name(&out_pipeline->steps[count]);
  }
  out_pipeline->nsteps = count;
  return true;
}

static bool run_passes(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  tspec_options_t options = pass_options(driver);
  tspec_pipeline_run_t run = {
      .program = driver->program,
      .diag = &driver->diag,
      .options = &options,
      .stop_after = command->stop_after,
      .hooks = {driver, before_pass, after_pass, run_upstream, run_extra},
  };
  tspec_pipeline_t pipeline;
  const char *next = NULL;
  bool ok = choose_pipeline(driver, &pipeline, &next) && tspec_pipeline_run(&pipeline, &run) &&
            driver->diag.nerrors == 0;
  driver->program = run.program;
  ok = ok && before_next(driver, command->stop_after != NULL ? NULL : next);
  if (command->time_passes) {
    tspec_pipeline_print_times(&run, stderr);
  }
  return ok;
}

// ---- results ----

static bool want_level(tspec_driver_t *driver, tspec_level_t level, const char *what) {
  if (driver->program->level == level) {
    return true;
  }
  tspec_diag_error(&driver->diag, (tspec_range_t){0},
                   "the passes leave the program at level %s, but %s needs level %s",
                   tspec_level_name(driver->program->level), what, tspec_level_name(level));
  return false;
}

static bool print_reports(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  if (command->shardings != TSPEC_REPORT_NONE && !driver->ended[TSPEC_LEVEL_SHARDED]) {
    return want_level(driver, TSPEC_LEVEL_SHARDED, "--shardings");
  }
  if (command->report != TSPEC_REPORT_NONE && driver->program->level < TSPEC_LEVEL_LOCAL) {
    return want_level(driver, TSPEC_LEVEL_LOCAL, "--report");
  }
  if (command->check && !driver->ended[TSPEC_LEVEL_LOCAL]) {
    return want_level(driver, TSPEC_LEVEL_LOCAL, "--check");
  }
  if (command->explain != TSPEC_REPORT_NONE &&
      !tspec_driver_explain(driver, &driver->explanation)) {
    return false;
  }
  return tspec_driver_write(driver, "-", tspec_buf_get(&driver->shardings)) &&
         tspec_driver_write(driver, "-", tspec_buf_get(&driver->explanation)) &&
         tspec_driver_write(driver, "-", tspec_buf_get(&driver->report));
}

static const char *output_path(const tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  if (command->output != NULL) {
    return command->output;
  }
  if (is_text(command->emit)) {
    return "-";
  }
  return command->emit == TSPEC_OUTPUT_OBJ ? tspec_arena_printf(driver->arena, "%s.o", driver->name)
                                           : driver->name;
}

/// Copies a file to standard output and removes it.
static bool print_file(tspec_driver_t *driver, const char *path) {
  uint32_t file = tspec_sources_read(&driver->sources, path);
  const tspec_source_t *source = tspec_sources_get(&driver->sources, file);
  unlink(path);
  return source != NULL && tspec_driver_write(driver, "-", source->text);
}

static bool generate(tspec_driver_t *driver, const char *path) {
  static const tspec_emit_t kEmits[] = {
      [TSPEC_OUTPUT_EXE] = TSPEC_EMIT_EXE,
      [TSPEC_OUTPUT_OBJ] = TSPEC_EMIT_OBJ,
      [TSPEC_OUTPUT_ASM] = TSPEC_EMIT_ASM,
      [TSPEC_OUTPUT_LLVM] = TSPEC_EMIT_LLVM,
  };
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  if (backend == NULL || !want_level(driver, TSPEC_LEVEL_KERNELS, "native code")) {
    return false;
  }
  char folder[] = "/tmp/tspecc-XXXXXX";
  bool to_stdout = strcmp(path, "-") == 0;
  if (to_stdout && mkdtemp(folder) == NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0}, "no temporary folder: %s", strerror(errno));
    return false;
  }
  tspec_codegen_t options = {
      .cpu = driver->command->cpu,
      .emit = kEmits[driver->command->emit],
      .output = to_stdout ? tspec_arena_printf(driver->arena, "%s/out", folder) : path,
      .compiler = "tspecc " TSPEC_VERSION,
      .tspecc_dir = driver->tspecc_dir,
      .verbose = driver->command->verbose,
  };
  bool ok = backend->codegen(driver->program, &options, &driver->diag);
  if (options.emit == TSPEC_EMIT_OBJ && !to_stdout) {
    ok = ok && tspec_driver_write_header(driver, path);
  }
  if (to_stdout) {
    ok = ok && print_file(driver, options.output);
    rmdir(folder);
  }
  return ok;
}

static bool emit(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  const char *path = output_path(driver);
  if (prints_program(command)) {
    return tspec_driver_write_program(driver, command->output == NULL ? "-" : command->output);
  }
  if (command->emit == TSPEC_OUTPUT_TSPEC) {
    return tspec_driver_write(driver, path, tspec_buf_get(&driver->annotated));
  }
  if (command->emit == TSPEC_OUTPUT_MLIR) {
    return want_level(driver, TSPEC_LEVEL_LOCAL, "--emit=mlir") &&
           tspec_driver_write_program(driver, path);
  }
  return generate(driver, path);
}

static bool check_cpu(tspec_driver_t *driver) {
  if (driver->command->cpu == NULL) {
    return true;
  }
  const tspec_backend_t *backend = tspec_driver_backend(driver);
  return backend != NULL &&
         backend->check_cpu(driver->command->cpu, (tspec_range_t){0}, &driver->diag);
}

/// The whole command. False if there were errors.
static bool run(tspec_driver_t *driver) {
  const tspec_command_t *command = driver->command;
  if (!check_cpu(driver) || !read_input(driver)) {
    return false;
  }
  if (command->list_rules) {
    tspec_driver_list_rules(driver, stdout);
  }
  if (command->check && driver->program->level < TSPEC_LEVEL_LOCAL) {
    driver->whole = tspec_program_clone(driver->program, driver->arena);
  }
  if (!run_passes(driver) || !print_reports(driver)) {
    return false;
  }
  return only_looks(command) || emit(driver);
}

// ---- main ----

static const char *program_dir(tspec_arena_t *arena) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) {
    return ".";
  }
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  return tspec_arena_strdup(arena, path, slash == NULL ? 0 : (size_t)(slash - path));
}

/// The command of the words `argv`; `sources` holds what a reproducer embeds.
static int compile(const tspec_command_t *command, int argc, const char *const *argv,
                   const tspec_sources_t *sources) {
  tspec_arena_t *arena = sources->arena;
  tspec_driver_t driver = {.command = command,
                           .arena = arena,
                           .sources = *sources,
                           .reproduces = sources->count > 0,
                           .tspecc_dir = program_dir(arena)};
  tspec_driver_watch(argc, argv, &driver);
  tspec_diag_init(&driver.diag, &driver.sources, stderr);
  driver.diag.warnings_are_errors = command->strict;
  driver.diag.max_errors = 50;
  bool ok = tspec_driver_load_plugins(&driver);
  if (command->list_passes) {
    tspec_driver_list_passes(&driver.extras, stdout);
  } else {
    ok = ok && run(&driver);
  }
  ok = ok && driver.diag.nerrors == 0;
  tspec_driver_close_backend(&driver);
  tspec_buf_deinit(&driver.shardings);
  tspec_buf_deinit(&driver.annotated);
  tspec_buf_deinit(&driver.report);
  tspec_buf_deinit(&driver.collectives);
  tspec_buf_deinit(&driver.explanation);
  tspec_driver_watch(0, NULL, NULL);
  return ok ? TSPEC_EXIT_OK : TSPEC_EXIT_DIAGNOSTICS;
}

/// What needs no program. False if there is more to do.
static bool answer(const tspec_command_t *command) {
  if (command->help) {
    tspec_command_print_help(stdout);
  } else if (command->version) {
    puts("tspecc " TSPEC_VERSION);
  } else if (command->list_passes && command->list_md) {
    tspec_driver_list_passes_md(stdout);
  } else if (command->list_ops) {
    (command->list_md ? tspec_driver_list_ops_md : tspec_driver_list_ops)(stdout);
  } else {
    return false;
  }
  return true;
}

static int run_command(tspec_arena_t *arena, int argc, const char *const *argv) {
  tspec_command_t command;
  tspec_sources_t sources;
  tspec_sources_init(&sources, arena);
  if (!tspec_command_parse(arena, argc, argv, stderr, &command)) {
    return TSPEC_EXIT_USAGE;
  }
  if (answer(&command)) {
    return TSPEC_EXIT_OK;
  }
  if (command.input != NULL &&
      tspec_driver_open_reproducer(arena, command.input, &argc, &argv, &sources) &&
      !tspec_command_parse(arena, argc, argv, stderr, &command)) {
    return TSPEC_EXIT_USAGE;
  }
  return compile(&command, argc, argv, &sources);
}

int main(int argc, char **argv) {
  tspec_driver_catch_crashes();
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  int code = run_command(&arena, argc, (const char *const *)argv);
  tspec_arena_deinit(&arena);
  if (fflush(stdout) != 0) {
    perror("tspecc: standard output");
    code = code == TSPEC_EXIT_OK ? TSPEC_EXIT_DIAGNOSTICS : code;
  }
  return code;
}
