// The end of tspecc after a bug of its own or a plugin's: exit code 70 and a reproducer, a file
// with the command's words and all sources, from which tspecc runs the same again.
//
//   tspecc reproducer 1
//   version 5 0.1.0
//   pass 4 fuse
//   mesh 6 data=2
//   argument 9 mlp.tspec
//   file 9 mlp.tspec
//   text 118
//   ...
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/driver.h"

#define MAGIC "tspecc reproducer 1\n"

/// What a handler of signals has to know, since it gets nothing.
static struct {
  int argc;
  const char *const *argv;
  const tspec_driver_t *driver;
  const char *pass;
} watched;

void tspec_driver_watch(int argc, const char *const *argv, const tspec_driver_t *driver) {
  watched.argc = argc;
  watched.argv = argv;
  watched.driver = driver;
}

void tspec_driver_watch_pass(const char *name) {
  watched.pass = name;
}

// ---- writing: only what may be called from a handler of signals ----

/// Writes all of it; what fails here cannot be told to anyone.
static void put(int fd, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(fd, text, length);
    if (written <= 0) {
      return;
    }
    text += written;
    length -= (size_t)written;
  }
}

static void puts_to(int fd, const char *text) {
  put(fd, text, strlen(text));
}

static void put_number(int fd, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  put(fd, digits + at, sizeof digits - at);
}

/// "KEY LENGTH TEXT\n"
static void put_field(int fd, const char *key, const char *text) {
  puts_to(fd, key);
  puts_to(fd, " ");
  put_number(fd, strlen(text));
  puts_to(fd, " ");
  puts_to(fd, text);
  puts_to(fd, "\n");
}

/// Appends to a path of limited length.
static void append(char *path, size_t capacity, const char *text) {
  size_t length = strlen(path);
  size_t added = strlen(text);
  if (length + added < capacity) {
    memcpy(path + length, text, added + 1);
  }
}

/// Opens tspecc-NAME.reproducer in the current folder, else in /tmp. Returns -1 if neither works.
static int open_file(char *path, size_t capacity) {
  static const char *const kFolders[] = {"", "/tmp/"};
  int fd = -1;
  for (size_t i = 0; i < sizeof kFolders / sizeof *kFolders && fd < 0; i++) {
    path[0] = '\0';
    append(path, capacity, kFolders[i]);
    append(path, capacity, "tspecc-");
    append(path, capacity, watched.driver->name == NULL ? "input" : watched.driver->name);
    append(path, capacity, ".reproducer");
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  return fd;
}

static void put_mesh(int fd, const tspec_mesh_t *mesh) {
  char text[512] = "";
  for (int i = 0; i < mesh->naxes; i++) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    for (uint64_t size = (uint64_t)mesh->axes[i].size; size > 0; size /= 10) {
      digits[--at] = (char)('0' + size % 10);
    }
    append(text, sizeof text, i > 0 ? "," : "");
    append(text, sizeof text, mesh->axes[i].name);
    append(text, sizeof text, "=");
    append(text, sizeof text, digits + at);
  }
  put_field(fd, "mesh", text);
}

static void put_sources(int fd, const tspec_sources_t *sources) {
  for (size_t i = 0; i < sources->count; i++) {
    const tspec_source_t *source = &sources->items[i];
    if (source->length > 0) {
      put_field(fd, "file", source->path);
      puts_to(fd, "text ");
      put_number(fd, source->length);
      puts_to(fd, " ");
      put(fd, source->text, source->length);
      puts_to(fd, "\n");
    }
  }
}

/// Writes the reproducer and says where. Nothing before the input is read, and nothing for an input
/// that is one itself.
static void write_reproducer(void) {
  const tspec_driver_t *driver = watched.driver;
  char path[512];
  if (driver == NULL || driver->file == 0 || driver->reproduces) {
    return;
  }
  int fd = open_file(path, sizeof path);
  if (fd < 0) {
    puts_to(STDERR_FILENO, "tspecc: note: no reproducer could be written\n");
    return;
  }
  puts_to(fd, MAGIC);
  put_field(fd, "version", TSPEC_VERSION);
  put_field(fd, "pass", watched.pass == NULL ? "" : watched.pass);
  if (driver->program != NULL) {
    put_mesh(fd, &driver->program->mesh);
  }
  for (int i = 1; i < watched.argc; i++) {
    put_field(fd, "argument", watched.argv[i]);
  }
  put_sources(fd, &driver->sources);
  close(fd);
  puts_to(STDERR_FILENO, "tspecc: note: 'tspecc ");
  puts_to(STDERR_FILENO, path);
  puts_to(STDERR_FILENO, "' does the same; please report it with that file\n");
}

