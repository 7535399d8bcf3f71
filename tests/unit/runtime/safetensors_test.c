#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/file.h"

TestSuite(safetensors, .timeout = 30);

typedef struct bad_t {
  const char *json;
  const char *message;
} bad_t;

// Finds tensor "w" of a header that is followed by 100 bytes.
static tspec_rt_status_t find(const char *json, tspec_rt_error_t *error, bool *found,
                              tspec_rt_array_t *array) {
  *error = (tspec_rt_error_t){0};
  *found = false;
  tspec_rt_safetensors_t *header = NULL;
  tspec_rt_status_t status =
      tspec_rt_safetensors_parse(json, strlen(json), 100, "a.safetensors", error, &header);
  if (status == TSPEC_RT_OK) {
    status = tspec_rt_safetensors_find(header, "w", error, found, array);
  }
  tspec_rt_safetensors_destroy(header);
  return status;
}

Test(safetensors, finds_a_tensor) {
  const char *json = "{\"__metadata__\":{\"a\":\"b\"},"
                     "\"v\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[0,2]},"
                     "\"w\":{\"dtype\":\"BF16\",\"shape\":[3,5],\"data_offsets\":[2,32]}}";
  tspec_rt_error_t error;
  bool found;
  tspec_rt_array_t array;
  cr_assert(find(json, &error, &found, &array) == TSPEC_RT_OK && found);
  cr_assert(eq(int, (int)array.dtype, (int)TSPEC_RT_BF16));
  cr_assert(eq(int, array.ndims, 2));
  cr_assert(eq(i64, array.dims[1], 5));
  cr_assert(eq(i64, array.data_offset, 8 + (int64_t)strlen(json) + 2));
}

Test(safetensors, says_that_there_is_none) {
  tspec_rt_error_t error;
  bool found;
  tspec_rt_array_t array;
  cr_assert(find("{}", &error, &found, &array) == TSPEC_RT_OK && !found);
}

Test(safetensors, refuses_what_is_malformed) {
  static const bad_t bad[] = {
      {"[]", "the header of 'a.safetensors' is not an object"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[30],\"data_offsets\":[0,120]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[-8,0]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"shape\":[2],\"data_offsets\":[0,8]}}",
       "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":[]}", "'a.safetensors': the entry of tensor 'w' is damaged"},
      {"{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}",
       "'a.safetensors': tensor 'w' has elements of type 'F8_E4M3', which tspec lacks"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    tspec_rt_error_t error;
    bool found;
    tspec_rt_array_t array;
    cr_assert(eq(int, (int)find(bad[i].json, &error, &found, &array), (int)TSPEC_RT_FILE),
              "case %zu", i);
    cr_assert(eq(str, error.text, (char *)bad[i].message), "case %zu", i);
  }
}

Test(safetensors, refuses_text_that_is_not_json) {
  static const char *const bad[] = {"", "{", "{\"w\":", "nonsense", "{\"w\":1,\"w\":2}", "{} {}"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    tspec_rt_error_t error;
    bool found;
    tspec_rt_array_t array;
    cr_assert(eq(int, (int)find(bad[i], &error, &found, &array), (int)TSPEC_RT_FILE), "case %zu",
              i);
  }
}

Test(safetensors, refuses_deep_nesting_without_a_crash) {
  enum { DEPTH = 200000 };
  char *json = malloc(DEPTH + 8);
  memcpy(json, "{\"w\":", 5);
  memset(json + 5, '[', DEPTH);
  json[5 + DEPTH] = '\0';
  tspec_rt_error_t error;
  bool found;
  tspec_rt_array_t array;
  cr_assert(find(json, &error, &found, &array) == TSPEC_RT_FILE);
  free(json);
}
