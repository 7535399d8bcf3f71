// A whole program as plain C structs, at any level: what the checker makes, what passes rewrite,
// what the evaluator runs. MLIR is its outside form: ir/import.h reads a module into it,
// ir/export.h writes one, losslessly in both directions, so that dumps, plugins and stock MLIR
// tools see ordinary ops while passes and unit tests need no MLIR.
#ifndef TSPEC_IR_PROGRAM_H
#define TSPEC_IR_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/base/type.h"
#include "ir/base/vec.h"
#include "ir/op_rules.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// design.md's levels that have ops. `source` is the AST, `object` no longer ours.
typedef enum tspec_level_t {
  TSPEC_LEVEL_GLOBAL, ///< whole tensors; shardings on params, inputs, results and constraints alone
  TSPEC_LEVEL_SHARDED, ///< every value has a closed sharding; after `reshard` each op's fit
                       ///< together
  TSPEC_LEVEL_LOCAL,   ///< ops work on a rank's blocks; collectives are explicit, no reshard or
                       ///< constraint left
  TSPEC_LEVEL_KERNELS, ///< kernels, gemms, views and collectives over planned memory
} tspec_level_t;
const char *tspec_level_name(tspec_level_t level);

typedef struct tspec_op_t tspec_op_t;

/// The result of an op or an argument of a function.
typedef struct tspec_value_t {
  int id;            ///< dense within the function after tspec_func_number; else as made
  tspec_type_t type; ///< the whole tensor, at every level
  const tspec_sharding_t *sharding; ///< NULL: nothing said. From `sharded` on: closed, never NULL
  const char *name;                 ///< path of the let, param or input ("blocks/mlp/h"), or NULL
  tspec_op_t *def;                  ///< NULL: an argument
  int index;                        ///< which result, or which argument
  tspec_range_t range;              ///< where it is declared or computed
  int64_t offset_bytes;             ///< in the arena (kernels level, after plan-memory); else -1
  const struct tspec_decided_t *decided; ///< of what conversions and collectives give, where
                                         ///< --explain asks: what it is for
                                         ///< (passes/decisions.h); else NULL
  struct tspec_value_t *replaced_by;     ///< set while a pass replaces values (passes/steps.h)
} tspec_value_t;

struct tspec_op_t {
  tspec_op_kind_t kind;
  int noperands;
  tspec_value_t **operands;
  int nresults;
  tspec_value_t **results;
  int nattrs;
  tspec_attr_t *attrs;
  tspec_range_t range;
  const char *spelling; ///< what the user wrote ("@", "mean"), or NULL
  const char *because; ///< for ops that the compiler made: "all_reduce for 'dot'"; NULL: the user's
  tspec_op_t *prev, *next;
  void *foreign_attrs; ///< attributes of others, kept over export and import (MlirAttribute
                       ///< dictionary), or NULL
};

typedef enum tspec_slot_kind_t {
  TSPEC_SLOT_INPUT,  ///< an entry's argument
  TSPEC_SLOT_PARAM,  ///< a parameter, by path
  TSPEC_SLOT_STATE,  ///< kept, not trained, by path
  TSPEC_SLOT_RESULT, ///< an entry's named result
} tspec_slot_kind_t;

/// One argument of an entry: an input, or a parameter that it reads.
typedef struct tspec_arg_t {
  tspec_slot_kind_t kind;
  const char *name; ///< input name or path
  tspec_value_t *value;
} tspec_arg_t;

/// One result of an entry: a named result, or the new value of a parameter or state (updated in
/// place).
typedef struct tspec_result_t {
  tspec_slot_kind_t kind;
  const char *name;
  tspec_value_t *value;
  const tspec_sharding_t
      *sharding; ///< what the declaration asks for; NULL: nothing. From `sharded` on: the value's
  bool is_free;  ///< from `sharded` on: the declaration asked for nothing, so that pass `reshard`
                 ///< may split it more, by cost
  tspec_range_t range;
} tspec_result_t;