// ---- the end ----

void tspec_driver_internal_error(const char *message) {
  (void)message; // has been printed
  fflush(stdout);
  fflush(stderr);
  write_reproducer();
  _Exit(TSPEC_EXIT_INTERNAL);
}

#ifndef __SANITIZE_ADDRESS__
static const struct {
  int number;
  const char *name;
} kSignals[] = {
    {SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"},           {SIGFPE, "division by zero"},
    {SIGILL, "illegal instruction"}, {SIGABRT, "abort in a library"},
};

enum { NSIGNALS = sizeof kSignals / sizeof *kSignals };

static void crashed(int number) {
  puts_to(STDERR_FILENO, "tspecc: internal compiler error");
  if (watched.pass != NULL) {
    puts_to(STDERR_FILENO, " in pass ");
    puts_to(STDERR_FILENO, watched.pass);
  }
  for (int i = 0; i < NSIGNALS; i++) {
    if (kSignals[i].number == number) {
      puts_to(STDERR_FILENO, ": ");
      puts_to(STDERR_FILENO, kSignals[i].name);
    }
  }
  puts_to(STDERR_FILENO, "\n");
  write_reproducer();
  _exit(TSPEC_EXIT_INTERNAL);
}
#endif

void tspec_driver_catch_crashes(void) {
  tspec_check_handler_set(tspec_driver_internal_error);
#ifndef __SANITIZE_ADDRESS__
  static char stack[1 << 16]; // for an overflow of the usual one
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND)};
  for (int i = 0; i < NSIGNALS; i++) {
    sigaction(kSignals[i].number, &action, NULL);
  }
#endif
}

// ---- reading ----

/// "KEY LENGTH TEXT", borrowed.
typedef struct field_t {
  const char *key;
  size_t key_length;
  const char *text;
  size_t length;
} field_t;

/// One field at `*at`, which moves behind it. False at the end or at what is none.
static bool read_field(const char **at, const char *end, field_t *out_field) {
  const char *space = memchr(*at, ' ', (size_t)(end - *at));
  if (space == NULL) {
    return false;
  }
  char *digits_end = NULL;
  errno = 0;
  unsigned long long length = strtoull(space + 1, &digits_end, 10);
  if (errno != 0 || digits_end == space + 1 || *digits_end != ' ' ||
      length >= (size_t)(end - digits_end - 1)) {
    return false;
  }
  *out_field = (field_t){*at, (size_t)(space - *at), digits_end + 1, (size_t)length};
  *at = out_field->text + length + 1;
  return true;
}

static bool is_key(const field_t *field, const char *wanted) {
  return strlen(wanted) == field->key_length && strncmp(field->key, wanted, field->key_length) == 0;
}

/// The text of the file `path` behind the first line, or NULL if it is no reproducer.
static const char *read_body(tspec_arena_t *arena, const char *path, const char **out_end) {
  tspec_sources_t files;
  tspec_sources_init(&files, arena);
  const tspec_source_t *source = tspec_sources_get(&files, tspec_sources_read(&files, path));
  if (source == NULL || source->length < strlen(MAGIC) ||
      strncmp(source->text, MAGIC, strlen(MAGIC)) != 0) {
    return NULL;
  }
  *out_end = source->text + source->length;
  return source->text + strlen(MAGIC);
}

/// The words of argv but the program's name and `path`.
static void add_others(tspec_arena_t *arena, int argc, const char *const *argv, const char *path,
                       tspec_words_t *words) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], path) != 0) {
      TSPEC_VEC_PUSH(arena, words, argv[i]);
    }
  }
}

bool tspec_driver_open_reproducer(tspec_arena_t *arena, const char *path, int *argc,
                                  const char *const **argv, tspec_sources_t *sources) {
  const char *end = NULL;
  const char *at = read_body(arena, path, &end);
  if (at == NULL) {
    return false;
  }
  tspec_words_t words = {0};
  TSPEC_VEC_PUSH(arena, &words, (*argv)[0]);
  const char *file = "";
  field_t field;
  while (read_field(&at, end, &field)) {
    if (is_key(&field, "argument")) {
      TSPEC_VEC_PUSH(arena, &words, tspec_arena_strdup(arena, field.text, field.length));
    } else if (is_key(&field, "file")) {
      file = tspec_arena_strdup(arena, field.text, field.length);
    } else if (is_key(&field, "text")) {
      tspec_sources_embed(sources, file, field.text, field.length);
    }
  }
  add_others(arena, *argc, *argv, path, &words);
  *argc = (int)words.count;
  *argv = words.items;
  return true;
}
