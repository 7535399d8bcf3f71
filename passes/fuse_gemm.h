// The gemm part of pass `fuse`, and how the image reads a gemm.
#ifndef TSPEC_PASSES_FUSE_GEMM_H
#define TSPEC_PASSES_FUSE_GEMM_H

#include "passes/pass.h"

/// Makes every dot of `func` a gemm, with transposes before it where its operands do not lie in
/// groups. Errors: false after reporting.
bool tspec_fuse_gemms(tspec_pass_run_t *run, tspec_func_t *func);

/// A gemm as tspec_image_step_t describes it: how many dims each group has.
typedef struct tspec_gemm_form_t {
  int nbatch, nm, nn, nk;
  bool lhs_transposed;
  bool rhs_transposed;
} tspec_gemm_form_t;
tspec_gemm_form_t tspec_gemm_form(const tspec_op_t *gemm);

#endif
