// One line for a crash.
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch.h"

// A handler has no other way to know.
static char prefix[32];
static const char *volatile step_what;
static const char *volatile step_where;

static void put(const char *text) {
  (void)!write(STDERR_FILENO, text, strlen(text));
}

// Only calls that a handler may make.
static void say(int number) {
  const char *what = step_what;
  const char *where = step_where;
  put(prefix);
  put(number == SIGSEGV  ? "bad memory access"
      : number == SIGBUS ? "memory that is not there"
      : number == SIGFPE ? "arithmetic exception"
                         : "illegal instruction");
  if (what != NULL) {
    put(" in '");
    put(what);
    put("'");
  }
  if (where != NULL && where[0] != '\0') {
    put(" at ");
    put(where);
  }
  put("\n");
  (void)raise(number); // the default action, which SA_RESETHAND has put back
}

void tspec_rt_crash_watch(int rank, int nranks) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  (void)snprintf(prefix, sizeof prefix, "rank %d/%d: ", rank, nranks);
  struct sigaction action = {.sa_handler = say, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    (void)sigaction(numbers[i], &action, NULL);
  }
}

void tspec_rt_crash_step(const char *what, const char *where) {
  step_what = what;
  step_where = where;
}
