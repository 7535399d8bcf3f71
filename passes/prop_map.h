// A program as a propagation graph (ir/shard/propagate.h): what the pass `propagate` runs, and what
// explanations (passes/explain.h) run again with some of the starting shardings left out.
#ifndef TSPEC_PASSES_PROP_MAP_H
#define TSPEC_PASSES_PROP_MAP_H

#include "ir/base/str.h"
#include "ir/base/vec.h"
#include "ir/program.h"
#include "ir/shard/propagate.h"

/// What a value of the graph is in the program.
typedef struct tspec_prop_site_t {
  tspec_func_t *func;
  tspec_value_t *value;   ///< NULL: a result of the function
  tspec_result_t *result; ///< that result; else NULL
  int param;              ///< the parameter or state that it is a use of, or -1
} tspec_prop_site_t;

/// A place that may start with a sharding: a parameter, an input, a constraint, a function's
/// result. Numbered as they are met, those of parameters first; the same for each map of a program.
typedef struct tspec_prop_start_t {
  int declaration;
  int value;                        ///< of the graph, about to be added
  const tspec_sharding_t *sharding; ///< never NULL; without axes of size 1
} tspec_prop_start_t;

/// What a place starts with instead (NULL: nothing).
typedef const tspec_sharding_t *(*tspec_prop_start_fn_t)(void *user,
                                                         const tspec_prop_start_t *start);

/// All uses of one parameter: a group.
typedef struct tspec_prop_uses_t {
  TSPEC_VEC(int) values;
} tspec_prop_uses_t;

/// A value with the number of its group.
typedef struct tspec_prop_member_t {
  int64_t group;
  int value;
} tspec_prop_member_t;

typedef struct tspec_prop_map_t {
  tspec_program_t *program;
  tspec_arena_t *arena;
  tspec_prop_graph_t *graph;
  TSPEC_VEC(tspec_prop_site_t) sites; ///< by value of the graph
  TSPEC_VEC(tspec_op_t *) ops;        ///< by op of the graph; edges are NULL
  tspec_intern_t rules;               ///< of its ops
  tspec_names_t param_names;
  tspec_prop_uses_t *params;              ///< by parameter
  int *first_return;                      ///< by function: the value that is its first result
  TSPEC_VEC(tspec_prop_member_t) members; ///< of groups of values
  int ndeclarations;
  tspec_prop_start_fn_t start; ///< NULL: all as they are
  void *user;
} tspec_prop_map_t;

/// The graph of a program of level `global`, not yet run. Everything lies in `arena`; `program` is
/// borrowed, and the ids of its values are those of the graph from then on.
tspec_prop_map_t *tspec_prop_map_create(tspec_arena_t *arena, tspec_program_t *program,
                                        tspec_prop_start_fn_t start, void *user);

#endif
