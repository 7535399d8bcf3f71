// What the files of the checker share: the meaning of expressions, scopes, and the checker itself.
// Nothing here is seen outside frontend/check*.c.
//
// An expression means a tspec_cv_t. One that could not be understood means TSPEC_CV_ERROR, after a
// report; whoever gets one passes it on in silence.
#ifndef TSPEC_FRONTEND_CHECK_INTERNAL_H
#define TSPEC_FRONTEND_CHECK_INTERNAL_H

#include "frontend/check.h"
#include "ir/base/str.h"
#include "ir/base/vec.h"

typedef struct tspec_checker_t tspec_checker_t;
typedef struct tspec_global_t tspec_global_t;
typedef struct tspec_home_t tspec_home_t;
typedef struct tspec_instance_t tspec_instance_t;
typedef struct tspec_slot_t tspec_slot_t;
typedef struct tspec_builtin_t tspec_builtin_t;
typedef struct tspec_closure_t tspec_closure_t;
typedef struct tspec_family_t tspec_family_t;
typedef struct tspec_rules_t tspec_rules_t;
typedef struct tspec_scan_t tspec_scan_t;
typedef struct tspec_manual_t tspec_manual_t;

// ---- meanings of expressions -----------------------------------------------------------------

typedef enum tspec_cv_kind_t {
  TSPEC_CV_ERROR,  ///< already reported
  TSPEC_CV_NONE,   ///< a call without results
  TSPEC_CV_NUMBER, ///< compile-time
  TSPEC_CV_TENSOR, ///< a value of the entry
  TSPEC_CV_STRING,
  TSPEC_CV_DTYPE,
  TSPEC_CV_LIST,     ///< "[a, b]", shape(x)
  TSPEC_CV_TUPLE,    ///< several results
  TSPEC_CV_FUNCTION, ///< a function or a method of an instance
  TSPEC_CV_BUILTIN,
  TSPEC_CV_INSTANCE,
  TSPEC_CV_FAMILY, ///< "layer" of layer[i]
  TSPEC_CV_SLOT,   ///< a parameter or a state, not yet read
  TSPEC_CV_MODULE,
  TSPEC_CV_PARAMS, ///< the word 'params', not yet read
  TSPEC_CV_TREE,   ///< a tensor for each parameter
  TSPEC_CV_MESH_AXIS,
} tspec_cv_kind_t;

typedef struct tspec_cv_t {
  tspec_cv_kind_t kind;
  const char *axis; ///< NUMBER: the axis whose bare name it is, or NULL
  union {
    double number;
    tspec_value_t *tensor;
    const char *string;
    tspec_dtype_t dtype;
    struct tspec_cvs_t *list; ///< LIST, TUPLE; TREE: in the order of the parameters
    tspec_closure_t *function;
    const tspec_builtin_t *builtin;
    tspec_instance_t *instance;
    tspec_family_t *family;
    tspec_slot_t *slot;
    tspec_global_t *module;
    int mesh_axis;
  } u;
} tspec_cv_t;

typedef struct tspec_cvs_t {
  size_t count;
  tspec_cv_t *items;
} tspec_cvs_t;

/// A name that stands for a meaning: a local, a member, an argument of a module.
typedef struct tspec_named_t {
  const char *name;
  tspec_cv_t cv;
  tspec_range_t range;
  const tspec_scan_t *scan; ///< the scan of its function in which it is a local, or NULL
  bool keeps_type;          ///< in an optimizer's update: what is assigned must fit
} tspec_named_t;

// ---- declarations ----------------------------------------------------------------------------

/// Where a piece of source looks for global names: the program, or the standard library.
struct tspec_home_t {
  tspec_names_t globals; ///< tspec_global_t
  tspec_home_t *outer;   ///< the program's is the standard library; NULL there
};

typedef enum tspec_global_kind_t {
  TSPEC_GLOBAL_AXIS,
  TSPEC_GLOBAL_CONST,
  TSPEC_GLOBAL_FUNCTION,
  TSPEC_GLOBAL_MODULE,
  TSPEC_GLOBAL_ENTRY,
  TSPEC_GLOBAL_OPTIMIZER,
  TSPEC_GLOBAL_MEMBER, ///< instance, family, parameter, state
} tspec_global_kind_t;

struct tspec_global_t {
  tspec_global_kind_t kind;
  tspec_ast_name_t name;
  tspec_home_t *home;
  const tspec_ast_decl_t *decl;
  const tspec_ast_expr_t *expr; ///< AXIS, CONST
  bool is_set, is_busy, is_done;
  bool reached;  ///< OPTIMIZER: its update was checked
  double number; ///< AXIS, CONST when done (or set)
  bool failed;
  tspec_cv_t cv; ///< FUNCTION, MEMBER
};

