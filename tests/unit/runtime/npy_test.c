#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "runtime/file.h"

TestSuite(npy, .timeout = 30);

// A file of a version with this dictionary, blanks up to 64 bytes.
static size_t make(int version, const char *dictionary, char *out) {
  size_t start = version == 1 ? 10 : 12;
  size_t length = strlen(dictionary) + 1;
  while ((start + length) % 64 != 0) {
    length += 1;
  }
  memcpy(out, "\x93NUMPY", 6);
  memset(out + 6, 0, start - 6);
  out[6] = (char)version;
  out[8] = (char)(length & 0xff);
  out[9] = (char)(length >> 8);
  memset(out + start, ' ', length);
  memcpy(out + start, dictionary, strlen(dictionary));
  out[start + length - 1] = '\n';
  return start + length;
}

static tspec_rt_status_t parse(int version, const char *dictionary, int64_t data_bytes,
                               tspec_rt_array_t *out_array, tspec_rt_error_t *error) {
  char file[1024];
  size_t bytes = make(version, dictionary, file);
  *error = (tspec_rt_error_t){0};
  return tspec_rt_npy_parse(file, bytes, (int64_t)bytes + data_bytes, "a.npy", error, out_array);
}

Test(npy, reads_every_version) {
  for (int version = 1; version <= 3; ++version) {
    tspec_rt_array_t array;
    tspec_rt_error_t error;
    tspec_rt_status_t status = parse(
        version, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 48, &array, &error);
    cr_assert(eq(int, (int)status, (int)TSPEC_RT_OK));
    cr_assert(eq(int, (int)array.dtype, (int)TSPEC_RT_F32));
    cr_assert(eq(int, array.ndims, 2));
    cr_assert(eq(i64, array.dims[0], 3));
    cr_assert(eq(i64, array.dims[1], 4));
    cr_assert(eq(i64, array.data_offset % 64, 0));
    cr_assert(not(array.fortran));
  }
}

Test(npy, reads_any_order_of_keys_scalars_and_fortran_order) {
  tspec_rt_array_t array;
  tspec_rt_error_t error;
  cr_assert(parse(1, "{\"shape\":(),\"fortran_order\":True,\"descr\":\"|b1\"}", 1, &array,
                  &error) == TSPEC_RT_OK);
  cr_assert(eq(int, array.ndims, 0));
  cr_assert(array.fortran);
  cr_assert(eq(int, (int)array.dtype, (int)TSPEC_RT_BOOL));
  cr_assert(parse(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (7,)}", 14, &array,
                  &error) == TSPEC_RT_OK);
  cr_assert(eq(int, (int)array.dtype, (int)TSPEC_RT_BF16));
}

typedef struct bad_t {
  const char *dictionary;
  const char *message;
} bad_t;

Test(npy, refuses_what_is_malformed) {
  static const bad_t bad[] = {
      {"", "the header of 'a.npy' is not understood"},
      {"{}", "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4', 'shape': (2,)}", "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
       "the header of 'a.npy' is not understood"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
       "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
       "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
       "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
       "the header of 'a.npy' is not understood"},
      {"{'descr': '<f4", "the header of 'a.npy' is not understood"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
       "'a.npy' is big-endian ('>f4'), wanted little-endian"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
       "'a.npy' has elements of type '<c8', which tspec lacks"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2,)}",
       "'a.npy' has elements of type '', which tspec lacks"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
       "'a.npy' is too short for its f32[3]"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
       "'a.npy' is too short for its f64[4611686018427387904, 8]"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    tspec_rt_array_t array;
    tspec_rt_error_t error;
    tspec_rt_status_t status = parse(1, bad[i].dictionary, 8, &array, &error);
    cr_assert(eq(int, (int)status, (int)TSPEC_RT_FILE), "case %zu", i);
    cr_assert(eq(str, error.text, (char *)bad[i].message), "case %zu", i);
  }
}

Test(npy, refuses_every_cut_and_no_cut_crashes) {
  char file[1024];
  size_t bytes = make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", file);
  for (size_t cut = 0; cut < bytes; ++cut) {
    tspec_rt_array_t array;
    tspec_rt_error_t error = {0};
    char *exact = malloc(cut + 1);
    memcpy(exact, file, cut);
    cr_assert(tspec_rt_npy_parse(exact, cut, (int64_t)bytes + 48, "a.npy", &error, &array) ==
              TSPEC_RT_FILE);
    free(exact);
  }
}

Test(npy, reads_what_it_writes) {
  tspec_rt_array_t array = {.dtype = TSPEC_RT_I16, .ndims = 3, .dims = {1, 20, 300}};
  for (int ndims = 0; ndims <= 3; ++ndims) {
    char header[TSPEC_RT_NPY_HEADER_BYTES];
    array.ndims = ndims;
    size_t bytes = tspec_rt_npy_print(&array, header);
    tspec_rt_array_t back;
    tspec_rt_error_t error = {0};
    cr_assert(tspec_rt_npy_parse(header, bytes, (int64_t)bytes + 12000, "a.npy", &error, &back) ==
              TSPEC_RT_OK);
    cr_assert(eq(int, back.ndims, ndims));
    for (int d = 0; d < ndims; ++d) {
      cr_assert(eq(i64, back.dims[d], array.dims[d]));
    }
    cr_assert(eq(sz, bytes % 64, 0));
  }
}
