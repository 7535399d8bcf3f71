// The syntax tree of one .tspec file: what docs/language.md's grammar says, as typed plain structs
// in an arena. Made by frontend/parser.h, printed by frontend/print.h, read by the checker, which
// gives it meaning (a global program).
//
// Every node carries the range of its text. Names are NUL-terminated strings in the arena. Lists
// are a pointer and a count; pointers that a comment does not call optional are never NULL.
// Parentheses leave no trace in the tree.
//
// After errors the tree holds what could be read: a declaration or a statement with a syntax error
// is left out, the others stand. A consumer that wants a whole tree looks at the diagnostics first.
#ifndef TSPEC_FRONTEND_AST_H
#define TSPEC_FRONTEND_AST_H

#include "frontend/ast_expr.h"

typedef struct tspec_ast_decl_t tspec_ast_decl_t;

/// Declarations or members between braces, or of a file.
typedef struct tspec_ast_decls_t {
  tspec_ast_decl_t **items;
  size_t count;
  tspec_range_t range; ///< braces included
} tspec_ast_decls_t;

// ---- statements ----

typedef enum tspec_ast_stmt_kind_t {
  TSPEC_AST_STMT_LET,
  TSPEC_AST_STMT_ASSIGN,
  TSPEC_AST_STMT_RETURN,
  TSPEC_AST_STMT_FOR,
  TSPEC_AST_STMT_IF,
  TSPEC_AST_STMT_UPDATE, ///< minimize or apply
  TSPEC_AST_STMT_NEXT,   ///< next and emit
  TSPEC_AST_STMT_CALL,   ///< a call for its effect
} tspec_ast_stmt_kind_t;

/// "if cond { body }"; the last arm may be "else { body }".
typedef struct tspec_ast_arm_t {
  tspec_ast_expr_t *cond; ///< NULL: else
  tspec_ast_block_t body;
} tspec_ast_arm_t;

/// "adam(lr = 1e-3) over "kernel$"".
typedef struct tspec_ast_update_t {
  tspec_range_t range;
  tspec_ast_name_t optimizer;
  tspec_ast_args_t args;
  const char *over;         ///< the pattern; NULL: any parameter
  tspec_range_t over_range; ///< of the pattern's string
} tspec_ast_update_t;

struct tspec_ast_stmt_t {
  tspec_ast_stmt_kind_t kind;
  tspec_range_t range;
  union {
    struct {
      tspec_ast_names_t names; ///< one, or several if `is_tuple`; "_" may stand more than once
      bool is_tuple;           ///< "(a, b)", also "(a)"
      tspec_ast_type_t *type;  ///< optional; never with `is_tuple`
      tspec_ast_sharding_t *sharding; ///< optional; never with `is_tuple`
      tspec_ast_expr_t *value;        ///< may be a SCAN
    } let;
    struct {
      tspec_ast_expr_t
          *target; ///< NAME, or MEMBER and INDEX expressions over a NAME (the parser sees to it)
      tspec_ast_expr_t *value; ///< may be a SCAN
    } assign;
    tspec_ast_exprs_t ret; ///< none: "return" alone. One may be a SCAN
    struct {
      tspec_ast_name_t var;
      tspec_ast_expr_t *lo;
      tspec_ast_expr_t *hi; ///< excluded
      tspec_ast_block_t body;
    } loop;
    struct {
      tspec_ast_arm_t *arms; ///< if, else if ..., else
      size_t narms;
    } cond;
    struct {
      bool is_apply; ///< apply: `value` is a tree of gradients; minimize: a loss
      tspec_ast_expr_t *value;
      tspec_ast_update_t *updates; ///< at least one
      size_t nupdates;
      tspec_ast_expr_t *clip; ///< optional
    } update;
    struct {
      tspec_ast_exprs_t next; ///< none: no 'next'
      tspec_ast_exprs_t emit; ///< none: no 'emit'
    } next;
    tspec_ast_expr_t *call; ///< a CALL
  } u;
};

// ---- declarations ----

