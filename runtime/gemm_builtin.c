// The builtin product: panels of both operands are copied into the order in which the micro kernel
// reads them, converted to the type in which sums are kept. Sums over k are formed in order, from
// one block of k to the next by going on from what lies in the result.
#include <stdlib.h>
#include <string.h>

#include "runtime/gemm_impl.h"
#include "runtime/gemm_kernels.h"

// Blocks: of k, so that a panel of rhs stays in L1; of m, so that the packed lhs stays in L2; of n,
// so that the packed rhs stays in L3.
enum { BLOCK_K = 256, BLOCK_M = 168, BLOCK_N = 2048, ALIGNMENT = 64, MAX_TILE_BYTES = 14 * 128 };

// What is packed: element (p, i), p in 0..k and i in 0..count, lies at i * stride + p * k_stride.
typedef struct source_t {
  const void *data;
  int64_t count, k, stride, k_stride;
} source_t;

typedef void (*pack_fn_t)(void *to, int64_t width, const source_t *from);

struct tspec_gemm_builtin_t {
  tspec_gemm_t gemm; ///< plain fields
  const tspec_gemm_cpu_t *cpu;
  tspec_gemm_sum_t sum;
  int64_t sum_bytes;
  int64_t mr, nr;
  pack_fn_t pack;
  void *packed_lhs;
  void *packed_rhs;
  void *sums; ///< sums of one block of n, if they are not kept in the result itself; else NULL
};

// ---- packing -----------------------------------------------------------------------------------

// Panels are `width` wide, [p][i]; the last one is filled up with zeros.
// NOLINTBEGIN(bugprone-macro-parentheses): types cannot stand in them
#define PACK(name, in_t, sum_t, convert)                                                           \
  static void pack_##name(void *to, int64_t width, const source_t *from) {                         \
    sum_t *panel = (sum_t *)to;                                                                    \
    for (int64_t first = 0; first < from->count; first += width) {                                 \
      const in_t *source = (const in_t *)from->data + first * from->stride;                        \
      int64_t filled = from->count - first < width ? from->count - first : width;                  \
      for (int64_t p = 0; p < from->k; ++p) {                                                      \
        for (int64_t i = 0; i < filled; ++i) {                                                     \
          panel[i] = (sum_t)convert(source[i * from->stride + p * from->k_stride]);                \
        }                                                                                          \
        for (int64_t i = filled; i < width; ++i) {                                                 \
          panel[i] = 0;                                                                            \
        }                                                                                          \
        panel += width;                                                                            \
      }                                                                                            \
    }                                                                                              \
  }

