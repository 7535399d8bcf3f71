// .safetensors files: the header is refused, or every tensor that is found lies inside of the file.
#define _GNU_SOURCE // memfd_create
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/file.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_NAMES = 16, NAME_BYTES = 64 };

static void check_inside(const tspec_rt_array_t *array, size_t file_bytes) {
  FUZZ_CHECK(array->ndims >= 0 && array->ndims <= TSPEC_RT_MAX_DIMS, "%d dims", array->ndims);
  FUZZ_CHECK(array->dtype < TSPEC_RT_DTYPE_COUNT, "dtype %d", (int)array->dtype);
  int64_t bytes = tspec_rt_dtype_bytes(array->dtype);
  for (int d = 0; d < array->ndims; d++) {
    FUZZ_CHECK(array->dims[d] >= 0, "dim %d is %lld", d, (long long)array->dims[d]);
    FUZZ_CHECK(!__builtin_mul_overflow(bytes, array->dims[d], &bytes), "its size overflows");
  }
  FUZZ_CHECK(array->data_offset >= 8 && array->data_offset <= (int64_t)file_bytes &&
                 bytes <= (int64_t)file_bytes - array->data_offset,
             "%lld bytes at %lld of %zu", (long long)bytes, (long long)array->data_offset,
             file_bytes);
}

static uint64_t find(uint64_t said, const tspec_rt_safetensors_t *header, const char *name,
                     size_t file_bytes) {
  tspec_rt_array_t array;
  tspec_rt_error_t error = {0};
  bool found = false;
  tspec_rt_status_t status = tspec_rt_safetensors_find(header, name, &error, &found, &array);
  said = fuzz_hash_text(fuzz_hash_number(said, status), error.text);
  if (status != TSPEC_RT_OK) {
    FUZZ_CHECK(error.text[0] != '\0', "refused without a word");
  } else if (found) {
    check_inside(&array, file_bytes);
    said = fuzz_hash_number(said, array.data_offset);
    said = fuzz_hash(said, array.dims, sizeof *array.dims * (size_t)array.ndims);
  }
  return said;
}

/// Looks for tensors of some names, and of all words between quotes.
static uint64_t find_all(uint64_t said, const tspec_rt_safetensors_t *header, const uint8_t *data,
                         size_t size, size_t file_bytes) {
  said = find(said, header, "__metadata__", file_bytes);
  said = find(said, header, "", file_bytes);
  const uint8_t *end = data + size;
  const uint8_t *quote = memchr(data, '"', size);
  for (int i = 0; i < MAX_NAMES && quote != NULL; i++) {
    const uint8_t *start = quote + 1;
    quote = memchr(start, '"', (size_t)(end - start));
    if (quote != NULL && quote - start < NAME_BYTES) {
      char name[NAME_BYTES] = "";
      memcpy(name, start, (size_t)(quote - start));
      said = find(said, header, name, file_bytes);
    }
  }
  return said;
}

static int open_in_memory(const uint8_t *data, size_t size) {
  int file = memfd_create("fuzz.safetensors", 0);
  FUZZ_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size, "no file in memory");
  return file;
}

static uint64_t finish(uint64_t said, tspec_rt_status_t status, const tspec_rt_error_t *error) {
  FUZZ_CHECK(status == TSPEC_RT_OK || error->text[0] != '\0', "refused without a word");
  return fuzz_hash_text(fuzz_hash_number(said, status), error->text);
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  // as a file, with its eight bytes of length
  tspec_rt_safetensors_t *header = NULL;
  tspec_rt_error_t error = {0};
  int file = open_in_memory(data, size);
  tspec_rt_status_t status = tspec_rt_safetensors_read(file, "fuzz.safetensors", &error, &header);
  close(file);
  uint64_t said = finish(0, status, &error);
  if (status == TSPEC_RT_OK) {
    said = find_all(said, header, data, size, size);
  }
  tspec_rt_safetensors_destroy(header);
  // as the header alone, so that no length need be guessed; `size` bytes of data follow it
  if (size < 8) {
    return said;
  }
  error = (tspec_rt_error_t){0};
  status = tspec_rt_safetensors_parse((const char *)data + 8, size - 8, (int64_t)size,
                                      "fuzz.safetensors", &error, &header);
  said = finish(said, status, &error);
  if (status == TSPEC_RT_OK) {
    said = find_all(said, header, data, size, 2 * size);
  }
  tspec_rt_safetensors_destroy(header);
  return said;
}
