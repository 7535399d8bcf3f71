// Why a value is split as it is: one record per assigned axis, and one per extension that stayed
// undone. Filled by propagation, read by --explain. Values and ops are the ids of the propagation
// graph.
#ifndef TSPEC_IR_SHARD_CAUSES_H
#define TSPEC_IR_SHARD_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/vec.h"
#include "ir/shard/mesh.h"

typedef enum tspec_cause_kind_t {
  TSPEC_CAUSE_ANNOTATION, ///< written by the user, or by a rule of theirs: the value's starting
                          ///< sharding
  TSPEC_CAUSE_CONSTRAINT, ///< taken over from a closed constraint that reads the value
  TSPEC_CAUSE_OP,         ///< through a factor of an op, from `source`
  TSPEC_CAUSE_EDGE,       ///< through a data-flow edge: loop carry, branch, call, manual region
  TSPEC_CAUSE_GROUP,      ///< another member of its group has it
  TSPEC_CAUSE_RETURN,     ///< between a function's result and the value that is returned
} tspec_cause_kind_t;

const char *tspec_cause_kind_name(tspec_cause_kind_t kind); ///< "annotation", "constraint", ...

/// One axis that a dim got.
typedef struct tspec_cause_t {
  tspec_cause_kind_t kind;
  int value;
  int dim;
  tspec_axis_t axis; ///< the piece that was added; it may since be merged with its neighbours
  int source;        ///< the value that had it; -1 for annotations
  int op;            ///< the op or edge it came through; -1: none
  int factor;        ///< of that op's rule; -1: none
  int level;         ///< op priority level 0..4; 0 where strategies have no levels
  int round;         ///< user priority round
  int next;          ///< next record of the same value, or -1 (tspec_causes_first)
} tspec_cause_t;

typedef enum tspec_refusal_reason_t {
  TSPEC_REFUSAL_CLOSED,     ///< the dim is closed
  TSPEC_REFUSAL_AXIS_USED,  ///< the axis (or a part) already splits another dim of the value:
                            ///< `other_dim`
  TSPEC_REFUSAL_REPLICATED, ///< the value must stay whole along the axis
  TSPEC_REFUSAL_PENDING,    ///< the value is pending along the axis
  TSPEC_REFUSAL_BLOCKED,    ///< nothing propagates along the op's factor, or against a barrier
  TSPEC_REFUSAL_NO_DIVIDE,  ///< the axis does not divide what is left of a factor that is not the
                            ///< dim's last
  TSPEC_REFUSAL_CONFLICT,   ///< the tensors of the op disagree: `other` has another axis there
  TSPEC_REFUSAL_LEVEL,      ///< the strategy has no level that would do it
  TSPEC_REFUSAL_COUNT,
} tspec_refusal_reason_t;

const char *
tspec_refusal_reason_name(tspec_refusal_reason_t reason); ///< "closed", "axis used", ...

/// One extension that the final shardings leave undone: `value`, read or written by `op`, does not
/// have on `dim` an axis that `source` has on the same factor.
typedef struct tspec_refusal_t {
  tspec_refusal_reason_t reason;
  int value;
  int dim;
  tspec_axis_t axis;
  int source;
  int op;
  int factor;
  int other_dim; ///< with AXIS_USED: where the axis is; else -1
  int level;     ///< the first op priority level at which the op could have done it; -1: none
  int next;      ///< next record of the same value, or -1
} tspec_refusal_t;

/// All records of a run. Everything lies in one arena.
typedef struct tspec_causes_t {
  tspec_arena_t *arena;
  TSPEC_VEC(tspec_cause_t) causes;     ///< in the order in which they happened
  TSPEC_VEC(tspec_refusal_t) refusals; ///< by op, then operand or result
  int64_t nrefused[TSPEC_REFUSAL_COUNT];
  int nvalues;
  int *root;        ///< per value: the one whose records it shares (itself; or in a
                    ///< group, of an edge)
  int *first_cause; ///< per value, or -1
  int *first_refusal;
  int *last_cause;
  int *last_refusal;
} tspec_causes_t;

tspec_causes_t *tspec_causes_create(tspec_arena_t *arena, int nvalues);
void tspec_causes_add(tspec_causes_t *causes, tspec_cause_t cause);
void tspec_causes_add_refusal(tspec_causes_t *causes, tspec_refusal_t refusal);

/// The first record of a value in order of time, or NULL; go on with tspec_causes_next.
const tspec_cause_t *tspec_causes_first(const tspec_causes_t *causes, int value);
const tspec_cause_t *tspec_causes_next(const tspec_causes_t *causes, const tspec_cause_t *cause);
/// The record that put `axis` (or the first part of it that is known) on a dim of a value, or NULL.
const tspec_cause_t *tspec_causes_find(const tspec_causes_t *causes, int value, int dim,
                                       tspec_axis_t axis);
/// The same for refusals.
const tspec_refusal_t *tspec_causes_first_refusal(const tspec_causes_t *causes, int value);
const tspec_refusal_t *tspec_causes_next_refusal(const tspec_causes_t *causes,
                                                 const tspec_refusal_t *refusal);

#endif
