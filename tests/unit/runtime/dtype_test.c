#include "runtime/dtype.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

#include "ir/base/type.h"

__extension__ typedef _Float16 compilers_f16_t;

TestSuite(dtype, .timeout = 30);

Test(dtype, stands_in_the_order_of_the_compiler) {
  static const char *const spelled[] = {
#define SPELLED(id, name, ...) [TSPEC_DTYPE_##id] = name,
      TSPEC_DTYPES(SPELLED)
#undef SPELLED
  };
  cr_assert(eq(int, (int)TSPEC_RT_DTYPE_COUNT, (int)TSPEC_DTYPE_COUNT));
  for (int i = 0; i < TSPEC_RT_DTYPE_COUNT; ++i) {
    cr_assert(eq(str, (char *)tspec_rt_dtype_name((tspec_rt_dtype_t)i), (char *)spelled[i]));
  }
}

// gcc's own _Float16 is the oracle.
Test(dtype, reads_every_f16_as_the_compiler_does) {
  for (int bits = 0; bits < 65536; ++bits) {
    uint16_t half = (uint16_t)bits;
    compilers_f16_t number;
    memcpy(&number, &half, sizeof number);
    float want = (float)number;
    float got = tspec_rt_f32_from_f16(half);
    cr_assert(isnan(want) ? isnan(got) : memcmp(&want, &got, sizeof got) == 0, "bits %04x", bits);
  }
}

Test(dtype, rounds_to_f16_as_the_compiler_does) {
  uint32_t state = 1;
  for (int i = 0; i < 400000; ++i) {
    state = state * 1664525u + 1013904223u;
    uint32_t bits = (i & 1) != 0 ? state : (state & 0x8fffffffu) | 0x30000000u;
    float number;
    memcpy(&number, &bits, sizeof number);
    if (isnan(number)) {
      continue;
    }
    compilers_f16_t half = (compilers_f16_t)number;
    uint16_t want;
    memcpy(&want, &half, sizeof want);
    cr_assert(eq(u16, tspec_rt_f16_from_f32(number), want), "bits %08x", bits);
  }
}

Test(dtype, rounds_to_f16_and_bf16_at_the_edges) {
  cr_assert(eq(u16, tspec_rt_f16_from_f32(65504.0f), 0x7bff));
  cr_assert(eq(u16, tspec_rt_f16_from_f32(65519.0f), 0x7bff));
  cr_assert(eq(u16, tspec_rt_f16_from_f32(65520.0f), 0x7c00));
  cr_assert(eq(u16, tspec_rt_f16_from_f32(0x1p-24f), 1));
  cr_assert(eq(u16, tspec_rt_f16_from_f32(0x1p-25f), 0));
  cr_assert(eq(u16, tspec_rt_f16_from_f32(0x1.8p-25f), 1));
  cr_assert(eq(u16, tspec_rt_bf16_from_f32(1.0f), 0x3f80));
  cr_assert(eq(u16, tspec_rt_bf16_from_f32(0x1.01p0f), 0x3f80)); // a tie goes to even
  cr_assert(eq(u16, tspec_rt_bf16_from_f32(0x1.03p0f), 0x3f82));
  cr_assert(eq(u16, tspec_rt_bf16_from_f32(INFINITY), 0x7f80));
  cr_assert(isnan(tspec_rt_f32_from_bf16(tspec_rt_bf16_from_f32(NAN))));
}

Test(dtype, stores_a_double_rounded_once) {
  // By way of f32 this would become a tie and go down to 1.
  double number = 1.0 + 0x1p-8 + 0x1p-40;
  uint16_t half = 0;
  tspec_rt_dtype_store(TSPEC_RT_BF16, number, &half);
  cr_assert(eq(u16, half, 0x3f81));
  number = 1.0 + 0x1p-11 + 0x1p-40;
  tspec_rt_dtype_store(TSPEC_RT_F16, number, &half);
  cr_assert(eq(u16, half, 0x3c01));
}

