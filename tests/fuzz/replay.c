// Runs kept inputs through a fuzz target, each twice: files, and all files of folders. Its exit
// code says whether all is well; an input that crashes or takes too long is named.
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { SECONDS_PER_INPUT = 60, PATH_BYTES = 4096 };

// For the signal handler alone.
static char current[PATH_BYTES];

static void say(const char *text) {
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

static void died(int signal_number) {
  say("\nfuzz replay: this input crashes or takes too long: ");
  say(current);
  say("\n");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void replay_file(const char *path) {
  snprintf(current, sizeof current, "%s", path);
  FILE *file = fopen(path, "rb");
  FUZZ_CHECK(file != NULL, "cannot open '%s'", path);
  struct stat info;
  FUZZ_CHECK(fstat(fileno(file), &info) == 0, "cannot stat '%s'", path);
  size_t size = (size_t)info.st_size;
  // of exactly that size, so that a read past its end is seen
  uint8_t *data = malloc(size > 0 ? size : 1);
  FUZZ_CHECK(data != NULL && fread(data, 1, size, file) == size, "cannot read '%s'", path);
  fclose(file);
  alarm(SECONDS_PER_INPUT);
  uint64_t said = fuzz_one(data, size);
  FUZZ_CHECK(fuzz_one(data, size) == said, "'%s' gives another outcome the second time", path);
  alarm(0);
  free(data);
}

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static size_t replay(const char *path) {
  struct stat info;
  FUZZ_CHECK(stat(path, &info) == 0, "there is no '%s'", path);
  if (!S_ISDIR(info.st_mode)) {
    replay_file(path);
    return 1;
  }
  struct dirent **entries = NULL;
  int count = scandir(path, &entries, is_visible, alphasort);
  FUZZ_CHECK(count >= 0, "cannot read the folder '%s'", path);
  size_t ninputs = 0;
  for (int i = 0; i < count; i++) {
    char inner[PATH_BYTES];
    snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    ninputs += replay(inner);
    free(entries[i]);
  }
  free(entries);
  return ninputs;
}

int main(int argc, char **argv) {
  signal(SIGALRM, died);
  signal(SIGABRT, died);
  size_t ninputs = 0;
  for (int i = 1; i < argc; i++) {
    ninputs += replay(argv[i]);
  }
  printf("%zu inputs\n", ninputs);
  return ninputs > 0 ? 0 : 1;
}
