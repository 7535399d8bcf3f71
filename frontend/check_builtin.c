#include <string.h>

#include "frontend/check_ops.h"
#include "frontend/check_rules.h"

// clang-format off
#define PLAIN TSPEC_BUILTIN_PLAIN
#define TREES TSPEC_BUILTIN_MAPS_TREES
#define ABSENT TSPEC_BUILTIN_ABSENT

static const tspec_builtin_t kBuiltins[] = {
    // elementwise; functions of one operand come from the ops that have that trait
    {"maximum", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_maximum, 0, TREES},
    {"minimum", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_minimum, 0, TREES},
    {"floor_div", tspec_builtin_binary, {"a", "b"}, TSPEC_OP_floor_div, 0, TREES},
    {"pow", tspec_builtin_pow, {"a", "b"}, TSPEC_OP_pow, 0, TREES},
    {"clamp", tspec_builtin_clamp, {"x", "lo", "hi"}, TSPEC_OP_COUNT, 0, TREES},
    {"select", tspec_builtin_select, {"c", "a", "b"}, TSPEC_OP_select, 0, TREES},
    {"stop_gradient", tspec_builtin_stop_gradient, {"x"}, TSPEC_OP_COUNT, 0, TREES},
    // reductions and products
    {"sum", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_SUM, PLAIN},
    {"prod", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_PROD, PLAIN},
    {"max", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_MAX, PLAIN},
    {"min", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_MIN, PLAIN},
    {"all", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_ALL, PLAIN},
    {"any", tspec_builtin_reduce, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_ANY, PLAIN},
    {"mean", tspec_builtin_mean, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, TSPEC_REDUCE_SUM, PLAIN},
    {"logsumexp", tspec_builtin_logsumexp, {"x", "?dims", "?keep"}, TSPEC_OP_reduce, 0, PLAIN},
    {"argmax", tspec_builtin_arg_reduce, {"x", "dim"}, TSPEC_OP_arg_reduce, TSPEC_REDUCE_MAX, PLAIN},
    {"argmin", tspec_builtin_arg_reduce, {"x", "dim"}, TSPEC_OP_arg_reduce, TSPEC_REDUCE_MIN, PLAIN},
    {"einsum", tspec_builtin_einsum, {"*"}, TSPEC_OP_dot, 0, PLAIN},
    {"dot", tspec_builtin_dot, {"a", "b"}, TSPEC_OP_dot, 0, PLAIN},
    // shapes
    {"reshape", tspec_builtin_reshape, {"x", "shape"}, TSPEC_OP_reshape, 0, PLAIN},
    {"transpose", tspec_builtin_transpose, {"x", "?perm"}, TSPEC_OP_transpose, 0, PLAIN},
    {"broadcast_to", tspec_builtin_broadcast_to, {"x", "shape"}, TSPEC_OP_broadcast, 0, PLAIN},
    {"expand", tspec_builtin_expand, {"x", "dims"}, TSPEC_OP_reshape, 0, PLAIN},
    {"squeeze", tspec_builtin_squeeze, {"x", "?dims"}, TSPEC_OP_reshape, 0, PLAIN},
    {"concat", tspec_builtin_concat, {"list", "dim"}, TSPEC_OP_concat, 0, PLAIN},
    {"stack", tspec_builtin_stack, {"list", "dim"}, TSPEC_OP_concat, 0, PLAIN},
    {"split", tspec_builtin_split, {"x", "n", "dim"}, TSPEC_OP_slice, 0, PLAIN},
    {"pad", tspec_builtin_pad, {"x", "pads", "?value"}, TSPEC_OP_pad, 0, PLAIN},
    {"slice", tspec_builtin_slice, {"x", "starts", "ends", "?steps"}, TSPEC_OP_slice, 0, PLAIN},
    {"shape", tspec_builtin_shape_of, {"x"}, TSPEC_OP_COUNT, 0, PLAIN},
    // values from nothing
    {"iota", tspec_builtin_iota, {"shape", "?dim"}, TSPEC_OP_iota, 0, PLAIN},
    {"tril", tspec_builtin_triangle, {"x", "?k"}, TSPEC_OP_le, 0, PLAIN},
    {"triu", tspec_builtin_triangle, {"x", "?k"}, TSPEC_OP_ge, 0, PLAIN},
    {"zeros", tspec_builtin_filled, {"shape", "?dtype"}, TSPEC_OP_constant, 0, PLAIN},
    {"ones", tspec_builtin_filled, {"shape", "?dtype"}, TSPEC_OP_constant, 1, PLAIN},
    {"full", tspec_builtin_full, {"shape", "value", "?dtype"}, TSPEC_OP_constant, 0, PLAIN},
    {"zeros_like", tspec_builtin_zeros_like, {"x"}, TSPEC_OP_constant, 0, TREES},
    {"one_hot", tspec_builtin_one_hot, {"ids", "n", "?dtype"}, TSPEC_OP_eq, 0, PLAIN},
    // checked, but not compiled: a call leaves the entry out
    {"conv", tspec_builtin_conv, {"x", "w", "?stride", "?pad", "?dilation", "?groups"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"max_pool", tspec_builtin_pool, {"x", "window", "?stride", "?pad"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"avg_pool", tspec_builtin_pool, {"x", "window", "?stride", "?pad"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"cumsum", tspec_builtin_cumulate, {"x", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"cumprod", tspec_builtin_cumulate, {"x", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"sort", tspec_builtin_sort, {"x", "?dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"argsort", tspec_builtin_argsort, {"x", "?dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"top_k", tspec_builtin_top_k, {"x", "k"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"reverse", tspec_builtin_reverse, {"x", "?dims"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"roll", tspec_builtin_roll, {"x", "shift", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"take", tspec_builtin_take, {"table", "ids"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"take_along", tspec_builtin_take_along, {"x", "ids", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"scatter_add", tspec_builtin_scatter_add, {"x", "ids", "part"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"dynamic_slice", tspec_builtin_dynamic_slice, {"x", "starts", "sizes"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"dynamic_update_slice", tspec_builtin_dynamic_update_slice, {"x", "part", "starts"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"random_normal", tspec_builtin_random_normal, {"shape", "?dtype"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"random_uniform", tspec_builtin_random_uniform, {"shape", "?lo", "?hi", "?dtype"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"random_int", tspec_builtin_random_int, {"shape", "lo", "hi"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"dropout", tspec_builtin_dropout, {"x", "rate"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"step", tspec_builtin_step, {NULL}, TSPEC_OP_COUNT, 0, ABSENT},
    {"grad", tspec_builtin_grad, {"loss", "&x"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"with_params", tspec_builtin_with_params, {"tree", "x"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"remat", tspec_builtin_remat, {"x"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"barrier", tspec_builtin_barrier, {"x"}, TSPEC_OP_COUNT, 0, PLAIN},
    {"same_sharding", tspec_builtin_same_sharding, {"*"}, TSPEC_OP_COUNT, 0, PLAIN},
    {"each", tspec_builtin_each, {"blocks", "xs"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"microbatch", tspec_builtin_microbatch, {"*"}, TSPEC_OP_COUNT, 0, ABSENT},
    // in the body of a manual function
    {"axis_index", tspec_builtin_axis_index, {"@a"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"axis_size", tspec_builtin_axis_size, {"@a"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"psum", tspec_builtin_preduce, {"x", "@a"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"pmax", tspec_builtin_preduce, {"x", "@a"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"pmin", tspec_builtin_preduce, {"x", "@a"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"pmean", tspec_builtin_preduce, {"x", "@a"}, TSPEC_OP_COUNT, 1, ABSENT},
    {"all_gather", tspec_builtin_pgather, {"x", "@a", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"reduce_scatter", tspec_builtin_pscatter, {"x", "@a", "dim"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"all_to_all", tspec_builtin_all_to_all, {"x", "@a", "split", "concat"}, TSPEC_OP_COUNT, 0, ABSENT},
    {"ppermute", tspec_builtin_ppermute, {"x", "@a", "?shift"}, TSPEC_OP_COUNT, 0, ABSENT},
};
// clang-format on

/// The ops that programs call by their names.
static void add_functions(tspec_checker_t *c) {
  for (int kind = 0; kind < TSPEC_OP_COUNT; ++kind) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)kind);
    if ((info->rules->traits & TSPEC_TRAIT_FUNCTION) != 0) {
      tspec_builtin_t *builtin = TSPEC_ARENA_NEW(c->arena, tspec_builtin_t, 1);
      *builtin = (tspec_builtin_t){info->name, tspec_builtin_unary, {"x"}, (tspec_op_kind_t)kind, 0,
                                   TREES};
      tspec_names_set(c->arena, &c->builtins, builtin->name, builtin);
    }
  }
}

void tspec_check_add_builtins(tspec_checker_t *c) {
  add_functions(c);
  for (size_t i = 0; i < sizeof kBuiltins / sizeof kBuiltins[0]; ++i) {
    tspec_names_set(c->arena, &c->builtins, kBuiltins[i].name, (void *)(uintptr_t)&kBuiltins[i]);
  }
}

// ---- binding ---------------------------------------------------------------------------------

static const char *param_name(const char *param) {
  return strchr("?@&", param[0]) != NULL ? param + 1 : param;
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
                        param_name(builtin->params[i]), signature(c, builtin));
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

static bool has_tree(const tspec_builtin_call_t *call) {
  bool found = false;
  for (int i = 0; i < TSPEC_BUILTIN_MAX_ARGS; ++i) {
    found = found || call->args[i].cv.kind == TSPEC_CV_TREE;
  }
  return found;
}

static tspec_cv_t run_leaf(tspec_checker_t *c, const void *context,
                           const tspec_operand_t *operands) {
  tspec_builtin_call_t call = *(const tspec_builtin_call_t *)context;
  memcpy(call.args, operands, sizeof *operands * (size_t)count_params(call.builtin));
  return call.builtin->run(c, &call);
}

static tspec_cv_t run(tspec_checker_t *c, const tspec_builtin_call_t *call) {
  const tspec_builtin_t *builtin = call->builtin;
  if (builtin->kind == ABSENT) {
    tspec_check_absent(c, call->site.range, tspec_arena_printf(c->arena, "'%s'", builtin->name));
  }
  if (builtin->kind == ABSENT && c->entry == NULL) {
    return tspec_cv_error();
  }
  if (builtin->kind == TREES && has_tree(call)) {
    return tspec_check_map_tree(c, call->site, count_params(builtin), call->args, run_leaf, call);
  }
  return builtin->run(c, call);
}

tspec_cv_t tspec_check_builtin(tspec_checker_t *c, const tspec_builtin_t *builtin,
                               const tspec_arg_values_t *args) {
  tspec_builtin_call_t call = {.builtin = builtin, .site = {args->range, builtin->name}};
  bool any = builtin->params[0] != NULL && strcmp(builtin->params[0], "*") == 0;
  bool ok = any ? bind_any(c, &call, args) : bind_args(c, &call, args);
  return ok ? run(c, &call) : tspec_cv_error();
}

// A mesh axis has a namespace of its own.
static tspec_cv_t eval_mesh_axis(tspec_checker_t *c, const tspec_builtin_t *builtin,
                                 const tspec_ast_expr_t *expr) {
  if (expr->kind != TSPEC_AST_EXPR_NAME) {
    tspec_check_error(c, expr->range, "'a' of '%s' is the name of a mesh axis", builtin->name);
    return tspec_cv_error();
  }
  const char *what = tspec_arena_printf(c->arena, "'%s'", builtin->name);
  tspec_ast_name_t name = {expr->u.name, expr->range};
  int axis = tspec_check_mesh_axis(c, name, what, -1);
  return axis < 0 ? tspec_cv_error()
                  : (tspec_cv_t){.kind = TSPEC_CV_MESH_AXIS, .u.mesh_axis = axis};
}

bool tspec_builtin_is_mesh_axis(const tspec_builtin_t *builtin, size_t index, const char *name) {
  int i = name != NULL ? find_param(builtin, name) : (int)index;
  return i >= 0 && i < count_params(builtin) && builtin->params[i][0] == '@';
}

tspec_cv_t tspec_builtin_eval_arg(tspec_checker_t *c, const tspec_builtin_t *builtin, size_t index,
                                  const tspec_ast_arg_t *arg) {
  if (tspec_builtin_is_mesh_axis(builtin, index, arg->name.text)) {
    return eval_mesh_axis(c, builtin, arg->value);
  }
  int i = arg->name.text != NULL ? find_param(builtin, arg->name.text) : (int)index;
  bool unread = i >= 0 && i < count_params(builtin) && builtin->params[i][0] == '&';
  return unread ? tspec_check_reference(c, arg->value) : tspec_check_expr(c, arg->value);
}

// ---- arguments of a kind ---------------------------------------------------------------------

const char *tspec_builtin_arg_text(tspec_checker_t *c, const tspec_builtin_call_t *call,
                                   int index) {
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
                        tspec_builtin_arg_text(c, call, index),
                        tspec_check_describe(c, call->args[index].cv));
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
                                               tspec_builtin_arg_text(c, call, index), out_value);
}

bool tspec_builtin_wholes(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                          int *out_count, int64_t **out_values) {
  tspec_operand_t arg = call->args[index];
  size_t count = arg.cv.kind == TSPEC_CV_LIST ? arg.cv.u.list->count : 1;
  const char *what =
      tspec_arena_printf(c->arena, "%s%s", arg.cv.kind == TSPEC_CV_LIST ? "each of " : "",
                         tspec_builtin_arg_text(c, call, index));
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
                        i, tspec_builtin_arg_text(c, call, index), (long long)(*out_dims)[i]);
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
                    tspec_builtin_arg_text(c, call, index), (long long)dim, rank);
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
                        tspec_builtin_arg_text(c, call, index), (long long)dim);
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
                                                 tspec_builtin_arg_text(c, call, index), &number);
  *out_flag = number != 0;
  return ok;
}

bool tspec_builtin_needs_float(tspec_checker_t *c, const tspec_builtin_call_t *call,
                               const tspec_value_t *x) {
  if (tspec_dtype_is_float(x->type.dtype)) {
    return true;
  }
  tspec_check_error(c, call->args[0].range, "'%s' needs floats, but this is %s; f32(x) converts",
                    call->builtin->name, tspec_type_print(c->arena, x->type));
  return false;
}

bool tspec_builtin_per_dim(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int n,
                           const char *dim, int64_t **out_values) {
  int64_t *given = NULL, otherwise = 1;
  int count = 1;
  if (!call->given[index]) {
    given = &otherwise;
  } else if (!tspec_builtin_wholes(c, call, index, &count, &given)) {
    return false;
  }
  bool is_list = call->given[index] && call->args[index].cv.kind == TSPEC_CV_LIST;
  if (is_list && count != n) {
    tspec_check_error(c, call->args[index].range, "%s has %d entr%s, but there are %d %ss",
                      tspec_builtin_arg_text(c, call, index), count, count == 1 ? "y" : "ies", n,
                      dim);
    return false;
  }
  *out_values = TSPEC_ARENA_NEW(c->arena, int64_t, n);
  for (int i = 0; i < n; ++i) {
    (*out_values)[i] = given[is_list ? i : 0];
  }
  return true;
}

// Dim i's [lo, hi] of at least 0.
static bool read_pad(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                     tspec_builtin_pads_t pads, int i) {
  tspec_operand_t arg = call->args[index];
  tspec_cv_t pair = arg.cv.u.list->items[i];
  if (pair.kind != TSPEC_CV_LIST || pair.u.list->count != 2) {
    tspec_check_error(c, arg.range, "%s needs a pair [lo, hi] for %s %d, not %s",
                      tspec_builtin_arg_text(c, call, index), pads.dim, i,
                      tspec_check_describe(c, pair));
    return false;
  }
  int64_t *lo = &pads.lo[i], *hi = &pads.hi[i];
  if (!tspec_cv_whole(c, pair.u.list->items[0], arg.range, "a padding", lo) ||
      !tspec_cv_whole(c, pair.u.list->items[1], arg.range, "a padding", hi)) {
    return false;
  }
  if (*lo < 0 || *hi < 0) {
    tspec_check_error(c, arg.range, "the padding of %s %d is [%lld, %lld]; it must be at least 0",
                      pads.dim, i, (long long)*lo, (long long)*hi);
  }
  return *lo >= 0 && *hi >= 0;
}

bool tspec_builtin_pads(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                        tspec_builtin_pads_t pads) {
  tspec_operand_t arg = call->args[index];
  if (arg.cv.kind != TSPEC_CV_LIST || (int)arg.cv.u.list->count != pads.n) {
    tspec_check_error(c, arg.range, "%s needs a pair [lo, hi] for each of %d %ss",
                      tspec_builtin_arg_text(c, call, index), pads.n, pads.dim);
    return false;
  }
  bool ok = true;
  for (int i = 0; ok && i < pads.n; ++i) {
    ok = read_pad(c, call, index, pads, i);
  }
  return ok;
}
