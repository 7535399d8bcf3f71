// What the files of the checker share to make ops: emitting, broadcasting, expressions, calls and
// built-in ops.
#ifndef TSPEC_FRONTEND_CHECK_OPS_H
#define TSPEC_FRONTEND_CHECK_OPS_H

#include "frontend/check_internal.h"

// ---- check_emit.c: ops -----------------------------------------------------------------------
// All return NULL after a report, and NULL in silence when an operand is NULL.

tspec_value_t *tspec_emit(tspec_checker_t *c, const tspec_op_build_t *build);
tspec_value_t *tspec_emit_simple(tspec_checker_t *c, tspec_site_t site, tspec_op_kind_t kind,
                                 int noperands, tspec_value_t *const *operands);
tspec_value_t *tspec_emit_constant(tspec_checker_t *c, tspec_site_t site, tspec_type_t type,
                                   double number);
tspec_value_t *tspec_emit_iota(tspec_checker_t *c, tspec_site_t site, tspec_type_t type, int dim);
tspec_value_t *tspec_emit_convert(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                  tspec_dtype_t dtype);
/// NumPy broadcasting; the shapes must fit.
tspec_value_t *tspec_emit_broadcast(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                    int rank, const int64_t *dims);
tspec_value_t *tspec_emit_reshape(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x, int rank,
                                  const int64_t *dims);
tspec_value_t *tspec_emit_transpose(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                    const int64_t *perm);
/// Accumulates bf16 and f16 sums and products in the reduce dtype.
tspec_value_t *tspec_emit_reduce(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                 tspec_reduce_t kind, int ndims, const int64_t *dims);
tspec_value_t *tspec_emit_slice(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                const int64_t *starts, const int64_t *ends, const int64_t *steps);
tspec_value_t *tspec_emit_concat(tspec_checker_t *c, tspec_site_t site, int noperands,
                                 tspec_value_t *const *operands, int64_t dim);
/// A constraint named `path`; `x` itself if `sharding` is NULL (then only named).
tspec_value_t *tspec_emit_constraint(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                     const tspec_sharding_t *sharding, const char *path);
/// Propagation does not cross it; `sharding`: how the result lies, or NULL.
tspec_value_t *tspec_emit_barrier(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                  const tspec_sharding_t *sharding);
/// One member of a group of values with one sharding.
tspec_value_t *tspec_emit_same_sharding(tspec_checker_t *c, tspec_site_t site, tspec_value_t *x,
                                        int64_t group);
/// The dtype that sums of `dtype` are made in.
tspec_dtype_t tspec_check_accumulator(const tspec_checker_t *c, tspec_dtype_t dtype);

// ---- check_absent.c: parts that are checked, but not compiled ---------------------------------

/// The entry needs such a part ("'conv'"): if nothing else is wrong with it, it is left out. In the
/// declaration of a parameter: so are entries that read it. In other declarations: an error.
void tspec_check_absent(tspec_checker_t *c, tspec_range_t range, const char *what);
/// A value that nothing computes: of an op that is not compiled. Its entry must be marked. NULL
/// after a report (too large), and in silence when an operand is NULL.
tspec_value_t *tspec_emit_absent(tspec_checker_t *c, tspec_site_t site, tspec_type_t type,
                                 int noperands, tspec_value_t *const *operands);
/// Types near another one: with another size of one dim; with a new first dim; without its first.
tspec_type_t tspec_check_resized(tspec_checker_t *c, tspec_type_t type, int dim, int64_t size);
tspec_type_t tspec_check_stacked(tspec_checker_t *c, tspec_type_t type, int64_t size);
tspec_type_t tspec_check_row(tspec_type_t type);

// ---- check_broadcast.c: operands of elementwise ops ------------------------------------------

/// An operand and its place.
typedef struct tspec_operand_t {
  tspec_cv_t cv;
  tspec_range_t range;
} tspec_operand_t;

