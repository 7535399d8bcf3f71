#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gemm.h"

enum { GUARD = 64, NCASES = 150 };

typedef struct random_t {
  uint64_t state;
} random_t;

// xorshift64*: the same sizes and numbers in every run.
static uint64_t next(random_t *random) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return random->state * UINT64_C(2685821657736338717);
}

static int64_t between(random_t *random, int64_t lo, int64_t hi) {
  return lo + (int64_t)(next(random) % (uint64_t)(hi - lo + 1));
}

// A buffer between guard bytes.
static char *new_buffer(int64_t elems, tspec_rt_dtype_t dtype) {
  size_t bytes = (size_t)(elems * tspec_rt_dtype_bytes(dtype));
  char *memory = malloc(bytes + 2 * GUARD);
  memset(memory, 0x5a, bytes + 2 * GUARD);
  return memory + GUARD;
}

static bool guards_hold(const char *buffer, int64_t elems, tspec_rt_dtype_t dtype) {
  int64_t bytes = elems * tspec_rt_dtype_bytes(dtype);
  for (int64_t i = 0; i < GUARD; ++i) {
    if (buffer[-1 - i] != 0x5a || buffer[bytes + i] != 0x5a) {
      return false;
    }
  }
  return true;
}

static void free_buffer(char *buffer) {
  free(buffer - GUARD);
}

static void fill(random_t *random, tspec_rt_dtype_t dtype, int64_t elems, char *buffer) {
  int64_t bytes = tspec_rt_dtype_bytes(dtype);
  for (int64_t i = 0; i < elems; ++i) {
    if (tspec_rt_dtype_is_float(dtype)) {
      double number = (double)between(random, -1000, 1000) / 777;
      tspec_rt_dtype_store(dtype, number, buffer + i * bytes);
    } else {
      uint64_t bits = next(random);
      memcpy(buffer + i * bytes, &bits, (size_t)bytes);
    }
  }
}

static double get_float(tspec_rt_dtype_t dtype, const char *buffer, int64_t i) {
  switch ((int)dtype) {
  case TSPEC_RT_F64:
    return ((const double *)(const void *)buffer)[i];
  case TSPEC_RT_F32:
    return (double)((const float *)(const void *)buffer)[i];
  case TSPEC_RT_BF16:
    return (double)tspec_rt_f32_from_bf16(((const uint16_t *)(const void *)buffer)[i]);
  default:
    return (double)tspec_rt_f32_from_f16(((const uint16_t *)(const void *)buffer)[i]);
  }
}

static int64_t get_int(tspec_rt_dtype_t dtype, const char *buffer, int64_t i) {
  switch ((int)dtype) {
  case TSPEC_RT_I64:
    return ((const int64_t *)(const void *)buffer)[i];
  case TSPEC_RT_I32:
    return ((const int32_t *)(const void *)buffer)[i];
  case TSPEC_RT_I16:
    return ((const int16_t *)(const void *)buffer)[i];
  case TSPEC_RT_I8:
    return ((const int8_t *)buffer)[i];
  default:
    return ((const uint8_t *)buffer)[i];
  }
}

static int64_t lhs_index(const tspec_gemm_t *g, int64_t b, int64_t i, int64_t p) {
  return b * g->m * g->k + (g->lhs_transposed ? p * g->m + i : i * g->k + p);
}

static int64_t rhs_index(const tspec_gemm_t *g, int64_t b, int64_t p, int64_t j) {
  return b * g->k * g->n + (g->rhs_transposed ? j * g->k + p : p * g->n + j);
}

// Relative to the sum of sizes: n roundings of the sum, one of the result.
static double tolerance(const tspec_gemm_t *g) {
  double sum = g->in == TSPEC_RT_F64 || g->out == TSPEC_RT_F64 ? 0x1p-52 : 0x1p-23;
  double result = g->out == TSPEC_RT_BF16  ? 0x1p-8
                  : g->out == TSPEC_RT_F16 ? 0x1p-11
                  : g->out == TSPEC_RT_F32 ? 0x1p-24
                                           : 0;
  return sum * (double)g->k / 2 + result;
}

