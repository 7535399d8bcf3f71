#include "tests/property/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

tspec_dense_t *prop_data_leaf(const prop_program_t *program, int index) {
  const prop_node_t *node = &program->nodes[index];
  tspec_dense_t *dense = tspec_dense_create(node->dtype, node->type.rank, node->type.dims);
  prop_random_t random = {program->seed * 1000003u + (uint64_t)node->data};
  for (int64_t i = 0; i < dense->count; ++i) {
    int whole = prop_random_below(&random, 9);
    if (tspec_dtype_is_float(node->dtype)) {
      double unit = prop_random_below(&random, 2001) / 1000.0 - 1;
      tspec_dense_set_float(dense, i, program->ints ? whole - 4 : unit);
    } else if (node->dtype == TSPEC_DTYPE_BOOL) {
      tspec_dense_set_int(dense, i, whole % 2);
    } else {
      tspec_dense_set_int(dense, i, node->dtype == TSPEC_DTYPE_U8 ? whole : whole - 4);
    }
  }
  return dense;
}

void prop_data_inputs(const prop_program_t *program, int entry, prop_inputs_t *out_inputs) {
  out_inputs->count = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == PROP_INPUT && node->entry == entry) {
      char *name = malloc(16);
      snprintf(name, 16, "a%d", i);
      out_inputs->items[out_inputs->count++] =
          (tspec_eval_input_t){name, prop_data_leaf(program, i)};
    }
  }
}

void prop_data_free(prop_inputs_t *inputs) {
  for (int i = 0; i < inputs->count; ++i) {
    free((void *)(uintptr_t)inputs->items[i].name);
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs->items[i].whole);
  }
}

bool prop_data_params(const prop_program_t *program, tspec_eval_t *eval) {
  bool ok = true;
  for (int i = 0; i < program->nnodes && ok; ++i) {
    if (program->nodes[i].kind == PROP_PARAM) {
      char path[16];
      snprintf(path, sizeof path, "w%d", i);
      tspec_dense_t *value = prop_data_leaf(program, i);
      ok = tspec_eval_set_param(eval, path, value);
      tspec_dense_destroy(value);
    }
  }
  return ok;
}

static bool same_element(const tspec_dense_t *want, const tspec_dense_t *got, int64_t i,
                         double allowed) {
  if (!tspec_dtype_is_float(want->type.dtype)) {
    return tspec_dense_get_int(want, i) == tspec_dense_get_int(got, i);
  }
  double a = tspec_dense_get_float(want, i), b = tspec_dense_get_float(got, i);
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= allowed;
}

bool prop_data_same(const tspec_dense_t *want, const tspec_dense_t *got, double allowed,
                    int64_t *out_at) {
  bool same = want != NULL && got != NULL && tspec_type_equal(want->type, got->type);
  for (int64_t i = 0; same && i < want->count; ++i) {
    same = same_element(want, got, i, allowed);
    *out_at = i;
  }
  return same;
}
