// Element types and tensor types: a dtype and static sizes.
#ifndef TSPEC_IR_BASE_TYPE_H
#define TSPEC_IR_BASE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

// clang-format off
/// TSPEC_DTYPE(id, spelling, bytes, is_float, MLIR spelling)
#define TSPEC_DTYPES(X)            \
  X(F64,  "f64",  8, true,  "f64")  \
  X(F32,  "f32",  4, true,  "f32")  \
  X(BF16, "bf16", 2, true,  "bf16") \
  X(F16,  "f16",  2, true,  "f16")  \
  X(I64,  "i64",  8, false, "i64")  \
  X(I32,  "i32",  4, false, "i32")  \
  X(I16,  "i16",  2, false, "i16")  \
  X(I8,   "i8",   1, false, "i8")   \
  X(U8,   "u8",   1, false, "ui8")  \
  X(BOOL, "bool", 1, false, "i1")
// clang-format on

typedef enum tspec_dtype_t {
#define TSPEC_DTYPE_ENUM(id, ...) TSPEC_DTYPE_##id,
  TSPEC_DTYPES(TSPEC_DTYPE_ENUM)
#undef TSPEC_DTYPE_ENUM
      TSPEC_DTYPE_COUNT,
} tspec_dtype_t;

const char *tspec_dtype_name(tspec_dtype_t dtype);      ///< "bf16"
const char *tspec_dtype_mlir_name(tspec_dtype_t dtype); ///< "bf16", "ui8", "i1"
int tspec_dtype_bytes(tspec_dtype_t dtype);             ///< in memory; bool takes one byte
bool tspec_dtype_is_float(tspec_dtype_t dtype);
bool tspec_dtype_is_integer(tspec_dtype_t dtype); ///< neither float nor bool
/// False if `name` is no dtype.
bool tspec_dtype_parse(const char *name, size_t length, tspec_dtype_t *out_dtype);
/// Smallest and largest value of an integer dtype or bool (as doubles are exact only to 2^53, i64's
/// are rounded).
double tspec_dtype_min(tspec_dtype_t dtype);
double tspec_dtype_max(tspec_dtype_t dtype);
/// `number` rounded to a float dtype (bf16 and f16 to nearest even).
double tspec_dtype_round(tspec_dtype_t dtype, double number);

/// The type of a tensor. A plain value; `dims` lies in an arena and never changes. Rank 0 is a
/// scalar.
typedef struct tspec_type_t {
  tspec_dtype_t dtype;
  int rank;
  const int64_t *dims; ///< each at least 1 in programs; blocks of a rank may be 0
} tspec_type_t;

tspec_type_t tspec_type_make(tspec_arena_t *arena, tspec_dtype_t dtype, int rank,
                             const int64_t *dims);
bool tspec_type_equal(tspec_type_t a, tspec_type_t b);
bool tspec_shape_equal(tspec_type_t a, tspec_type_t b); ///< sizes only
int64_t tspec_type_elems(tspec_type_t type);            ///< saturates at INT64_MAX
int64_t tspec_type_bytes(tspec_type_t type);
/// A tensor of a program has at most 2^50 bytes, so that sums over many of them and costs stay far
/// from overflow.
#define TSPEC_TYPE_MAX_BYTES (INT64_C(1) << 50)
bool tspec_type_fits(tspec_type_t type);
/// "f32[8, 1024]", a scalar "f32"; in `arena`.
const char *tspec_type_print(tspec_arena_t *arena, tspec_type_t type);

#endif