/// An integer dtype takes whole numbers in its range, bool 0 and 1. False after a report.
bool tspec_check_number_fits(tspec_checker_t *c, double number, tspec_dtype_t dtype,
                             tspec_range_t range);
/// A tensor of this dtype and shape from a number that fits the dtype; NULL after a report.
tspec_value_t *tspec_check_number_tensor(tspec_checker_t *c, tspec_site_t site, double number,
                                         tspec_type_t type, tspec_range_t range);
/// The operand as a tensor (numbers: of the compute dtype, scalars); NULL after a report.
tspec_value_t *tspec_check_tensor(tspec_checker_t *c, tspec_site_t site, tspec_operand_t operand);
/// Two tensors must have one dtype. False after a report.
bool tspec_check_same_dtype(tspec_checker_t *c, tspec_site_t site, tspec_operand_t a,
                            tspec_operand_t b);
/// Brings operands to one dtype and one shape. False after a report.
bool tspec_check_match(tspec_checker_t *c, tspec_site_t site, int noperands,
                       const tspec_operand_t *operands, tspec_value_t **out_values);
/// As above; `*other` (select's condition) takes part in the shape, not in the dtype, and is
/// replaced by itself broadcast.
bool tspec_check_match_with(tspec_checker_t *c, tspec_site_t site, int noperands,
                            const tspec_operand_t *operands, tspec_value_t **other,
                            tspec_value_t **out_values);

// ---- check_expr.c, check_index.c -------------------------------------------------------------

tspec_cv_t tspec_check_expr(tspec_checker_t *c, const tspec_ast_expr_t *expr);
/// The same without reading a parameter or state.
tspec_cv_t tspec_check_reference(tspec_checker_t *c, const tspec_ast_expr_t *expr);
tspec_cv_t tspec_check_index(tspec_checker_t *c, const tspec_ast_expr_t *expr);
tspec_cv_t tspec_check_read(tspec_checker_t *c, tspec_slot_t *slot, tspec_range_t range);
/// A parameter or state can be used here. False after a report.
bool tspec_check_slot_visible(tspec_checker_t *c, const tspec_slot_t *slot, tspec_range_t range);
tspec_cv_t tspec_check_binary(tspec_checker_t *c, tspec_site_t site, tspec_ast_binary_t op,
                              tspec_operand_t a, tspec_operand_t b);
/// x^n for a whole compile-time n, as products.
tspec_cv_t tspec_check_power(tspec_checker_t *c, tspec_site_t site, tspec_operand_t x,
                             tspec_operand_t n);
/// numpy.matmul.
tspec_cv_t tspec_check_matmul(tspec_checker_t *c, tspec_site_t site, tspec_operand_t a,
                              tspec_operand_t b);

// ---- check_einsum.c --------------------------------------------------------------------------

tspec_cv_t tspec_check_einsum(tspec_checker_t *c, tspec_site_t site, int noperands,
                              const tspec_operand_t *operands);
/// A tensor with a letter per dim.
typedef struct tspec_labelled_t {
  tspec_value_t *value;
  const char *labels;
} tspec_labelled_t;

/// A product of two; the result has the labels `out`. A label in both and not in `out` is summed;
/// each of `out` is in a or b; one in a or b alone is in `out`.
tspec_value_t *tspec_emit_contract(tspec_checker_t *c, tspec_site_t site, tspec_labelled_t a,
                                   tspec_labelled_t b, const char *out);

// ---- check_type.c: types of parameters, results and lets -------------------------------------

/// A written type whose dims are all known: a declaration's. False after a report.
/// `out_axes`: the axis name or NULL of each dim.
bool tspec_check_concrete_type(tspec_checker_t *c, const tspec_ast_type_t *type, const char *what,
                               tspec_type_t *out_type, const char *const **out_axes);
/// Checks a value against a type, binding '$' names in the frame: the value (a number as a scalar
/// tensor), or ERROR.
/// `out_axes` (may be NULL): the axis name or NULL of each dim of the value.
tspec_cv_t tspec_check_fits(tspec_checker_t *c, const tspec_ast_type_t *type,
                            tspec_operand_t operand, const char *what,
                            const char *const **out_axes);

