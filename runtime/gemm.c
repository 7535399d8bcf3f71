// Which implementation computes a product. Source of the choice: measurements with
// bench/products.c.
#include "runtime/gemm.h"

#include <stdlib.h>

#include "runtime/gemm_impl.h"

// Up to this size in every dim the library's call costs more than it saves.
enum { SMALL = 32 };

typedef struct plan_t {
  tspec_gemm_builtin_t *builtin;
  tspec_gemm_dnnl_t *dnnl;
} plan_t;

static bool is_small(const tspec_gemm_t *gemm) {
  return gemm->m <= SMALL && gemm->n <= SMALL && gemm->k <= SMALL;
}

bool tspec_gemm_prepare(tspec_gemm_t *gemm) {
  plan_t *plan = calloc(1, sizeof *plan);
  if (plan == NULL) {
    return false;
  }
  gemm->plan = plan;
  if (!gemm->deterministic && !gemm->seldom && !is_small(gemm)) {
    plan->dnnl = tspec_gemm_dnnl_create(gemm);
  }
  if (plan->dnnl == NULL) {
    plan->builtin = tspec_gemm_builtin_create(gemm);
  }
  if (plan->dnnl == NULL && plan->builtin == NULL) {
    tspec_gemm_release(gemm);
    return false;
  }
  return true;
}

bool tspec_gemm_run(const tspec_gemm_t *gemm, const void *lhs, const void *rhs, void *out) {
  plan_t *plan = gemm->plan;
  if (plan->dnnl != NULL) {
    return tspec_gemm_dnnl_run(plan->dnnl, lhs, rhs, out);
  }
  tspec_gemm_builtin_run(plan->builtin, lhs, rhs, out);
  return true;
}

const char *tspec_gemm_name(const tspec_gemm_t *gemm) {
  const plan_t *plan = gemm->plan;
  if (plan == NULL) {
    return "none";
  }
  return plan->dnnl != NULL ? tspec_gemm_dnnl_name(plan->dnnl)
                            : tspec_gemm_builtin_name(plan->builtin);
}

void tspec_gemm_release(tspec_gemm_t *gemm) {
  plan_t *plan = gemm->plan;
  if (plan != NULL) {
    tspec_gemm_dnnl_destroy(plan->dnnl);
    tspec_gemm_builtin_destroy(plan->builtin);
    free(plan);
  }
  gemm->plan = NULL;
}