typedef enum tspec_ast_decl_kind_t {
  TSPEC_AST_DECL_MESH,
  TSPEC_AST_DECL_AXIS,
  TSPEC_AST_DECL_CONST,
  TSPEC_AST_DECL_IMPORT,
  TSPEC_AST_DECL_PRECISION,
  TSPEC_AST_DECL_PARAM,
  TSPEC_AST_DECL_STATE,
  TSPEC_AST_DECL_INSTANCE,
  TSPEC_AST_DECL_MODULE,
  TSPEC_AST_DECL_FUNCTION, ///< fn, entry fn, manual fn; in a module a method
  TSPEC_AST_DECL_OPTIMIZER,
  TSPEC_AST_DECL_SHARD_AXES,
  TSPEC_AST_DECL_SHARD_PARAMS,
  TSPEC_AST_DECL_SHARD_VALUES,
  TSPEC_AST_DECL_EXPECT,
  TSPEC_AST_DECL_FOR, ///< around param, state, instance, for, if (in a module methods, too; the
                      ///< parser sees to it)
  TSPEC_AST_DECL_IF,  ///< as FOR
} tspec_ast_decl_kind_t;

/// "data = 2 @ 10 GB/s".
typedef struct tspec_ast_mesh_axis_t {
  tspec_range_t range;
  tspec_ast_name_t name;
  tspec_ast_name_t size_name; ///< the size is this const or axis; text NULL: it is `size`
  int64_t size;               ///< as written, -1 = inferred; unchecked
  tspec_range_t size_range;
  bool has_bandwidth;
  double bandwidth;           ///< in `unit` per `per`
  const char *bandwidth_text; ///< the number as written
  tspec_ast_name_t unit;      ///< "GB"; if `has_bandwidth`
  tspec_ast_name_t per;       ///< "s"
} tspec_ast_mesh_axis_t;

/// "name = value" of axis and const.
typedef struct tspec_ast_binding_t {
  tspec_range_t range;
  tspec_ast_name_t name;
  tspec_ast_expr_t *value;
} tspec_ast_binding_t;

/// "compute = bf16".
typedef struct tspec_ast_precision_t {
  tspec_range_t range;
  tspec_ast_name_t name; ///< params, compute, reduce or a wrong one (the checker refuses)
  tspec_dtype_t dtype;
} tspec_ast_precision_t;

/// A parameter of a function, module or optimizer.
typedef struct tspec_ast_formal_t {
  tspec_range_t range;
  tspec_ast_name_t name;
  bool is_axis;                   ///< ": axis"
  tspec_ast_type_t *type;         ///< optional
  tspec_ast_sharding_t *sharding; ///< optional; only with `type`
  tspec_ast_expr_t *value;        ///< the default; optional
} tspec_ast_formal_t;

typedef struct tspec_ast_formals_t {
  tspec_ast_formal_t *items;
  size_t count;
  tspec_range_t range; ///< parentheses included
} tspec_ast_formals_t;

typedef struct tspec_ast_result_t {
  tspec_range_t range;
  tspec_ast_name_t name; ///< text NULL: none; entries have one for each (the parser sees to it)
  tspec_ast_type_t *type;
  tspec_ast_sharding_t *sharding; ///< optional
} tspec_ast_result_t;

typedef enum tspec_ast_fn_kind_t {
  TSPEC_AST_FN_PLAIN,
  TSPEC_AST_FN_ENTRY,
  TSPEC_AST_FN_MANUAL,
  TSPEC_AST_FN_METHOD, ///< in a module
} tspec_ast_fn_kind_t;

typedef struct tspec_ast_fn_t {
  tspec_ast_fn_kind_t kind;
  tspec_ast_names_t manual_axes; ///< MANUAL: mesh axes
  tspec_ast_name_t name;         ///< text NULL: METHOD that is the call itself
  tspec_ast_formals_t formals;
  bool has_results; ///< '->' is written ("-> ()" has none)
  bool results_in_parens;
  tspec_ast_result_t *results;
  size_t nresults;
  tspec_ast_block_t body;
} tspec_ast_fn_t;

typedef enum tspec_ast_opt_kind_t {
  TSPEC_AST_OPT_SLOT,
  TSPEC_AST_OPT_COUNTER,
  TSPEC_AST_OPT_UPDATE,
} tspec_ast_opt_kind_t;

typedef struct tspec_ast_opt_item_t {
  tspec_ast_opt_kind_t kind;
  tspec_range_t range;
  tspec_ast_name_t name;   ///< SLOT, COUNTER
  tspec_ast_expr_t *value; ///< SLOT: the initializer
  tspec_ast_name_t param;  ///< UPDATE: "update(p, g)"
  tspec_ast_name_t grad;   ///< UPDATE
  tspec_ast_block_t body;  ///< UPDATE
} tspec_ast_opt_item_t;