/// A function as written; shared by the closures of all instances of a module.
typedef struct tspec_fn_info_t {
  const tspec_ast_fn_t *fn;
  tspec_range_t range;
  tspec_home_t *home;
  const tspec_global_t *module; ///< NULL: not a method
  bool reached;                 ///< its body was checked with arguments
} tspec_fn_info_t;

struct tspec_closure_t {
  tspec_fn_info_t *info;
  tspec_instance_t *self; ///< NULL: not a method
  const char *name;       ///< for messages
  bool is_active;         ///< being inlined: a call of it would be recursion
};

struct tspec_instance_t {
  const char *path;
  tspec_range_t range;
  const tspec_global_t *module;
  tspec_home_t *home;
  tspec_names_t args;    ///< tspec_named_t
  tspec_names_t members; ///< tspec_named_t
  tspec_closure_t *call; ///< NULL: it has none
  tspec_range_t call_range;
  tspec_instance_t *around; ///< whose member it is, or NULL
  bool is_stack;
  bool is_running; ///< a stack: its copies are being called
  bool is_remat;
  int nstack; ///< stack dims of its parameters, enclosing stacks included
  const int64_t *stack_sizes;
  const char *const *stack_axes; ///< axis name of each, or NULL
};

struct tspec_family_t {
  const char *path;
  tspec_names_t items; ///< "3" -> tspec_named_t
};

/// A declared parameter or state.
struct tspec_slot_t {
  const char *path;
  bool is_state;
  bool is_tree;                  ///< ": params"; `type` says nothing
  const char *absent;            ///< a part of its declaration that is not compiled; NULL: none
  const tspec_instance_t *owner; ///< NULL: at top level
  int order;                     ///< among all
  int nstack;                    ///< leading dims of `type` that come from stacks
  tspec_type_t type;             ///< as stored
  bool was_f32;                  ///< written f32: read as the compute dtype
  const tspec_sharding_t *sharding;
  const tspec_sharding_t *use; ///< how it lies where it is read, behind a barrier; NULL: not said
  tspec_range_t range;
  const struct tspec_entry_t *read_in; ///< the entry that `value` belongs to
  tspec_value_t *value;                ///< as read there
};

/// How deep calls, instances and sizes may nest: more would be no program for people, and the
/// checker recurses.
enum { TSPEC_CHECK_MAX_DEPTH = 500, TSPEC_CHECK_MAX_LOOP = 1000000 };
/// How many expressions, calls and iterations are worked out in all: calls that call twice grow
/// without bound long before they nest too deep.
enum { TSPEC_CHECK_MAX_STEPS = 5000000 };

// ---- scopes ----------------------------------------------------------------------------------

/// One call that is being inlined, or the declarations of a module.
typedef struct tspec_frame_t {
  struct tspec_frame_t *caller; ///< NULL: an entry or declarations
  const tspec_closure_t *closure;
  const tspec_ast_fn_t *fn; ///< NULL: declarations
  tspec_instance_t *self;
  tspec_home_t *home;
  const char *path; ///< of the instance whose function it is; "" at top level
  bool in_decls;    ///< a module's parameters hide its members
  tspec_names_t locals;
  TSPEC_VEC(tspec_named_t *) live; ///< locals in order, for the ends of blocks
  bool has_lead;                   ///< '...' is bound
  int nlead;
  const int64_t *lead;
  tspec_range_t call_range;
  const char *called; ///< an optimizer whose update it is, or NULL
  tspec_scan_t *scan; ///< the innermost scan around the statement, or NULL
  int nloops;         ///< 'for' bodies around the statement, within that scan
  bool returned;      ///< a return was met
  tspec_cv_t result;
} tspec_frame_t;

/// An entry while it is checked, and what became of it.
/// A constant and the value that it was made like ('zeros_like').
typedef struct tspec_like_t {
  const tspec_value_t *constant;
  tspec_value_t *value;
} tspec_like_t;

typedef struct tspec_entry_t {
  const tspec_ast_fn_t *fn;
  tspec_range_t range;
  tspec_home_t *home;
  tspec_func_t *func; ///< NULL after it failed or was left out
  bool failed;        ///< an error was found in it
  const char *absent; ///< a part that it needs and that is not compiled; NULL: none
  tspec_range_t absent_range;
  TSPEC_VEC(tspec_slot_t *) reads;
  TSPEC_VEC(tspec_like_t) likes;
} tspec_entry_t;