/// One entry. Ops are a doubly linked list in program order.
typedef struct tspec_func_t {
  const char *name;
  int nargs;
  int args_room; ///< how many `args` has room for; less than `nargs`: for those alone
  tspec_arg_t *args;
  int nresults;
  tspec_result_t *results;
  tspec_op_t *first, *last;
  tspec_range_t range;
  int64_t arena_bytes;                   ///< kernels level, after plan-memory
  const struct tspec_by_cost_t *by_cost; ///< from `reshard` on, where its layouts are not the
                                         ///< vote's (passes/layouts.h); else NULL. In memory alone
} tspec_func_t;

/// Initial values, keyed by seed, path and global index (language.md 5).
typedef enum tspec_init_kind_t {
  TSPEC_INIT_FILL,             ///< args: value
  TSPEC_INIT_NORMAL,           ///< args: mean, stddev
  TSPEC_INIT_TRUNCATED_NORMAL, ///< args: mean, stddev of the normal that is cut at 2 of them; for
                               ///< the named ones so that the result has the wanted variance
  TSPEC_INIT_UNIFORM,          ///< args: lo, hi
} tspec_init_kind_t;

typedef struct tspec_param_t {
  const char *path;
  bool is_state;
  tspec_type_t type;
  const tspec_sharding_t
      *sharding; ///< as declared, NULL: nothing said; from `sharded` on the one that holds
  tspec_init_kind_t init;
  double init_args[2];
  const char *init_text; ///< "xavier_normal", "normal(stddev = 0.02)": for dumps
  tspec_range_t range;
} tspec_param_t;

/// One line of an `expect` block, compile-time values folded.
typedef struct tspec_promise_t {
  const char *entry;
  const char *what;    ///< "all_reduce", ..., "collectives", "bytes", "memory"
  const char *compare; ///< "==", "<=", "<", ">=", ">"
  int nover;
  const char **over; ///< mesh axis names; none: any
  double value;      ///< units applied
  const char *text;  ///< the line as written
  bool warn_only;    ///< under --mesh or --set
  tspec_range_t range;
} tspec_promise_t;

typedef struct tspec_program_t {
  tspec_arena_t *arena; ///< owns everything below
  const char *name;     ///< file name without folder and ending
  tspec_level_t level;
  tspec_mesh_t mesh;
  tspec_intern_t *shardings; ///< one object for all that are equal (tspec_program_sharding)
  int nparams;
  tspec_param_t *params; ///< in declaration order
  int nfuncs;
  tspec_func_t **funcs; ///< entries in declaration order
  int npromises;
  tspec_promise_t *promises;
  int nkernels;
  int kernels_room; ///< how many `kernels` has room for; less than `nkernels`: for those alone
  struct tspec_kernel_t *kernels; ///< kernels level: bodies (passes/kernel.h), or NULL
} tspec_program_t;

// ---- building
// -------------------------------------------------------------------------------------------------------

tspec_program_t *tspec_program_create(tspec_arena_t *arena, const char *name);
tspec_func_t *tspec_program_add_func(tspec_program_t *program, const char *name,
                                     tspec_range_t range);
tspec_param_t *tspec_program_find_param(const tspec_program_t *program, const char *path);
/// The params by path, for those who look up many while none is added. Ownership: `arena`.
tspec_names_t tspec_program_param_names(const tspec_program_t *program, tspec_arena_t *arena);
/// The program's own copy of a sharding, the same for all that are equal.
const tspec_sharding_t *tspec_program_sharding(const tspec_program_t *program,
                                               const tspec_sharding_t *sharding);
tspec_func_t *tspec_program_find_func(const tspec_program_t *program, const char *name);
tspec_value_t *tspec_func_add_arg(tspec_program_t *program, tspec_func_t *func,
                                  tspec_slot_kind_t kind, const char *name, tspec_type_t type,
                                  tspec_range_t range);

