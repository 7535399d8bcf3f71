// Types, shardings and expressions of the syntax tree; the other half is frontend/ast.h, which says
// what holds for both.
#ifndef TSPEC_FRONTEND_AST_EXPR_H
#define TSPEC_FRONTEND_AST_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/source.h"
#include "ir/base/type.h"
#include "ir/shard/sharding.h"

typedef struct tspec_ast_expr_t tspec_ast_expr_t;
typedef struct tspec_ast_stmt_t tspec_ast_stmt_t;

/// A name where it stands. `text` NULL: absent, where the field says that it may be.
typedef struct tspec_ast_name_t {
  const char *text;
  tspec_range_t range;
} tspec_ast_name_t;

typedef struct tspec_ast_names_t {
  tspec_ast_name_t *items;
  size_t count;
} tspec_ast_names_t;

typedef struct tspec_ast_exprs_t {
  tspec_ast_expr_t **items;
  size_t count;
} tspec_ast_exprs_t;

/// Statements between braces.
typedef struct tspec_ast_block_t {
  tspec_ast_stmt_t **items;
  size_t count;
  tspec_range_t range; ///< braces included
} tspec_ast_block_t;

// ---- types and shardings ----

typedef enum tspec_ast_dim_kind_t {
  TSPEC_AST_DIM_ELLIPSIS, ///< '...', only as the first dim (the parser sees to it)
  TSPEC_AST_DIM_BIND,     ///< '$d': binds a size
  TSPEC_AST_DIM_EXPR,     ///< a size; a bare NAME expression of an axis keeps its name
} tspec_ast_dim_kind_t;

typedef struct tspec_ast_dim_t {
  tspec_ast_dim_kind_t kind;
  tspec_range_t range;
  tspec_ast_name_t name;  ///< BIND: the name without '$'
  tspec_ast_expr_t *expr; ///< EXPR; else NULL
} tspec_ast_dim_t;

/// "f32[batch, 4 * embed]", "$t[..., $d]"; "f32" and "f32[]" are the same scalar.
typedef struct tspec_ast_type_t {
  tspec_range_t range;
  tspec_ast_name_t bind; ///< '$t': the name without '$'; text NULL: `dtype` is written
  tspec_dtype_t dtype;   ///< if `bind.text` is NULL
  tspec_ast_dim_t *dims;
  size_t ndims;
} tspec_ast_type_t;

/// "model" or "model:(2)4".
typedef struct tspec_ast_mesh_ref_t {
  tspec_range_t range;
  tspec_ast_name_t axis;
  bool is_sub; ///< ":(pre)size" is written
  int64_t pre; ///< as written, unchecked; if `is_sub`
  int64_t size;
} tspec_ast_mesh_ref_t;

/// One entry of a sharding. '-': no refs, closed. '?': no refs, open. 'data*model?!1': two refs,
/// open, priority 1.
typedef struct tspec_ast_entry_t {
  tspec_range_t range;
  bool
      is_ellipsis; ///< '...': any number of '?'; at most once in a sharding (the parser sees to it)
  tspec_ast_mesh_ref_t *refs; ///< the first one major
  size_t nrefs;
  bool open;
  bool has_priority; ///< '!n' is written
  int64_t priority;  ///< 0 if not written
} tspec_ast_entry_t;

/// "sum(a, b)" after a sharding's list.
typedef struct tspec_ast_pending_t {
  tspec_range_t range;
  tspec_reduce_t kind; ///< SUM, MAX or MIN
  tspec_ast_names_t axes;
} tspec_ast_pending_t;

/// "[data, -, model?!1] sum(x)". `tspec_print_sharding` gives the text that `tspec_sharding_parse`
/// reads.
typedef struct tspec_ast_sharding_t {
  tspec_range_t range;
  tspec_ast_entry_t *entries; ///< none: "[]", replicated on any rank
  size_t nentries;
  tspec_ast_pending_t *pending;
  size_t npending;
} tspec_ast_sharding_t;

/// How a parameter or state is stored and, optionally, how it is used.
typedef struct tspec_ast_storage_t {
  tspec_ast_sharding_t *stored; ///< NULL: nothing written
  tspec_ast_sharding_t *use;    ///< after 'use'; NULL: not written
} tspec_ast_storage_t;

// ---- expressions ----

typedef enum tspec_ast_expr_kind_t {
  TSPEC_AST_EXPR_NUMBER,
  TSPEC_AST_EXPR_STRING,
  TSPEC_AST_EXPR_BOOL,  ///< true, false
  TSPEC_AST_EXPR_DTYPE, ///< an element type as a value: bf16(x), zeros([2], i32)
  TSPEC_AST_EXPR_NAME,
  TSPEC_AST_EXPR_LIST, ///< [a, b]
  TSPEC_AST_EXPR_CALL,
  TSPEC_AST_EXPR_INDEX,
  TSPEC_AST_EXPR_MEMBER, ///< m.name
  TSPEC_AST_EXPR_UNARY,
  TSPEC_AST_EXPR_BINARY,
  TSPEC_AST_EXPR_SCAN, ///< only as the whole value of a let, an assignment or a return (the parser
                       ///< sees to it)
} tspec_ast_expr_kind_t;

