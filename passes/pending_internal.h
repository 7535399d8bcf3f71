// What pending.c knows about each value, and travel.c decides on.
#ifndef TSPEC_PASSES_PENDING_INTERNAL_H
#define TSPEC_PASSES_PENDING_INTERNAL_H

#include "passes/pending.h"
#include "passes/pending_sets.h"
#include "passes/wire.h"

/// Ways in which readers want a value that are told apart; more are seldom, and ignored.
enum { TSPEC_PENDING_MAX_WANTS = 3 };

typedef struct tspec_pending_wants_t {
  int count;
  const tspec_sharding_t *items[TSPEC_PENDING_MAX_WANTS]; ///< complete
} tspec_pending_wants_t;

/// What an op makes, complete, and over which axes its own split reductions make it pending.
typedef struct tspec_pending_made_t {
  tspec_pending_set_t own;
  const tspec_sharding_t *computed;
} tspec_pending_made_t;

/// About one value. Of an argument everything is empty.
typedef struct tspec_pending_facts_t {
  tspec_pending_made_t alone;  ///< from complete operands; `computed` is NULL if nothing is pending
  tspec_pending_made_t joined; ///< from pending operands: nothing is split over `through`
  tspec_pending_set_t through; ///< partial results of operands that can pass its op
  tspec_pending_set_t may;     ///< how readers could find it
  tspec_pending_set_t asked;   ///< over which it is written as pending, or what is needs it
  int entry; ///< the operand through which partials come in: -1 none, noperands: all of them
  int64_t entry_cost;            ///< of moving complete operands so that partials can enter
  tspec_pending_wants_t wants;   ///< how readers need it if it is complete
  tspec_pending_wants_t carried; ///< how readers need it if it is pending, without that
  bool barred;                   ///< a reader needs it complete, or its dtype says that it stays
  bool enters;                   ///< decided: its op reads partial results
  bool stays;                    ///< decided: readers find it pending
  tspec_pending_set_t entering;  ///< what its op's pending operands are pending over
  tspec_pending_set_t seen;      ///< what its readers find
} tspec_pending_facts_t;

struct tspec_pending_t {
  tspec_arena_t *arena;
  const tspec_program_t *program;
  tspec_wire_t *wire;
  const tspec_layouts_t *layouts; ///< or NULL
  int nvalues;
  tspec_pending_facts_t *facts; ///< by value id
};

/// True if partial results may enter the op through its operand `index`.
bool tspec_pending_enters_by(const tspec_pending_t *pending, const tspec_op_t *op, int index);

/// Sets `enters` and `stays` of values that are not asked for, so that the fewest bytes are sent.
void tspec_pending_travel(tspec_pending_t *pending, const tspec_func_t *func);

#endif
