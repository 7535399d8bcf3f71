// Functions that are called several times at run time: by copies of a stack, by parts of a batch.
// They are checked once. Not compiled.
#include "frontend/check_ops.h"

// ---- stacks ----------------------------------------------------------------------------------

bool tspec_check_is_running(const tspec_instance_t *owner) {
  bool running = true;
  for (; owner != NULL; owner = owner->around) {
    running = running && (!owner->is_stack || owner->is_running);
  }
  return running;
}

static tspec_cv_t run_copy(tspec_checker_t *c, tspec_instance_t *stack, tspec_closure_t *closure,
                           const tspec_arg_values_t *args) {
  bool was_running = stack->is_running;
  stack->is_running = true;
  tspec_cv_t result = tspec_check_call_closure(c, closure, args);
  stack->is_running = was_running;
  return result;
}

// A result is the next copy's argument in its place.
static bool check_passed_on(tspec_checker_t *c, const tspec_closure_t *closure, size_t index,
                            tspec_cv_t result, const tspec_arg_values_t *args) {
  if (index >= args->count || args->items[index].name != NULL) {
    tspec_check_error(c, args->range,
                      "each copy of '%s' passes its results on as the first arguments of the next, "
                      "but result %zu has no argument by position",
                      closure->name, index + 1);
    return false;
  }
  tspec_cv_t arg = args->items[index].cv;
  bool ok = result.kind == TSPEC_CV_TENSOR && arg.kind == TSPEC_CV_TENSOR &&
            tspec_type_equal(result.u.tensor->type, arg.u.tensor->type);
  if (!ok) {
    tspec_check_error(c, args->items[index].range,
                      "each copy of '%s' passes its results on as the first arguments of the next: "
                      "argument %zu is %s, result %zu is %s",
                      closure->name, index + 1, tspec_check_describe(c, arg), index + 1,
                      tspec_check_describe(c, result));
  }
  return ok;
}

tspec_cv_t tspec_check_call_stack(tspec_checker_t *c, tspec_closure_t *closure,
                                  const tspec_arg_values_t *args) {
  tspec_check_absent(c, args->range, "a call of a stack");
  tspec_cv_t result = run_copy(c, closure->self, closure, args);
  bool is_tuple = result.kind == TSPEC_CV_TUPLE;
  size_t count = is_tuple ? result.u.list->count : 1;
  if (result.kind == TSPEC_CV_ERROR || result.kind == TSPEC_CV_NONE) {
    return result;
  }
  bool ok = true;
  for (size_t i = 0; i < count && ok; ++i) {
    ok = check_passed_on(c, closure, i, is_tuple ? result.u.list->items[i] : result, args);
  }
  return ok ? result : tspec_cv_error();
}

// each(blocks, xs): copy i on xs[i], the results stacked.
tspec_cv_t tspec_builtin_each(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  tspec_cv_t blocks = call->args[0].cv;
  if (blocks.kind != TSPEC_CV_INSTANCE || !blocks.u.instance->is_stack ||
      blocks.u.instance->call == NULL) {
    tspec_check_error(c, call->args[0].range,
                      "'each' applies the copies of a stack that can be called, but this is %s",
                      tspec_check_describe(c, blocks));
    return tspec_cv_error();
  }
  tspec_instance_t *stack = blocks.u.instance;
  int64_t size = stack->stack_sizes[stack->nstack - 1];
  tspec_value_t *xs = tspec_builtin_tensor(c, call, 1);
  if (xs == NULL) {
    return tspec_cv_error();
  }
  if (xs->type.rank == 0 || xs->type.dims[0] != size) {
    tspec_check_error(c, call->args[1].range,
                      "'xs' of 'each' needs one row for each of the %lld copies of '%s', but is %s",
                      (long long)size, stack->path, tspec_type_print(c->arena, xs->type));
    return tspec_cv_error();
  }
  tspec_arg_value_t row = {.range = call->args[1].range};
  row.cv = tspec_cv_tensor(tspec_emit_absent(c, call->site, tspec_check_row(xs->type), 1, &xs));
  tspec_arg_values_t args = {1, &row, call->site.range};
  tspec_cv_t result = run_copy(c, stack, stack->call, &args);
  if (result.kind != TSPEC_CV_TUPLE) {
    tspec_operand_t one = {result, call->site.range};
    return result.kind == TSPEC_CV_ERROR || result.kind == TSPEC_CV_NONE
               ? result
               : tspec_check_stack_value(c, call->site, one, size);
  }
  tspec_cv_t *items = TSPEC_ARENA_NEW(c->arena, tspec_cv_t, result.u.list->count);
  for (size_t i = 0; i < result.u.list->count; ++i) {
    tspec_operand_t one = {result.u.list->items[i], call->site.range};
    items[i] = tspec_check_stack_value(c, call->site, one, size);
  }
  return tspec_cv_tuple(c, result.u.list->count, items);
}

