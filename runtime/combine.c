// Element by element reductions over parts, in the order of the parts. Works through chunks that
// stay in the first-level cache, so that each part is read once and the result written once.
#include <math.h>
#include <stddef.h>

#include "runtime/dtype.h"

enum { CHUNK = 1024 };

// Larger and smaller of two floats as IEEE 754-2019's maximum and minimum: NaN if either is, +0
// above -0, so that the order of the ranks does not show.
#define DEFINE_FLOAT_ORDER(id, acc)                                                                \
  static inline acc larger_##id(acc a, acc b) {                                                    \
    acc zero = signbit(a) ? b : a;                                                                 \
    acc most = a > b || a != a ? a : b;                                                            \
    return a == b ? zero : most;                                                                   \
  }                                                                                                \
  static inline acc smaller_##id(acc a, acc b) {                                                   \
    acc zero = signbit(a) ? a : b;                                                                 \
    acc least = a < b || a != a ? a : b;                                                           \
    return a == b ? zero : least;                                                                  \
  }
#define DEFINE_ORDER(id, acc)                                                                      \
  static inline acc larger_##id(acc a, acc b) {                                                    \
    return a > b ? a : b;                                                                          \
  }                                                                                                \
  static inline acc smaller_##id(acc a, acc b) {                                                   \
    return a < b ? a : b;                                                                          \
  }

DEFINE_FLOAT_ORDER(f64, double)
DEFINE_FLOAT_ORDER(f32, float)
DEFINE_FLOAT_ORDER(bf16, float)
DEFINE_FLOAT_ORDER(f16, float)
DEFINE_ORDER(i64, int64_t)
DEFINE_ORDER(i32, int32_t)
DEFINE_ORDER(i16, int16_t)
DEFINE_ORDER(i8, int8_t)
DEFINE_ORDER(u8, uint8_t)

#define SAME(x) (x)

// Integers add and multiply as unsigned numbers of at least 32 bits, which wrap.
#define EACH(id, expression)                                                                       \
  for (int64_t i = 0; i < count; ++i) {                                                            \
    acc_##id##_t a = sums[i];                                                                      \
    acc_##id##_t b = load_##id(from[i]);                                                           \
    sums[i] = (acc_##id##_t)(expression);                                                          \
  }                                                                                                \
  break

#define DEFINE_COMBINE(id, type, acc, wide, load, store)                                           \
  typedef type elem_##id##_t;                                                                      \
  typedef acc acc_##id##_t;                                                                        \
  typedef wide wide_##id##_t;                                                                      \
  static inline acc_##id##_t load_##id(elem_##id##_t x) {                                          \
    return load(x);                                                                                \
  }                                                                                                \
  static void fold_##id(tspec_rt_reduce_t reduce, const elem_##id##_t *from, int64_t count,        \
                        acc_##id##_t *sums) {                                                      \
    switch (reduce) {                                                                              \
    case TSPEC_RT_SUM:                                                                             \
      EACH(id, (wide_##id##_t)a + (wide_##id##_t)b);                                               \
    case TSPEC_RT_PROD:                                                                            \
      EACH(id, (wide_##id##_t)a * (wide_##id##_t)b);                                               \
    case TSPEC_RT_MAX:                                                                             \
    case TSPEC_RT_ANY:                                                                             \
      EACH(id, larger_##id(a, b));                                                                 \
    case TSPEC_RT_MIN:                                                                             \
    case TSPEC_RT_ALL:                                                                             \
      EACH(id, smaller_##id(a, b));                                                                \
    case TSPEC_RT_REDUCE_COUNT:                                                                    \
      break;                                                                                       \
    }                                                                                              \
  }                                                                                                \
  static void combine_##id(tspec_rt_reduce_t reduce, const void *const *parts, int nparts,         \
                           int64_t elems, void *out) {                                             \
    acc_##id##_t sums[CHUNK];                                                                      \
    for (int64_t begin = 0; begin < elems; begin += CHUNK) {                                       \
      int64_t count = elems - begin < CHUNK ? elems - begin : CHUNK;                               \
      const elem_##id##_t *first = (const elem_##id##_t *)parts[0] + begin;                        \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        sums[i] = load_##id(first[i]);                                                             \
      }                                                                                            \
      for (int part = 1; part < nparts; ++part) {                                                  \
        fold_##id(reduce, (const elem_##id##_t *)parts[part] + begin, count, sums);                \
      }                                                                                            \
      elem_##id##_t *to = (elem_##id##_t *)out + begin;                                            \
      for (int64_t i = 0; i < count; ++i) {                                                        \
        to[i] = store(sums[i]);                                                                    \
      }                                                                                            \
    }                                                                                              \
  }

DEFINE_COMBINE(f64, double, double, double, SAME, SAME)
DEFINE_COMBINE(f32, float, float, float, SAME, SAME)
DEFINE_COMBINE(bf16, uint16_t, float, float, tspec_rt_f32_from_bf16, tspec_rt_bf16_from_f32)
DEFINE_COMBINE(f16, uint16_t, float, float, tspec_rt_f32_from_f16, tspec_rt_f16_from_f32)
DEFINE_COMBINE(i64, int64_t, int64_t, uint64_t, SAME, SAME)
DEFINE_COMBINE(i32, int32_t, int32_t, uint32_t, SAME, SAME)
DEFINE_COMBINE(i16, int16_t, int16_t, uint32_t, SAME, SAME)
DEFINE_COMBINE(i8, int8_t, int8_t, uint32_t, SAME, SAME)
DEFINE_COMBINE(u8, uint8_t, uint8_t, uint32_t, SAME, SAME)

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
