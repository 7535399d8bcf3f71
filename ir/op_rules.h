// What the compiler knows about an op, without MLIR: the checker, the verifier, propagation, the
// evaluator and unit tests call the same functions. One row of ir/ops.def, one tspec_op_rules_t in
// ir/rules/; a missing one is a link error.
#ifndef TSPEC_IR_OP_RULES_H
#define TSPEC_IR_OP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/type.h"
#include "ir/shard/factor.h"
#include "ir/shard/sharding.h"
#include "ir/shard/window.h"

typedef enum tspec_op_kind_t {
#define TSPEC_OP(id, ...) TSPEC_OP_##id,
#include "ir/ops.def"
#undef TSPEC_OP
  TSPEC_OP_COUNT,
} tspec_op_kind_t;

typedef enum tspec_attr_kind_t {
  TSPEC_ATTR_INT,    ///< integer
  TSPEC_ATTR_INTS,   ///< list of integers
  TSPEC_ATTR_FLOAT,  ///< double
  TSPEC_ATTR_FLOATS, ///< list of doubles (constant's elements, of any dtype)
  TSPEC_ATTR_STRING,
  TSPEC_ATTR_DTYPE,
  TSPEC_ATTR_REDUCE, ///< tspec_reduce_t
  TSPEC_ATTR_AXES,   ///< list of mesh axes or pieces, in mesh order where order has no meaning
  TSPEC_ATTR_SHARDING,
} tspec_attr_kind_t;

typedef struct tspec_attr_spec_t {
  const char *name;
  tspec_attr_kind_t kind;
  bool required;
  const char *meaning; ///< one line, for docs/ops.md
} tspec_attr_spec_t;

/// A value for one attribute. A plain value; pointers lie in an arena.
typedef struct tspec_attr_t {
  const char *name;
  tspec_attr_kind_t kind;
  int64_t count; ///< of ints, floats, axes
  union {
    int64_t i;
    const int64_t *ints;
    double f;
    const double *floats;
    const char *string;
    tspec_dtype_t dtype;
    tspec_reduce_t reduce;
    const tspec_axis_t *axes;
    const tspec_sharding_t *sharding;
  };
} tspec_attr_t;

/// Where an operand comes from, as far as rules ask: concat's.
typedef struct tspec_operand_origin_t {
  bool sliced;        ///< made by a slice
  const void *tensor; ///< identity of the tensor it was sliced from, or of itself
} tspec_operand_origin_t;

/// An op as its rules see it: before it exists (the checker), in a program, or built by hand in a
/// test.
typedef struct tspec_op_view_t {
  tspec_op_kind_t kind;
  int noperands;
  const tspec_type_t *operands; ///< global types
  int nresults;                 ///< 0 while `infer` has not run
  const tspec_type_t *results;
  int nattrs;
  const tspec_attr_t *attrs;
  const tspec_operand_origin_t *origins; ///< per operand; NULL: unknown, none is sliced
  tspec_range_t range;
  const char
      *spelling; ///< what the user wrote, for messages ("@", "einsum", "max"); NULL: the op's name
} tspec_op_view_t;

/// The attribute with that name, or NULL if it is not given.
const tspec_attr_t *tspec_op_attr(const tspec_op_view_t *view, const char *name);
int64_t tspec_op_attr_int(const tspec_op_view_t *view, const char *name, int64_t otherwise);

/// Result types from operand types and attributes: also the verifier's truth. Writes at most
/// `capacity` (the row's result count) types. Ownership: dims in `arena`. Errors: false after
/// reporting to `diag` at view->range, with both shapes.
typedef bool (*tspec_infer_fn_t)(const tspec_op_view_t *view, tspec_arena_t *arena,
                                 tspec_diag_t *diag, tspec_type_t *out_results);

/// The op's factor rule; view->results are filled in. NULL for an op without a rule.
/// `conservative`: `propagation.md` 2.1.
typedef const tspec_factor_rule_t *(*tspec_rule_fn_t)(const tspec_op_view_t *view,
                                                      tspec_arena_t *arena, bool conservative);

