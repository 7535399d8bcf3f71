// Layouts by cost: in which layout each op of a function is computed and each of its results lies,
// so that all conversions together send the fewest bytes found, weighed with the bandwidths of the
// mesh line. Looks past an op: a conversion moves along a chain to where it sends least.
//
// Each op has a few ways to be computed: as voted (ir/shard/choose.h), as one of its tensors lies
// or could lie, with nothing split, with axes that the vote drops on another dim. Each value that
// nothing lays down has a few layouts that these ways make or want, of what is partial also that
// of a reduce_scatter. One walk adds up what a value costs in each of its layouts to make, one back
// what it then costs to read, and a third takes the cheapest way of each op; so it is linear in
// ops, exact on trees, and elsewhere an estimate (pass `reshard` compares the outcome with the
// vote's). Source: the cost minimisation of dynamic programming over trees; with excess costs, as
// min-sum message passing does.
#ifndef TSPEC_PASSES_LAYOUTS_H
#define TSPEC_PASSES_LAYOUTS_H

#include "ir/program.h"
#include "passes/wire.h"

/// What was decided for one function. Values must not be renumbered while it is read.
typedef struct tspec_layouts_t tspec_layouts_t;

/// A value that does not lie as propagated.
typedef struct tspec_moved_t {
  const tspec_value_t *value;
  const char *name; ///< or NULL
  const tspec_sharding_t *was;
  const tspec_sharding_t *now;
} tspec_moved_t;

/// What the collectives of a function send at the end of the local level.
typedef struct tspec_spent_t {
  int64_t cost; ///< tspec_wire_weigh
  int64_t bytes;
} tspec_spent_t;

/// What became of one function.
typedef struct tspec_by_cost_t {
  int nmoved;
  const tspec_moved_t *moved; ///< in program order
  tspec_spent_t spent;
  tspec_spent_t by_vote; ///< what the vote would spend
} tspec_by_cost_t;

/// Decides for `func`, all of whose values have shardings, and numbers its values. Changes the
/// shardings of values that nothing lays down: made by an op that is not written to place its
/// result, not written as pending, and, if returned, with `is_free` results alone; these are only
/// split more than they were, and as the op makes them. NULL, and nothing changed, if the vote of
/// each op is as good. Ownership: in the wire's arena; new shardings in the program's.
const tspec_layouts_t *tspec_layouts_decide(tspec_wire_t *wire, const tspec_program_t *program,
                                            tspec_func_t *func);

/// How the op's tensors, operands before results, lie while it is computed: complete. NULL:
/// `layouts` is NULL, or the op is computed as its tensors vote.
const tspec_sharding_t *const *tspec_layouts_of(const tspec_layouts_t *layouts,
                                                const tspec_op_t *op);

/// The values that lie otherwise; what is spent is not yet known. In `arena`.
tspec_by_cost_t *tspec_layouts_report(const tspec_layouts_t *layouts, tspec_arena_t *arena);

#endif