static bool element_is_right(const tspec_gemm_t *g, const char *lhs, const char *rhs,
                             const char *out, const int64_t at[3]) {
  int64_t place = (at[0] * g->m + at[1]) * g->n + at[2];
  double sum = 0, size = 0;
  uint64_t whole = 0;
  for (int64_t p = 0; p < g->k; ++p) {
    int64_t a = lhs_index(g, at[0], at[1], p), b = rhs_index(g, at[0], p, at[2]);
    if (tspec_rt_dtype_is_float(g->in)) {
      double product = get_float(g->in, lhs, a) * get_float(g->in, rhs, b);
      sum += product;
      size += fabs(product);
    } else {
      whole += (uint64_t)get_int(g->in, lhs, a) * (uint64_t)get_int(g->in, rhs, b);
    }
  }
  if (tspec_rt_dtype_is_float(g->in)) {
    return fabs(get_float(g->out, out, place) - sum) <= size * tolerance(g) + 0x1p-24;
  }
  char wanted[8];
  memcpy(wanted, &whole, sizeof wanted);
  return get_int(g->out, wanted, 0) == get_int(g->out, out, place);
}

static void check_product(random_t *random, tspec_gemm_t g) {
  int64_t nlhs = g.batch * g.m * g.k, nrhs = g.batch * g.k * g.n, nout = g.batch * g.m * g.n;
  char *lhs = new_buffer(nlhs, g.in), *rhs = new_buffer(nrhs, g.in), *out = new_buffer(nout, g.out);
  fill(random, g.in, nlhs, lhs);
  fill(random, g.in, nrhs, rhs);
  cr_assert(tspec_gemm_prepare(&g));
  cr_assert(tspec_gemm_run(&g, lhs, rhs, out));
  int64_t wrong = 0;
  for (int64_t i = 0; i < nout; ++i) {
    int64_t at[] = {i / (g.m * g.n), i / g.n % g.m, i % g.n};
    wrong += !element_is_right(&g, lhs, rhs, out, at);
  }
  cr_assert(wrong == 0, "%s: %ld of %ld wrong, %s to %s, batch %ld m %ld n %ld k %ld, %d %d",
            tspec_gemm_name(&g), (long)wrong, (long)nout, tspec_rt_dtype_name(g.in),
            tspec_rt_dtype_name(g.out), (long)g.batch, (long)g.m, (long)g.n, (long)g.k,
            g.lhs_transposed, g.rhs_transposed);
  cr_assert(guards_hold(out, nout, g.out), "%s writes outside", tspec_gemm_name(&g));
  tspec_gemm_release(&g);
  free_buffer(lhs);
  free_buffer(rhs);
  free_buffer(out);
}

static tspec_gemm_t random_shape(random_t *random) {
  return (tspec_gemm_t){
      .batch = between(random, 1, 3),
      .m = between(random, 1, 130),
      .n = between(random, 1, 130),
      .k = between(random, 1, 130),
      .lhs_transposed = next(random) % 2 == 0,
      .rhs_transposed = next(random) % 2 == 0,
  };
}

// Of operands and result, as `dot` allows them.
static const tspec_rt_dtype_t pairs[][2] = {
    {TSPEC_RT_F32, TSPEC_RT_F32},   {TSPEC_RT_F64, TSPEC_RT_F64}, {TSPEC_RT_BF16, TSPEC_RT_F32},
    {TSPEC_RT_BF16, TSPEC_RT_BF16}, {TSPEC_RT_F16, TSPEC_RT_F32}, {TSPEC_RT_F16, TSPEC_RT_F16},
    {TSPEC_RT_F32, TSPEC_RT_F64},   {TSPEC_RT_F64, TSPEC_RT_F32}, {TSPEC_RT_F32, TSPEC_RT_BF16},
    {TSPEC_RT_I64, TSPEC_RT_I64},   {TSPEC_RT_I32, TSPEC_RT_I32}, {TSPEC_RT_I16, TSPEC_RT_I16},
    {TSPEC_RT_I8, TSPEC_RT_I8},     {TSPEC_RT_U8, TSPEC_RT_U8},   {TSPEC_RT_I8, TSPEC_RT_I32},
    {TSPEC_RT_U8, TSPEC_RT_I64},    {TSPEC_RT_I64, TSPEC_RT_I16},
};

