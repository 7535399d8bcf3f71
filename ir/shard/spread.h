// One step of propagation on one op: axes spread along the factors of its projected tensors.
// Source: `propagation.md` 2.4 (Shardy's basic and aggressive factor propagation).
#ifndef TSPEC_IR_SHARD_SPREAD_H
#define TSPEC_IR_SHARD_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/shard/projection.h"
#include "ir/shard/propagate.h"

/// The axes that the tensors agree on for one factor.
typedef struct tspec_spread_factor_t {
  tspec_prop_direction_t direction; ///< set by the caller
  int naxes;
  tspec_axis_t *axes;
  int source; ///< the largest tensor that has all of them, or -1
  int64_t source_elems;
} tspec_spread_factor_t;

/// A workspace: used again for op after op.
typedef struct tspec_spread_t {
  tspec_projection_t projection;  ///< of the op; extended in place
  bool conservative;              ///< no pieces of axes
  bool elementwise;               ///< of the op
  tspec_spread_factor_t *factors; ///< per factor of the op
  int *order;                     ///< factors, those that win conflicts first
  bool *changed;                  ///< per tensor: got axes in this step
  tspec_axis_t *scratch;          ///< one list
  int factor_capacity;
  int tensor_capacity;
} tspec_spread_t;

void tspec_spread_init(tspec_spread_t *spread, tspec_arena_t *arena, const tspec_mesh_t *mesh,
                       bool conservative);
/// Starts with an op; tensors and directions are to be set next.
void tspec_spread_start(tspec_spread_t *spread, const tspec_factor_rule_t *rule);

/// Fills in factors[factor]: the longest list that the tensors that may give agree on. `direction`
/// overrides the factor's. Returns false if two tensors contradict each other.
bool tspec_spread_agree(tspec_spread_t *spread, int factor, tspec_prop_direction_t direction);

/// Adopts only axes that every tensor can take.
void tspec_spread_basic(tspec_spread_t *spread);
/// Every tensor adopts what it can by itself; conflicts between factors go to the larger source.
void tspec_spread_aggressive(tspec_spread_t *spread);

/// The part of `piece` that a factor of a tensor can take or has, other factors aside; `sharded`:
/// product of the axes before it. Errors: false if nothing.
bool tspec_spread_fits_factor(const tspec_spread_t *spread, int tensor, int factor,
                              tspec_axis_t piece, int64_t sharded, tspec_axis_t *out_part);
/// The part of `piece` that no other factor of the tensor uses. Errors: false if nothing.
bool tspec_spread_fits_tensor(const tspec_spread_t *spread, int tensor, int factor,
                              tspec_axis_t piece, tspec_axis_t *out_part);

#endif
