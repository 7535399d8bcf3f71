// The header of .npy files: a Python dictionary (NumPy Enhancement Proposal 1, versions 1 to 3).
#include <stdio.h>
#include <string.h>

#include "runtime/file.h"

typedef struct scanner_t {
  const char *at;
  const char *end;
} scanner_t;

static void skip_blanks(scanner_t *scanner) {
  while (scanner->at < scanner->end && strchr(" \t\r\n", *scanner->at) != NULL &&
         *scanner->at != '\0') {
    scanner->at += 1;
  }
}

static bool take(scanner_t *scanner, char wanted) {
  skip_blanks(scanner);
  if (scanner->at < scanner->end && *scanner->at == wanted) {
    scanner->at += 1;
    return true;
  }
  return false;
}

static bool take_word(scanner_t *scanner, const char *word) {
  skip_blanks(scanner);
  size_t length = strlen(word);
  if ((size_t)(scanner->end - scanner->at) >= length && memcmp(scanner->at, word, length) == 0) {
    scanner->at += length;
    return true;
  }
  return false;
}

// A quoted string without escapes.
static bool take_string(scanner_t *scanner, char *out, size_t out_bytes) {
  skip_blanks(scanner);
  if (scanner->at >= scanner->end || (*scanner->at != '\'' && *scanner->at != '"')) {
    return false;
  }
  char quote = *scanner->at++;
  size_t length = 0;
  while (scanner->at < scanner->end && *scanner->at != quote) {
    if (length + 1 >= out_bytes || *scanner->at == '\\') {
      return false;
    }
    out[length++] = *scanner->at++;
  }
  out[length] = '\0';
  return take(scanner, quote);
}

static bool take_number(scanner_t *scanner, int64_t *out_number) {
  skip_blanks(scanner);
  const char *start = scanner->at;
  int64_t number = 0;
  while (scanner->at < scanner->end && *scanner->at >= '0' && *scanner->at <= '9') {
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, *scanner->at - '0', &number)) {
      return false;
    }
    scanner->at += 1;
  }
  bool any = scanner->at > start;
  (void)take(scanner, 'L'); // as Python 2 wrote long integers
  *out_number = number;
  return any;
}

static bool take_shape(scanner_t *scanner, tspec_rt_array_t *array) {
  if (!take(scanner, '(')) {
    return false;
  }
  array->ndims = 0;
  while (!take(scanner, ')')) {
    if (array->ndims == TSPEC_RT_MAX_DIMS || !take_number(scanner, &array->dims[array->ndims])) {
      return false;
    }
    array->ndims += 1;
    if (!take(scanner, ',')) {
      return take(scanner, ')');
    }
  }
  return true;
}

// `descr` to a dtype; false if it is none of ours. bf16 has no name of its own: a void of two
// bytes.
static bool parse_descr(const char *descr, tspec_rt_dtype_t *out_dtype) {
  static const char *const names[TSPEC_RT_DTYPE_COUNT] = {
      [TSPEC_RT_F64] = "f8", [TSPEC_RT_F32] = "f4", [TSPEC_RT_BF16] = "V2", [TSPEC_RT_F16] = "f2",
      [TSPEC_RT_I64] = "i8", [TSPEC_RT_I32] = "i4", [TSPEC_RT_I16] = "i2",  [TSPEC_RT_I8] = "i1",
      [TSPEC_RT_U8] = "u1",  [TSPEC_RT_BOOL] = "b1"};
  const char *name = strchr("<|=", descr[0]) != NULL && descr[0] != '\0' ? descr + 1 : descr;
  for (int i = 0; i < TSPEC_RT_DTYPE_COUNT; ++i) {
    if (strcmp(name, names[i]) == 0) {
      *out_dtype = (tspec_rt_dtype_t)i;
      return true;
    }
  }
  return false;
}

static bool parse_dictionary(scanner_t *scanner, tspec_rt_array_t *array, char *descr,
                             size_t descr_bytes) {
  unsigned seen = 0;
  if (!take(scanner, '{')) {
    return false;
  }
  while (!take(scanner, '}')) {
    char key[32];
    if (!take_string(scanner, key, sizeof key) || !take(scanner, ':')) {
      return false;
    }
    unsigned bit = 0;
    bool ok = false;
    if (strcmp(key, "descr") == 0) {
      bit = 1;
      ok = take_string(scanner, descr, descr_bytes);
    } else if (strcmp(key, "fortran_order") == 0) {
      bit = 2;
      array->fortran = take_word(scanner, "True");
      ok = array->fortran || take_word(scanner, "False");
    } else if (strcmp(key, "shape") == 0) {
      bit = 4;
      ok = take_shape(scanner, array);
    }
    if (!ok || (seen & bit) != 0) {
      return false;
    }
    seen |= bit;
    if (!take(scanner, ',')) {
      return take(scanner, '}') && seen == 7;
    }
  }
  return seen == 7;
}

