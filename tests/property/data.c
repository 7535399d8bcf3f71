#include "tests/property/data.h"

#include <math.h>
#include <stdlib.h>

#include "ir/eval/init.h"

static tspec_dense_t *make_tensor(tspec_type_t type, bool ints, uint64_t seed) {
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  prop_random_t random = {seed};
  for (int64_t i = 0; i < dense->count; ++i) {
    int whole = prop_random_below(&random, 9);
    if (tspec_dtype_is_float(type.dtype)) {
      double unit = prop_random_below(&random, 2001) / 1000.0 - 1;
      tspec_dense_set_float(dense, i, ints ? whole - 4 : unit);
    } else if (type.dtype == TSPEC_DTYPE_BOOL) {
      tspec_dense_set_int(dense, i, whole % 2);
    } else {
      tspec_dense_set_int(dense, i, type.dtype == TSPEC_DTYPE_U8 ? whole : whole - 4);
    }
  }
  return dense;
}

// A leaf is called by a letter and its place.
tspec_dense_t *prop_data_leaf(const prop_program_t *program, const char *name, tspec_type_t type) {
  if (program == NULL) {
    return make_tensor(type, true, tspec_init_hash(name));
  }
  int data = program->nodes[atoi(name + 1)].data;
  return make_tensor(type, program->ints, program->seed * 1000003u + (uint64_t)data);
}

void prop_data_inputs(const prop_program_t *program, const tspec_func_t *func,
                      prop_inputs_t *out_inputs) {
  out_inputs->count = 0;
  for (int i = 0; i < func->nargs; ++i) {
    const tspec_arg_t *arg = &func->args[i];
    if (arg->kind == TSPEC_SLOT_INPUT) {
      TSPEC_CHECK(out_inputs->count < PROP_MAX_NODES, "too many inputs");
      out_inputs->items[out_inputs->count++] =
          (tspec_eval_input_t){arg->name, prop_data_leaf(program, arg->name, arg->value->type)};
    }
  }
}

void prop_data_free(prop_inputs_t *inputs) {
  for (int i = 0; i < inputs->count; ++i) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs->items[i].whole);
  }
}

bool prop_data_params(const prop_program_t *program, const tspec_program_t *global,
                      tspec_eval_t *eval) {
  bool ok = true;
  for (int i = 0; i < global->nparams && ok; ++i) {
    const tspec_param_t *param = &global->params[i];
    tspec_dense_t *value = prop_data_leaf(program, param->path, param->type);
    ok = tspec_eval_set_param(eval, param->path, value);
    tspec_dense_destroy(value);
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

double prop_data_allowed(const prop_program_t *program, int entry, int index) {
  return program == NULL ? 0 : 2 * program->nodes[program->entries[entry].results[index].node].err;
}
