#include "tests/fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t fuzz_hash(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  hash ^= UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

uint64_t fuzz_hash_text(uint64_t hash, const char *text) {
  return fuzz_hash(hash, text, strlen(text) + 1);
}

uint64_t fuzz_hash_number(uint64_t hash, int64_t number) {
  return fuzz_hash(hash, &number, sizeof number);
}

void fuzz_failed(const char *file, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t said = fuzz_one(data, size);
  // One in 16, chosen by the bytes, so that a failure comes back with its input.
  if (fuzz_hash(0, data, size) % 16 == 0) {
    FUZZ_CHECK(fuzz_one(data, size) == said, "the same input gives another outcome");
  }
  return 0;
}