// NOLINTEND(bugprone-macro-parentheses)
#define SAME(x) (x)
#define PACK_INTEGERS(sum, sum_t)                                                                  \
  PACK(i64_##sum, int64_t, sum_t, SAME)                                                            \
  PACK(i32_##sum, int32_t, sum_t, SAME)                                                            \
  PACK(i16_##sum, int16_t, sum_t, SAME)                                                            \
  PACK(i8_##sum, int8_t, sum_t, SAME)                                                              \
  PACK(u8_##sum, uint8_t, sum_t, SAME)
#define PACK_FLOATS(sum, sum_t)                                                                    \
  PACK(f64_##sum, double, sum_t, SAME)                                                             \
  PACK(f32_##sum, float, sum_t, SAME)                                                              \
  PACK(bf16_##sum, uint16_t, sum_t, tspec_rt_f32_from_bf16)                                        \
  PACK(f16_##sum, uint16_t, sum_t, tspec_rt_f32_from_f16)

PACK_FLOATS(f64, double)
PACK_FLOATS(f32, float)
PACK_INTEGERS(i64, uint64_t)
PACK_INTEGERS(i32, uint32_t)

#define INTEGERS(sum)                                                                              \
  [TSPEC_RT_I64] = pack_i64_##sum, [TSPEC_RT_I32] = pack_i32_##sum,                                \
  [TSPEC_RT_I16] = pack_i16_##sum, [TSPEC_RT_I8] = pack_i8_##sum, [TSPEC_RT_U8] = pack_u8_##sum,   \
  [TSPEC_RT_BOOL] = pack_u8_##sum
#define FLOATS(sum)                                                                                \
  [TSPEC_RT_F64] = pack_f64_##sum, [TSPEC_RT_F32] = pack_f32_##sum,                                \
  [TSPEC_RT_BF16] = pack_bf16_##sum, [TSPEC_RT_F16] = pack_f16_##sum

static const pack_fn_t packers[TSPEC_GEMM_SUM_COUNT][TSPEC_RT_DTYPE_COUNT] = {
    [TSPEC_GEMM_F64] = {FLOATS(f64)},
    [TSPEC_GEMM_F32] = {FLOATS(f32)},
    [TSPEC_GEMM_I64] = {INTEGERS(i64)},
    [TSPEC_GEMM_I32] = {INTEGERS(i32)},
};

// ---- results -----------------------------------------------------------------------------------

static tspec_rt_dtype_t sum_dtype(tspec_gemm_sum_t sum) {
  static const tspec_rt_dtype_t dtypes[] = {TSPEC_RT_F64, TSPEC_RT_F32, TSPEC_RT_I64, TSPEC_RT_I32};
  return dtypes[sum];
}

static tspec_gemm_sum_t sum_of(tspec_rt_dtype_t in, tspec_rt_dtype_t out) {
  if (tspec_rt_dtype_is_float(out)) {
    return in == TSPEC_RT_F64 || out == TSPEC_RT_F64 ? TSPEC_GEMM_F64 : TSPEC_GEMM_F32;
  }
  return out == TSPEC_RT_I64 ? TSPEC_GEMM_I64 : TSPEC_GEMM_I32;
}

static void store_integers(const uint32_t *sums, int64_t count, int64_t bytes, void *out) {
  for (int64_t i = 0; i < count; ++i) {
    if (bytes == 2) {
      ((uint16_t *)out)[i] = (uint16_t)sums[i];
    } else {
      ((uint8_t *)out)[i] = (uint8_t)sums[i];
    }
  }
}

// A row of sums in the result's type.
static void store_row(const tspec_gemm_builtin_t *plan, const void *sums, int64_t count,
                      void *out) {
  tspec_rt_dtype_t dtype = plan->gemm.out;
  int64_t bytes = tspec_rt_dtype_bytes(dtype);
  if (plan->sum == TSPEC_GEMM_I32) {
    store_integers(sums, count, bytes, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (plan->sum == TSPEC_GEMM_F64) {
      tspec_rt_dtype_store(dtype, ((const double *)sums)[i], (char *)out + i * bytes);
    } else {
      float sum = ((const float *)sums)[i];
      ((uint16_t *)out)[i] =
          dtype == TSPEC_RT_BF16 ? tspec_rt_bf16_from_f32(sum) : tspec_rt_f16_from_f32(sum);
    }
  }
}

// ---- the product -------------------------------------------------------------------------------

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t round_up(int64_t count, int64_t width) {
  return (count + width - 1) / width * width;
}

typedef struct block_t {
  int64_t row, column, p; ///< where it begins
  int64_t rows, columns, k;
} block_t;

// The tile of a block at row i and column j; those at the edges are computed whole beside the
// result.
static void run_tile(const tspec_gemm_builtin_t *plan, const block_t *block, int64_t i, int64_t j,
                     char *c, int64_t pitch) {
  tspec_gemm_micro_fn_t run = plan->cpu->run[plan->sum];
  const char *a = (const char *)plan->packed_lhs + i * block->k * plan->sum_bytes;
  const char *b = (const char *)plan->packed_rhs + j * block->k * plan->sum_bytes;
  int64_t rows = block->rows - i, columns = block->columns - j;
  bool accumulate = block->p > 0;
  if (rows >= plan->mr && columns >= plan->nr) {
    run(block->k, a, b, c, pitch, accumulate);
    return;
  }
  _Alignas(ALIGNMENT) char tile[MAX_TILE_BYTES];
  rows = least(rows, plan->mr);
  size_t bytes = (size_t)(least(columns, plan->nr) * plan->sum_bytes);
  int64_t tile_pitch = plan->nr * plan->sum_bytes;
  memset(tile, 0, sizeof tile);
  for (int64_t r = 0; accumulate && r < rows; ++r) {
    memcpy(tile + r * tile_pitch, c + r * pitch * plan->sum_bytes, bytes);
  }
  run(block->k, a, b, tile, plan->nr, accumulate);
  for (int64_t r = 0; r < rows; ++r) {
    memcpy(c + r * pitch * plan->sum_bytes, tile + r * tile_pitch, bytes);
  }
}

// Packed lhs times packed rhs.
static void run_block(const tspec_gemm_builtin_t *plan, const block_t *block, char *c,
                      int64_t pitch) {
  for (int64_t j = 0; j < block->columns; j += plan->nr) {
    for (int64_t i = 0; i < block->rows; i += plan->mr) {
      run_tile(plan, block, i, j, c + (i * pitch + j) * plan->sum_bytes, pitch);
    }
  }
}

static void pack_lhs(const tspec_gemm_builtin_t *plan, const block_t *block, const char *lhs) {
  const tspec_gemm_t *gemm = &plan->gemm;
  source_t from = {.count = block->rows,
                   .k = block->k,
                   .stride = gemm->lhs_transposed ? 1 : gemm->k,
                   .k_stride = gemm->lhs_transposed ? gemm->m : 1};
  int64_t start = block->row * from.stride + block->p * from.k_stride;
  from.data = lhs + start * tspec_rt_dtype_bytes(gemm->in);
  plan->pack(plan->packed_lhs, plan->mr, &from);
}

static void pack_rhs(const tspec_gemm_builtin_t *plan, const block_t *block, const char *rhs) {
  const tspec_gemm_t *gemm = &plan->gemm;
  source_t from = {.count = block->columns,
                   .k = block->k,
                   .stride = gemm->rhs_transposed ? gemm->k : 1,
                   .k_stride = gemm->rhs_transposed ? 1 : gemm->n};
  int64_t start = block->column * from.stride + block->p * from.k_stride;
  from.data = rhs + start * tspec_rt_dtype_bytes(gemm->in);
  plan->pack(plan->packed_rhs, plan->nr, &from);
}

// All of m and k for one block of columns.
static void run_columns(const tspec_gemm_builtin_t *plan, block_t block, const char *lhs,
                        const char *rhs, char *out) {
  const tspec_gemm_t *gemm = &plan->gemm;
  int64_t out_bytes = tspec_rt_dtype_bytes(gemm->out);
  char *first = out + block.column * out_bytes;
  char *c = plan->sums != NULL ? plan->sums : first;
  int64_t pitch = plan->sums != NULL ? block.columns : gemm->n;
  for (block.p = 0; block.p < gemm->k; block.p += BLOCK_K) {
    block.k = least(BLOCK_K, gemm->k - block.p);
    pack_rhs(plan, &block, rhs);
    for (block.row = 0; block.row < gemm->m; block.row += BLOCK_M) {
      block.rows = least(BLOCK_M, gemm->m - block.row);
      pack_lhs(plan, &block, lhs);
      run_block(plan, &block, c + block.row * pitch * plan->sum_bytes, pitch);
    }
  }
  for (int64_t i = 0; plan->sums != NULL && i < gemm->m; ++i) {
    store_row(plan, c + i * pitch * plan->sum_bytes, block.columns,
              first + i * gemm->n * out_bytes);
  }
}

void tspec_gemm_builtin_run(tspec_gemm_builtin_t *plan, const void *lhs, const void *rhs,
                            void *out) {
  const tspec_gemm_t *gemm = &plan->gemm;
  int64_t in_bytes = tspec_rt_dtype_bytes(gemm->in), out_bytes = tspec_rt_dtype_bytes(gemm->out);
  for (int64_t i = 0; i < gemm->batch; ++i) {
    block_t block = {0};
    for (block.column = 0; block.column < gemm->n; block.column += BLOCK_N) {
      block.columns = least(BLOCK_N, gemm->n - block.column);
      run_columns(plan, block, (const char *)lhs + i * gemm->m * gemm->k * in_bytes,
                  (const char *)rhs + i * gemm->k * gemm->n * in_bytes,
                  (char *)out + i * gemm->m * gemm->n * out_bytes);
    }
  }
}

// ---- plans -------------------------------------------------------------------------------------

static void *get_block(int64_t elems, int64_t bytes) {
  return aligned_alloc(ALIGNMENT, (size_t)round_up(elems * bytes, ALIGNMENT));
}

tspec_gemm_builtin_t *tspec_gemm_builtin_create(const tspec_gemm_t *gemm) {
  tspec_gemm_builtin_t *plan = calloc(1, sizeof *plan);
  if (plan == NULL) {
    return NULL;
  }
  plan->gemm = *gemm;
  plan->cpu = tspec_gemm_cpu();
  plan->sum = sum_of(gemm->in, gemm->out);
  plan->sum_bytes = tspec_rt_dtype_bytes(sum_dtype(plan->sum));
  plan->mr = plan->cpu->mr;
  plan->nr = INT64_C(2) * plan->cpu->vector_bytes / plan->sum_bytes;
  plan->pack = packers[plan->sum][gemm->in];
  int64_t k = least(BLOCK_K, gemm->k), columns = least(BLOCK_N, gemm->n);
  plan->packed_lhs = get_block(round_up(least(BLOCK_M, gemm->m), plan->mr) * k, plan->sum_bytes);
  plan->packed_rhs = get_block(round_up(columns, plan->nr) * k, plan->sum_bytes);
  bool direct = sum_dtype(plan->sum) == gemm->out;
  plan->sums = direct ? NULL : get_block(gemm->m * columns, plan->sum_bytes);
  if (plan->pack == NULL || plan->packed_lhs == NULL || plan->packed_rhs == NULL ||
      (!direct && plan->sums == NULL)) {
    tspec_gemm_builtin_destroy(plan);
    return NULL;
  }
  return plan;
}

void tspec_gemm_builtin_destroy(tspec_gemm_builtin_t *plan) {
  if (plan != NULL) {
    free(plan->packed_lhs);
    free(plan->packed_rhs);
    free(plan->sums);
    free(plan);
  }
}

const char *tspec_gemm_builtin_name(const tspec_gemm_builtin_t *plan) {
  return plan->cpu->name;
}
