// The shardings of an op's tensors seen by factors: each factor of each tensor has a list of axes.
// Dims to factors and back. Source: `propagation.md` 2.3 (Shardy's sharding projection).
#ifndef TSPEC_IR_SHARD_PROJECTION_H
#define TSPEC_IR_SHARD_PROJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/shard/factor.h"
#include "ir/shard/mesh.h"
#include "ir/shard/sharding.h"

/// One factor of one tensor.
typedef struct tspec_factor_axes_t {
  bool present; ///< false: the tensor does not have this factor, and nothing below means anything
  bool open;    ///< may be extended
  bool minor_most; ///< the last factor of its dim: takes any axis, whether it divides or not
  int dim;         ///< of the tensor
  int naxes;
  tspec_axis_t *axes;
  int noverflow; ///< axes of the dim that fit no factor; nothing deeper in the dim is split
  tspec_axis_t *overflow;
} tspec_factor_axes_t;

/// Tensors are numbered operands first, then results. A workspace: used again for op after op.
typedef struct tspec_projection_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  const tspec_factor_rule_t *rule;
  int ntensors;
  int nfactors;
  int max_pieces;                     ///< room of each list
  tspec_factor_axes_t *factors;       ///< [tensor * nfactors + factor]
  size_t capacity;                    ///< of `factors`
  const tspec_sharding_t **shardings; ///< [tensor] as set; NULL: nothing said
  int tensor_capacity;
} tspec_projection_t;

/// A workspace in `arena`; `mesh` is borrowed.
void tspec_projection_init(tspec_projection_t *projection, tspec_arena_t *arena,
                           const tspec_mesh_t *mesh);
/// Starts with an op: no tensor has axes yet. `rule` is borrowed.
void tspec_projection_start(tspec_projection_t *projection, const tspec_factor_rule_t *rule);
/// Dims of one tensor to factors. `sharding` (NULL: all open and unsplit) is borrowed until the
/// next start.
void tspec_projection_set(tspec_projection_t *projection, int tensor,
                          const tspec_sharding_t *sharding);
/// Factors of one tensor back to dims (priorities 0), in `arena`.
tspec_dim_t *tspec_projection_get(const tspec_projection_t *projection, int tensor,
                                  tspec_arena_t *arena);

/// A factor of a tensor.
tspec_factor_axes_t *tspec_projection_at(const tspec_projection_t *projection, int tensor,
                                         int factor);
/// The tensor's dims in the rule.
const tspec_factor_map_t *tspec_factor_rule_tensor(const tspec_factor_rule_t *rule, int tensor);
/// Product of the sizes of the tensor's factors, at most INT64_MAX: how the rule counts its
/// elements.
int64_t tspec_factor_rule_elems(const tspec_factor_rule_t *rule, int tensor);
/// Makes `axes` the factor's list.
void tspec_projection_assign(const tspec_projection_t *projection, int tensor, int factor,
                             const tspec_axis_t *axes, int naxes);

#endif
