// Micro kernels for AVX-512 (14 rows by 2 vectors: 28 of 32 registers), AVX2 (6 by 2: 12 of 16) and
// any CPU (4 by 2). Source of the shapes: register counts as in Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication". Multiply and add are fused where the CPU has it, written
// out so that no compiler option changes the bits.
#include "runtime/gemm_kernels.h"

#include <stddef.h>

#define PLAIN(a, b, c) ((a) * (b) + (c))

#define GEMM_TARGET
#define GEMM_NAME generic_f64
#define GEMM_T double
#define GEMM_BYTES 16
#define GEMM_MR 4
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME generic_f32
#define GEMM_T float
#define GEMM_BYTES 16
#define GEMM_MR 4
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME generic_i64
#define GEMM_T uint64_t
#define GEMM_BYTES 16
#define GEMM_MR 4
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME generic_i32
#define GEMM_T uint32_t
#define GEMM_BYTES 16
#define GEMM_MR 4
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#undef GEMM_TARGET

static const tspec_gemm_cpu_t generic = {
    "builtin generic", 4, 16, {generic_f64, generic_f32, generic_i64, generic_i32}};

#if defined(__x86_64__)
#include <immintrin.h>

#define GEMM_TARGET __attribute__((target("avx2,fma")))
#define GEMM_NAME avx2_f64
#define GEMM_T double
#define GEMM_BYTES 32
#define GEMM_MR 6
#define GEMM_MULADD(a, b, c) (vector_t) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx2_f32
#define GEMM_T float
#define GEMM_BYTES 32
#define GEMM_MR 6
#define GEMM_MULADD(a, b, c) (vector_t) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx2_i64
#define GEMM_T uint64_t
#define GEMM_BYTES 32
#define GEMM_MR 6
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx2_i32
#define GEMM_T uint32_t
#define GEMM_BYTES 32
#define GEMM_MR 6
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#undef GEMM_TARGET

#define GEMM_TARGET __attribute__((target("avx512f,avx512dq")))
#define GEMM_NAME avx512_f64
#define GEMM_T double
#define GEMM_BYTES 64
#define GEMM_MR 14
#define GEMM_MULADD(a, b, c) (vector_t) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx512_f32
#define GEMM_T float
#define GEMM_BYTES 64
#define GEMM_MR 14
#define GEMM_MULADD(a, b, c) (vector_t) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx512_i64
#define GEMM_T uint64_t
#define GEMM_BYTES 64
#define GEMM_MR 14
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#define GEMM_NAME avx512_i32
#define GEMM_T uint32_t
#define GEMM_BYTES 64
#define GEMM_MR 14
#define GEMM_MULADD PLAIN
#include "runtime/gemm_kernel.inc"
#undef GEMM_TARGET

static const tspec_gemm_cpu_t avx2 = {
    "builtin avx2", 6, 32, {avx2_f64, avx2_f32, avx2_i64, avx2_i32}};
static const tspec_gemm_cpu_t avx512 = {
    "builtin avx512", 14, 64, {avx512_f64, avx512_f32, avx512_i64, avx512_i32}};
#endif

const tspec_gemm_cpu_t *tspec_gemm_cpu(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    return &avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return &avx2;
  }
#endif
  return &generic;
}
