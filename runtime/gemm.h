// Matrix products at run time, the interface between the schedule (runtime/run.c) and its
// implementations (runtime/gemm*.c).
#ifndef TSPEC_RUNTIME_GEMM_H
#define TSPEC_RUNTIME_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/dtype.h"

/// One product of dense row-major blocks, for b in 0..batch: out[b][m][n] = sum over k of
/// lhs[b][m][k] * rhs[b][k][n]. With lhs_transposed lhs lies as [b][k][m], with rhs_transposed rhs
/// as [b][n][k]. Set the plain fields, all else zero, and prepare it once at start.
typedef struct tspec_gemm_t {
  int64_t batch, m, n, k; ///< elements; none is 0 (the caller sees to empty products)
  bool lhs_transposed;
  bool rhs_transposed;
  tspec_rt_dtype_t in;  ///< of lhs and rhs
  tspec_rt_dtype_t out; ///< of out; sums are kept in it
  bool deterministic;   ///< the builtin kernel, whose bits depend on k alone
  bool seldom;          ///< computed too seldom to pay for the library's start: the builtin kernel
  void *plan;           ///< the implementation's, from tspec_gemm_prepare on
} tspec_gemm_t;

/// Picks the implementation and makes what it needs. Errors: false when out of memory. Ownership:
/// `gemm` is released by tspec_gemm_release. Ranks: local.
bool tspec_gemm_prepare(tspec_gemm_t *gemm);

/// Computes it. Allocates nothing. `out` overlaps neither operand. Errors: false if the library
/// reports one. Ranks: local.
bool tspec_gemm_run(const tspec_gemm_t *gemm, const void *lhs, const void *rhs, void *out);

/// What computes it, for --verbose: "brg:avx512_core", "builtin avx2". Static or owned by the plan.
/// Ranks: local.
const char *tspec_gemm_name(const tspec_gemm_t *gemm);

/// Undoes tspec_gemm_prepare; a zeroed gemm is fine. Ranks: local.
void tspec_gemm_release(tspec_gemm_t *gemm);

#endif
