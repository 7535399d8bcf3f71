// What layouts_spread.c collects, layouts_solve.c decides on and layouts.c hands out.
#ifndef TSPEC_PASSES_LAYOUTS_INTERNAL_H
#define TSPEC_PASSES_LAYOUTS_INTERNAL_H

#include "passes/layouts.h"
#include "passes/layouts_ways.h"

/// Layouts that one value is considered in, and ways of one op; what comes later is left out.
enum { TSPEC_LAYOUTS_MOST = 8, TSPEC_WAYS_MOST = 24 };

typedef struct tspec_laid_value_t {
  tspec_space_t *space;
  bool is_free;     ///< nothing lays it down
  bool is_returned; ///< and a result that may only be split more
  bool may_pend;    ///< partial results may stay so behind the op
  int count;
  int layouts[TSPEC_LAYOUTS_MOST]; ///< the first one as propagated
  bool kept[TSPEC_LAYOUTS_MOST];   ///< made from layouts that were propagated, by no
                                   ///< reduce_scatter
  int64_t *costs; ///< by layout, over the cheapest: first of making it so, then of reading it so
  int chosen;     ///< a layout
  TSPEC_VEC(int) targets;   ///< layouts that it is converted to, returned or placed
  TSPEC_VEC(int) readers;   ///< ops, each once
  TSPEC_VEC(int) converted; ///< layouts that ops before have it converted to
} tspec_laid_value_t;

typedef struct tspec_laid_way_t {
  const tspec_way_t *way;
  bool kept; ///< its results are (tspec_laid_value_t)
} tspec_laid_way_t;

typedef TSPEC_VEC(tspec_laid_way_t) tspec_laid_ways_t;

typedef struct tspec_laid_op_t {
  tspec_op_t *op;
  tspec_op_class_t *class; ///< NULL: one without a rule
  tspec_laid_ways_t ways;  ///< the first one as voted; none: made in any layout, from nothing
  int64_t *inward;         ///< [way * noperands + operand]: of having the operand so
  int64_t *outward;        ///< [way]: of what is behind its results
  const tspec_way_t *chosen;
} tspec_laid_op_t;

typedef struct tspec_laying_t {
  tspec_arena_t *arena; ///< until the end of tspec_layouts_decide
  tspec_wire_t *wire;
  tspec_func_t *func;
  tspec_op_classes_t classes;
  int nvalues;
  tspec_laid_value_t *values; ///< by id
  int nops;
  tspec_laid_op_t *ops; ///< in program order; ops that place a value are its targets instead
} tspec_laying_t;

tspec_laid_value_t *tspec_laid_value(const tspec_laying_t *laying, const tspec_value_t *value);
/// Of the op's tensor, operands before results.
tspec_laid_value_t *tspec_laid_tensor(const tspec_laying_t *laying, const tspec_op_t *op,
                                      int tensor);

/// Fills in the layouts of values and the ways of ops: from ops whose vote converts something,
/// along the ops before and behind.
void tspec_layouts_spread(tspec_laying_t *laying);

/// Chooses a way for each op and a layout for each value.
void tspec_layouts_solve(tspec_laying_t *laying);

#endif
