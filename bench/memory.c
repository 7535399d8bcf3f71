// Memory of compiling bench/transformer.tspec, pass by pass, in bytes per op: the program, what its
// arena holds, the most that was live while the pass ran, and how much more that is than the
// program. Counted in arenas, so the same on every machine.
//
//   memory [--most BYTES] [LAYERS]..       default: 24 96
//
// With --most: fails where a pass needs more beyond the program, at any depth and on any mesh.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/memory.h"

static const char *const kMeshes[] = {"data=2,model=4", "data=64,model=64"};
enum { NMESHES = sizeof kMeshes / sizeof kMeshes[0] };

static void print_passes(const bench_memory_t *memory) {
  double nops = (double)memory->nops;
  for (int i = 0; i < memory->npasses; i++) {
    const bench_pass_memory_t *pass = &memory->passes[i];
    double program = (double)pass->program_bytes / nops;
    double peak = (double)pass->peak_bytes / nops;
    printf("  %-22s %8.0f %8.0f %8.0f %8.0f\n", pass->name, program,
           (double)pass->arena_bytes / nops, peak, peak - program);
  }
}

// False where more is needed than `most` (0: any).
static bool run(int layers, const char *mesh, double most) {
  bench_memory_t memory;
  if (!bench_measure_memory(layers, mesh, &memory)) {
    return false;
  }
  printf("%d layers, %zu ops, %s\n", layers, memory.nops, mesh);
  print_passes(&memory);
  double beyond = bench_memory_beyond(&memory);
  bool fits = most == 0 || beyond <= most;
  if (!fits) {
    printf("  %.0f bytes per op beyond the program, more than %.0f\n", beyond, most);
  }
  return fits;
}

int main(int argc, char **argv) {
  double most = 0;
  int first = 1;
  if (argc > 2 && strcmp(argv[1], "--most") == 0) {
    most = strtod(argv[2], NULL);
    first = 3;
  }
  static const char *const kDefault[] = {"24", "96"};
  bool ok = true;
  printf("bytes per op              program    arena     peak   beyond\n");
  for (int i = 0; i < (first < argc ? argc - first : 2); i++) {
    const char *layers = first < argc ? argv[first + i] : kDefault[i];
    for (int m = 0; m < NMESHES; m++) {
      ok = run((int)strtol(layers, NULL, 10), kMeshes[m], most) && ok;
    }
  }
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
