// What conversions cost on the wire: bytes, weighed with the bandwidths that the mesh line states.
#ifndef TSPEC_PASSES_WIRE_H
#define TSPEC_PASSES_WIRE_H

#include <stdint.h>

#include "ir/program.h"
#include "ir/shard/decompose.h"

/// A conversion as collectives, and what it costs.
typedef struct tspec_wire_plan_t {
  tspec_steps_t steps;
  int64_t bytes; ///< that the busiest rank sends
  int64_t cost;  ///< the bytes of each step times (largest stated bandwidth) / (smallest stated one
                 ///< of its axes): a collective goes at the slowest of its axes. Where no axis
                 ///< states one these are the bytes; an axis that states none counts as the
                 ///< fastest. Saturates at INT64_MAX
} tspec_wire_plan_t;

/// Plans that are known already: a model has the same few conversions in each of its layers.
typedef struct tspec_wire_t {
  const tspec_mesh_t *mesh;
  tspec_arena_t *arena;
  tspec_names_t known; ///< tspec_wire_plan_t, by type and shardings as text
} tspec_wire_t;

/// The plan from one sharding to another of a tensor of the global type `type`. Ownership: in the
/// wire's arena.
const tspec_wire_plan_t *tspec_wire_plan(tspec_wire_t *wire, tspec_type_t type,
                                         const tspec_sharding_t *from, const tspec_sharding_t *to);

/// Its bytes; 0 if both lay data out alike.
int64_t tspec_wire_bytes(tspec_wire_t *wire, tspec_type_t type, const tspec_sharding_t *from,
                         const tspec_sharding_t *to);
/// Its cost; 0 if both lay data out alike.
int64_t tspec_wire_conversion(tspec_wire_t *wire, tspec_type_t type, const tspec_sharding_t *from,
                              const tspec_sharding_t *to);

/// The cost of bytes that go along `axes` (tspec_wire_plan_t).
int64_t tspec_wire_weigh(const tspec_mesh_t *mesh, const tspec_axis_t *axes, int naxes,
                         int64_t bytes);

/// Sum of costs, at most INT64_MAX.
int64_t tspec_wire_add(int64_t a, int64_t b);

#endif
