#include "ir/eval/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"

static void *allocate(size_t bytes) {
  void *memory = calloc(bytes > 0 ? bytes : 1, 1);
  TSPEC_CHECK(memory != NULL, "out of memory for %zu bytes", bytes);
  return memory;
}

tspec_dense_t *tspec_dense_create(tspec_dtype_t dtype, int rank, const int64_t *dims) {
  tspec_dense_t *dense = allocate(sizeof *dense);
  int64_t *sizes = allocate(sizeof *sizes * (size_t)rank);
  dense->count = 1;
  for (int i = 0; i < rank; i++) {
    sizes[i] = dims[i];
    dense->count *= dims[i];
  }
  dense->type = (tspec_type_t){dtype, rank, sizes};
  dense->data = allocate((size_t)dense->count * (size_t)tspec_dtype_bytes(dtype));
  return dense;
}

static size_t data_bytes(const tspec_dense_t *dense) {
  return (size_t)dense->count * (size_t)tspec_dtype_bytes(dense->type.dtype);
}

tspec_dense_t *tspec_dense_clone(const tspec_dense_t *dense) {
  tspec_dense_t *copy = tspec_dense_create(dense->type.dtype, dense->type.rank, dense->type.dims);
  memcpy(copy->data, dense->data, data_bytes(dense));
  return copy;
}

void tspec_dense_destroy(tspec_dense_t *dense) {
  if (dense != NULL) {
    free((void *)(uintptr_t)dense->type.dims);
    free(dense->data);
    free(dense);
  }
}

// ---- elements ----------------------------------------------------------------------------------

