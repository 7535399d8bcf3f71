#include "frontend/check_ops.h"

#include <string.h>

// clang-format off
static const tspec_builtin_t kBuiltins[] = {
    // elementwise; functions of one operand come from the ops that have that trait
    {"maximum", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_maximum, 0},
    {"minimum", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_minimum, 0},
    {"floor_div", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_floor_div, 0},
    {"pow", tspec_builtin_pow, {"a", "b"}, TSPEC_OP_pow, 0},
    {"clamp", tspec_builtin_clamp, {"x", "lo", "hi"}, TSPEC_OP_COUNT, 0},
    {"select", tspec_builtin_select, {"c", "a", "b"}, TSPEC_OP_select, 0},
    {"stop_gradient", tspec_builtin_stop_gradient, {"x"}, TSPEC_OP_COUNT, 0},
    // reductions and products
    {"sum", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_SUM},
    {"prod", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_PROD},
    {"max", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_MAX},
    {"min", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_MIN},
    {"all", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_ALL},
    {"any", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_ANY},
    {"mean", tspec_builtin_mean, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_SUM},
    {"logsumexp", tspec_builtin_logsumexp, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, 0},
    {"argmax", tspec_builtin_arg_reduce, {"x", "dim"}, TSPEC_OP_arg_reduce, TSPEC_REDUCE_MAX},
    {"argmin", tspec_builtin_arg_reduce, {"x", "dim"}, TSPEC_OP_arg_reduce, TSPEC_REDUCE_MIN},
    {"einsum", tspec_builtin_einsum, {"*"}, TSPEC_OP_dot, 0},
    {"dot", tspec_builtin_dot, {"a", "b"}, TSPEC_OP_dot, 0},
    // shapes
    {"reshape", tspec_builtin_reshape, {"x", "shape"}, TSPEC_OP_reshape, 0},
    {"transpose", tspec_builtin_transpose, {"x", "?perm"}, TSPEC_OP_transpose, 0},
    {"broadcast_to", tspec_builtin_broadcast_to, {"x", "shape"}, TSPEC_OP_broadcast, 0},
    {"expand", tspec_builtin_expand, {"x", "dims"}, TSPEC_OP_reshape, 0},
    {"squeeze", tspec_builtin_squeeze, {"x", "?dims"}, TSPEC_OP_reshape, 0},
    {"concat", tspec_builtin_concat, {"list", "dim"}, TSPEC_OP_concat, 0},
    {"stack", tspec_builtin_stack, {"list", "dim"}, TSPEC_OP_concat, 0},
    {"split", tspec_builtin_split, {"x", "n", "dim"}, TSPEC_OP_slice, 0},
    {"pad", tspec_builtin_pad, {"x", "pads", "?value"}, TSPEC_OP_pad, 0},
    {"slice", tspec_builtin_slice, {"x", "starts", "ends", "?steps"}, TSPEC_OP_slice, 0},
    {"shape", tspec_builtin_shape_of, {"x"}, TSPEC_OP_COUNT, 0},
    // values from nothing
    {"iota", tspec_builtin_iota, {"shape", "?dim"}, TSPEC_OP_iota, 0},
    {"tril", tspec_builtin_triangle, {"x", "?k"}, TSPEC_OP_le, 0},
    {"triu", tspec_builtin_triangle, {"x", "?k"}, TSPEC_OP_ge, 0},
    {"zeros", tspec_builtin_filled, {"shape", "?dtype"}, TSPEC_OP_constant, 0},
    {"ones", tspec_builtin_filled, {"shape", "?dtype"}, TSPEC_OP_constant, 1},
    {"full", tspec_builtin_full, {"shape", "value", "?dtype"}, TSPEC_OP_constant, 0},
    {"zeros_like", tspec_builtin_zeros_like, {"x"}, TSPEC_OP_constant, 0},
    {"one_hot", tspec_builtin_one_hot, {"ids", "n", "?dtype"}, TSPEC_OP_eq, 0},
};
// clang-format on

// Parsed, but not built: using one leaves the entry out.
static const char *const kAbsent[] = {
    "all_gather",
    "all_to_all",
    "argsort",
    "avg_pool",
    "axis_index",
    "axis_size",
    "barrier",
    "conv",
    "cumprod",
    "cumsum",
    "dropout",
    "dynamic_slice",
    "dynamic_update_slice",
    "each",
    "grad",
    "max_pool",
    "microbatch",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "psum",
    "random_int",
    "random_normal",
    "random_uniform",
    "reduce_scatter",
    "remat",
    "reverse",
    "roll",
    "same_sharding",
    "scatter_add",
    "sort",
    "step",
    "take",
    "take_along",
    "top_k",
    "with_params",
};

