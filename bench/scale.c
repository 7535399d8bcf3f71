// How compiling grows: bench/transformer.tspec at several depths, on several meshes, from its text
// to the collectives of each rank (tspecc --report). A row per depth: ops, then CPU seconds for
// each mesh with a bar of microseconds per op, peak memory of the process, and (bench/memory.h) the
// bytes per op of the program that comes out "+" the most that a pass needs beyond it, counted in
// arenas. Straight growth is a bar that stays as long from row to row, and from mesh to mesh.
//
//   scale [LAYERS]..       default: 6 24 96 384 1056
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/memory.h"

enum { MAX_DEPTHS = 16, BAR_MICROSECONDS = 20 };

static const char *const kMeshes[] = {"data=2,model=4", "data=16,model=16", "data=64,model=64",
                                      "data=256,model=256"};
enum { NMESHES = sizeof kMeshes / sizeof kMeshes[0] };

// Ops of the whole program before any pass; 0 after a report.
static long count_ops(int layers) {
  char command[1024];
  snprintf(command, sizeof command, "%s %s --set layers=%d --dump-ir=global", BENCH_TSPECC,
           BENCH_SOURCE "/transformer.tspec", layers);
  FILE *dump = popen(command, "r"); // NOLINT(cert-env33-c)
  if (dump == NULL) {
    perror("scale");
    return 0;
  }
  long ops = 0;
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, dump) > 0) {
    ops += strstr(line, "= \"tspec.") != NULL;
  }
  free(line);
  return pclose(dump) == 0 ? ops : 0;
}

static bool measure(int layers, const char *mesh, bench_process_t *process) {
  char set[32];
  snprintf(set, sizeof set, "layers=%d", layers);
  const char *const argv[] = {BENCH_TSPECC,    BENCH_SOURCE "/transformer.tspec",
                              "--set",         set,
                              "--mesh",        mesh,
                              "--report=json", NULL};
  return bench_run_process(argv, process);
}

static void print_bar(double microseconds) {
  int length = (int)(microseconds / BAR_MICROSECONDS + 0.5);
  for (int i = 0; i < 12; ++i) {
    putchar(i < length ? '#' : ' ');
  }
}

static bool run_depth(int layers, long ops) {
  printf("%6d %8ld", layers, ops);
  for (int m = 0; m < NMESHES; ++m) {
    bench_process_t process = {0};
    bench_memory_t memory;
    if (!measure(layers, kMeshes[m], &process) ||
        !bench_measure_memory(layers, kMeshes[m], &memory)) {
      return false;
    }
    double each = process.cpu * 1e6 / (double)ops;
    printf("  %7.2f s %6.0f MiB %5.0f+%-5.0f B ", process.cpu, process.largest_mib,
           bench_memory_program(&memory), bench_memory_beyond(&memory));
    print_bar(each);
    fflush(stdout);
  }
  putchar('\n');
  return true;
}

int main(int argc, char **argv) {
  int depths[MAX_DEPTHS] = {6, 24, 96, 384, 1056};
  int ndepths = 5;
  if (argc > 1) {
    ndepths = argc - 1 < MAX_DEPTHS ? argc - 1 : MAX_DEPTHS;
    for (int i = 0; i < ndepths; ++i) {
      depths[i] = atoi(argv[i + 1]); // NOLINT(cert-err34-c)
    }
  }
  long one = count_ops(1), two = count_ops(2);
  if (one == 0 || two == 0) {
    return EXIT_FAILURE;
  }
  printf("layers      ops");
  for (int m = 0; m < NMESHES; ++m) {
    printf("  %-48s", kMeshes[m]);
  }
  printf("\n(a # is %d microseconds per op)\n", BAR_MICROSECONDS);
  for (int i = 0; i < ndepths; ++i) {
    if (!run_depth(depths[i], one + (depths[i] - 1) * (two - one))) {
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
