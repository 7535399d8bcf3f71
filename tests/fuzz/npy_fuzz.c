// .npy files: the header is refused, or what it says lies inside of the file and can be written
// again.
#include <string.h>

#include "runtime/file.h"
#include "tests/fuzz/fuzz.h"

static uint64_t hash_array(uint64_t said, const tspec_rt_array_t *array) {
  said = fuzz_hash_number(said, array->dtype);
  said = fuzz_hash(said, array->dims, sizeof *array->dims * (size_t)array->ndims);
  said = fuzz_hash_number(said, array->fortran);
  return fuzz_hash_number(said, array->data_offset);
}

static void check_inside(const tspec_rt_array_t *array, int64_t file_bytes) {
  FUZZ_CHECK(array->ndims >= 0 && array->ndims <= TSPEC_RT_MAX_DIMS, "%d dims", array->ndims);
  FUZZ_CHECK(array->dtype < TSPEC_RT_DTYPE_COUNT, "dtype %d", (int)array->dtype);
  int64_t bytes = tspec_rt_dtype_bytes(array->dtype);
  for (int d = 0; d < array->ndims; d++) {
    FUZZ_CHECK(array->dims[d] >= 0, "dim %d is %lld", d, (long long)array->dims[d]);
    FUZZ_CHECK(!__builtin_mul_overflow(bytes, array->dims[d], &bytes), "its size overflows");
  }
  FUZZ_CHECK(array->data_offset >= 10 && array->data_offset <= file_bytes &&
                 bytes <= file_bytes - array->data_offset,
             "%lld bytes at %lld of %lld", (long long)bytes, (long long)array->data_offset,
             (long long)file_bytes);
}

/// What is written is read as the same array.
static void check_round_trip(const tspec_rt_array_t *array, int64_t data_bytes) {
  char header[TSPEC_RT_NPY_HEADER_BYTES];
  size_t length = tspec_rt_npy_print(array, header);
  FUZZ_CHECK(length <= sizeof header, "a header of %zu bytes", length);
  tspec_rt_array_t again;
  tspec_rt_error_t error = {0};
  tspec_rt_status_t status =
      tspec_rt_npy_parse(header, length, (int64_t)length + data_bytes, "again.npy", &error, &again);
  FUZZ_CHECK(status == TSPEC_RT_OK, "%s", error.text);
  FUZZ_CHECK(again.dtype == array->dtype && again.ndims == array->ndims &&
                 memcmp(again.dims, array->dims, sizeof *array->dims * (size_t)array->ndims) == 0,
             "it is read again as another array");
}

/// The file's first `bytes` bytes are at hand, as when it is read in two pieces.
static uint64_t parse(uint64_t said, const uint8_t *data, size_t bytes, int64_t file_bytes) {
  tspec_rt_array_t array;
  tspec_rt_error_t error = {0};
  tspec_rt_status_t status =
      tspec_rt_npy_parse((const char *)data, bytes, file_bytes, "a.npy", &error, &array);
  said = fuzz_hash_text(fuzz_hash_number(said, status), error.text);
  if (status != TSPEC_RT_OK) {
    FUZZ_CHECK(error.text[0] != '\0', "refused without a word");
    return said;
  }
  check_inside(&array, file_bytes);
  check_round_trip(&array, file_bytes - array.data_offset);
  char small[16];
  tspec_rt_type_print(array.dtype, array.ndims, array.dims, small, sizeof small);
  return hash_array(fuzz_hash_text(said, small), &array);
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  uint64_t said = parse(0, data, size, (int64_t)size);
  // as if much data followed, so that large shapes are accepted, too
  said = parse(said, data, size, INT64_MAX / 2);
  return parse(said, data, size / 2, (int64_t)size);
}
