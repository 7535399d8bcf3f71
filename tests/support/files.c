#include "tests/support/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"

static const char *const kNpyNames[TSPEC_DTYPE_COUNT] = {
    [TSPEC_DTYPE_F64] = "<f8",  [TSPEC_DTYPE_F32] = "<f4", [TSPEC_DTYPE_BF16] = "|V2",
    [TSPEC_DTYPE_F16] = "<f2",  [TSPEC_DTYPE_I64] = "<i8", [TSPEC_DTYPE_I32] = "<i4",
    [TSPEC_DTYPE_I16] = "<i2",  [TSPEC_DTYPE_I8] = "|i1",  [TSPEC_DTYPE_U8] = "|u1",
    [TSPEC_DTYPE_BOOL] = "|b1",
};

static const char *const kSafetensorsNames[TSPEC_DTYPE_COUNT] = {
    [TSPEC_DTYPE_F64] = "F64",   [TSPEC_DTYPE_F32] = "F32", [TSPEC_DTYPE_BF16] = "BF16",
    [TSPEC_DTYPE_F16] = "F16",   [TSPEC_DTYPE_I64] = "I64", [TSPEC_DTYPE_I32] = "I32",
    [TSPEC_DTYPE_I16] = "I16",   [TSPEC_DTYPE_I8] = "I8",   [TSPEC_DTYPE_U8] = "U8",
    [TSPEC_DTYPE_BOOL] = "BOOL",
};

static bool fail(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  return false;
}

static size_t byte_count(const tspec_dense_t *dense) {
  return (size_t)dense->count * (size_t)tspec_dtype_bytes(dense->type.dtype);
}

static void put_shape(tspec_buf_t *buf, tspec_type_t type, const char *after_single) {
  for (int i = 0; i < type.rank; ++i) {
    tspec_buf_printf(buf, "%s%lld", i == 0 ? "" : ", ", (long long)type.dims[i]);
  }
  tspec_buf_puts(buf, type.rank == 1 ? after_single : "");
}

static void put_npy_header(tspec_buf_t *buf, tspec_type_t type) {
  tspec_buf_printf(buf, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                   kNpyNames[type.dtype]);
  put_shape(buf, type, ",");
  tspec_buf_puts(buf, "), }");
  while ((buf->length + 11) % 64 != 0) {
    tspec_buf_puts(buf, " ");
  }
  tspec_buf_puts(buf, "\n");
}

static bool close_written(FILE *file, const char *path, bool ok) {
  ok = fclose(file) == 0 && ok;
  return ok || fail(path, strerror(errno));
}

bool tspec_files_write_npy(const char *path, const tspec_dense_t *dense) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    return fail(path, strerror(errno));
  }
  tspec_buf_t header = {0};
  put_npy_header(&header, dense->type);
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  start[8] = (unsigned char)(header.length & 0xff);
  start[9] = (unsigned char)(header.length >> 8);
  bool ok = fwrite(start, 1, sizeof start, file) == sizeof start &&
            fwrite(header.text, 1, header.length, file) == header.length &&
            fwrite(dense->data, 1, byte_count(dense), file) == byte_count(dense);
  tspec_buf_deinit(&header);
  return close_written(file, path, ok);
}

// The dtype and shape as a header must spell them; blanks aside.
static bool header_fits(const char *header, tspec_type_t type) {
  tspec_buf_t shape = {0};
  tspec_buf_puts(&shape, "'shape': (");
  put_shape(&shape, type, ",");
  tspec_buf_puts(&shape, ")");
  const char *name = kNpyNames[type.dtype] + 1; // '<' and '|' mean the same for single bytes
  bool named = strstr(header, name) != NULL || type.dtype == TSPEC_DTYPE_BF16;
  bool fits = strstr(header, tspec_buf_get(&shape)) != NULL && named &&
              strstr(header, "'fortran_order': False") != NULL;
  tspec_buf_deinit(&shape);
  return fits;
}

static bool read_npy(FILE *file, const char *path, tspec_dense_t *dense) {
  unsigned char start[10];
  if (fread(start, 1, sizeof start, file) != sizeof start || memcmp(start, "\x93NUMPY\x01", 7)) {
    return fail(path, "is no .npy of version 1");
  }
  size_t length = (size_t)start[8] | ((size_t)start[9] << 8);
  char *header = calloc(length + 1, 1);
  bool ok = header != NULL && fread(header, 1, length, file) == length;
  ok = ok && header_fits(header, dense->type);
  if (!ok) {
    fprintf(stderr, "%s: header is %s\n", path, header == NULL ? "?" : header);
  }
  free(header);
  if (ok && fread(dense->data, 1, byte_count(dense), file) != byte_count(dense)) {
    return fail(path, "is too short");
  }
  return ok && (fgetc(file) == EOF || fail(path, "is too long"));
}

tspec_dense_t *tspec_files_read_npy(const char *path, tspec_type_t type) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail(path, strerror(errno));
    return NULL;
  }
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  if (!read_npy(file, path, dense)) {
    tspec_dense_destroy(dense);
    dense = NULL;
  }
  fclose(file);
  return dense;
}

static void put_tensor_entry(tspec_buf_t *buf, const tspec_files_tensor_t *tensor, size_t *at) {
  size_t size = byte_count(tensor->dense);
  tspec_buf_printf(buf, "%s\"%s\": {\"dtype\": \"%s\", \"shape\": [", *at == 0 ? "" : ", ",
                   tensor->name, kSafetensorsNames[tensor->dense->type.dtype]);
  put_shape(buf, tensor->dense->type, "");
  tspec_buf_printf(buf, "], \"data_offsets\": [%zu, %zu]}", *at, *at + size);
  *at += size;
}

bool tspec_files_write_safetensors(const char *path, int count,
                                   const tspec_files_tensor_t *tensors) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    return fail(path, strerror(errno));
  }
  tspec_buf_t header = {0};
  tspec_buf_puts(&header, "{");
  size_t at = 0;
  for (int i = 0; i < count; ++i) {
    put_tensor_entry(&header, &tensors[i], &at);
  }
  tspec_buf_puts(&header, "}");
  while (header.length % 8 != 0) {
    tspec_buf_puts(&header, " ");
  }
  unsigned char start[8];
  for (int i = 0; i < 8; ++i) {
    start[i] = (unsigned char)((uint64_t)header.length >> (8 * i));
  }
  bool ok = fwrite(start, 1, 8, file) == 8 &&
            fwrite(header.text, 1, header.length, file) == header.length;
  for (int i = 0; i < count && ok; ++i) {
    size_t size = byte_count(tensors[i].dense);
    ok = fwrite(tensors[i].dense->data, 1, size, file) == size;
  }
  tspec_buf_deinit(&header);
  return close_written(file, path, ok);
}