// ---- check_call.c, check_stmt.c --------------------------------------------------------------

/// One argument of a call.
typedef struct tspec_arg_value_t {
  const char *name; ///< NULL: by position
  tspec_cv_t cv;
  tspec_range_t range;      ///< of the value
  tspec_range_t name_range; ///< of the name, if it has one
} tspec_arg_value_t;

/// Those of one call; by position first.
typedef struct tspec_arg_values_t {
  size_t count;
  const tspec_arg_value_t *items;
  tspec_range_t range; ///< of the call
} tspec_arg_values_t;

tspec_cv_t tspec_check_call(tspec_checker_t *c, const tspec_ast_expr_t *expr);
/// A call of a function, an instance, a dtype or a built-in op.
tspec_cv_t tspec_check_call_value(tspec_checker_t *c, tspec_cv_t callee,
                                  const tspec_arg_values_t *args);
/// Binds arguments to formals as locals of the frame `c->frame` (defaults are evaluated in it).
/// `what`: "'f'". False after a report.
bool tspec_check_bind(tspec_checker_t *c, const tspec_ast_formals_t *formals,
                      tspec_range_t declared, const char *what, const tspec_arg_values_t *args);
/// Evaluates the arguments of a call at `range`. False if one is an error.
bool tspec_check_args(tspec_checker_t *c, const tspec_ast_args_t *args, tspec_range_t range,
                      tspec_arg_values_t *out_args);
/// A call of a function alone: not of all copies of its stack.
tspec_cv_t tspec_check_call_closure(tspec_checker_t *c, tspec_closure_t *closure,
                                    const tspec_arg_values_t *args);
/// Runs the body of the frame's function; the result is in the frame.
void tspec_check_body(tspec_checker_t *c, const tspec_ast_block_t *block);
void tspec_check_block(tspec_checker_t *c, const tspec_ast_block_t *block);
/// What a let or a rebinding may hold: not several values, not none. ERROR after a report.
tspec_cv_t tspec_check_single(tspec_checker_t *c, tspec_cv_t cv, const char *name,
                              tspec_range_t range);

// ---- check_assign.c, check_update.c, check_scan.c, check_repeat.c ----------------------------

void tspec_check_assign(tspec_checker_t *c, const tspec_ast_stmt_t *stmt);
/// The type without stack dims, as stored.
tspec_type_t tspec_check_slot_type(const tspec_slot_t *slot);
/// minimize and apply.
void tspec_check_update(tspec_checker_t *c, const tspec_ast_stmt_t *stmt);
/// What optimizers must have, used or not.
void tspec_check_optimizers(tspec_checker_t *c);
tspec_cv_t tspec_check_scan(tspec_checker_t *c, const tspec_ast_expr_t *expr);
/// The 'next' and 'emit' of the frame's scan.
void tspec_check_next(tspec_checker_t *c, const tspec_ast_stmt_t *stmt);
bool tspec_check_scan_is_done(const tspec_scan_t *scan); ///< NULL: false
/// `size` values like x on a new first dim; of a tree, leaf by leaf.
tspec_cv_t tspec_check_stack_value(tspec_checker_t *c, tspec_site_t site, tspec_operand_t x,
                                   int64_t size);
/// Every stack among the instance and those around it is being called.
bool tspec_check_is_running(const tspec_instance_t *owner);
/// A function of a stack, called from outside it: for all copies, one after the other.
tspec_cv_t tspec_check_call_stack(tspec_checker_t *c, tspec_closure_t *closure,
                                  const tspec_arg_values_t *args);

// ---- check_manual.c --------------------------------------------------------------------------

/// The body of the manual function of the frame, whose arguments are bound: its results as whole
/// tensors.
tspec_cv_t tspec_check_manual_body(tspec_checker_t *c, const tspec_closure_t *closure);
/// The bit of a mesh axis in values' `id` within a manual body; 0: not one of its manual axes.
int tspec_check_manual_bit(const tspec_checker_t *c, int mesh_axis);
const char *tspec_check_manual_name(const tspec_checker_t *c);