static double from_f16_bits(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int fraction = bits & 1023;
  double size = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                : exponent == 0 ? ldexp(fraction, -24)
                                : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

/// Of a number that is one of f16's.
static uint16_t to_f16_bits(double number) {
  unsigned sign = signbit(number) ? 0x8000u : 0;
  double size = fabs(number);
  if (isnan(number)) {
    return (uint16_t)(sign | 0x7e00u);
  }
  if (isinf(number)) {
    return (uint16_t)(sign | 0x7c00u);
  }
  if (size < 0x1p-14) {
    return (uint16_t)(sign | (unsigned)ldexp(size, 24));
  }
  int exponent = 0;
  double fraction = frexp(size, &exponent);
  return (uint16_t)(sign | (unsigned)(exponent + 14) << 10 |
                    ((unsigned)ldexp(fraction, 11) & 1023u));
}

static double from_bf16_bits(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float number;
  memcpy(&number, &wide, sizeof number);
  return number;
}

/// Of a number that is one of bf16's.
static uint16_t to_bf16_bits(double number) {
  float narrow = (float)number;
  uint32_t wide;
  memcpy(&wide, &narrow, sizeof wide);
  return (uint16_t)(wide >> 16);
}

double tspec_dense_get_float(const tspec_dense_t *dense, int64_t index) {
  switch (dense->type.dtype) {
  case TSPEC_DTYPE_F64:
    return ((const double *)dense->data)[index];
  case TSPEC_DTYPE_F32:
    return (double)((const float *)dense->data)[index];
  case TSPEC_DTYPE_BF16:
    return from_bf16_bits(((const uint16_t *)dense->data)[index]);
  case TSPEC_DTYPE_F16:
    return from_f16_bits(((const uint16_t *)dense->data)[index]);
  case TSPEC_DTYPE_I64:
  case TSPEC_DTYPE_I32:
  case TSPEC_DTYPE_I16:
  case TSPEC_DTYPE_I8:
  case TSPEC_DTYPE_U8:
  case TSPEC_DTYPE_BOOL:
  case TSPEC_DTYPE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "%s is no float dtype", tspec_dtype_name(dense->type.dtype));
  return 0;
}

int64_t tspec_dense_get_int(const tspec_dense_t *dense, int64_t index) {
  switch (dense->type.dtype) {
  case TSPEC_DTYPE_I64:
    return ((const int64_t *)dense->data)[index];
  case TSPEC_DTYPE_I32:
    return ((const int32_t *)dense->data)[index];
  case TSPEC_DTYPE_I16:
    return ((const int16_t *)dense->data)[index];
  case TSPEC_DTYPE_I8:
    return ((const int8_t *)dense->data)[index];
  case TSPEC_DTYPE_U8:
  case TSPEC_DTYPE_BOOL:
    return ((const uint8_t *)dense->data)[index];
  case TSPEC_DTYPE_F64:
  case TSPEC_DTYPE_F32:
  case TSPEC_DTYPE_BF16:
  case TSPEC_DTYPE_F16:
  case TSPEC_DTYPE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "%s is no integer dtype", tspec_dtype_name(dense->type.dtype));
  return 0;
}

double tspec_dense_get(const tspec_dense_t *dense, int64_t index) {
  return tspec_dtype_is_float(dense->type.dtype) ? tspec_dense_get_float(dense, index)
                                                 : (double)tspec_dense_get_int(dense, index);
}

void tspec_dense_set_float(tspec_dense_t *dense, int64_t index, double number) {
  double rounded = tspec_dtype_round(dense->type.dtype, number);
  switch (dense->type.dtype) {
  case TSPEC_DTYPE_F64:
    ((double *)dense->data)[index] = rounded;
    return;
  case TSPEC_DTYPE_F32:
    ((float *)dense->data)[index] = (float)rounded;
    return;
  case TSPEC_DTYPE_BF16:
    ((uint16_t *)dense->data)[index] = to_bf16_bits(rounded);
    return;
  case TSPEC_DTYPE_F16:
    ((uint16_t *)dense->data)[index] = to_f16_bits(rounded);
    return;
  case TSPEC_DTYPE_I64:
  case TSPEC_DTYPE_I32:
  case TSPEC_DTYPE_I16:
  case TSPEC_DTYPE_I8:
  case TSPEC_DTYPE_U8:
  case TSPEC_DTYPE_BOOL:
  case TSPEC_DTYPE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "%s is no float dtype", tspec_dtype_name(dense->type.dtype));
}

void tspec_dense_set_int(tspec_dense_t *dense, int64_t index, int64_t number) {
  switch (dense->type.dtype) {
  case TSPEC_DTYPE_I64:
    ((int64_t *)dense->data)[index] = number;
    return;
  case TSPEC_DTYPE_I32:
    ((uint32_t *)dense->data)[index] = (uint32_t)number;
    return;
  case TSPEC_DTYPE_I16:
    ((uint16_t *)dense->data)[index] = (uint16_t)number;
    return;
  case TSPEC_DTYPE_I8:
  case TSPEC_DTYPE_U8:
    ((uint8_t *)dense->data)[index] = (uint8_t)number;
    return;
  case TSPEC_DTYPE_BOOL:
    ((uint8_t *)dense->data)[index] = number != 0;
    return;
  case TSPEC_DTYPE_F64:
  case TSPEC_DTYPE_F32:
  case TSPEC_DTYPE_BF16:
  case TSPEC_DTYPE_F16:
  case TSPEC_DTYPE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "%s is no integer dtype", tspec_dtype_name(dense->type.dtype));
}

static int64_t saturate(tspec_dtype_t dtype, double number) {
  if (isnan(number)) {
    return 0;
  }
  if (dtype == TSPEC_DTYPE_I64 && number >= 0x1p63) {
    return INT64_MAX;
  }
  double lo = tspec_dtype_min(dtype);
  double hi = tspec_dtype_max(dtype);
  return number <= lo                               ? (int64_t)lo
         : number >= hi && dtype != TSPEC_DTYPE_I64 ? (int64_t)hi
                                                    : (int64_t)number;
}

void tspec_dense_set(tspec_dense_t *dense, int64_t index, double number) {
  tspec_dtype_t dtype = dense->type.dtype;
  if (tspec_dtype_is_float(dtype)) {
    tspec_dense_set_float(dense, index, number);
  } else if (dtype == TSPEC_DTYPE_BOOL) {
    tspec_dense_set_int(dense, index, number != 0);
  } else {
    tspec_dense_set_int(dense, index, saturate(dtype, number));
  }
}

void tspec_dense_copy_element(tspec_dense_t *to, int64_t to_index, const tspec_dense_t *from,
                              int64_t from_index) {
  TSPEC_CHECK(to->type.dtype == from->type.dtype, "copy between dtypes");
  size_t bytes = (size_t)tspec_dtype_bytes(to->type.dtype);
  memcpy((char *)to->data + (size_t)to_index * bytes,
         (const char *)from->data + (size_t)from_index * bytes, bytes);
}

bool tspec_dense_equal(const tspec_dense_t *a, const tspec_dense_t *b) {
  return tspec_type_equal(a->type, b->type) && memcmp(a->data, b->data, data_bytes(a)) == 0;
}

// ---- boxes -------------------------------------------------------------------------------------

bool tspec_dense_next(int rank, const int64_t *dims, int64_t *index) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++index[i] < dims[i]) {
      return true;
    }
    index[i] = 0;
  }
  return false;
}

