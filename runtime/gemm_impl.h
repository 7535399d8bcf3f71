// What the implementations of gemm.h share. Private to runtime/gemm*.c.
#ifndef TSPEC_RUNTIME_GEMM_IMPL_H
#define TSPEC_RUNTIME_GEMM_IMPL_H

#include "runtime/gemm.h"

/// The builtin kernel: packed panels, sums over k in one fixed order, so that an element's bits
/// depend on its row, its column and k alone.
typedef struct tspec_gemm_builtin_t tspec_gemm_builtin_t;

/// NULL when out of memory. Ownership: tspec_gemm_builtin_destroy.
tspec_gemm_builtin_t *tspec_gemm_builtin_create(const tspec_gemm_t *gemm);
void tspec_gemm_builtin_run(tspec_gemm_builtin_t *plan, const void *lhs, const void *rhs,
                            void *out);
void tspec_gemm_builtin_destroy(tspec_gemm_builtin_t *plan);
/// "builtin avx2".
const char *tspec_gemm_builtin_name(const tspec_gemm_builtin_t *plan);

/// A matmul primitive of oneDNN.
typedef struct tspec_gemm_dnnl_t tspec_gemm_dnnl_t;

/// NULL if the library is not there, has no such product on this CPU, or computed a wrong result
/// when it was first tried. Ownership: tspec_gemm_dnnl_destroy.
tspec_gemm_dnnl_t *tspec_gemm_dnnl_create(const tspec_gemm_t *gemm);
/// False if the library reports an error.
bool tspec_gemm_dnnl_run(tspec_gemm_dnnl_t *plan, const void *lhs, const void *rhs, void *out);
void tspec_gemm_dnnl_destroy(tspec_gemm_dnnl_t *plan);
/// oneDNN's own name for what it chose: "brg:avx512_core".
const char *tspec_gemm_dnnl_name(const tspec_gemm_dnnl_t *plan);

#endif
