// Linking: the system's C compiler puts the object and libtspecrt together.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "passes/codegen.h"

#define RUNTIME "libtspecrt.a"
#define LINKER "cc"

/// The runtime's archive: beside tspecc, in the installation that tspecc is part of, in the build.
static const char *find_runtime(const tspec_codegen_t *options, tspec_arena_t *arena) {
  static const char *const folders[] = {".", "../lib/tspec", "../lib"};
  size_t count = sizeof folders / sizeof *folders;
  for (size_t i = 0; options->tspecc_dir != NULL && i < count; i++) {
    const char *path =
        tspec_arena_printf(arena, "%s/%s/%s", options->tspecc_dir, folders[i], RUNTIME);
    if (access(path, R_OK) == 0) {
      return path;
    }
  }
  const char *path = tspec_arena_printf(arena, "%s/%s", TSPEC_RUNTIME_DIR, RUNTIME);
  return access(path, R_OK) == 0 ? path : NULL;
}

static void print_command(const char *const *argv) {
  for (int i = 0; argv[i] != NULL; i++) {
    (void)fprintf(stderr, "%s%s", i > 0 ? " " : "", argv[i]);
  }
  (void)fprintf(stderr, "\n");
}

/// Runs `argv`, its output to `log`. Returns its exit code, 127 if it could not be started.
static int run_command(const char *const *argv, const char *log) {
  pid_t child = fork();
  if (child < 0) {
    return 127;
  }
  if (child == 0) {
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0) {
      (void)dup2(file, STDOUT_FILENO);
      (void)dup2(file, STDERR_FILENO);
    }
    // It takes strings without const and does not change them.
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return 127;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The first lines of what the linker said.
static const char *read_log(const char *path, tspec_arena_t *arena) {
  char text[2048];
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return "";
  }
  size_t length = fread(text, 1, sizeof text, file);
  (void)fclose(file);
  while (length > 0 && text[length - 1] == '\n') {
    length--;
  }
  return tspec_arena_strdup(arena, text, length);
}

static void report_failure(int code, const char *log, tspec_arena_t *arena, tspec_diag_t *diag) {
  tspec_range_t nowhere = {0};
  if (code == 127) {
    tspec_diag_error(diag, nowhere, "'" LINKER "' cannot be started: linking needs a C compiler");
    return;
  }
  tspec_diag_error(diag, nowhere, "linking with '" LINKER "' failed (exit code %d): %s", code,
                   read_log(log, arena));
}

bool tspec_link_executable(const char *object, const tspec_codegen_t *options, tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  const char *runtime = find_runtime(options, &arena);
  const char *log = tspec_arena_printf(&arena, "%s.log", object);
  bool ok = runtime != NULL;
  if (!ok) {
    tspec_diag_error(diag, (tspec_range_t){0},
                     "the runtime library " RUNTIME " is neither near '%s' nor in '%s'",
                     options->tspecc_dir != NULL ? options->tspecc_dir : "tspecc",
                     TSPEC_RUNTIME_DIR);
  } else {
    // The executable finds the runtime's MPI library by this path, wherever it is moved to.
    const char *rpath = tspec_arena_printf(&arena, "-Wl,-rpath,%.*s",
                                           (int)(strlen(runtime) - strlen("/" RUNTIME)), runtime);
    const char *argv[] = {LINKER, "-o",  options->output, object,      runtime,
                          rpath,  "-lm", "-ldl",          "-lpthread", NULL};
    if (options->verbose) {
      print_command(argv);
    }
    int code = run_command(argv, log);
    ok = code == 0;
    if (!ok) {
      report_failure(code, log, &arena, diag);
    }
    (void)unlink(log);
  }
  tspec_arena_deinit(&arena);
  return ok;
}