typedef enum tspec_ast_unary_t {
  TSPEC_AST_UNARY_NEG, ///< -
  TSPEC_AST_UNARY_NOT, ///< !
} tspec_ast_unary_t;

// clang-format off
/// TSPEC_AST_BINARIES(id, spelling, precedence: higher binds tighter)
#define TSPEC_AST_BINARIES(X) \
  X(OR,     "||", 1)          \
  X(AND,    "&&", 2)          \
  X(EQ,     "==", 3)          \
  X(NE,     "!=", 3)          \
  X(LT,     "<",  3)          \
  X(LE,     "<=", 3)          \
  X(GT,     ">",  3)          \
  X(GE,     ">=", 3)          \
  X(ADD,    "+",  4)          \
  X(SUB,    "-",  4)          \
  X(MUL,    "*",  5)          \
  X(DIV,    "/",  5)          \
  X(REM,    "%",  5)          \
  X(MATMUL, "@",  5)          \
  X(POW,    "^",  7)  /* 6: unary - and ! */
// clang-format on

typedef enum tspec_ast_binary_t {
#define TSPEC_AST_BINARY_ENUM(id, ...) TSPEC_AST_BINARY_##id,
  TSPEC_AST_BINARIES(TSPEC_AST_BINARY_ENUM)
#undef TSPEC_AST_BINARY_ENUM
      TSPEC_AST_BINARY_COUNT,
} tspec_ast_binary_t;

/// The operator as it is written: "+".
const char *tspec_ast_binary_name(tspec_ast_binary_t op);
int tspec_ast_binary_precedence(tspec_ast_binary_t op);

/// An argument; by name or by position (those by position come first; the parser sees to it).
typedef struct tspec_ast_arg_t {
  tspec_range_t range;
  tspec_ast_name_t name; ///< text NULL: by position. May be a reserved word
  tspec_ast_expr_t *value;
} tspec_ast_arg_t;

typedef struct tspec_ast_args_t {
  tspec_ast_arg_t *items;
  size_t count;
} tspec_ast_args_t;

typedef enum tspec_ast_index_kind_t {
  TSPEC_AST_INDEX_ELLIPSIS, ///< '...'
  TSPEC_AST_INDEX_EXPR,     ///< x[lo]
  TSPEC_AST_INDEX_SLICE,    ///< x[lo:hi:step], each optional
} tspec_ast_index_kind_t;

typedef struct tspec_ast_index_t {
  tspec_ast_index_kind_t kind;
  tspec_range_t range;
  tspec_ast_expr_t *lo;   ///< EXPR: the index. SLICE: optional. ELLIPSIS: NULL
  tspec_ast_expr_t *hi;   ///< SLICE: optional; else NULL
  tspec_ast_expr_t *step; ///< as `hi`
} tspec_ast_index_t;

typedef enum tspec_ast_scan_in_kind_t {
  TSPEC_AST_SCAN_CARRY, ///< name = value
  TSPEC_AST_SCAN_EACH,  ///< name in value: the slices along dim 0
  TSPEC_AST_SCAN_RANGE, ///< name in value..hi: an i32 at run time
} tspec_ast_scan_in_kind_t;

typedef struct tspec_ast_scan_in_t {
  tspec_ast_scan_in_kind_t kind;
  tspec_range_t range;
  tspec_ast_name_t name;
  tspec_ast_expr_t *value;
  tspec_ast_expr_t *hi; ///< RANGE: the end, excluded; else NULL
} tspec_ast_scan_in_t;

struct tspec_ast_expr_t {
  tspec_ast_expr_kind_t kind;
  tspec_range_t range; ///< the whole expression, outer parentheses excluded
  int height;          ///< of this tree, 1 for a leaf or a scan; at most TSPEC_PARSER_MAX_HEIGHT
  union {
    struct {
      double value;
      const char *text; ///< as written: "1e-5"
    } number;
    const char *string; ///< without the quotes; there are no escapes
    bool boolean;
    tspec_dtype_t dtype;
    const char *name;
    tspec_ast_exprs_t list;
    struct {
      tspec_ast_expr_t
          *callee; ///< NAME, MEMBER, DTYPE (a conversion) or anything else (the checker refuses)
      tspec_ast_args_t args;
    } call;
    struct {
      tspec_ast_expr_t *base;
      tspec_ast_index_t *indices; ///< at least one
      size_t nindices;
    } index;
    struct {
      tspec_ast_expr_t *base;
      tspec_ast_name_t name;
    } member;
    struct {
      tspec_ast_unary_t op;
      tspec_ast_expr_t *operand;
    } unary;
    struct {
      tspec_ast_binary_t op;
      tspec_range_t op_range; ///< the operator alone
      tspec_ast_expr_t *lhs;
      tspec_ast_expr_t *rhs;
    } binary;
    struct {
      bool remat;
      tspec_ast_scan_in_t *ins; ///< carries and inputs in the order written; at least one
      size_t nins;
      tspec_ast_block_t body;
    } scan;
  } u;
};

#endif
