// Element types at run time, in the order of the image.
#ifndef TSPEC_RUNTIME_DTYPE_H
#define TSPEC_RUNTIME_DTYPE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/// TSPEC_RT_DTYPE(id, spelling, bytes, is_float, safetensors spelling)
#define TSPEC_RT_DTYPES(X)          \
  X(F64,  "f64",  8, true,  "F64")  \
  X(F32,  "f32",  4, true,  "F32")  \
  X(BF16, "bf16", 2, true,  "BF16") \
  X(F16,  "f16",  2, true,  "F16")  \
  X(I64,  "i64",  8, false, "I64")  \
  X(I32,  "i32",  4, false, "I32")  \
  X(I16,  "i16",  2, false, "I16")  \
  X(I8,   "i8",   1, false, "I8")   \
  X(U8,   "u8",   1, false, "U8")   \
  X(BOOL, "bool", 1, false, "BOOL")
// clang-format on

typedef enum tspec_rt_dtype_t {
#define TSPEC_RT_DTYPE_ENUM(id, ...) TSPEC_RT_##id,
  TSPEC_RT_DTYPES(TSPEC_RT_DTYPE_ENUM)
#undef TSPEC_RT_DTYPE_ENUM
      TSPEC_RT_DTYPE_COUNT,
} tspec_rt_dtype_t;

/// How partial results combine, in the image's order (tspec_image_step_t.reduce).
typedef enum tspec_rt_reduce_t {
  TSPEC_RT_SUM,
  TSPEC_RT_MAX,
  TSPEC_RT_MIN,
  TSPEC_RT_PROD,
  TSPEC_RT_ALL,
  TSPEC_RT_ANY,
  TSPEC_RT_REDUCE_COUNT,
} tspec_rt_reduce_t;

const char *tspec_rt_dtype_name(tspec_rt_dtype_t dtype);        ///< "bf16"
const char *tspec_rt_dtype_safetensors(tspec_rt_dtype_t dtype); ///< "BF16"
int64_t tspec_rt_dtype_bytes(tspec_rt_dtype_t dtype);           ///< in memory; bool takes one byte
bool tspec_rt_dtype_is_float(tspec_rt_dtype_t dtype);
const char *tspec_rt_reduce_name(tspec_rt_reduce_t reduce); ///< "sum"
/// True if elements of `dtype` can be combined so: `all` and `any` take bool alone, bool takes no
/// sum and no product.
bool tspec_rt_reduce_fits(tspec_rt_reduce_t reduce, tspec_rt_dtype_t dtype);

/// Half precision, to nearest even; NaNs stay NaNs.
float tspec_rt_f32_from_bf16(uint16_t bits);
uint16_t tspec_rt_bf16_from_f32(float number);
float tspec_rt_f32_from_f16(uint16_t bits);
uint16_t tspec_rt_f16_from_f32(float number);
/// A double rounded once to `dtype` (f16 and bf16 straight, not by way of f32), stored at `out`.
/// Integers truncate and saturate, NaN becomes 0; bool is != 0.
void tspec_rt_dtype_store(tspec_rt_dtype_t dtype, double number, void *out);
/// `elems` of them.
void tspec_rt_dtype_fill(tspec_rt_dtype_t dtype, double number, int64_t elems, void *out);
/// The element at `from` as a double (i64: the nearest one).
double tspec_rt_dtype_load(tspec_rt_dtype_t dtype, const void *from);

/// out[i] = parts[0][i] op parts[1][i] op ..., in this order for every i. f16 and bf16 are combined
/// in f32 and rounded once; integers wrap; a NaN makes max and min NaN, and +0 is above -0. `out`
/// may be one of the parts. nparts >= 1. Ranks: local.
void tspec_rt_combine(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce, const void *const *parts,
                      int nparts, int64_t elems, void *out);

#ifdef __cplusplus
}
#endif

#endif