// ---- check_builtin*.c ------------------------------------------------------------------------

enum { TSPEC_BUILTIN_MAX_ARGS = 6 };

/// A call of a built-in op with its arguments in the order of its parameters.
typedef struct tspec_builtin_call_t {
  const tspec_builtin_t *builtin;
  tspec_site_t site;
  tspec_operand_t args[TSPEC_BUILTIN_MAX_ARGS];
  bool given[TSPEC_BUILTIN_MAX_ARGS];
  int nrest; ///< of ops with any number of arguments: all of them
  const tspec_operand_t *rest;
} tspec_builtin_call_t;

typedef tspec_cv_t (*tspec_builtin_fn_t)(tspec_checker_t *c, const tspec_builtin_call_t *call);

typedef enum tspec_builtin_kind_t {
  TSPEC_BUILTIN_PLAIN,
  TSPEC_BUILTIN_MAPS_TREES, ///< takes a tree leaf by leaf
  TSPEC_BUILTIN_ABSENT,     ///< checked, but not compiled: a call leaves the entry out
} tspec_builtin_kind_t;

struct tspec_builtin_t {
  const char *name;
  tspec_builtin_fn_t run;
  /// Names; "?dims" may be missing; "@a" is a mesh axis, "&x" is not read; "*": any number.
  const char *params[TSPEC_BUILTIN_MAX_ARGS];
  tspec_op_kind_t op; ///< what elementwise ops and reductions become
  int detail;         ///< reductions: tspec_reduce_t
  tspec_builtin_kind_t kind;
};

void tspec_check_add_builtins(tspec_checker_t *c);
tspec_cv_t tspec_check_builtin(tspec_checker_t *c, const tspec_builtin_t *builtin,
                               const tspec_arg_values_t *args);
/// The evaluated argument `index` (or `name`) of a call of the op.
tspec_cv_t tspec_builtin_eval_arg(tspec_checker_t *c, const tspec_builtin_t *builtin, size_t index,
                                  const tspec_ast_arg_t *arg);
/// Its argument `index` (or `name`) is a mesh axis.
bool tspec_builtin_is_mesh_axis(const tspec_builtin_t *builtin, size_t index, const char *name);
/// "'dims' of 'sum'".
const char *tspec_builtin_arg_text(tspec_checker_t *c, const tspec_builtin_call_t *call, int index);
/// The first argument must be of floats. False after a report.
bool tspec_builtin_needs_float(tspec_checker_t *c, const tspec_builtin_call_t *call,
                               const tspec_value_t *x);
/// The tensor of argument `index`, or NULL after a report.
tspec_value_t *tspec_builtin_tensor(tspec_checker_t *c, const tspec_builtin_call_t *call,
                                    int index);
/// A dtype argument (f32 means the compute dtype), `otherwise` if absent.
bool tspec_builtin_dtype(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         tspec_dtype_t otherwise, tspec_dtype_t *out_dtype);
/// A whole number argument, `otherwise` if absent.
bool tspec_builtin_whole(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         int64_t otherwise, int64_t *out_value);
/// A number or a list of whole numbers. False after a report.
bool tspec_builtin_wholes(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                          int *out_count, int64_t **out_values);
/// A shape: whole numbers of at least 1.
bool tspec_builtin_shape(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                         int *out_rank, int64_t **out_dims);
/// A list with one whole number for each of n dims ("dim", "spatial dim"); a number stands for all.
/// All 1 if absent.
bool tspec_builtin_per_dim(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int n,
                           const char *dim, int64_t **out_values);
/// Paddings, to be filled in.
typedef struct tspec_builtin_pads_t {
  int n;
  const char *dim; ///< what one of the n is, for messages: "dim", "spatial dim"
  int64_t *lo;
  int64_t *hi;
} tspec_builtin_pads_t;

