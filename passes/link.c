// Linking: the system's C compiler puts the object and libtspecrt together.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "passes/codegen.h"

#define RUNTIME "libtspecrt.a"

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

/// Runs `argv`, its output to `log`. Returns its exit code, 127 if it could not be started.
static int run_command(char *const *argv, const char *log) {
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
    execvp(argv[0], argv);
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

static void report_failure(int code, const char *cc, const char *log, tspec_arena_t *arena,
                           tspec_diag_t *diag) {
  tspec_range_t nowhere = {0};
  if (code == 127) {
    tspec_diag_error(diag, nowhere,
                     "'%s' cannot be started: linking needs a C compiler, which CC may name", cc);
    return;
  }
  tspec_diag_error(diag, nowhere, "linking with '%s' failed (exit code %d): %s", cc, code,
                   read_log(log, arena));
}

bool tspec_link_executable(const char *object, const tspec_codegen_t *options, tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  const char *runtime = find_runtime(options, &arena);
  const char *log = tspec_arena_printf(&arena, "%s.log", object);
  const char *cc = getenv("CC") != NULL && *getenv("CC") != 0 ? getenv("CC") : "cc";
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
    const char *argv[] = {cc,    "-o",  options->output, object,      runtime,
                          rpath, "-lm", "-ldl",          "-lpthread", NULL};
    for (size_t i = 0; options->verbose && argv[i] != NULL; i++) {
      (void)fprintf(stderr, "%s%s", argv[i], argv[i + 1] != NULL ? " " : "\n");
    }
    // execvp takes them without const and does not change them.
    char *unqualified[sizeof argv / sizeof *argv];
    memcpy(unqualified, argv, sizeof argv);
    int code = run_command(unqualified, log);
    ok = code == 0;
    if (!ok) {
      report_failure(code, cc, log, &arena, diag);
    }
    (void)unlink(log);
  }
  tspec_arena_deinit(&arena);
  return ok;
}