/// The ops that programs call by their names.
static void add_functions(tspec_checker_t *c) {
  for (int kind = 0; kind < TSPEC_OP_COUNT; ++kind) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)kind);
    if ((info->rules->traits & TSPEC_TRAIT_FUNCTION) != 0) {
      tspec_builtin_t *builtin = TSPEC_ARENA_NEW(c->arena, tspec_builtin_t, 1);
      *builtin =
          (tspec_builtin_t){info->name, tspec_builtin_unary, {"x"}, (tspec_op_kind_t)kind, 0};
      tspec_names_set(c->arena, &c->builtins, builtin->name, builtin);
    }
  }
}

void tspec_check_add_builtins(tspec_checker_t *c) {
  add_functions(c);
  for (size_t i = 0; i < sizeof kBuiltins / sizeof kBuiltins[0]; ++i) {
    tspec_names_set(c->arena, &c->builtins, kBuiltins[i].name, (void *)(uintptr_t)&kBuiltins[i]);
  }
  for (size_t i = 0; i < sizeof kAbsent / sizeof kAbsent[0]; ++i) {
    tspec_builtin_t *builtin = TSPEC_ARENA_NEW(c->arena, tspec_builtin_t, 1);
    builtin->name = kAbsent[i];
    tspec_names_set(c->arena, &c->builtins, builtin->name, builtin);
  }
}

// ---- binding ---------------------------------------------------------------------------------

static const char *param_name(const char *param) {
  return param[0] == '?' ? param + 1 : param;
}

static int count_params(const tspec_builtin_t *builtin) {
  int n = 0;
  while (n < TSPEC_BUILTIN_MAX_ARGS && builtin->params[n] != NULL) {
    ++n;
  }
  return n;
}

static const char *signature(tspec_checker_t *c, const tspec_builtin_t *builtin) {
  const char *text = "";
  for (int i = 0; i < count_params(builtin); ++i) {
    const char *param = builtin->params[i];
    text = tspec_arena_printf(c->arena, "%s%s%s%s", text, i > 0 ? ", " : "", param_name(param),
                              param[0] == '?' ? " = .." : "");
  }
  return tspec_arena_printf(c->arena, "%s(%s)", builtin->name, text);
}

static int find_param(const tspec_builtin_t *builtin, const char *name) {
  for (int i = 0; i < count_params(builtin); ++i) {
    if (strcmp(param_name(builtin->params[i]), name) == 0) {
      return i;
    }
  }
  return -1;
}

static bool bind_args(tspec_checker_t *c, tspec_builtin_call_t *call,
                      const tspec_arg_values_t *values) {
  const tspec_arg_value_t *args = values->items;
  size_t nargs = values->count;
  const tspec_builtin_t *builtin = call->builtin;
  for (size_t i = 0; i < nargs; ++i) {
    int index = args[i].name != NULL ? find_param(builtin, args[i].name) : (int)i;
    if (index < 0) {
      tspec_check_error(c, args[i].name_range, "'%s' has no argument '%s'; it is %s", builtin->name,
                        args[i].name, signature(c, builtin));
      return false;
    }
    if (index >= count_params(builtin)) {
      tspec_check_error(c, args[i].range, "too many arguments: it is %s", signature(c, builtin));
      return false;
    }
    if (call->given[index]) {
      tspec_check_error(c, args[i].name_range, "argument '%s' of '%s' is given twice", args[i].name,
                        builtin->name);
      return false;
    }
    call->given[index] = true;
    call->args[index] = (tspec_operand_t){args[i].cv, args[i].range};
  }
  for (int i = 0; i < count_params(builtin); ++i) {
    if (!call->given[i] && builtin->params[i][0] != '?') {
      tspec_check_error(c, call->site.range, "argument '%s' is missing: it is %s",
                        builtin->params[i], signature(c, builtin));
      return false;
    }
  }
  return true;
}

static bool bind_any(tspec_checker_t *c, tspec_builtin_call_t *call,
                     const tspec_arg_values_t *values) {
  const tspec_arg_value_t *args = values->items;
  size_t nargs = values->count;
  tspec_operand_t *rest = TSPEC_ARENA_NEW(c->arena, tspec_operand_t, nargs);
  for (size_t i = 0; i < nargs; ++i) {
    if (args[i].name != NULL) {
      tspec_check_error(c, args[i].name_range, "'%s' has no argument '%s'", call->builtin->name,
                        args[i].name);
      return false;
    }
    rest[i] = (tspec_operand_t){args[i].cv, args[i].range};
  }
  call->nrest = (int)nargs;
  call->rest = rest;
  return true;
}

tspec_cv_t tspec_check_builtin(tspec_checker_t *c, const tspec_builtin_t *builtin,
                               const tspec_arg_values_t *args) {
  tspec_range_t range = args->range;
  if (builtin->run == NULL) {
    return tspec_check_absent(c, range, tspec_arena_printf(c->arena, "'%s'", builtin->name));
  }
  tspec_builtin_call_t call = {.builtin = builtin, .site = {range, builtin->name}};
  bool any = strcmp(builtin->params[0], "*") == 0;
  bool ok = any ? bind_any(c, &call, args) : bind_args(c, &call, args);
  return ok ? builtin->run(c, &call) : tspec_cv_error();
}