/// "batch -> data" of shard axes.
typedef struct tspec_ast_axis_rule_t {
  tspec_range_t range;
  tspec_ast_name_t axis;   ///< a logical axis
  tspec_ast_entry_t entry; ///< never an ellipsis
} tspec_ast_axis_rule_t;

/// ""kernel" -> [-, tp]" of shard params and shard values.
typedef struct tspec_ast_path_rule_t {
  tspec_range_t range;
  const char *pattern; ///< NULL: otherwise
  tspec_range_t pattern_range;
  tspec_ast_storage_t storage; ///< `stored` NULL: a policy
  tspec_ast_name_t policy;     ///< fsdp, megatron, auto; text NULL: a sharding
  bool has_args;               ///< '(' stands after the policy
  tspec_ast_args_t args;
} tspec_ast_path_rule_t;

/// "all_reduce over data*model <= 4", "bytes <= 64 KiB".
typedef struct tspec_ast_promise_t {
  tspec_range_t range;
  tspec_ast_name_t what;  ///< a collective, "collectives", "bytes" or "memory"; or a wrong one (the
                          ///< checker refuses)
  tspec_ast_names_t over; ///< mesh axes; none: all
  tspec_ast_binary_t op;  ///< EQ, LE, LT, GE, GT
  tspec_ast_expr_t *value;
  tspec_ast_name_t unit; ///< text NULL: none
} tspec_ast_promise_t;

/// "if cond { decls }"; the last arm may be "else { decls }".
typedef struct tspec_ast_decl_arm_t {
  tspec_ast_expr_t *cond; ///< NULL: else
  tspec_ast_decls_t body;
} tspec_ast_decl_arm_t;

struct tspec_ast_decl_t {
  tspec_ast_decl_kind_t kind;
  tspec_range_t range;
  union {
    struct {
      tspec_ast_mesh_axis_t *axes;
      size_t naxes;
    } mesh;
    struct {
      tspec_ast_binding_t *items;
      size_t count;
    } bindings; ///< AXIS, CONST
    struct {
      const char *path; ///< as written: relative to this file
      tspec_range_t path_range;
    } import;
    struct {
      tspec_ast_precision_t *items;
      size_t count;
    } precision;
    struct {
      tspec_ast_name_t name;
      bool is_tree; ///< STATE: ": params"; `type` is NULL then
      tspec_ast_type_t *type;
      tspec_ast_storage_t storage;
      tspec_ast_expr_t *value; ///< number or initializer
    } param;                   ///< PARAM, STATE
    struct {
      tspec_ast_name_t name;
      tspec_ast_expr_t *index; ///< "layer[i] = ..."; optional
      bool remat;
      tspec_ast_expr_t *stack; ///< "stack[count]"; optional. A bare NAME of an axis keeps its name
      tspec_ast_name_t module;
      tspec_ast_args_t args;
    } instance;
    struct {
      tspec_ast_name_t name;
      tspec_ast_formals_t formals;
      tspec_ast_decls_t members; ///< PARAM, STATE, INSTANCE, FUNCTION (METHOD), FOR, IF
    } module;
    tspec_ast_fn_t fn;
    struct {
      tspec_ast_name_t name;
      tspec_ast_formals_t formals;
      tspec_ast_opt_item_t *items;
      size_t nitems;
    } optimizer;
    struct {
      tspec_ast_name_t entry; ///< "in logits"; text NULL: all entries
      tspec_ast_axis_rule_t *rules;
      size_t nrules;
    } shard_axes;
    struct {
      tspec_ast_name_t entry; ///< as above; never for SHARD_PARAMS
      tspec_ast_path_rule_t *rules;
      size_t nrules;
    } shard_paths; ///< SHARD_PARAMS, SHARD_VALUES
    struct {
      tspec_ast_name_t entry;
      tspec_ast_promise_t *promises;
      size_t npromises;
    } expect;
    struct {
      tspec_ast_name_t var;
      tspec_ast_expr_t *lo;
      tspec_ast_expr_t *hi; ///< excluded
      tspec_ast_decls_t body;
    } loop;
    struct {
      tspec_ast_decl_arm_t *arms;
      size_t narms;
    } cond;
  } u;
};

/// One file.
typedef struct tspec_ast_file_t {
  uint32_t file;           ///< its number in the sources
  tspec_ast_decls_t decls; ///< in the order written
} tspec_ast_file_t;

/// Equal but for ranges and for how a number or "f32[]" was spelled.
bool tspec_ast_equal(const tspec_ast_file_t *a, const tspec_ast_file_t *b);

#endif
