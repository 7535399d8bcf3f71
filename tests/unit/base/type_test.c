#include "ir/base/type.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

Test(type, dtypes_print_and_parse_back) {
  for (int i = 0; i < TSPEC_DTYPE_COUNT; ++i) {
    tspec_dtype_t parsed = TSPEC_DTYPE_COUNT;
    const char *name = tspec_dtype_name((tspec_dtype_t)i);
    cr_assert(tspec_dtype_parse(name, strlen(name), &parsed));
    cr_assert(eq(int, parsed, i));
  }
  tspec_dtype_t parsed = TSPEC_DTYPE_COUNT;
  cr_assert(not(tspec_dtype_parse("f3", 2, &parsed)));
  cr_assert(not(tspec_dtype_parse("f322", 4, &parsed)));
}

Test(type, integer_limits) {
  cr_assert(eq(dbl, tspec_dtype_min(TSPEC_DTYPE_I8), -128));
  cr_assert(eq(dbl, tspec_dtype_max(TSPEC_DTYPE_I8), 127));
  cr_assert(eq(dbl, tspec_dtype_min(TSPEC_DTYPE_U8), 0));
  cr_assert(eq(dbl, tspec_dtype_max(TSPEC_DTYPE_U8), 255));
  cr_assert(eq(dbl, tspec_dtype_max(TSPEC_DTYPE_I32), 2147483647));
  cr_assert(eq(dbl, tspec_dtype_max(TSPEC_DTYPE_BOOL), 1));
}

// Bit patterns from IEEE 754: one step above 1 is 2^-7 for bf16, 2^-10 for f16; ties go to even.
static const struct {
  tspec_dtype_t dtype;
  double number, rounded;
} kRounded[] = {
    {TSPEC_DTYPE_BF16, 1 + 0x1p-8, 1},
    {TSPEC_DTYPE_BF16, 1 + 0x1.8p-7, 1 + 0x1p-6},
    {TSPEC_DTYPE_BF16, 0x1.FEFp127, 0x1.FEp127},
    {TSPEC_DTYPE_BF16, 0x1.FFp127, INFINITY},
    {TSPEC_DTYPE_F16, 1 + 0x1p-11, 1},
    {TSPEC_DTYPE_F16, 1 + 0x1.8p-10, 1 + 0x1p-9},
    {TSPEC_DTYPE_F16, 65504, 65504},
    {TSPEC_DTYPE_F16, 65519, 65504},
    {TSPEC_DTYPE_F16, 65520, INFINITY},
    {TSPEC_DTYPE_F16, -65520, -INFINITY},
    {TSPEC_DTYPE_F16, 0x1p-24, 0x1p-24},
    {TSPEC_DTYPE_F16, 0x1p-25, 0},
    {TSPEC_DTYPE_F16, 0x1.8p-25, 0x1p-24},
    {TSPEC_DTYPE_F32, 1 + 0x1p-24, 1},
    {TSPEC_DTYPE_F64, 1 + 0x1p-52, 1 + 0x1p-52},
};

Test(type, floats_round_to_nearest_even) {
  for (size_t i = 0; i < sizeof kRounded / sizeof *kRounded; ++i) {
    double got = tspec_dtype_round(kRounded[i].dtype, kRounded[i].number);
    cr_assert(eq(dbl, got, kRounded[i].rounded), "case %zu", i);
  }
  cr_assert(isnan(tspec_dtype_round(TSPEC_DTYPE_F16, NAN)));
}

Test(type, types_compare_count_and_print) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  int64_t dims[] = {8, 1024};
  tspec_type_t a = tspec_type_make(&arena, TSPEC_DTYPE_F32, 2, dims);
  tspec_type_t b = tspec_type_make(&arena, TSPEC_DTYPE_BF16, 2, dims);
  dims[0] = 7;
  cr_assert(eq(i64, a.dims[0], 8));
  cr_assert(tspec_shape_equal(a, b));
  cr_assert(not(tspec_type_equal(a, b)));
  cr_assert(eq(i64, tspec_type_elems(a), 8192));
  cr_assert(eq(i64, tspec_type_bytes(b), 16384));
  cr_assert(eq(str, (char *)tspec_type_print(&arena, a), "f32[8, 1024]"));
  tspec_type_t scalar = tspec_type_make(&arena, TSPEC_DTYPE_BOOL, 0, NULL);
  cr_assert(eq(str, (char *)tspec_type_print(&arena, scalar), "bool"));
  cr_assert(eq(i64, tspec_type_elems(scalar), 1));
  int64_t huge[] = {INT64_MAX / 2, 3};
  cr_assert(
      eq(i64, tspec_type_elems(tspec_type_make(&arena, TSPEC_DTYPE_F32, 2, huge)), INT64_MAX));
  tspec_arena_deinit(&arena);
}

Test(type, a_tensor_fits_up_to_two_to_the_fifty_bytes) {
  int64_t dims[] = {INT64_C(1) << 24, INT64_C(1) << 24};
  tspec_type_t type = {.dtype = TSPEC_DTYPE_F32, .rank = 2, .dims = dims};
  cr_assert(tspec_type_fits(type)); // 2^48 elements of 4 bytes
  type.dtype = TSPEC_DTYPE_F64;
  cr_assert(not(tspec_type_fits(type)));
  type.dtype = TSPEC_DTYPE_F32;
  dims[1] += 1;
  cr_assert(not(tspec_type_fits(type)));
  dims[0] = dims[1] = INT64_MAX; // saturates
  cr_assert(not(tspec_type_fits(type)));
}