Test(gemm, builtin_products_are_those_of_a_plain_loop) {
  random_t random = {.state = 1};
  for (int i = 0; i < NCASES; ++i) {
    tspec_gemm_t g = random_shape(&random);
    g.in = pairs[i % 17][0];
    g.out = pairs[i % 17][1];
    g.deterministic = true;
    check_product(&random, g);
  }
}

Test(gemm, chosen_products_are_those_of_a_plain_loop) {
  random_t random = {.state = 2};
  for (int i = 0; i < NCASES; ++i) {
    tspec_gemm_t g = random_shape(&random);
    g.in = pairs[i % 9][0];
    g.out = pairs[i % 9][1];
    check_product(&random, g);
  }
}

Test(gemm, long_sums_and_wide_results_cross_blocks) {
  random_t random = {.state = 3};
  tspec_gemm_t shapes[] = {
      {.batch = 1, .m = 200, .n = 17, .k = 700}, {.batch = 1, .m = 3, .n = 2100, .k = 300},
      {.batch = 2, .m = 1, .n = 1, .k = 1000},   {.batch = 1, .m = 171, .n = 1, .k = 1},
      {.batch = 1, .m = 1, .n = 50, .k = 513},
  };
  for (int i = 0; i < 5 * 4; ++i) {
    tspec_gemm_t g = shapes[i % 5];
    g.in = pairs[i / 5 * 3][0];
    g.out = pairs[i / 5 * 3][1];
    g.lhs_transposed = i % 2 == 0;
    g.rhs_transposed = i % 3 == 0;
    g.deterministic = i % 4 != 0;
    check_product(&random, g);
  }
}

// Rows [first, first + count) of lhs, which lies as [m][k] here.
static void check_rows(random_t *random, tspec_gemm_t whole, int64_t first, int64_t count) {
  tspec_gemm_t part = whole;
  part.m = count;
  char *lhs = new_buffer(whole.m * whole.k, whole.in),
       *rhs = new_buffer(whole.k * whole.n, whole.in);
  char *all = new_buffer(whole.m * whole.n, whole.out),
       *some = new_buffer(count * whole.n, whole.out);
  fill(random, whole.in, whole.m * whole.k, lhs);
  fill(random, whole.in, whole.k * whole.n, rhs);
  cr_assert(tspec_gemm_prepare(&whole) && tspec_gemm_prepare(&part));
  int64_t in = tspec_rt_dtype_bytes(whole.in), out = tspec_rt_dtype_bytes(whole.out);
  cr_assert(tspec_gemm_run(&whole, lhs, rhs, all));
  cr_assert(tspec_gemm_run(&part, lhs + first * whole.k * in, rhs, some));
  cr_assert(memcmp(all + first * whole.n * out, some, (size_t)(count * whole.n * out)) == 0,
            "rows %ld + %ld of m %ld n %ld k %ld differ", (long)first, (long)count, (long)whole.m,
            (long)whole.n, (long)whole.k);
  tspec_gemm_release(&whole);
  tspec_gemm_release(&part);
  free_buffer(lhs);
  free_buffer(rhs);
  free_buffer(all);
  free_buffer(some);
}

Test(gemm, slices_of_rows_have_the_bits_of_the_whole_product_in_the_builtin_kernel) {
  random_t random = {.state = 4};
  for (int i = 0; i < NCASES; ++i) {
    tspec_gemm_t g = random_shape(&random);
    g.batch = 1;
    g.k = between(&random, 1, 600);
    g.lhs_transposed = false;
    g.in = pairs[i % 9][0];
    g.out = pairs[i % 9][1];
    g.deterministic = true;
    int64_t first = between(&random, 0, g.m - 1);
    check_rows(&random, g, first, between(&random, 1, g.m - first));
  }
}