/// How to make an op; zero what does not apply.
typedef struct tspec_op_build_t {
  tspec_op_kind_t kind;
  int noperands;
  tspec_value_t *const *operands;
  int nattrs;
  const tspec_attr_t *attrs;        ///< copied
  int nresults;                     ///< only for ops of any number of results without an `infer`
  const tspec_type_t *result_types; ///< NULL: from the op's `infer`
  tspec_range_t range;
  const char *spelling;
  const char *because;
} tspec_op_build_t;

/// Makes an op before `before` (NULL: at the end). Errors: NULL after reporting to `diag` what
/// `infer` refuses.
tspec_op_t *tspec_op_create(tspec_program_t *program, tspec_func_t *func, tspec_op_t *before,
                            const tspec_op_build_t *build, tspec_diag_t *diag);
/// Puts an op that was taken out back in, before `before` (NULL: at the end).
void tspec_op_insert(tspec_func_t *func, tspec_op_t *op, tspec_op_t *before);
/// Takes an op out; nothing may read its results, unless it is put back.
void tspec_op_remove(tspec_func_t *func, tspec_op_t *op);
/// Every read of `from` (operands and function results) becomes a read of `to`, but not in `except`
/// (may be NULL).
void tspec_value_replace(tspec_func_t *func, tspec_value_t *from, tspec_value_t *to,
                         const tspec_op_t *except);
/// Gives values dense ids: arguments, then results in program order. Returns how many.
int tspec_func_number(tspec_func_t *func);
/// Removes ops that nothing reads, from the end.
void tspec_func_remove_dead(tspec_func_t *func);
/// A deep copy in `arena` (which may be another one). `kernels`, `by_cost`, what is `decided` and
/// foreign attributes are shared with the original.
tspec_program_t *tspec_program_clone(const tspec_program_t *program, tspec_arena_t *arena);
/// The same for a trial that `program` outlives: texts, dims and values of attributes, which never
/// change, are shared with the original, too.
tspec_program_t *tspec_program_fork(const tspec_program_t *program, tspec_arena_t *arena);

// ---- reading
// --------------------------------------------------------------------------------------------------------

/// The op's tensor of that number, operands before results.
tspec_value_t *tspec_op_tensor(const tspec_op_t *op, int tensor);
/// The op as its rules see it; types are copied to `arena`.
tspec_op_view_t tspec_op_view(const tspec_op_t *op, tspec_arena_t *arena);
/// The op's attribute, or NULL.
const tspec_attr_t *tspec_op_get_attr(const tspec_op_t *op, const char *name);
/// Sets or replaces an attribute.
void tspec_op_set_attr(tspec_program_t *program, tspec_op_t *op, tspec_attr_t attr);

/// Attribute makers; arrays are borrowed until tspec_op_create copies them.
tspec_attr_t tspec_attr_int(const char *name, int64_t value);
tspec_attr_t tspec_attr_ints(const char *name, int64_t count, const int64_t *values);
tspec_attr_t tspec_attr_float(const char *name, double value);
tspec_attr_t tspec_attr_floats(const char *name, int64_t count, const double *values);
tspec_attr_t tspec_attr_string(const char *name, const char *value);
tspec_attr_t tspec_attr_dtype(const char *name, tspec_dtype_t value);
tspec_attr_t tspec_attr_reduce(const char *name, tspec_reduce_t value);
tspec_attr_t tspec_attr_axes(const char *name, int64_t count, const tspec_axis_t *axes);
tspec_attr_t tspec_attr_sharding(const char *name, const tspec_sharding_t *value);

// ---- verifying
// ------------------------------------------------------------------------------------------------------

/// Checks everything that must hold at the program's level: arity, attributes, `infer` against
/// result types, order of definitions and uses, shardings (ranks, axes once, closed where they must
/// be), factor consistency of every op after `reshard` and at the local level, collectives against
/// their operand's and result's shardings. `after`: the pass that ran, for messages. Errors: false
/// after reporting.
bool tspec_program_verify(const tspec_program_t *program, const char *after, tspec_diag_t *diag);

#endif
