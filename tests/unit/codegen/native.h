// Runs a local program twice: by the reference evaluator and as native code, all ranks one after
// the other in this process, and compares every rank's blocks of every result.
#ifndef TSPEC_TESTS_UNIT_CODEGEN_NATIVE_H
#define TSPEC_TESTS_UNIT_CODEGEN_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct native_check_t {
  uint64_t seed;    ///< of the inputs
  bool specials;    ///< among them NaN, infinities, zeros, largest and smallest numbers
  double tolerance; ///< of floats, relative to the larger of both and 1; 0: the same bits (any NaN
                    ///< is one)
  const char *cpu;  ///< NULL: native
} native_check_t;

/// `text` as in tests/support/program_text.h, level local, without collectives. Fails the test with
/// the program's text if a block differs.
void native_check(const char *text, const native_check_t *check);

/// Runs two programs as native code on the same inputs, with the builtin products. Fails the test
/// if their results, put together from all ranks, differ in a bit.
void native_same_bits(const char *text, const char *other, const native_check_t *check);

/// How many ops of that name ("kernel", "gemm", "view") the text has after fuse.
int native_count(const char *text, const char *op);
/// The arena's bytes after plan-memory.
int64_t native_arena_bytes(const char *text);

#endif