// Columns are rows of rhs when it lies as [n][k].
Test(gemm, slices_of_columns_have_the_bits_of_the_whole_product_in_the_builtin_kernel) {
  random_t random = {.state = 5};
  for (int i = 0; i < NCASES; ++i) {
    tspec_gemm_t g = random_shape(&random);
    g.batch = 1;
    g.k = between(&random, 1, 600);
    g.rhs_transposed = true;
    g.in = g.out = TSPEC_RT_F32;
    g.deterministic = true;
    int64_t first = between(&random, 0, g.n - 1), count = between(&random, 1, g.n - first);
    tspec_gemm_t part = g;
    part.n = count;
    char *lhs = new_buffer(g.m * g.k, g.in), *rhs = new_buffer(g.k * g.n, g.in);
    char *all = new_buffer(g.m * g.n, g.out), *some = new_buffer(g.m * count, g.out);
    fill(&random, g.in, g.m * g.k, lhs);
    fill(&random, g.in, g.k * g.n, rhs);
    cr_assert(tspec_gemm_prepare(&g) && tspec_gemm_prepare(&part));
    cr_assert(tspec_gemm_run(&g, lhs, rhs, all));
    cr_assert(tspec_gemm_run(&part, lhs, rhs + first * g.k * 4, some));
    for (int64_t row = 0; row < g.m; ++row) {
      cr_assert(memcmp(all + (row * g.n + first) * 4, some + row * count * 4, (size_t)count * 4) ==
                0);
    }
    tspec_gemm_release(&g);
    tspec_gemm_release(&part);
    free_buffer(lhs);
    free_buffer(rhs);
    free_buffer(all);
    free_buffer(some);
  }
}

Test(gemm, nan_times_zero_is_not_lost) {
  float lhs[2 * 3] = {0, 0, 0, 1, 1, 1}, rhs[3 * 2] = {NAN, 1, 2, 3, 4, 5}, out[4];
  for (int deterministic = 0; deterministic < 2; ++deterministic) {
    tspec_gemm_t g = {.batch = 1,
                      .m = 2,
                      .n = 2,
                      .k = 3,
                      .in = TSPEC_RT_F32,
                      .out = TSPEC_RT_F32,
                      .deterministic = deterministic != 0};
    cr_assert(tspec_gemm_prepare(&g));
    cr_assert(tspec_gemm_run(&g, lhs, rhs, out));
    cr_assert(isnan(out[0]) && isnan(out[2]) && out[1] == 0 && out[3] == 9);
    tspec_gemm_release(&g);
  }
}

Test(gemm, equal_products_share_their_plan_and_outlive_each_other) {
  tspec_gemm_t a = {.batch = 1, .m = 64, .n = 64, .k = 64, .in = TSPEC_RT_F32, .out = TSPEC_RT_F32};
  tspec_gemm_t b = a;
  float *x = calloc(64 * 64, sizeof *x), *y = calloc(64 * 64, sizeof *y);
  x[0] = 3;
  cr_assert(tspec_gemm_prepare(&a) && tspec_gemm_prepare(&b));
  tspec_gemm_release(&a);
  cr_assert(tspec_gemm_run(&b, x, x, y));
  cr_assert(y[0] == 9 && y[1] == 0);
  tspec_gemm_release(&b);
  free(x);
  free(y);
}

Test(gemm, seldom_products_do_not_start_the_library) {
  tspec_gemm_t g = {.batch = 1,
                    .m = 64,
                    .n = 64,
                    .k = 64,
                    .in = TSPEC_RT_F32,
                    .out = TSPEC_RT_F32,
                    .seldom = true};
  cr_assert(tspec_gemm_prepare(&g));
  cr_assert(strncmp(tspec_gemm_name(&g), "builtin", 7) == 0);
  tspec_gemm_release(&g);
}