static int64_t linear_index(const tspec_dense_t *dense, const int64_t *begin, const int64_t *steps,
                            const int64_t *index) {
  int64_t linear = 0;
  for (int i = 0; i < dense->type.rank; i++) {
    int64_t step = steps == NULL ? 1 : steps[i];
    linear = linear * dense->type.dims[i] + begin[i] + index[i] * step;
  }
  return linear;
}

void tspec_dense_copy_box(tspec_dense_t *to, const int64_t *to_begin, const tspec_dense_t *from,
                          const int64_t *from_begin, const int64_t *from_steps,
                          const int64_t *extents) {
  int rank = to->type.rank;
  for (int i = 0; i < rank; i++) {
    if (extents[i] == 0) {
      return;
    }
  }
  for (int i = 0; i < rank; i++) {
    int64_t last = (extents[i] - 1) * (from_steps == NULL ? 1 : from_steps[i]);
    TSPEC_CHECK(to_begin[i] >= 0 && to_begin[i] + extents[i] <= to->type.dims[i] &&
                    from_begin[i] >= 0 && from_begin[i] + last < from->type.dims[i],
                "a box beyond its tensor in dim %d", i);
  }
  int64_t *index = allocate(sizeof *index * (size_t)rank);
  do {
    tspec_dense_copy_element(to, linear_index(to, to_begin, NULL, index), from,
                             linear_index(from, from_begin, from_steps, index));
  } while (tspec_dense_next(rank, extents, index));
  free(index);
}

tspec_dense_t *tspec_dense_cut(const tspec_dense_t *whole, const tspec_block_t *blocks) {
  int rank = whole->type.rank;
  int64_t *numbers = allocate(sizeof *numbers * 3 * (size_t)rank);
  int64_t *extents = numbers;
  int64_t *begin = numbers + rank;
  int64_t *zero = begin + rank;
  for (int i = 0; i < rank; i++) {
    extents[i] = blocks[i].end - blocks[i].begin;
    begin[i] = blocks[i].begin;
  }
  tspec_dense_t *part = tspec_dense_create(whole->type.dtype, rank, extents);
  tspec_dense_copy_box(part, zero, whole, begin, NULL, extents);
  free(numbers);
  return part;
}

void tspec_dense_paste(tspec_dense_t *whole, const tspec_dense_t *part,
                       const tspec_block_t *blocks) {
  int rank = whole->type.rank;
  int64_t *numbers = allocate(sizeof *numbers * 2 * (size_t)rank);
  for (int i = 0; i < rank; i++) {
    numbers[i] = blocks[i].begin;
  }
  tspec_dense_copy_box(whole, numbers, part, numbers + rank, NULL, part->type.dims);
  free(numbers);
}
