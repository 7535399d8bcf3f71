// Prints how fast things are next to what this machine can do. Its numbers are for reading: it
// always ends with exit code 0.
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/parts.h"

static void print_machine(void) {
  char line[256], name[256] = "unknown CPU\n";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
      (void)snprintf(name, sizeof name, "%s", colon + 2);
      break;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  struct utsname system = {0};
  (void)uname(&system);
  name[strcspn(name, "\n")] = '\0';
  printf("%s (%s), %ld cores, load ", name, system.machine, sysconf(_SC_NPROCESSORS_ONLN));
  char load[32] = "?";
  file = fopen("/proc/loadavg", "r");
  if (file != NULL) {
    (void)fscanf(file, "%31s", load);
    (void)fclose(file);
  }
  printf("%s; medians; products and chains: CPU time of one thread\n", load);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(bench_tally_t *tally);
  } parts[] = {{"compile", bench_compile},
               {"start", bench_start},
               {"products", bench_products},
               {"chains", bench_chains}};
  bench_tally_t tally = {0};
  print_machine();
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    bool wanted = argc < 2;
    for (int j = 1; j < argc; ++j) {
      wanted = wanted || strcmp(argv[j], parts[i].name) == 0;
    }
    if (wanted) {
      printf("\n%s\n", parts[i].name);
      (void)fflush(stdout);
      parts[i].run(&tally);
    }
  }
  printf("\n%d of %d aims met\n", tally.met, tally.aims);
  return 0;
}
