// A checked program without some of its starting shardings: taken out of the program itself, not by
// the trials that explanations make.
#ifndef TSPEC_TESTS_EXPLAIN_EDIT_H
#define TSPEC_TESTS_EXPLAIN_EDIT_H

#include "passes/explain.h"

/// A value of a propagation graph as the program has it: numbered arguments and results of ops,
/// entry by entry, then what the entries return.
typedef struct edit_place_t {
  tspec_value_t *value;   ///< NULL: a result of an entry
  tspec_result_t *result; ///< that result
  int param;              ///< of an argument or result that is a parameter or state; or -1
} edit_place_t;

typedef TSPEC_VEC(edit_place_t) edit_places_t;

/// All places of a program in the order of its graph.
edit_places_t edit_places(const tspec_program_t *program, tspec_arena_t *arena);

/// Takes a seed out of the program: its dim loses the axis and is open.
void edit_remove(tspec_program_t *program, const edit_places_t *places, const tspec_seed_t *seed);

/// Gives split dims of starting shardings priorities 0 to 2, the same ones for the same `seed`.
void edit_priorities(tspec_program_t *program, int seed);

/// The sharding of a place after propagation.
const tspec_sharding_t *edit_sharding(const edit_place_t *place);

#endif
