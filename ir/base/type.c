#include "ir/base/type.h"

#include <math.h>
#include <string.h>

#include "ir/base/str.h"

typedef struct dtype_row_t {
  const char *name;
  int bytes;
  bool is_float;
  const char *mlir_name;
} dtype_row_t;

static const dtype_row_t kRows[TSPEC_DTYPE_COUNT] = {
#define TSPEC_DTYPE_ROW(id, name, bytes, is_float, mlir) {name, bytes, is_float, mlir},
    TSPEC_DTYPES(TSPEC_DTYPE_ROW)
#undef TSPEC_DTYPE_ROW
};

const char *tspec_dtype_name(tspec_dtype_t dtype) {
  return kRows[dtype].name;
}

const char *tspec_dtype_mlir_name(tspec_dtype_t dtype) {
  return kRows[dtype].mlir_name;
}

int tspec_dtype_bytes(tspec_dtype_t dtype) {
  return kRows[dtype].bytes;
}

bool tspec_dtype_is_float(tspec_dtype_t dtype) {
  return kRows[dtype].is_float;
}

bool tspec_dtype_is_integer(tspec_dtype_t dtype) {
  return !kRows[dtype].is_float && dtype != TSPEC_DTYPE_BOOL;
}

bool tspec_dtype_parse(const char *name, size_t length, tspec_dtype_t *out_dtype) {
  for (int i = 0; i < TSPEC_DTYPE_COUNT; ++i) {
    if (strlen(kRows[i].name) == length && memcmp(kRows[i].name, name, length) == 0) {
      *out_dtype = (tspec_dtype_t)i;
      return true;
    }
  }
  return false;
}

static bool is_signed(tspec_dtype_t dtype) {
  return dtype != TSPEC_DTYPE_U8 && dtype != TSPEC_DTYPE_BOOL;
}

static int value_bits(tspec_dtype_t dtype) {
  return dtype == TSPEC_DTYPE_BOOL ? 1 : 8 * kRows[dtype].bytes - is_signed(dtype);
}

double tspec_dtype_min(tspec_dtype_t dtype) {
  return is_signed(dtype) ? -ldexp(1, value_bits(dtype)) : 0;
}

double tspec_dtype_max(tspec_dtype_t dtype) {
  return ldexp(1, value_bits(dtype)) - 1;
}

// Rounds to `digits` significant bits, to nearest even, with subnormals below 2^min_exponent;
// 2^max_exponent overflows.
static double round_to(double number, int digits, int min_exponent, int max_exponent) {
  if (number == 0 || !isfinite(number)) {
    return number;
  }
  int exponent = 0;
  frexp(number, &exponent);
  int unit = (exponent - 1 < min_exponent ? min_exponent : exponent - 1) - (digits - 1);
  double rounded = ldexp(nearbyint(ldexp(number, -unit)), unit);
  return fabs(rounded) >= ldexp(1, max_exponent) ? copysign(INFINITY, number) : rounded;
}

double tspec_dtype_round(tspec_dtype_t dtype, double number) {
  if (dtype == TSPEC_DTYPE_F32) {
    return (double)(float)number;
  }
  if (dtype == TSPEC_DTYPE_BF16) {
    return round_to(number, 8, -126, 128);
  }
  if (dtype == TSPEC_DTYPE_F16) {
    return round_to(number, 11, -14, 16);
  }
  return number;
}

tspec_type_t tspec_type_make(tspec_arena_t *arena, tspec_dtype_t dtype, int rank,
                             const int64_t *dims) {
  const int64_t *copy = tspec_arena_copy(arena, dims, sizeof *dims * (size_t)rank);
  return (tspec_type_t){dtype, rank, copy};
}

bool tspec_shape_equal(tspec_type_t a, tspec_type_t b) {
  if (a.rank != b.rank) {
    return false;
  }
  for (int i = 0; i < a.rank; ++i) {
    if (a.dims[i] != b.dims[i]) {
      return false;
    }
  }
  return true;
}

bool tspec_type_equal(tspec_type_t a, tspec_type_t b) {
  return a.dtype == b.dtype && tspec_shape_equal(a, b);
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t tspec_type_elems(tspec_type_t type) {
  int64_t elems = 1;
  for (int i = 0; i < type.rank; ++i) {
    elems = multiply(elems, type.dims[i]);
  }
  return elems;
}

int64_t tspec_type_bytes(tspec_type_t type) {
  return multiply(tspec_type_elems(type), tspec_dtype_bytes(type.dtype));
}

bool tspec_type_fits(tspec_type_t type) {
  return tspec_type_bytes(type) <= TSPEC_TYPE_MAX_BYTES;
}

const char *tspec_type_print(tspec_arena_t *arena, tspec_type_t type) {
  tspec_buf_t buf = {0};
  tspec_buf_puts(&buf, tspec_dtype_name(type.dtype));
  for (int i = 0; i < type.rank; ++i) {
    tspec_buf_printf(&buf, "%s%lld", i == 0 ? "[" : ", ", (long long)type.dims[i]);
  }
  tspec_buf_puts(&buf, type.rank > 0 ? "]" : "");
  const char *text = tspec_arena_strdup(arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}