// ---- parts of a batch ------------------------------------------------------------------------

// Rows i, i + n, ... of x.
static tspec_cv_t part_of(tspec_checker_t *c, const tspec_builtin_call_t *call, tspec_operand_t x,
                          int64_t n) {
  tspec_value_t *value = tspec_check_tensor(c, call->site, x);
  if (value == NULL) {
    return tspec_cv_error();
  }
  if (value->type.rank == 0 || value->type.dims[0] % n != 0) {
    tspec_check_error(c, x.range, "'microbatch' cannot cut dim 0 of %s into %lld equal parts",
                      tspec_type_print(c->arena, value->type), (long long)n);
    return tspec_cv_error();
  }
  tspec_type_t type = tspec_check_resized(c, value->type, 0, value->type.dims[0] / n);
  return tspec_cv_tensor(tspec_emit_absent(c, call->site, type, 1, &value));
}

// The mean of f over n parts of the batch.
tspec_cv_t tspec_builtin_microbatch(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  int64_t n = 0;
  tspec_cv_kind_t kind = call->nrest > 0 ? call->rest[0].cv.kind : TSPEC_CV_ERROR;
  if (call->nrest < 3 || (kind != TSPEC_CV_FUNCTION && kind != TSPEC_CV_INSTANCE)) {
    tspec_check_error(c, call->site.range,
                      "'microbatch' takes a function, a number of parts and tensors: "
                      "microbatch(loss_of, 4, x, y)");
    return tspec_cv_error();
  }
  if (!tspec_cv_whole(c, call->rest[1].cv, call->rest[1].range, "the number of parts", &n)) {
    return tspec_cv_error();
  }
  if (n < 1) {
    tspec_check_error(c, call->rest[1].range, "the number of parts must be at least 1, but is %lld",
                      (long long)n);
    return tspec_cv_error();
  }
  size_t nargs = (size_t)call->nrest - 2;
  tspec_arg_value_t *items = TSPEC_ARENA_NEW(c->arena, tspec_arg_value_t, nargs);
  for (size_t i = 0; i < nargs; ++i) {
    tspec_operand_t x = call->rest[i + 2];
    items[i] = (tspec_arg_value_t){.cv = part_of(c, call, x, n), .range = x.range};
    if (tspec_cv_is_error(items[i].cv)) {
      return tspec_cv_error();
    }
  }
  tspec_arg_values_t args = {nargs, items, call->site.range};
  tspec_cv_t result = tspec_check_call_value(c, call->rest[0].cv, &args);
  bool is_float =
      result.kind == TSPEC_CV_TENSOR && tspec_dtype_is_float(result.u.tensor->type.dtype);
  if (!is_float && result.kind != TSPEC_CV_ERROR) {
    tspec_check_error(c, call->rest[0].range,
                      "'microbatch' gives the mean of floats, but this function gives %s",
                      tspec_check_describe(c, result));
  }
  return is_float ? result : tspec_cv_error();
}
