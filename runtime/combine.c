// Element by element reductions over parts, in the order of the parts. Works through chunks that
// stay in the first-level cache, so that each part is read once and the result written once.
#include <math.h>
#include <stddef.h>

#include "runtime/dtype.h"

enum { CHUNK = 1024 };

// Larger and smaller of two floats as IEEE 754-2019's maximum and minimum: NaN if either is, +0
// above -0, so that the order of the ranks does not show.
#define FLOAT_MAX(a, b)                                                                            \
  ((a) == (b) ? (signbit(a) ? (b) : (a)) : ((a) > (b) || (a) != (a) ? (a) : (b)))
#define FLOAT_MIN(a, b)                                                                            \
  ((a) == (b) ? (signbit(a) ? (a) : (b)) : ((a) < (b) || (a) != (a) ? (a) : (b)))
#define ORDINARY_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ORDINARY_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SAME(x) (x)

// Integers add and multiply as unsigned numbers of at least 32 bits, which wrap.
#define ADD(acc, wide, a, b) ((acc)((wide)(a) + (wide)(b)))
#define MULTIPLY(acc, wide, a, b) ((acc)((wide)(a) * (wide)(b)))

#define FOLD(type, acc, load, expression)                                                          \
  for (int part = 1; part < nparts; ++part) {                                                      \
    const type *from = (const type *)parts[part] + begin;                                          \
    for (int64_t i = 0; i < count; ++i) {                                                          \
      acc a = sums[i];                                                                             \
      acc b = load(from[i]);                                                                       \
      sums[i] = (expression);                                                                      \
    }                                                                                              \
  }                                                                                                \
  break

// A flat switch over the reductions for one element type.
#define DEFINE_COMBINE(id, type, acc, wide, load, store, larger, smaller)                          \
  static void combine_##id(tspec_rt_reduce_t reduce, const void *const *parts, int nparts,         \
                           int64_t elems, void *out) {                                             \
    acc sums[CHUNK];                                                                               \
    for (int64_t begin = 0; begin < elems; begin += CHUNK) {                                       \
      int64_t count = elems - begin < CHUNK ? elems - begin : CHUNK;                               \
      const type *first = (const type *)parts[0] + begin;                                          \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        sums[i] = load(first[i]);                                                                  \
      }                                                                                            \
      switch (reduce) {                                                                            \
      case TSPEC_RT_SUM:                                                                           \
        FOLD(type, acc, load, ADD(acc, wide, a, b));                                               \
      case TSPEC_RT_PROD:                                                                          \
        FOLD(type, acc, load, MULTIPLY(acc, wide, a, b));                                          \
      case TSPEC_RT_MAX:                                                                           \
      case TSPEC_RT_ANY:                                                                           \
        FOLD(type, acc, load, larger(a, b));                                                       \
      case TSPEC_RT_MIN:                                                                           \
      case TSPEC_RT_ALL:                                                                           \
        FOLD(type, acc, load, smaller(a, b));                                                      \
      case TSPEC_RT_REDUCE_COUNT:                                                                  \
        break;                                                                                     \
      }                                                                                            \
      type *to = (type *)out + begin;                                                              \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        to[i] = store(sums[i]);                                                                    \
      }                                                                                            \
    }                                                                                              \
  }

DEFINE_COMBINE(f64, double, double, double, SAME, SAME, FLOAT_MAX, FLOAT_MIN)
DEFINE_COMBINE(f32, float, float, float, SAME, SAME, FLOAT_MAX, FLOAT_MIN)
DEFINE_COMBINE(bf16, uint16_t, float, float, tspec_rt_f32_from_bf16, tspec_rt_bf16_from_f32,
               FLOAT_MAX, FLOAT_MIN)
DEFINE_COMBINE(f16, uint16_t, float, float, tspec_rt_f32_from_f16, tspec_rt_f16_from_f32, FLOAT_MAX,
               FLOAT_MIN)
DEFINE_COMBINE(i64, int64_t, int64_t, uint64_t, SAME, SAME, ORDINARY_MAX, ORDINARY_MIN)
DEFINE_COMBINE(i32, int32_t, int32_t, uint32_t, SAME, SAME, ORDINARY_MAX, ORDINARY_MIN)
DEFINE_COMBINE(i16, int16_t, int16_t, uint32_t, SAME, SAME, ORDINARY_MAX, ORDINARY_MIN)
DEFINE_COMBINE(i8, int8_t, int8_t, uint32_t, SAME, SAME, ORDINARY_MAX, ORDINARY_MIN)
DEFINE_COMBINE(u8, uint8_t, uint8_t, uint32_t, SAME, SAME, ORDINARY_MAX, ORDINARY_MIN)

void tspec_rt_combine(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce, const void *const *parts,
                      int nparts, int64_t elems, void *out) {
  typedef void (*combine_fn_t)(tspec_rt_reduce_t, const void *const *, int, int64_t, void *);
  static const combine_fn_t combine[TSPEC_RT_DTYPE_COUNT] = {
      [TSPEC_RT_F64] = combine_f64, [TSPEC_RT_F32] = combine_f32, [TSPEC_RT_BF16] = combine_bf16,
      [TSPEC_RT_F16] = combine_f16, [TSPEC_RT_I64] = combine_i64, [TSPEC_RT_I32] = combine_i32,
      [TSPEC_RT_I16] = combine_i16, [TSPEC_RT_I8] = combine_i8,   [TSPEC_RT_U8] = combine_u8,
      [TSPEC_RT_BOOL] = combine_u8,
  };
  combine[dtype](reduce, parts, nparts, elems, out);
}
