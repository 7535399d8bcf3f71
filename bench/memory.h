// What compiling a program takes in memory, counted in the arenas of this process: a function of
// the program and the compiler alone.
#ifndef TSPEC_BENCH_MEMORY_H
#define TSPEC_BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_MAX_PASSES = 8 };

/// One pass. The program itself is what a clone of it takes (tspec_program_clone).
typedef struct bench_pass_memory_t {
  const char *name;
  size_t program_bytes; ///< of the program behind the pass
  size_t arena_bytes;   ///< of the program's arena then: with what passes left there
  size_t peak_bytes;    ///< of all arenas while the pass ran: the program before, scratch, trials
} bench_pass_memory_t;

typedef struct bench_memory_t {
  size_t nops; ///< of the program before any pass
  int npasses;
  bench_pass_memory_t passes[BENCH_MAX_PASSES];
} bench_memory_t;

/// Takes bench/transformer.tspec with so many layers, on a mesh as --mesh has it, from its text to
/// each rank's collectives; what the frontend needs is gone before the first pass. Errors: false
/// after a message.
bool bench_measure_memory(int layers, const char *mesh, bench_memory_t *out_memory);

/// Most that a pass needs beyond the program that it leaves, per op, in bytes.
double bench_memory_beyond(const bench_memory_t *memory);
/// What the last pass leaves, per op, in bytes.
double bench_memory_program(const bench_memory_t *memory);

#endif