/// Traits that passes ask for (never which op it is).
typedef enum tspec_op_trait_t {
  TSPEC_TRAIT_ELEMENTWISE =
      1 << 0, ///< element i of the result depends on element i of the operands alone
  TSPEC_TRAIT_IDENTITY = 1 << 1, ///< the value itself (constraint, barrier, reshard)
  TSPEC_TRAIT_COLLECTIVE =
      1 << 2, ///< moves data between ranks, or (all_slice) changes the sharding only
  TSPEC_TRAIT_CONSTANT_LIKE = 1 << 3, ///< no operands, cheap to repeat (constant, iota)
  TSPEC_TRAIT_RESHAPE_LIKE =
      1 << 4, ///< reshape, transpose: in propagation's first priority level, with elementwise ops
  TSPEC_TRAIT_BROADCAST = 1 << 5, ///< propagates backward late (`propagation.md` 2.5)
  TSPEC_TRAIT_TERMINAL = 1 << 6,  ///< kept though nothing reads it
  TSPEC_TRAIT_FUNCTION = 1 << 7,  ///< programs call it by its name, on a tensor or a number
  TSPEC_TRAIT_BARRIER = 1 << 8,   ///< propagation does not cross it, so two are never one
} tspec_op_trait_t;

/// In which operands the op is linear, so that f(sum of partials) = sum of f(partials):
typedef enum tspec_linear_t {
  TSPEC_LINEAR_NONE,
  TSPEC_LINEAR_EACH,  ///< in all operands together: add, sub, neg, transpose, reshape, slice,
                      ///< concat, broadcast, sum
  TSPEC_LINEAR_ONE,   ///< in each operand while the others are complete: mul, dot
  TSPEC_LINEAR_FIRST, ///< in the first operand while the others are complete: div
} tspec_linear_t;

typedef struct tspec_op_rules_t {
  const char *summary;            ///< one line: docs/ops.md and --list-ops
  const tspec_attr_spec_t *attrs; ///< ends with a NULL name; NULL: none
  unsigned traits;                ///< tspec_op_trait_t bits
  tspec_linear_t linear;
  tspec_infer_fn_t infer;
  tspec_rule_fn_t rule; ///< NULL: no rule (constant, iota)
  /// How the op distributes over partial results of `kind`, where that is not `linear` for sums and
  /// nothing for max and min; NULL: so it is. Read it through tspec_op_linear.
  tspec_linear_t (*linear_over)(const tspec_op_view_t *view, tspec_reduce_t kind);
  /// Of ops whose result shows elements of its operands, which are all of its rank, and a fixed
  /// value elsewhere: where, [operand * rank + dim]; view->results is filled in. What a later
  /// operand shows covers what an earlier one does. In `arena`. NULL, or the column is: not so.
  const tspec_window_t *(*windows)(const tspec_op_view_t *view, tspec_arena_t *arena);
} tspec_op_rules_t;

#define TSPEC_OP(id, ...) extern const tspec_op_rules_t tspec_rules_##id;
#include "ir/ops.def"
#undef TSPEC_OP

typedef struct tspec_op_info_t {
  const char *name; ///< spelling in the dialect: "tspec.NAME"
  int noperands;    ///< -1: any number
  int nresults;     ///< -1: any number; with an `infer`, one per operand
  const tspec_op_rules_t *rules;
} tspec_op_info_t;

/// The row of an op.
const tspec_op_info_t *tspec_op_info(tspec_op_kind_t kind);
/// The op with that dialect name ("dot"), or TSPEC_OP_COUNT.
tspec_op_kind_t tspec_op_find(const char *name);

/// Operand and attribute form alone: number of operands, required attributes there, each of its
/// kind, none unknown. `infer` and `rule` may be called only after it. Errors: false after
/// reporting at view->range.
bool tspec_op_check_form(const tspec_op_view_t *view, tspec_diag_t *diag);
/// In which operands the op distributes over partial results of that kind: op(combine of partials)
/// = combine of op(partials). It depends on attributes and types: a reduce of another kind does
/// not, a pad of zeros does.
tspec_linear_t tspec_op_linear(const tspec_op_view_t *view, tspec_reduce_t kind);

#endif
