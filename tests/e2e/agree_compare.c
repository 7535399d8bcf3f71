#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/agree.h"

// Largest difference of a result that went through sums in another order, relative to its largest
// element.
static const double kTolerances[TSPEC_DTYPE_COUNT] = {[TSPEC_DTYPE_F64] = 1e-13,
                                                      [TSPEC_DTYPE_F32] = 1e-5,
                                                      [TSPEC_DTYPE_BF16] = 1e-2,
                                                      [TSPEC_DTYPE_F16] = 2e-3};

static double largest(const tspec_dense_t *dense) {
  double most = 0;
  for (int64_t i = 0; i < dense->count; ++i) {
    double size = fabs(tspec_dense_get(dense, i));
    most = size > most && isfinite(size) ? size : most;
  }
  return most;
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

// Bits, but any NaN is a NaN.
static bool same_bits(const tspec_dense_t *want, const tspec_dense_t *got) {
  if (tspec_dense_equal(want, got) || !tspec_dtype_is_float(want->type.dtype)) {
    return tspec_dense_equal(want, got);
  }
  for (int64_t i = 0; i < want->count; ++i) {
    double a = tspec_dense_get(want, i), b = tspec_dense_get(got, i);
    if (!same(a, b) || (!isnan(a) && signbit(a) != signbit(b))) {
      fprintf(stderr, "element %lld is %.17g, not %.17g\n", (long long)i, b, a);
      return false;
    }
  }
  return true;
}

void agree_compare(agree_t *agree, const char *what, const char *name, const tspec_dense_t *want,
                   const tspec_dense_t *got) {
  if (want == NULL || got == NULL || !tspec_type_equal(want->type, got->type)) {
    agree_fail(agree, "%s: '%s' is missing or has another type", what, name);
    return;
  }
  if (agree->exact) {
    if (!same_bits(want, got)) {
      agree_fail(agree, "%s: '%s' differs in its bits", what, name);
    }
    return;
  }
  double allowed = kTolerances[want->type.dtype] * largest(want), worst = -1;
  int64_t at = -1;
  for (int64_t i = 0; i < want->count; ++i) {
    double a = tspec_dense_get(want, i), b = tspec_dense_get(got, i);
    double difference = same(a, b) ? 0 : fabs(a - b);
    if (isnan(difference) || difference > allowed) {
      worst = isnan(difference) || difference > worst ? difference : worst;
      at = at < 0 || difference >= worst ? i : at;
    }
  }
  if (at >= 0) {
    agree_fail(agree, "%s: '%s' element %lld is %.9g, not %.9g; %g is allowed", what, name,
               (long long)at, tspec_dense_get(got, at), tspec_dense_get(want, at), allowed);
  }
}

static json_t *golden_result(agree_t *agree, const char *name) {
  size_t i = 0;
  json_t *record = NULL;
  json_array_foreach(json_object_get(agree->golden_json, "records"), i, record) {
    const char *entry = json_string_value(json_object_get(record, "entry"));
    if (entry != NULL && strcmp(entry, agree->func->name) == 0) {
      return json_object_get(json_object_get(record, "results"), name);
    }
  }
  return NULL;
}

static void compare_element(agree_t *agree, const char *name, const tspec_dense_t *got, int64_t at,
                            double want, double allowed) {
  double number = tspec_dense_get(got, at);
  if (!(fabs(number - want) <= allowed)) {
    agree_fail(agree, "golden: '%s' element %lld is %.9g, not %.9g", name, (long long)at, number,
               want);
  }
}

void agree_compare_golden(agree_t *agree, const char *name, const tspec_dense_t *got) {
  json_t *result = golden_result(agree, name);
  if (result == NULL || got == NULL) {
    agree_fail(agree, "golden: nothing is known of '%s'", name);
    return;
  }
  double allowed = 1e-5 * largest(got), sum = 0, sum_abs = 0;
  size_t i = 0;
  json_t *item = NULL;
  json_array_foreach(json_object_get(result, "first8"), i, item) {
    compare_element(agree, name, got, (int64_t)i, json_number_value(item), allowed);
  }
  json_array_foreach(json_object_get(result, "at"), i, item) {
    compare_element(agree, name, got, json_integer_value(json_array_get(item, 0)),
                    json_number_value(json_array_get(item, 1)), allowed);
  }
  for (int64_t k = 0; k < got->count; ++k) {
    sum += tspec_dense_get(got, k);
    sum_abs += fabs(tspec_dense_get(got, k));
  }
  double want_abs = json_number_value(json_object_get(result, "sum_abs"));
  double want_sum = json_number_value(json_object_get(result, "sum"));
  if (fabs(sum_abs - want_abs) > 1e-5 * want_abs || fabs(sum - want_sum) > 1e-5 * want_abs) {
    agree_fail(agree, "golden: '%s' sums to %.9g (%.9g absolute), not %.9g (%.9g)", name, sum,
               sum_abs, want_sum, want_abs);
  }
}