struct tspec_checker_t {
  tspec_arena_t *arena;
  tspec_sources_t *sources;
  tspec_diag_t *diag;
  const tspec_check_options_t *options;
  tspec_program_t *program;
  tspec_home_t user, library;
  tspec_names_t late; ///< parameters, states and instances of the top level that are still to come
  tspec_names_t builtins; ///< tspec_builtin_t
  TSPEC_VEC(tspec_global_t *) globals;
  TSPEC_VEC(tspec_fn_info_t *) fns;
  tspec_names_t fn_places; ///< "file:line:col" -> tspec_fn_info_t
  TSPEC_VEC(tspec_slot_t *) slots;
  TSPEC_VEC(tspec_slot_t *) trained; ///< those that are parameters: the leaves of a tree
  TSPEC_VEC(tspec_param_t) params;   ///< as many slots; the program's in the end
  TSPEC_VEC(tspec_entry_t *) entries;
  tspec_dtype_t params_dtype, compute_dtype, reduce_dtype;
  bool mesh_overridden; ///< the program's promises were not written for this mesh or these sizes
  uint32_t mesh_file;   ///< of a rules file whose mesh replaces the program's, or 0
  int nmesh_own;        ///< axes of that mesh; behind them stand those that only the program has
  tspec_rules_t *rules;
  tspec_frame_t *frame;    ///< where expressions are looked up
  tspec_entry_t *entry;    ///< NULL: declarations, no ops
  tspec_manual_t *manual;  ///< the manual function whose body is checked, or NULL
  bool in_update;          ///< an optimizer's update is: scalars are f64 until they meet a tensor
  int64_t max_steps;       ///< the limit
  int64_t steps_left;      ///< below 0: the limit was met and reported
  int depth;               ///< of calls, instances and sizes that need each other
  int nerrors;             ///< those said before included
  int64_t ngroups;         ///< calls of 'same_sharding' so far
  tspec_slot_t *declaring; ///< the parameter or state whose declaration is checked, or NULL
  tspec_names_t reported;
  bool last_dropped;         ///< the last error was said before: so were its notes
  tspec_range_t trace_range; ///< and its place
  tspec_frame_t *trace;      ///< frame of the last error, whose callers are still to be named
};

/// The declarations of all files, in order, imports put in place.
typedef struct tspec_item_t {
  const tspec_ast_decl_t *decl;
  tspec_home_t *home;
  int origin; ///< 0: the program, 1: an import, 2: a rules file, 3: the library
} tspec_item_t;

typedef TSPEC_VEC(tspec_item_t) tspec_items_t;

/// Where an op comes from: the range to blame and what the user wrote.
typedef struct tspec_site_t {
  tspec_range_t range;
  const char *spelling;
} tspec_site_t;

// ---- check_report.c: messages ----------------------------------------------------------------