Test(dtype, stores_integers_truncated_and_saturated) {
  int8_t i8 = 0;
  tspec_rt_dtype_store(TSPEC_RT_I8, -1.9, &i8);
  cr_assert(eq(i8, i8, -1));
  tspec_rt_dtype_store(TSPEC_RT_I8, 1e9, &i8);
  cr_assert(eq(i8, i8, 127));
  uint8_t u8 = 0;
  tspec_rt_dtype_store(TSPEC_RT_U8, -3, &u8);
  cr_assert(eq(u8, u8, 0));
  int64_t i64 = 0;
  tspec_rt_dtype_store(TSPEC_RT_I64, 1e300, &i64);
  cr_assert(eq(i64, i64, INT64_MAX));
  tspec_rt_dtype_store(TSPEC_RT_I64, NAN, &i64);
  cr_assert(eq(i64, i64, 0));
}

TestSuite(combine, .timeout = 30);

Test(combine, rounds_bf16_sums_once) {
  // Step by step, 256 + 1 is 256 again.
  uint16_t a = tspec_rt_bf16_from_f32(256.0f);
  uint16_t b = tspec_rt_bf16_from_f32(1.0f);
  const void *parts[] = {&a, &b, &b};
  uint16_t sum = 0;
  tspec_rt_combine(TSPEC_RT_BF16, TSPEC_RT_SUM, parts, 3, 1, &sum);
  cr_assert(eq(flt, tspec_rt_f32_from_bf16(sum), 258.0f));
}

Test(combine, adds_in_the_order_of_the_parts) {
  float a = 1e8f;
  float b = -1e8f;
  float c = 1.0f;
  const void *parts[] = {&a, &c, &b};
  float sum = 9;
  tspec_rt_combine(TSPEC_RT_F32, TSPEC_RT_SUM, parts, 3, 1, &sum);
  cr_assert(eq(flt, sum, (1e8f + 1.0f) + -1e8f));
}

Test(combine, makes_nan_of_nan_and_prefers_plus_zero) {
  float with[] = {NAN, 1.0f, -0.0f, 0.0f};
  float other[] = {1.0f, NAN, 0.0f, -0.0f};
  const void *parts[] = {with, other};
  float most[4];
  float least[4];
  tspec_rt_combine(TSPEC_RT_F32, TSPEC_RT_MAX, parts, 2, 4, most);
  tspec_rt_combine(TSPEC_RT_F32, TSPEC_RT_MIN, parts, 2, 4, least);
  cr_assert(isnan(most[0]) && isnan(most[1]) && isnan(least[0]) && isnan(least[1]));
  for (int i = 2; i < 4; ++i) {
    cr_assert(eq(int, signbit(most[i]) != 0, 0));
    cr_assert(eq(int, signbit(least[i]) != 0, 1));
  }
}

Test(combine, wraps_integers) {
  int8_t a = 100;
  int32_t c = INT32_MAX;
  int32_t d = 2;
  const void *small[] = {&a, &a};
  const void *large[] = {&c, &d};
  int8_t sum = 0;
  int32_t total = 0;
  tspec_rt_combine(TSPEC_RT_I8, TSPEC_RT_SUM, small, 2, 1, &sum);
  tspec_rt_combine(TSPEC_RT_I32, TSPEC_RT_SUM, large, 2, 1, &total);
  cr_assert(eq(i8, sum, -56));
  cr_assert(eq(i32, total, INT32_MIN + 1));
}

Test(combine, works_through_more_than_one_chunk_and_in_place) {
  enum { COUNT = 5000 };
  static double a[COUNT];
  static double b[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    a[i] = i;
    b[i] = 2 * i;
  }
  const void *parts[] = {a, b};
  tspec_rt_combine(TSPEC_RT_F64, TSPEC_RT_SUM, parts, 2, COUNT, b);
  for (int i = 0; i < COUNT; ++i) {
    cr_assert(eq(dbl, b[i], 3.0 * i));
  }
}
