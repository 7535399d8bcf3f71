// What all fuzz targets share. A target is one file that defines `fuzz_one`; it is linked with
// libFuzzer (preset `fuzz`) or with replay.c, which runs the kept inputs.
#ifndef TSPEC_TESTS_FUZZ_FUZZ_H
#define TSPEC_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/// One input, in memory of exactly that size. Returns a hash of all that was said about it: the
/// same input must give the same hash. Any fault aborts.
uint64_t fuzz_one(const uint8_t *data, size_t size);

/// libFuzzer's entry: `fuzz_one`, for some inputs twice, with the same outcome.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// FNV-1a; begin with 0.
uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t size);
uint64_t fuzz_hash_text(uint64_t hash, const char *text);
uint64_t fuzz_hash_number(uint64_t hash, int64_t number);

_Noreturn void fuzz_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// A property of every input: prints what is wrong and aborts.
#define FUZZ_CHECK(condition, ...)                                                                 \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fuzz_failed(__FILE__, __LINE__, __VA_ARGS__);                                                \
    }                                                                                              \
  } while (0)

#endif
