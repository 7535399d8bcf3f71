// Kinds "reshard" and "fuse": conversions as collectives.
#include "case.h"

verdict_t case_run_reshard(case_t *c) {
  (void)c;
  return VERDICT_SKIPPED;
}

verdict_t case_run_fuse(case_t *c) {
  (void)c;
  return VERDICT_SKIPPED;
}

verdict_t case_run_insert_reshards(case_t *c) {
  (void)c;
  return VERDICT_SKIPPED;
}
