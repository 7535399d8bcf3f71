#include "ir/eval/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/vec.h"
#include "ir/eval/eval.h"
#include "ir/eval/init.h"

typedef struct checker_t {
  const tspec_check_ranks_options_t *options;
  tspec_arena_t *arena;
  tspec_diag_t *diag;
  const tspec_program_t *program; ///< the global one
  tspec_eval_t *whole;
  tspec_eval_t *ranks;
  TSPEC_VEC(tspec_check_row_t) rows;
} checker_t;

// ---- inputs ------------------------------------------------------------------------------------

/// An element of an input: whole numbers for all but floats, and for these if asked for.
static double random_element(const checker_t *checker, tspec_dtype_t dtype, uint64_t hash,
                             int64_t index) {
  uint64_t seed = checker->options->seed;
  if (tspec_dtype_is_float(dtype) && !checker->options->small_ints) {
    static const double range[2] = {-1, 1};
    return tspec_init_element(TSPEC_INIT_UNIFORM, range, seed, hash, (uint64_t)index);
  }
  int64_t bits = (int64_t)(tspec_init_bits(seed, hash, (uint64_t)index) >> 33);
  if (dtype == TSPEC_DTYPE_BOOL) {
    return (double)(bits % 2);
  }
  return (double)(dtype == TSPEC_DTYPE_U8 ? bits % 9 : bits % 9 - 4);
}

static tspec_dense_t *random_tensor(const checker_t *checker, tspec_type_t type, const char *name,
                                    const char *what) {
  uint64_t hash = tspec_init_hash(tspec_arena_printf(checker->arena, "%s %s", name, what));
  tspec_dense_t *dense = tspec_dense_create(type.dtype, type.rank, type.dims);
  for (int64_t i = 0; i < dense->count; i++) {
    tspec_dense_set(dense, i, random_element(checker, type.dtype, hash, i));
  }
  return dense;
}

static bool set_params(checker_t *checker) {
  tspec_eval_init_params(checker->whole, checker->options->seed);
  tspec_eval_init_params(checker->ranks, checker->options->seed);
  bool ok = true;
  for (int i = 0; ok && checker->options->small_ints && i < checker->program->nparams; i++) {
    const tspec_param_t *param = &checker->program->params[i];
    if (!param->is_state) { // a state's initial value is what its entries rely on
      tspec_dense_t *value = random_tensor(checker, param->type, param->path, "param");
      ok = tspec_eval_set_param(checker->whole, param->path, value) &&
           tspec_eval_set_param(checker->ranks, param->path, value);
      tspec_dense_destroy(value);
    }
  }
  return ok;
}

// ---- comparing ---------------------------------------------------------------------------------

static double difference(double wanted, double got) {
  if (isnan(wanted) || isnan(got)) {
    return isnan(wanted) && isnan(got) ? 0 : (double)INFINITY;
  }
  return wanted == got ? 0 : fabs(wanted - got);
}

/// Sums in another order differ by some of the dtype's last places.
static double default_tolerance(tspec_dtype_t dtype) {
  switch (dtype) {
  case TSPEC_DTYPE_F64:
    return 0x1p-42;
  case TSPEC_DTYPE_F32:
    return 0x1p-13;
  case TSPEC_DTYPE_F16:
    return 0x1p-8;
  case TSPEC_DTYPE_BF16:
    return 0x1p-5;
  case TSPEC_DTYPE_I64:
  case TSPEC_DTYPE_I32:
  case TSPEC_DTYPE_I16:
  case TSPEC_DTYPE_I8:
  case TSPEC_DTYPE_U8:
  case TSPEC_DTYPE_BOOL:
  case TSPEC_DTYPE_COUNT:
    break;
  }
  return 0;
}

static double allowed_difference(const checker_t *checker, const tspec_dense_t *wanted) {
  tspec_dtype_t dtype = wanted->type.dtype;
  double tolerance = checker->options->tolerance;
  if (tolerance < 0 || !tspec_dtype_is_float(dtype)) {
    return 0;
  }
  double largest = 0;
  for (int64_t i = 0; i < wanted->count; i++) {
    double size = fabs(tspec_dense_get_float(wanted, i));
    largest = isfinite(size) && size > largest ? size : largest;
  }
  return largest * (tolerance > 0 ? tolerance : default_tolerance(dtype));
}

static const int64_t *index_of(const checker_t *checker, tspec_type_t type, int64_t number) {
  int64_t *index = TSPEC_ARENA_NEW(checker->arena, int64_t, type.rank);
  for (int i = type.rank - 1; i >= 0; i--) {
    index[i] = number % type.dims[i];
    number /= type.dims[i];
  }
  return index;
}

static const char *print_index(const checker_t *checker, const tspec_check_row_t *row) {
  const char *text = "";
  for (int i = 0; i < row->type.rank; i++) {
    text = tspec_arena_printf(checker->arena, "%s%s%lld", text, i == 0 ? "[" : ", ",
                              (long long)row->index[i]);
  }
  return row->type.rank == 0 ? text : tspec_arena_printf(checker->arena, "%s]", text);
}

