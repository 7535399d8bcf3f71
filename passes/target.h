// CPUs that code can be generated for, and what code for them may use.
#ifndef TSPEC_PASSES_TARGET_H
#define TSPEC_PASSES_TARGET_H

#include <stdbool.h>

#include "ir/base/arena.h"

/// A CPU as LLVM takes it.
typedef struct tspec_cpu_t {
  const char *name;     ///< LLVM's: "znver3", "x86-64-v3"
  const char *features; ///< LLVM's list for it: "+avx2,-avx512f", or ""
  const char *needed;   ///< what the code may use beyond x86-64: "avx2,fma", for the check at start
} tspec_cpu_t;

/// Looks up `cpu` (NULL or "native": this machine). Strings in `arena`. False if there is no such
/// CPU.
bool tspec_cpu_find(const char *cpu, tspec_arena_t *arena, tspec_cpu_t *out_cpu);
/// The names that tspec_cpu_find knows, joined by ", ". In `arena`.
const char *tspec_cpu_names(tspec_arena_t *arena);

#endif
