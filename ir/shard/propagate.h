// Sharding propagation over plain data: values, ops with factor rules, data-flow edges, groups.
// Shardings that are written spread through factors until nothing changes.
// Source: `propagation.md` 2.4-2.6 (Shardy).
//
//   tspec_prop_graph_t *graph = tspec_prop_graph_create(arena, mesh);
//   int x = tspec_prop_add_value(graph, x_type, x_sharding);        // NULL: nothing said
//   int y = tspec_prop_add_value(graph, y_type, NULL);
//   tspec_prop_add_op(graph, &(tspec_prop_op_t){.rule = rule, .noperands = 1, .operands = &x,
//                                               .nresults = 1, .results = &y});
//   tspec_prop_add_return(graph, y, y_type, declared);
//   tspec_prop_run(graph, &(tspec_prop_options_t){.strategy = TSPEC_PROP_FULL});
//   const tspec_sharding_t *got = tspec_prop_sharding(graph, y);
#ifndef TSPEC_IR_SHARD_PROPAGATE_H
#define TSPEC_IR_SHARD_PROPAGATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/type.h"
#include "ir/shard/causes.h"
#include "ir/shard/factor.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// Nested: each includes those before it, BASIC aside.
typedef enum tspec_prop_strategy_t {
  TSPEC_PROP_BASIC,         ///< only what no tensor of the op contradicts
  TSPEC_PROP_AGGRESSIVE,    ///< conflicts are decided; the tensors of one op may end up different
  TSPEC_PROP_OP_PRIORITY,   ///< five levels: elementwise ops first, broadcasts forward last
  TSPEC_PROP_USER_PRIORITY, ///< rounds of the priorities in the shardings ('!n')
  TSPEC_PROP_FULL, ///< with the steps before: closed constraints move to what they read, constants
                   ///< are split
} tspec_prop_strategy_t;

typedef struct tspec_prop_options_t {
  tspec_prop_strategy_t strategy;
  bool conservative; ///< no pieces of axes are propagated
  bool trial;        ///< what stays undone is not recorded
  bool silent;       ///< nothing is recorded
} tspec_prop_options_t;

typedef enum tspec_prop_direction_t {
  TSPEC_PROP_NONE = 0,
  TSPEC_PROP_FORWARD = 1,  ///< operands to results
  TSPEC_PROP_BACKWARD = 2, ///< results to operands
  TSPEC_PROP_BOTH = 3,
} tspec_prop_direction_t;

/// What propagation asks of an op besides its rule.
typedef enum tspec_prop_trait_t {
  TSPEC_PROP_ELEMENTWISE =
      1 << 0, ///< level 0; conflicts go to the more split factor. Also constraint, reshard, barrier
  TSPEC_PROP_RESHAPE_LIKE = 1 << 1,  ///< reshape, transpose: level 0
  TSPEC_PROP_SLICE_LIKE = 1 << 2,    ///< dynamic_slice, dynamic_update_slice: level 0, forward only
  TSPEC_PROP_BROADCAST = 1 << 3,     ///< forward at the last level only; of a scalar: split per use
  TSPEC_PROP_CONSTANT_LIKE = 1 << 4, ///< constant, iota: split per use
  TSPEC_PROP_CONSTRAINT =
      1 << 5, ///< the first operand should lie like the result's starting sharding
} tspec_prop_trait_t;

typedef struct tspec_prop_op_t {
  const tspec_factor_rule_t *rule; ///< borrowed until the end of the run; NULL: nothing propagates
  unsigned traits;                 ///< tspec_prop_trait_t bits
  tspec_prop_direction_t barrier;  ///< with is_barrier: the only directions allowed
  bool is_barrier;
  int noperands;
  const int *operands; ///< values; copied
  int nresults;
  const int *results; ///< copied
} tspec_prop_op_t;

typedef struct tspec_prop_graph_t tspec_prop_graph_t;

/// An empty graph. Everything lies in `arena`, results included; `mesh` is borrowed.
tspec_prop_graph_t *tspec_prop_graph_create(tspec_arena_t *arena, const tspec_mesh_t *mesh);

/// Room for that many values (results of functions included) and ops (edges included), copies of
/// constants included; more may be added. Saves memory, changes nothing else.
void tspec_prop_reserve(tspec_prop_graph_t *graph, int nvalues, int nops);

// ---- building -----------------------------------------------------------------------------------
// Ids are dense, in order of the calls; ops and edges share one numbering, in program order.

/// A value and its starting sharding (borrowed; NULL: nothing said). Its open dims may be extended,
/// closed ones not; replicated and pending axes are honoured and never change.
int tspec_prop_add_value(tspec_prop_graph_t *graph, tspec_type_t type,
                         const tspec_sharding_t *sharding);

