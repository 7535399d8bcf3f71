// What conversions and programs cost on the wire: bytes, weighed with the bandwidths that the mesh
// line states.
#ifndef TSPEC_PASSES_WIRE_H
#define TSPEC_PASSES_WIRE_H

#include <stdint.h>

#include "ir/program.h"
#include "ir/shard/decompose.h"

/// Bytes of the steps, each times (largest stated bandwidth) / (smallest stated one of its axes): a
/// collective goes at the slowest of its axes. Where no axis states one these are the bytes; an
/// axis that states none counts as the fastest. Saturates at INT64_MAX.
int64_t tspec_wire_steps(const tspec_mesh_t *mesh, tspec_type_t type, tspec_steps_t steps);

/// The same of the conversion of a tensor of the global type `type` from one sharding to another.
int64_t tspec_wire_conversion(const tspec_mesh_t *mesh, tspec_type_t type,
                              const tspec_sharding_t *from, const tspec_sharding_t *to);

/// Sum of costs, at most INT64_MAX.
int64_t tspec_wire_add(int64_t a, int64_t b);

#endif
