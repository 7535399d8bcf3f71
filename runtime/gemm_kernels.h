// Micro kernels of the builtin product, per CPU and accumulator. Private to runtime/gemm_builtin.c.
#ifndef TSPEC_RUNTIME_GEMM_KERNELS_H
#define TSPEC_RUNTIME_GEMM_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/// What sums are kept in. Integers wrap, so they are unsigned here.
typedef enum tspec_gemm_sum_t {
  TSPEC_GEMM_F64,
  TSPEC_GEMM_F32,
  TSPEC_GEMM_I64,
  TSPEC_GEMM_I32,
  TSPEC_GEMM_SUM_COUNT,
} tspec_gemm_sum_t;

/// c[mr][nr], rows `pitch` elements apart, (+)= sum over p in 0..k of a[p][mr] * b[p][nr]. a and b
/// are aligned to 64 bytes.
typedef void (*tspec_gemm_micro_fn_t)(int64_t k, const void *a, const void *b, void *c,
                                      int64_t pitch, bool accumulate);

typedef struct tspec_gemm_cpu_t {
  const char *name; ///< "builtin avx2"
  int mr;
  int vector_bytes; ///< nr is two vectors
  tspec_gemm_micro_fn_t run[TSPEC_GEMM_SUM_COUNT];
} tspec_gemm_cpu_t;

/// The best kernels that this CPU can run.
const tspec_gemm_cpu_t *tspec_gemm_cpu(void);

#endif