static bool compare(checker_t *checker, const tspec_func_t *func, const tspec_result_t *result,
                    const tspec_dense_t *wanted, const tspec_dense_t *got) {
  int64_t worst = 0;
  double most = -1;
  for (int64_t i = 0; i < wanted->count; i++) {
    double error = difference(tspec_dense_get(wanted, i), tspec_dense_get(got, i));
    // i64 beyond 2^53: as doubles they may look alike
    if (error == 0 && wanted->type.dtype == TSPEC_DTYPE_I64 &&
        tspec_dense_get_int(wanted, i) != tspec_dense_get_int(got, i)) {
      error = 1;
    }
    if (error > most) {
      most = error;
      worst = i;
    }
  }
  tspec_check_row_t row = {
      .entry = func->name,
      .name = result->name,
      .type = result->value->type,
      .index = index_of(checker, result->value->type, worst),
      .wanted = tspec_dense_get(wanted, worst),
      .got = tspec_dense_get(got, worst),
      .difference = most,
      .allowed = allowed_difference(checker, wanted),
  };
  row.ok = row.difference <= row.allowed;
  TSPEC_VEC_PUSH(checker->arena, &checker->rows, row);
  if (!row.ok) {
    tspec_diag_error(checker->diag, result->range,
                     "'%s' of '%s' differs on %lld ranks: %s%s is %.9g, wanted %.9g (off by %.3g, "
                     "%.3g allowed)",
                     row.name, row.entry, (long long)tspec_eval_nranks(checker->ranks), row.name,
                     print_index(checker, &row), row.got, row.wanted, row.difference, row.allowed);
  }
  return row.ok;
}

static bool compare_results(checker_t *checker, const tspec_func_t *func) {
  bool ok = true;
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    tspec_dense_t *wanted = tspec_eval_result_at(checker->whole, i);
    tspec_dense_t *got = tspec_eval_result_at(checker->ranks, i);
    if (wanted == NULL || got == NULL || !tspec_type_equal(wanted->type, got->type)) {
      tspec_diag_error(checker->diag, result->range, "'%s' of '%s' is not in both programs",
                       result->name, func->name);
      ok = false;
    } else {
      ok = compare(checker, func, result, wanted, got) && ok;
    }
    tspec_dense_destroy(wanted);
    tspec_dense_destroy(got);
  }
  return ok;
}

// ---- running -----------------------------------------------------------------------------------

static bool run_both(checker_t *checker, const tspec_func_t *func) {
  tspec_eval_input_t *inputs = TSPEC_ARENA_NEW(checker->arena, tspec_eval_input_t, func->nargs);
  tspec_dense_t **tensors = TSPEC_ARENA_NEW(checker->arena, tspec_dense_t *, func->nargs);
  int ninputs = 0;
  for (int i = 0; i < func->nargs; i++) {
    const tspec_arg_t *arg = &func->args[i];
    if (arg->kind == TSPEC_SLOT_INPUT) {
      tensors[ninputs] = random_tensor(checker, arg->value->type, arg->name, func->name);
      inputs[ninputs] = (tspec_eval_input_t){arg->name, tensors[ninputs]};
      ninputs++;
    }
  }
  bool ok = true;
  for (int call = 0; ok && (call == 0 || call < checker->options->ncalls); call++) {
    ok = tspec_eval_run(checker->whole, func->name, inputs, ninputs) &&
         tspec_eval_run(checker->ranks, func->name, inputs, ninputs);
  }
  for (int i = 0; i < ninputs; i++) {
    tspec_dense_destroy(tensors[i]);
  }
  return ok;
}

bool tspec_check_ranks(const tspec_program_t *global, const tspec_program_t *local,
                       const tspec_check_ranks_options_t *options, tspec_arena_t *arena,
                       tspec_diag_t *diag, tspec_check_report_t *out_report) {
  checker_t checker = {.options = options, .arena = arena, .diag = diag, .program = global};
  checker.whole = tspec_eval_create(global, diag);
  checker.ranks = tspec_eval_create(local, diag);
  bool ok = checker.whole != NULL && checker.ranks != NULL && set_params(&checker);
  bool found = false;
  for (int i = 0; checker.whole != NULL && checker.ranks != NULL && i < global->nfuncs; i++) {
    const tspec_func_t *func = global->funcs[i];
    if (options->entry == NULL || strcmp(options->entry, func->name) == 0) {
      found = true;
      ok = run_both(&checker, func) && compare_results(&checker, func) && ok;
    }
  }
  if (ok && options->entry != NULL && !found) {
    tspec_diag_error(diag, (tspec_range_t){0}, "'%s' is no entry", options->entry);
    ok = false;
  }
  tspec_eval_destroy(checker.whole);
  tspec_eval_destroy(checker.ranks);
  *out_report = (tspec_check_report_t){(int)checker.rows.count, checker.rows.items};
  return ok;
}
