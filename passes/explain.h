// Why values are split as they are: which of the starting shardings suffice for an axis of a dim.
//
// A seed is one axis that an annotation or a rule puts on one dim. An effect is one axis on one dim
// of one value after propagation. Propagation records one derivation per effect
// (ir/shard/causes.h), but several seeds may each be enough, or only several together, and what is
// in the way of one may be due to another. So the search here leaves seeds out, runs propagation
// again, and looks whether the effect is still there: what it names is true by trial. A dim that
// lost a seed is open, as if nothing had been said.
//
// A reason is a set of seeds that need each other. For the reasons of an effect, with U all their
// seeds: without U the effect goes; with the seeds of one reason alone out of U it stays, and that
// reason is then the only one. Seeds outside of U stay in all these trials.
//
//   tspec_explain_t *explain = tspec_explain_create(arena, program);   // level global
//   tspec_reasons_t reasons = tspec_explain_reasons(explain, effect);
#ifndef TSPEC_PASSES_EXPLAIN_H
#define TSPEC_PASSES_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "passes/prop_map.h"

/// One axis that the user put on a dim.
typedef struct tspec_seed_t {
  int declaration; ///< as in tspec_prop_start_t
  int value;       ///< of the graph: the first that starts so
  int dim;
  tspec_axis_t axis;
  tspec_said_t said;
} tspec_seed_t;

/// One axis (or piece) on one dim of a value of the graph.
typedef struct tspec_effect_t {
  int value;
  int dim;
  tspec_axis_t axis;
} tspec_effect_t;

/// Seeds that are enough together, in ascending order.
typedef struct tspec_reason_t {
  int nseeds;
  const int *seeds;
} tspec_reason_t;

typedef struct tspec_reasons_t {
  int count;
  const tspec_reason_t *items;
} tspec_reasons_t;

/// One step from an effect back to a seed.
typedef struct tspec_chain_step_t {
  tspec_cause_kind_t kind; ///< how `value` got the axis; ANNOTATION: the last step
  int value;               ///< of the graph; a copy of a constant stands as what it copies
  int dim;
  tspec_axis_t axis;
  int op;     ///< of the graph, that it came through, or -1
  int factor; ///< of that op's rule, or -1
  int level;  ///< op priority
  int round;  ///< user priority
} tspec_chain_step_t;

typedef struct tspec_chain_t {
  int count;
  const tspec_chain_step_t *steps; ///< from the effect to where it was said
  int seed;                        ///< in which it ends, or -1
  int nskipped;                    ///< steps that are left out in front of the last one
} tspec_chain_t;

typedef struct tspec_explain_t tspec_explain_t;

/// Propagates `program` (level `global`; borrowed, only the ids of its values change). Everything
/// lies in `arena`.
tspec_explain_t *tspec_explain_create(tspec_arena_t *arena, tspec_program_t *program);

/// More than this many seeds that can act on each other are not all tried (256 at first): where the
/// recorded one is enough and the effect goes without it, it is the only reason that is named.
void tspec_explain_set_many(tspec_explain_t *explain, int nseeds);

/// The program as it is propagated with all seeds; shardings and records are those of its graph.
const tspec_prop_map_t *tspec_explain_map(const tspec_explain_t *explain);

int tspec_explain_nseeds(const tspec_explain_t *explain);
const tspec_seed_t *tspec_explain_seed(const tspec_explain_t *explain, int seed);

/// Effects by value, dim and place.
int tspec_explain_neffects(const tspec_explain_t *explain);
const tspec_effect_t *tspec_explain_effect(const tspec_explain_t *explain, int effect);
/// The first effect of a value, or the first after it.
int tspec_explain_first_effect(const tspec_explain_t *explain, int value);

/// All reasons of an effect: those of one seed first, by seed. Never empty. Effects that have the
/// same ones may share the array. Where axes can be in each other's way propagation of the part of
/// the program that can matter runs about twice per seed that could be one, once for all effects.
tspec_reasons_t tspec_explain_reasons(tspec_explain_t *explain, int effect);

/// Asks how one reason leads to its effect while the seeds of the others are left out. Where the
/// reason has several seeds: to the seed that the records lead to.
typedef struct tspec_chain_request_t {
  int effect;
  const tspec_reasons_t *reasons; ///< of the effect
  int reason;                     ///< an index into them
  int most;                       ///< steps, at least 2; 0: all
  tspec_chain_t chain;            ///< the answer, in `arena`
} tspec_chain_request_t;

/// Answers all; those with the same seeds left out share a run.
void tspec_explain_chains(tspec_explain_t *explain, int count, tspec_chain_request_t *requests,
                          tspec_arena_t *arena);

/// Those of an effect's reasons that have the shortest chains, by length: fills in up to `most`
/// (1 to 6) indices into its reasons, and returns how many. -1 where it takes the chains to tell.
int tspec_explain_nearest(tspec_explain_t *explain, int effect, int most, int *nearest);

/// The reason that holds with nothing left out: where the records of the whole program lead to.
int tspec_explain_recorded(tspec_explain_t *explain, int effect, const tspec_reasons_t *reasons);

/// How often propagation ran.
int tspec_explain_nruns(const tspec_explain_t *explain);

#endif