/// [[lo, hi], ..]: a pair of at least 0 for each of n dims.
bool tspec_builtin_pads(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                        tspec_builtin_pads_t pads);
/// A dim of a tensor of that rank, negative from the end.
bool tspec_builtin_dim(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int rank,
                       int *out_dim);
/// Distinct dims, sorted; all if absent.
bool tspec_builtin_dims(tspec_checker_t *c, const tspec_builtin_call_t *call, int index, int rank,
                        int *out_ndims, int64_t **out_dims);
/// True or false; absent: false.
bool tspec_builtin_flag(tspec_checker_t *c, const tspec_builtin_call_t *call, int index,
                        bool *out_flag);

// ---- check_builtin_math.c, check_builtin_shape.c ---------------------------------------------

tspec_cv_t tspec_builtin_unary(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_binary(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_pow(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_dot(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_clamp(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_select(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_reduce(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_mean(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_logsumexp(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_arg_reduce(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_einsum(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_stop_gradient(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_reshape(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_transpose(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_broadcast_to(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_expand(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_squeeze(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_concat(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_stack(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_split(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_pad(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_slice(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_shape_of(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_iota(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_triangle(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_filled(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_full(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_zeros_like(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_one_hot(tspec_checker_t *c, const tspec_builtin_call_t *call);
// Checked, but not compiled:
tspec_cv_t tspec_builtin_cumulate(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_sort(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_argsort(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_top_k(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_reverse(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_roll(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_take(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_take_along(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_scatter_add(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_dynamic_slice(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_dynamic_update_slice(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_conv(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_pool(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_random_normal(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_random_uniform(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_random_int(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_dropout(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_step(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_grad(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_with_params(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_remat(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_barrier(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_same_sharding(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_each(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_microbatch(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_axis_index(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_axis_size(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_preduce(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_pgather(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_pscatter(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_all_to_all(tspec_checker_t *c, const tspec_builtin_call_t *call);
tspec_cv_t tspec_builtin_ppermute(tspec_checker_t *c, const tspec_builtin_call_t *call);

// ---- check_tree.c, check_builtin_grad.c ------------------------------------------------------

/// The parameters as stored, as a tree.
tspec_cv_t tspec_check_params_tree(tspec_checker_t *c, tspec_range_t range);
/// What a leaf of the result is; `operands` has leaves in place of trees.
typedef tspec_cv_t (*tspec_leaf_fn_t)(tspec_checker_t *c, const void *context,
                                      const tspec_operand_t *operands);
/// A tree of operands of which at least one is a tree, the others scalars.
tspec_cv_t tspec_check_map_tree(tspec_checker_t *c, tspec_site_t site, int noperands,
                                const tspec_operand_t *operands, tspec_leaf_fn_t fn,
                                const void *context);
tspec_cv_t tspec_check_sum_tree(tspec_checker_t *c, const tspec_builtin_call_t *call);
/// A tree with the parameters' types. False after a report that names `what`.
bool tspec_check_like_params(tspec_checker_t *c, tspec_operand_t tree, const char *what);
/// A scalar float. False after a report.
bool tspec_check_loss(tspec_checker_t *c, tspec_site_t site, tspec_operand_t loss);

// ---- check_builtin_lookup.c ------------------------------------------------------------------

/// table[ids]: the rows of a table with at least one dim.
tspec_type_t tspec_check_taken(tspec_checker_t *c, tspec_type_t table, tspec_type_t ids);
/// A part that is put where `whole` is: of its dtype, and it broadcasts to it. False after a
/// report.
bool tspec_check_part(tspec_checker_t *c, tspec_site_t site, tspec_operand_t part,
                      tspec_type_t whole);

// ---- check_entry.c, check_static.c, check_promise.c ------------------------------------------

void tspec_check_entries(tspec_checker_t *c, const tspec_items_t *items);
/// Names in functions that no entry reached.
void tspec_check_unreached(tspec_checker_t *c);
void tspec_check_promises(tspec_checker_t *c, const tspec_items_t *items);

#endif