/// The same value seen from inside a manual region over `manual`: its dims lack these (leading)
/// axes. `type` is the local type. It shares its sharding with `value`.
int tspec_prop_add_view(tspec_prop_graph_t *graph, int value, tspec_type_t type,
                        const tspec_axis_t *manual, int nmanual);

/// An op; returns its id.
int tspec_prop_add_op(tspec_prop_graph_t *graph, const tspec_prop_op_t *op);

/// A data-flow edge: `owner` and `targets` are one sharding, and each source flows into it. A loop:
/// owner = result, sources = initial value and value yielded by the body, targets = arguments of
/// body and condition. A branch: owner = result, sources = what the branches yield. A call that is
/// not inlined: owner = argument, sources = operands. Returns its id.
int tspec_prop_add_edge(tspec_prop_graph_t *graph, int owner, int nsources, const int *sources,
                        int ntargets, const int *targets);

/// The values have one sharding (`same_sharding`, a parameter in all entries). Groups that share a
/// member are one. Members whose starting shardings differ are tied by an edge instead.
void tspec_prop_add_group(tspec_prop_graph_t *graph, int nmembers, const int *members);

/// A function's result: `value` is returned as it, `sharding` is what the declaration asks for
/// (NULL: nothing). Returns the id of the result, a value of its own.
int tspec_prop_add_return(tspec_prop_graph_t *graph, int value, const tspec_sharding_t *sharding);

// ---- running ------------------------------------------------------------------------------------

/// Propagates to the end. Once per graph.
void tspec_prop_run(tspec_prop_graph_t *graph, const tspec_prop_options_t *options);

// ---- reading ------------------------------------------------------------------------------------

/// The sharding of a value, never NULL (all open and unsplit: nothing is known). Dims keep their
/// openness, and the priorities that were written; see tspec_sharding_close.
const tspec_sharding_t *tspec_prop_sharding(const tspec_prop_graph_t *graph, int value);
/// What a value started with (that of all that share it, or of a constraint that it took over), or
/// NULL.
const tspec_sharding_t *tspec_prop_initial(const tspec_prop_graph_t *graph, int value);
/// The value that was given it: `value`, or one that shares its sharding.
int tspec_prop_initial_value(const tspec_prop_graph_t *graph, int value);
/// The record behind each axis, and what stayed undone, as far as the options asked for records.
const tspec_causes_t *tspec_prop_causes(const tspec_prop_graph_t *graph);
/// The value whose sharding `value` shares: members of a group, targets of an edge and views have
/// one. Its id stands in the records.
int tspec_prop_cause_value(const tspec_prop_graph_t *graph, int value);

// The steps before (TSPEC_PROP_FULL) may change what an op reads: constants get one copy per use,
// and reads of a constrained value may move to the constraint's result. Ids beyond the caller's own
// are copies. A copy of an op stands, in program order, where its original does.
int tspec_prop_nvalues(const tspec_prop_graph_t *graph);
int tspec_prop_nops(const tspec_prop_graph_t *graph);
/// What operand `index` of an op reads after the run.
int tspec_prop_operand(const tspec_prop_graph_t *graph, int op, int index);
/// What result `index` (in order of tspec_prop_add_return) returns after the run.
int tspec_prop_returned(const tspec_prop_graph_t *graph, int index);
/// The op that makes a value, or -1.
int tspec_prop_definition(const tspec_prop_graph_t *graph, int value);
/// The caller's value or op that an id is a copy of; itself if it is none.
int tspec_prop_value_origin(const tspec_prop_graph_t *graph, int value);
int tspec_prop_op_origin(const tspec_prop_graph_t *graph, int op);
/// The rule of an op (NULL: none) or of an edge.
const tspec_factor_rule_t *tspec_prop_op_rule(const tspec_prop_graph_t *graph, int op);
/// The dim on which a value that an op (or edge) reads or makes has a factor of its rule. A value
/// may stand several times: its place number `nth` with the factor, operands first; -1: no more.
int tspec_prop_factor_dim(const tspec_prop_graph_t *graph, int op, int value, int factor, int nth);
/// Result `index` of an op.
int tspec_prop_result(const tspec_prop_graph_t *graph, int op, int index);

/// Dims of values in groups: an axis of one dim can only have come from a dim of its group.
typedef struct tspec_prop_links_t {
  int *first; ///< by value: the place of its dim 0 in `group`
  int *group; ///< the group of each dim, a number
} tspec_prop_links_t;

/// The links of all values, in `arena`. After the run.
tspec_prop_links_t tspec_prop_link_dims(const tspec_prop_graph_t *graph, tspec_arena_t *arena);

#endif
