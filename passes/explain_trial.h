// Trials of an explanation (passes/explain.h): propagation with some of the seeds, remembered.
//
// A trial runs only the part of the program that can matter (explain_parts.c), so that what
// explains one layer of a deep program does not depend on the depth. In the plain parts no trial is
// needed at all (explain_plain.c).
#ifndef TSPEC_PASSES_EXPLAIN_TRIAL_H
#define TSPEC_PASSES_EXPLAIN_TRIAL_H

#include "passes/explain.h"

/// A set of seeds of a part: one bit each, in tspec_part_t.nwords words.
typedef uint64_t *tspec_seed_set_t;

/// What came of one set of seeds.
typedef struct tspec_trial_t {
  const uint64_t *seeds;
  const uint64_t *effects; ///< bit per effect of the part: it is there
  int effect;              ///< the one that the trial was made for
  tspec_chain_t chain;     ///< how it came about; none if it is not there
  int first_request;       ///< while chains are answered: 1 + the first request, or 0
} tspec_trial_t;

/// A value that starts with seeds of the part.
typedef struct tspec_part_start_t {
  int value; ///< of the part's graph
  int seed;  ///< the first one, of the part
} tspec_part_start_t;

/// What the axes of some dims can depend on: groups of linked dims, those with a mesh axis in
/// common where they meet in one op, and all nodes that have such a dim.
typedef struct tspec_part_t {
  TSPEC_VEC(int) own_values; ///< with a dim of the part, ascending
  TSPEC_VEC(int) own_nodes;
  TSPEC_VEC(int) own_returns;
  TSPEC_VEC(int) own_groups;
  TSPEC_VEC(int) own_seeds;  ///< on a dim of the part, ascending
  TSPEC_VEC(int) effects;    ///< ascending
  bool is_ready;             ///< what follows is there
  tspec_prop_graph_t *graph; ///< not run; ids of its own
  const int *values;         ///< by value of `graph`: that of the program's graph, ascending
  int nvalues;
  const int *nodes; ///< the same for nodes
  int nnodes;
  const int *seeds; ///< that can matter, ascending
  int nseeds;
  int nwords;
  TSPEC_VEC(tspec_part_start_t) starts;
  TSPEC_VEC(tspec_trial_t) trials;
  int *slots; ///< open addressing, index of a trial + 1; its layout never shows
  size_t nslots;
  bool is_plain;
} tspec_part_t;

/// Where the records of the whole program lead to.
typedef struct tspec_recorded_t {
  int seed;   ///< or -1
  int length; ///< of the way; 0: not walked yet
} tspec_recorded_t;

struct tspec_explain_t {
  tspec_arena_t *arena;
  tspec_program_t *program;
  tspec_prop_map_t *map;
  int many;                          ///< tspec_explain_set_many
  TSPEC_VEC(tspec_seed_t) seeds;     ///< by declaration, dim and place
  TSPEC_VEC(int) first_seed;         ///< by declaration, or -1
  TSPEC_VEC(int) nseeds_of;          ///< by declaration
  TSPEC_VEC(int) declared;           ///< by value of the graph: its declaration + 1, or 0
  TSPEC_VEC(tspec_effect_t) effects; ///< by value, dim and place
  int *first_effect;                 ///< by value, and one more
  tspec_recorded_t *recorded;        ///< by effect
  int *first_seed_of_root; ///< by value of the graph: 1 + the first seed that stands there, or 0
  int *next_seed_of_root;  ///< by seed: the same for the next one
  tspec_prop_links_t links;
  tspec_prop_graph_t *plan; ///< the program's graph, constants split, not run
  int *uses;                ///< by value of `plan`
  TSPEC_VEC(tspec_part_t) parts;
  int *part_of;                ///< by effect
  int *place_of;               ///< by effect: its place in the part's list
  int *local;                  ///< work space: by value of `plan`
  struct tspec_plain_t *plain; ///< explain_plain.c; NULL: not needed yet
  int nruns;
};

/// A part after propagation with some of its seeds.
typedef struct tspec_part_run_t {
  const tspec_part_t *part;
  const uint64_t *seeds;
  const tspec_prop_graph_t *graph;
} tspec_part_run_t;

/// Propagates with the seeds of a set alone; the graph lies in `arena`.
tspec_part_run_t tspec_part_run(tspec_explain_t *explain, const tspec_part_t *part,
                                const uint64_t *seeds, tspec_arena_t *arena);
/// The trial of a set, an index into the part's `trials`: run at most once. `effect`: what it is
/// for.
int tspec_explain_trial(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                        int effect);
/// True if the effect, one of the part, is there with these seeds.
bool tspec_explain_holds(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                         int effect);

// ---- explain_parts.c ----

/// Divides the program; after its propagation.
void tspec_explain_divide(tspec_explain_t *explain);
/// The part of an effect, ready for trials.
tspec_part_t *tspec_explain_part(tspec_explain_t *explain, int effect);
/// The place of a value of the program's graph in a part, or -1.
int tspec_part_value(const tspec_part_t *part, int value);
/// The place of a seed of the program in a part, or -1.
int tspec_part_seed(const tspec_part_t *part, int seed);

// ---- explain_chain.c ----

/// How an effect came about in a run, in `arena`.
tspec_chain_t tspec_explain_walk(const tspec_explain_t *explain, const tspec_part_run_t *run,
                                 int effect, tspec_arena_t *arena);
/// The seed that the records of a trial lead to, or -1.
int tspec_explain_recorded_in(tspec_explain_t *explain, tspec_part_t *part, const uint64_t *seeds,
                              int effect);
/// The same for the whole program.
const tspec_recorded_t *tspec_explain_record(tspec_explain_t *explain, int effect);
/// Answers with the records of the whole program. False if they lead to another reason.
bool tspec_explain_answer_recorded(tspec_explain_t *explain, tspec_chain_request_t *request,
                                   tspec_arena_t *arena);

// ---- explain_plain.c ----

/// True if one axis spreads over the part's dims and nothing can be in its way: each seed suffices
/// wherever the axis got from it, whatever else is said.
bool tspec_part_is_plain(tspec_explain_t *explain, const tspec_part_t *part);
/// The reasons of an effect in such a part: one array for all effects that have the same ones.
tspec_reasons_t tspec_plain_reasons(tspec_explain_t *explain, int effect);
/// The shortest way from an effect to each seed that is asked for.
void tspec_plain_chains(tspec_explain_t *explain, int count, tspec_chain_request_t *const *requests,
                        tspec_arena_t *arena);
/// Up to `most` reasons of an effect with the shortest chains, by length; indices into its reasons.
int tspec_plain_nearest(tspec_explain_t *explain, int effect, int most, int *reasons);

// ---- sets, in the explanation's arena ----

tspec_seed_set_t tspec_seed_set_none(const tspec_explain_t *explain, const tspec_part_t *part);
tspec_seed_set_t tspec_seed_set_copy(const tspec_explain_t *explain, const tspec_part_t *part,
                                     const uint64_t *seeds);
tspec_seed_set_t tspec_seed_set_all(const tspec_explain_t *explain, const tspec_part_t *part);
static inline bool tspec_seed_set_has(const uint64_t *set, int seed) {
  return (set[(unsigned)seed / 64] >> ((unsigned)seed % 64) & 1) != 0;
}
void tspec_seed_set_add(tspec_seed_set_t set, int count, const int *seeds);
void tspec_seed_set_remove(tspec_seed_set_t set, int count, const int *seeds);

#endif
