// Trials of an explanation (passes/explain.h): propagation with some of the seeds, remembered.
#ifndef TSPEC_PASSES_EXPLAIN_TRIAL_H
#define TSPEC_PASSES_EXPLAIN_TRIAL_H

#include "passes/explain.h"

/// A set of seeds: one bit each, in tspec_explain_t.nwords words.
typedef uint64_t *tspec_seed_set_t;

/// What came of one set of seeds.
typedef struct tspec_trial_t {
  const uint64_t *seeds;
  const uint64_t *effects; ///< bit per effect: it is there
  int effect;              ///< the one that the trial was made for
  tspec_chain_t chain;     ///< how it came about; none if it is not there
} tspec_trial_t;

struct tspec_explain_t {
  tspec_arena_t *arena;
  tspec_program_t *program;
  tspec_prop_map_t *map;
  TSPEC_VEC(tspec_seed_t) seeds;     ///< by declaration, dim and place
  TSPEC_VEC(int) first_seed;         ///< by declaration, or -1
  TSPEC_VEC(tspec_effect_t) effects; ///< by value, dim and place
  int *first_effect;                 ///< by value, and one more
  tspec_prop_links_t links;
  int nwords;
  TSPEC_VEC(tspec_trial_t) trials;
  int *slots; ///< open addressing, index of a trial + 1; its layout never shows
  size_t nslots;
  int nruns;
};

/// Propagates with the seeds of a set alone; the map lies in `arena`.
tspec_prop_map_t *tspec_explain_run(tspec_explain_t *explain, const uint64_t *seeds,
                                    tspec_arena_t *arena);
/// The trial of a set, an index into `trials`: run at most once. `effect`: what it is for.
int tspec_explain_trial(tspec_explain_t *explain, const uint64_t *seeds, int effect);
/// How an effect came about in a run with these seeds (NULL: all), in `arena`.
tspec_chain_t tspec_explain_walk(const tspec_explain_t *explain, const tspec_prop_map_t *map,
                                 const uint64_t *seeds, int effect, tspec_arena_t *arena);
/// True if the effect is there with these seeds.
bool tspec_explain_holds(tspec_explain_t *explain, const uint64_t *seeds, int effect);

/// Sets, in the explanation's arena.
tspec_seed_set_t tspec_seed_set_copy(const tspec_explain_t *explain, const uint64_t *seeds);
tspec_seed_set_t tspec_seed_set_all(const tspec_explain_t *explain);
static inline bool tspec_seed_set_has(const uint64_t *set, int seed) {
  return (set[(unsigned)seed / 64] >> ((unsigned)seed % 64) & 1) != 0;
}
void tspec_seed_set_add(tspec_seed_set_t set, int count, const int *seeds);
void tspec_seed_set_remove(tspec_seed_set_t set, int count, const int *seeds);

#endif
