// The header of .safetensors files: eight bytes of length, then JSON with each tensor's dtype,
// shape and byte range.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/file.h"

// The format's own limit.
enum { LARGEST_HEADER = 100 * 1000 * 1000 };

struct tspec_rt_safetensors_t {
  json_t *json;
  char *name;
  int64_t data_offset; ///< of the file
  int64_t data_bytes;
};

tspec_rt_status_t tspec_rt_safetensors_parse(const char *json, size_t json_bytes,
                                             int64_t data_bytes, const char *name,
                                             tspec_rt_error_t *error,
                                             tspec_rt_safetensors_t **out_header) {
  *out_header = NULL;
  if (json_bytes > LARGEST_HEADER) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "the header of '%s' is too long", name);
  }
  json_error_t reason;
  json_t *root = json_loadb(json, json_bytes, JSON_REJECT_DUPLICATES, &reason);
  if (root == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "the header of '%s' is not JSON: %s", name,
                         reason.text);
  }
  tspec_rt_safetensors_t *header = calloc(1, sizeof *header);
  char *kept = strdup(name);
  if (!json_is_object(root) || header == NULL || kept == NULL) {
    bool memory = json_is_object(root);
    json_decref(root);
    free(header);
    free(kept);
    return memory
               ? tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory")
               : tspec_rt_fail(error, TSPEC_RT_FILE, "the header of '%s' is not an object", name);
  }
  *header = (tspec_rt_safetensors_t){
      .json = root, .name = kept, .data_offset = 8 + (int64_t)json_bytes, .data_bytes = data_bytes};
  *out_header = header;
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_safetensors_read(int file, const char *name, tspec_rt_error_t *error,
                                            tspec_rt_safetensors_t **out_header) {
  *out_header = NULL;
  struct stat info;
  unsigned char length_bytes[8];
  if (fstat(file, &info) != 0 || pread(file, length_bytes, 8, 0) != 8) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' is not a .safetensors file", name);
  }
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) {
    length = length << 8 | length_bytes[i];
  }
  if (length > LARGEST_HEADER || (int64_t)length > info.st_size - 8) {
    return tspec_rt_fail(error, TSPEC_RT_FILE,
                         "'%s' is not a .safetensors file: its header would have %llu bytes", name,
                         (unsigned long long)length);
  }
  char *json = malloc((size_t)length + 1);
  if (json == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory");
  }
  tspec_rt_status_t status = TSPEC_RT_OK;
  if (pread(file, json, (size_t)length, 8) != (ssize_t)length) {
    status = tspec_rt_fail(error, TSPEC_RT_FILE, "cannot read the header of '%s'", name);
  } else {
    status = tspec_rt_safetensors_parse(json, (size_t)length, info.st_size - 8 - (int64_t)length,
                                        name, error, out_header);
  }
  free(json);
  return status;
}

void tspec_rt_safetensors_destroy(tspec_rt_safetensors_t *header) {
  if (header != NULL) {
    json_decref(header->json);
    free(header->name);
    free(header);
  }
}

static bool parse_dtype(const char *text, tspec_rt_dtype_t *out_dtype) {
  for (int i = 0; i < TSPEC_RT_DTYPE_COUNT; ++i) {
    if (strcmp(text, tspec_rt_dtype_safetensors((tspec_rt_dtype_t)i)) == 0) {
      *out_dtype = (tspec_rt_dtype_t)i;
      return true;
    }
  }
  return false;
}

static bool parse_entry(const tspec_rt_safetensors_t *header, json_t *entry,
                        tspec_rt_array_t *array) {
  json_t *shape = json_object_get(entry, "shape");
  json_t *range = json_object_get(entry, "data_offsets");
  if (!json_is_array(shape) || json_array_size(shape) > TSPEC_RT_MAX_DIMS ||
      !json_is_array(range) || json_array_size(range) != 2) {
    return false;
  }
  int64_t bytes = tspec_rt_dtype_bytes(array->dtype);
  array->ndims = (int)json_array_size(shape);
  for (int d = 0; d < array->ndims; ++d) {
    json_t *size = json_array_get(shape, (size_t)d);
    array->dims[d] = json_integer_value(size);
    if (!json_is_integer(size) || array->dims[d] < 0 ||
        __builtin_mul_overflow(bytes, array->dims[d], &bytes)) {
      return false;
    }
  }
  json_t *begin = json_array_get(range, 0);
  json_t *end = json_array_get(range, 1);
  if (!json_is_integer(begin) || !json_is_integer(end)) {
    return false;
  }
  int64_t first = json_integer_value(begin);
  int64_t last = json_integer_value(end);
  array->data_offset = header->data_offset + first;
  return first >= 0 && last >= first && last <= header->data_bytes && last - first == bytes;
}

tspec_rt_status_t tspec_rt_safetensors_find(const tspec_rt_safetensors_t *header,
                                            const char *tensor, tspec_rt_error_t *error,
                                            bool *out_found, tspec_rt_array_t *out_array) {
  *out_array = (tspec_rt_array_t){0};
  json_t *entry =
      strcmp(tensor, "__metadata__") == 0 ? NULL : json_object_get(header->json, tensor);
  *out_found = entry != NULL;
  if (entry == NULL) {
    return TSPEC_RT_OK;
  }
  const char *dtype = json_string_value(json_object_get(entry, "dtype"));
  if (dtype != NULL && !parse_dtype(dtype, &out_array->dtype)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE,
                         "'%s': tensor '%s' has elements of type '%s', which tspec lacks",
                         header->name, tensor, dtype);
  }
  if (dtype == NULL || !parse_entry(header, entry, out_array)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s': the entry of tensor '%s' is damaged",
                         header->name, tensor);
  }
  return TSPEC_RT_OK;
}
