// The inside of a propagation graph: shared by its building, the steps before, the engine and the
// explanations.
#ifndef TSPEC_IR_SHARD_PROP_GRAPH_H
#define TSPEC_IR_SHARD_PROP_GRAPH_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/type.h"
#include "ir/base/vec.h"
#include "ir/shard/propagate.h"
#include "ir/shard/spread.h"

typedef struct tspec_prop_value_t {
  tspec_type_t type;
  const tspec_sharding_t *initial; ///< as given; that of a root: of all that share it
  int initial_value;               ///< of a root: whose it was
  tspec_sharding_t *current;       ///< where propagation stands; of a root, or of a view
  tspec_dim_t *dims;               ///< those of `current`
  int nsplit;                      ///< of a root: dims with axes
  int share;                       ///< the value whose sharding this one shares; itself: a root
  bool is_view;                    ///< shares without the axes `manual`
  bool has_view;                   ///< a manual region sees it from inside
  bool is_edge_target;             ///< owner or target of a data-flow edge
  int nmanual;
  const tspec_axis_t *manual;
  int definition; ///< op, or -1
  int origin;
  int taken; ///< the constraint whose sharding is `initial`, or -1
  int nuses;
  int first_touch; ///< of a root: into `touches`
  int ntouches;
} tspec_prop_value_t;

typedef enum tspec_prop_node_kind_t {
  TSPEC_PROP_NODE_OP,
  TSPEC_PROP_NODE_EDGE,
  TSPEC_PROP_NODE_GROUP, ///< members of a group that start differently
  TSPEC_PROP_NODE_RETURN,
} tspec_prop_node_kind_t;

typedef struct tspec_prop_node_t {
  tspec_prop_node_kind_t kind;
  const tspec_factor_rule_t *rule;
  unsigned traits;
  tspec_prop_direction_t allowed; ///< barriers: less than BOTH
  int noperands;
  int *operands;
  int nresults;
  int *results;
  int origin;
  bool single_use; ///< every non-scalar operand is read once
  bool queued;
  bool changed; ///< a tensor of it, since its last step
} tspec_prop_node_t;

typedef struct tspec_prop_group_t {
  int nmembers;
  const int *members;
} tspec_prop_group_t;

struct tspec_prop_graph_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  TSPEC_VEC(tspec_prop_value_t) values;
  TSPEC_VEC(tspec_prop_node_t) nodes; ///< ops and edges in program order; ties of groups last
  TSPEC_VEC(tspec_prop_node_t) returns;
  TSPEC_VEC(tspec_prop_group_t) groups;
  int *touches; ///< nodes by root, in order
  tspec_causes_t *causes;
};

/// The value that holds the sharding of `value`.
int tspec_prop_root(const tspec_prop_graph_t *graph, int value);
/// Operand `index` of a node, counting results after operands.
int tspec_prop_tensor(const tspec_prop_node_t *node, int index);
/// The sharding of a value as its readers see it: of a view, without the manual axes. Until the
/// next change.
const tspec_sharding_t *tspec_prop_look(tspec_prop_graph_t *graph, int value);
/// How many leading axes of a dim of the root a view does not see.
int tspec_prop_nhidden(const tspec_prop_value_t *view, const tspec_dim_t *dim);
/// True if a starting sharding says anything: it splits, closes, or forbids.
bool tspec_prop_says_anything(const tspec_sharding_t *sharding);

/// The steps before: one copy of each constant per use, closed constraints moved to what they read.
void tspec_prop_split_constants(tspec_prop_graph_t *graph);
void tspec_prop_apply_constraints(tspec_prop_graph_t *graph);
/// Shares shardings in groups, counts uses, sets starting shardings, indexes nodes by value.
void tspec_prop_finish(tspec_prop_graph_t *graph);

/// Some values and nodes of a graph that has not run. Ids in each list ascend.
typedef struct tspec_prop_cut_t {
  int nvalues;
  const int *values; ///< with all tensors of the nodes, and all members of the groups
  int nnodes;
  const int *nodes;
  int nreturns;
  const int *returns;
  int ngroups;
  const int *groups;
  const int *local; ///< by value of the whole graph: its place in `values`
} tspec_prop_cut_t;

/// How often each value is read: by nodes, results and groups. In `arena`.
int *tspec_prop_count_uses(const tspec_prop_graph_t *graph, tspec_arena_t *arena);
/// A graph of these alone, in `arena`; ids are places in the lists. `uses`: those of the whole
/// graph; readers that are left out count as readers. No views, no edges.
tspec_prop_graph_t *tspec_prop_cut(const tspec_prop_graph_t *graph, const int *uses,
                                   const tspec_prop_cut_t *cut, tspec_arena_t *arena);
/// A graph that has not run once more, in `arena`; rules and shardings are shared.
tspec_prop_graph_t *tspec_prop_copy(const tspec_prop_graph_t *graph, tspec_arena_t *arena);

/// What a factor of a node may do at an op priority level, 0 to 4.
tspec_prop_direction_t tspec_prop_factor_direction(const tspec_prop_node_t *node, int factor,
                                                   int level);
/// Projects the tensors of a node. Directions are the caller's.
void tspec_prop_load(tspec_prop_graph_t *graph, const tspec_prop_node_t *node,
                     tspec_spread_t *spread);
/// Records what the final shardings leave undone; `level`: the last that ran.
void tspec_prop_record_refusals(tspec_prop_graph_t *graph, tspec_spread_t *spread, int level);

#endif