static bool data_fits(const tspec_rt_array_t *array, int64_t available) {
  int64_t bytes = tspec_rt_dtype_bytes(array->dtype);
  for (int d = 0; d < array->ndims; ++d) {
    if (__builtin_mul_overflow(bytes, array->dims[d], &bytes)) {
      return false;
    }
  }
  return bytes <= available;
}

tspec_rt_status_t tspec_rt_npy_parse(const char *memory, size_t bytes, int64_t file_bytes,
                                     const char *name, tspec_rt_error_t *error,
                                     tspec_rt_array_t *out_array) {
  *out_array = (tspec_rt_array_t){0};
  const unsigned char *raw = (const unsigned char *)memory;
  if (bytes < 10 || memcmp(memory, "\x93NUMPY", 6) != 0) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' is not a .npy file", name);
  }
  int version = raw[6];
  if (version < 1 || version > 3 || (version > 1 && bytes < 12)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' has .npy version %d, known are 1 to 3", name,
                         version);
  }
  size_t start = version == 1 ? 10 : 12;
  size_t length = raw[8] | (size_t)raw[9] << 8;
  if (version > 1) {
    length |= (size_t)raw[10] << 16 | (size_t)raw[11] << 24;
  }
  if (length > bytes - start) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "the header of '%s' is cut off or too long", name);
  }
  scanner_t scanner = {memory + start, memory + start + length};
  char descr[64] = "";
  if (!parse_dictionary(&scanner, out_array, descr, sizeof descr)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "the header of '%s' is not understood", name);
  }
  if (descr[0] == '>') {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' is big-endian ('%s'), wanted little-endian",
                         name, descr);
  }
  if (!parse_descr(descr, &out_array->dtype)) {
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' has elements of type '%s', which tspec lacks",
                         name, descr);
  }
  out_array->data_offset = (int64_t)(start + length);
  if (!data_fits(out_array, file_bytes - out_array->data_offset)) {
    char type[256];
    return tspec_rt_fail(error, TSPEC_RT_FILE, "'%s' is too short for its %s", name,
                         tspec_rt_type_print(out_array->dtype, out_array->ndims, out_array->dims,
                                             type, sizeof type));
  }
  return TSPEC_RT_OK;
}

size_t tspec_rt_npy_print(const tspec_rt_array_t *array, char out[TSPEC_RT_NPY_HEADER_BYTES]) {
  static const char *const descr[TSPEC_RT_DTYPE_COUNT] = {
      [TSPEC_RT_F64] = "<f8",  [TSPEC_RT_F32] = "<f4", [TSPEC_RT_BF16] = "|V2",
      [TSPEC_RT_F16] = "<f2",  [TSPEC_RT_I64] = "<i8", [TSPEC_RT_I32] = "<i4",
      [TSPEC_RT_I16] = "<i2",  [TSPEC_RT_I8] = "|i1",  [TSPEC_RT_U8] = "|u1",
      [TSPEC_RT_BOOL] = "|b1",
  };
  const size_t room = TSPEC_RT_NPY_HEADER_BYTES;
  size_t at = 10;
  at += (size_t)snprintf(out + at, room - at, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                         descr[array->dtype]);
  for (int d = 0; d < array->ndims; ++d) {
    const char *comma = array->ndims == 1 ? "," : d + 1 < array->ndims ? ", " : "";
    at += (size_t)snprintf(out + at, room - at, "%lld%s", (long long)array->dims[d], comma);
  }
  at += (size_t)snprintf(out + at, room - at, "), }");
  while ((at + 1) % 64 != 0) {
    out[at++] = ' ';
  }
  out[at++] = '\n';
  static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
  memcpy(out, magic, sizeof magic);
  out[8] = (char)((at - 10) & 0xff);
  out[9] = (char)((at - 10) >> 8);
  return at;
}