// ---- arguments of a kind ---------------------------------------------------------------------

static const char *arg_text(tspec_checker_t *c, const tspec_builtin_call_t *call, int index) {
  return tspec_arena_printf(c->arena, "'%s' of '%s'", param_name(call->builtin->params[index]),
                            call->builtin->name);
}

tspec_value_t *tspec_builtin_tensor(tspec_checker_t *c, const tspec_builtin_call_t *call,
                                    int index) {
  return tspec_check_tensor(c, call->site, call->args[index]);
}

bool tspec_builtin_dtype(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         tspec_dtype_t otherwise, tspec_dtype_t *out_dtype) {
  tspec_dtype_t dtype = otherwise;
  if (call->given[index]) {
    if (call->args[index].cv.kind != TSPEC_CV_DTYPE) {
      tspec_check_error(c, call->args[index].range, "%s must be an element type, but this is %s",
                        arg_text(c, call, index), tspec_check_describe(c, call->args[index].cv));
      return false;
    }
    dtype = call->args[index].cv.u.dtype;
  }
  *out_dtype = dtype == TSPEC_DTYPE_F32 ? c->compute_dtype : dtype;
  return true;
}

bool tspec_builtin_whole(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         int64_t otherwise, int64_t *out_value) {
  *out_value = otherwise;
  return !call->given[index] || tspec_cv_whole(c, call->args[index].cv, call->args[index].range,
                                               arg_text(c, call, index), out_value);
}

bool tspec_builtin_wholes(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                          int *out_count, int64_t **out_values) {
  tspec_operand_t arg = call->args[index];
  size_t count = arg.cv.kind == TSPEC_CV_LIST ? arg.cv.u.list->count : 1;
  const char *what = tspec_arena_printf(
      c->arena, "%s%s", arg.cv.kind == TSPEC_CV_LIST ? "each of " : "", arg_text(c, call, index));
  int64_t *values = TSPEC_ARENA_NEW(c->arena, int64_t, count);
  for (size_t i = 0; i < count; ++i) {
    tspec_cv_t cv = arg.cv.kind == TSPEC_CV_LIST ? arg.cv.u.list->items[i] : arg.cv;
    if (!tspec_cv_whole(c, cv, arg.range, what, &values[i])) {
      return false;
    }
  }
  *out_count = (int)count;
  *out_values = values;
  return true;
}

bool tspec_builtin_shape(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         int *out_rank, int64_t **out_dims) {
  if (!tspec_builtin_wholes(c, call, index, out_rank, out_dims)) {
    return false;
  }
  for (int i = 0; i < *out_rank; ++i) {
    if ((*out_dims)[i] < 1) {
      tspec_check_error(c, call->args[index].range, "dim %d of %s must be at least 1, but is %lld",
                        i, arg_text(c, call, index), (long long)(*out_dims)[i]);
      return false;
    }
  }
  return true;
}

static bool check_dim_range(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                            int rank, int64_t dim) {
  if (dim >= -rank && dim < rank) {
    return true;
  }
  tspec_check_error(c, call->args[index].range, "%s is %lld, but there are %d dims",
                    arg_text(c, call, index), (long long)dim, rank);
  return false;
}

bool tspec_builtin_dim(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int rank,
                       int *out_dim) {
  int64_t dim = 0;
  if (!tspec_builtin_whole(c, call, index, 0, &dim) ||
      !check_dim_range(c, call, index, rank, dim)) {
    return false;
  }
  *out_dim = (int)(dim < 0 ? dim + rank : dim);
  return true;
}

bool tspec_builtin_dims(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int rank,
                        int *out_ndims, int64_t **out_dims) {
  int count = rank;
  int64_t *given = NULL;
  if (call->given[index] && !tspec_builtin_wholes(c, call, index, &count, &given)) {
    return false;
  }
  bool *chosen = TSPEC_ARENA_NEW(c->arena, bool, rank);
  for (int i = 0; i < count; ++i) {
    int64_t dim = given == NULL ? i : given[i];
    if (!check_dim_range(c, call, index, rank, dim)) {
      return false;
    }
    dim = dim < 0 ? dim + rank : dim;
    if (chosen[dim]) {
      tspec_check_error(c, call->args[index].range, "%s names dim %lld twice",
                        arg_text(c, call, index), (long long)dim);
      return false;
    }
    chosen[dim] = true;
  }
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, rank);
  int ndims = 0;
  for (int i = 0; i < rank; ++i) {
    if (chosen[i]) {
      dims[ndims++] = i;
    }
  }
  *out_ndims = ndims;
  *out_dims = dims;
  return true;
}

bool tspec_builtin_flag(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                        bool *out_flag) {
  double number = 0;
  bool ok = !call->given[index] || tspec_cv_real(c, call->args[index].cv, call->args[index].range,
                                                 arg_text(c, call, index), &number);
  *out_flag = number != 0;
  return ok;
}
