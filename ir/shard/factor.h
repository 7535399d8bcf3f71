// Factor rules: einsum-like, per op. Every dim of every operand and result is a product of factors,
// major to minor; a factor that stands in several dims links them. All that propagation and
// partitioning know about an op. Source: `propagation.md` 2.1.
#ifndef TSPEC_IR_SHARD_FACTOR_H
#define TSPEC_IR_SHARD_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/type.h"
#include "ir/shard/sharding.h"

typedef enum tspec_factor_kind_t {
  TSPEC_FACTOR_PASS_THROUGH,
  TSPEC_FACTOR_REDUCTION,        ///< in no result; splitting it makes the result pending
  TSPEC_FACTOR_NEED_REPLICATION, ///< must be whole on every rank for the op to run
  TSPEC_FACTOR_PERMUTATION,      ///< may stay split at the price of traffic between neighbours
} tspec_factor_kind_t;

typedef struct tspec_factor_t {
  int64_t size;
  tspec_factor_kind_t kind;
  bool blocked; ///< nothing propagates along it
} tspec_factor_t;

/// The factors of one dim, indices into tspec_factor_rule_t.factors, major first; at least one.
typedef struct tspec_factor_dim_t {
  int nfactors;
  const int *factors;
} tspec_factor_dim_t;

/// One tensor of the op. Scalars have no dims and take no part.
typedef struct tspec_factor_map_t {
  int rank;
  const tspec_factor_dim_t *dims;
} tspec_factor_map_t;

typedef struct tspec_factor_rule_t {
  int nfactors;
  const tspec_factor_t *factors;
  int noperands;
  const tspec_factor_map_t *operands;
  int nresults;
  const tspec_factor_map_t *results;
  tspec_reduce_t reduce; ///< how partial results over reduction factors combine (sum for dot)
  bool gathers_partials; ///< splitting a reduction factor is not one known operator: it must be
                         ///< gathered
} tspec_factor_rule_t;

/// Builds a rule; every dim that nothing mapped gets a factor of its own size 1 at the end
/// (`tspec_rule_builder_finish`).
typedef struct tspec_rule_builder_t {
  tspec_arena_t *arena;
  int noperands;
  int nresults;
  const tspec_type_t *operand_types;
  const tspec_type_t *result_types;
  struct tspec_rule_builder_state_t *state;
} tspec_rule_builder_t;

void tspec_rule_builder_init(tspec_rule_builder_t *builder, tspec_arena_t *arena, int noperands,
                             const tspec_type_t *operand_types, int nresults,
                             const tspec_type_t *result_types);
/// Appends a factor and returns its index.
int tspec_rule_builder_factor(tspec_rule_builder_t *builder, int64_t size,
                              tspec_factor_kind_t kind);
void tspec_rule_builder_block(tspec_rule_builder_t *builder, int factor);
/// Appends a factor to a dim (more minor than those before).
void tspec_rule_builder_map_operand(tspec_rule_builder_t *builder, int operand, int dim,
                                    int factor);
void tspec_rule_builder_map_result(tspec_rule_builder_t *builder, int result, int dim, int factor);
/// One pass-through factor per dim of the first non-scalar result (or operand), shared by every
/// non-scalar tensor of that rank.
void tspec_rule_builder_pointwise(tspec_rule_builder_t *builder);
/// The finished rule, in the builder's arena.
const tspec_factor_rule_t *tspec_rule_builder_finish(tspec_rule_builder_t *builder);

/// An empty set of rules (ir/base/intern.h), in `arena`: a program has few distinct ones.
tspec_intern_t tspec_factor_rule_set(tspec_arena_t *arena);

/// The name under which a factor is printed: i to z, then z_1, z_2. In `arena`.
const char *tspec_factor_name(tspec_arena_t *arena, int factor);
/// "([i, k],[k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}", as in `propagation.md` 2.1. In
/// `arena`.
const char *tspec_factor_rule_print(tspec_arena_t *arena, const tspec_factor_rule_t *rule);

#endif