/// An error; the same text at the same place is said once. Callers of the frame are named after its
/// notes.
void tspec_check_error(tspec_checker_t *c, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tspec_check_warning(tspec_checker_t *c, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tspec_check_note(tspec_checker_t *c, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// Names the callers of the last error if that is still due; before its frame goes.
void tspec_check_flush_trace(tspec_checker_t *c);
/// Counts steps against the limit; false after a report (once) that there are too many.
bool tspec_check_spend(tspec_checker_t *c, tspec_range_t range, int64_t steps);
/// Goes one level down; false after a report that this is too deep or too much. `tspec_check_leave`
/// comes back.
bool tspec_check_enter(tspec_checker_t *c, tspec_range_t range, const char *what);
void tspec_check_leave(tspec_checker_t *c);
/// Passes on what a layer below reported to a diag of its own.
void tspec_check_forward(tspec_checker_t *c, const tspec_diag_t *diag);
/// In the standard library the user has written nothing: the place of the call that led there;
/// elsewhere `range`.
tspec_range_t tspec_check_user_range(const tspec_checker_t *c, tspec_range_t range);
/// "f32[8, 16]", "a number", "the string "x"", "an instance".
const char *tspec_check_describe(tspec_checker_t *c, tspec_cv_t cv);
/// The source text of a range on one line, in the arena.
const char *tspec_check_text(tspec_checker_t *c, tspec_range_t range);

// ---- check_scope.c: names --------------------------------------------------------------------

tspec_cv_t tspec_cv_error(void);
tspec_cv_t tspec_cv_number(double number);
tspec_cv_t tspec_cv_tensor(tspec_value_t *value); ///< NULL: ERROR
bool tspec_cv_is_error(tspec_cv_t cv);
/// Several values, copied; one: itself; none: NONE. ERROR if one is.
tspec_cv_t tspec_cv_tuple(tspec_checker_t *c, size_t count, const tspec_cv_t *items);

void tspec_frame_init(tspec_frame_t *frame, tspec_frame_t *caller, tspec_home_t *home,
                      tspec_instance_t *self);
/// Adds a local (an error if there is one of the name).
void tspec_frame_add(tspec_checker_t *c, tspec_ast_name_t name, tspec_cv_t cv);
/// Forgets the locals after the first `nlive`.
void tspec_frame_trim(tspec_checker_t *c, size_t nlive);
tspec_named_t *tspec_frame_find(const tspec_frame_t *frame, const char *name);

/// What a name means here; parameters are not read. False if it is not declared (no report).
bool tspec_check_lookup(tspec_checker_t *c, const char *name, tspec_range_t range,
                        tspec_cv_t *out_cv);
/// Reports "'x' is not declared" with the nearest name.
void tspec_check_undeclared(tspec_checker_t *c, const char *name, tspec_range_t range);
/// Where a visible name was declared; false if it is built in.
bool tspec_check_declared_at(tspec_checker_t *c, const char *name, tspec_range_t *out_range);
tspec_global_t *tspec_home_find(const tspec_home_t *home, const char *name);
void tspec_named_set(tspec_arena_t *arena, tspec_names_t *names, const char *name, tspec_cv_t cv,
                     tspec_range_t range);

// ---- check_number.c: compile-time numbers ----------------------------------------------------

/// The value of an axis or const; false after a report (cycles, too).
bool tspec_check_global_number(tspec_checker_t *c, tspec_global_t *global, tspec_range_t range);
/// `a op b` of two numbers.
tspec_cv_t tspec_number_binary(tspec_checker_t *c, tspec_ast_binary_t op, double a, double b,
                               tspec_range_t range);
/// Python's a mod b and floor(a / b).
double tspec_number_mod(double a, double b);
/// An op with the trait `function` on one number, as the evaluator has it in f64.
double tspec_number_function(tspec_op_kind_t kind, double x);
/// A number as `convert` gives it: to an integer dtype truncated and saturated, NaN gives 0.
double tspec_number_convert(tspec_dtype_t dtype, double number);
/// A whole number of at most 2^53; false after a report that names `what`.
bool tspec_cv_whole(tspec_checker_t *c, tspec_cv_t cv, tspec_range_t range, const char *what,
                    int64_t *out_value);
/// The bounds of a 'for', and not too many iterations to unroll. False after a report.
bool tspec_check_loop(tspec_checker_t *c, const tspec_ast_expr_t *lo, const tspec_ast_expr_t *hi,
                      int64_t *out_lo, int64_t *out_hi);
/// A number (not whole); false after a report.
bool tspec_cv_real(tspec_checker_t *c, tspec_cv_t cv, tspec_range_t range, const char *what,
                   double *out_value);
/// "3", "0.5": a number as text in the arena.
const char *tspec_number_text(tspec_arena_t *arena, double number);

// ---- check_collect.c, check_mesh.c: declarations that are no members -------------------------

/// Puts imports in place. False after an error.
void tspec_check_flatten(tspec_checker_t *c, const tspec_ast_file_t *file, tspec_home_t *home,
                         int origin, tspec_items_t *out_items);
/// Declares globals of all items.
void tspec_check_collect(tspec_checker_t *c, const tspec_items_t *items);
/// --set, then the values of all axes and consts.
void tspec_check_numbers(tspec_checker_t *c);
/// `mesh`, --mesh, --ranks and `precision`.
void tspec_check_mesh(tspec_checker_t *c, const tspec_items_t *items);
tspec_fn_info_t *tspec_check_fn_info(tspec_checker_t *c, const tspec_ast_decl_t *decl,
                                     tspec_home_t *home, const tspec_global_t *module);

// ---- check_module.c, check_init.c: instances, parameters -------------------------------------

/// Parameters, states, instances, for and if of the top level.
void tspec_check_members(tspec_checker_t *c, const tspec_items_t *items);
/// How a parameter starts. `type` is unstacked. Fills init, init_args and init_text; false after a
/// report.
bool tspec_check_init(tspec_checker_t *c, const tspec_ast_expr_t *expr, tspec_type_t type,
                      tspec_param_t *out_param);

/// "blocks/mlp/h" of "blocks/mlp" and "h".
const char *tspec_check_join_path(tspec_checker_t *c, const char *path, const char *name);

#endif
