// How one tensor lies on the mesh. One notation everywhere (`docs/sharding.md`): "[data, -,
// model?!1] sum(x)". Shardings are immutable values in an arena; two that are equal print alike.
#ifndef TSPEC_IR_SHARD_SHARDING_H
#define TSPEC_IR_SHARD_SHARDING_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/intern.h"
#include "ir/base/type.h"
#include "ir/shard/mesh.h"

/// How partial results combine.
typedef enum tspec_reduce_t {
  TSPEC_REDUCE_SUM,
  TSPEC_REDUCE_MAX,
  TSPEC_REDUCE_MIN,
  TSPEC_REDUCE_PROD, ///< never pending in the notation: only of collectives
  TSPEC_REDUCE_ALL,  ///< logical and; as TSPEC_REDUCE_PROD
  TSPEC_REDUCE_ANY,  ///< logical or; as TSPEC_REDUCE_PROD
  TSPEC_REDUCE_COUNT,
} tspec_reduce_t;

const char *tspec_reduce_name(tspec_reduce_t reduce); ///< "sum", "max", "min", "prod", "all", "any"
bool tspec_reduce_parse(const char *name, tspec_reduce_t *out_reduce);

/// One dim: split over `axes`, the first one major. n elements over k = product of sizes have
/// blocks of ceil(n/k), the last ones shorter or empty (one flattened split).
typedef struct tspec_dim_t {
  int naxes;
  const tspec_axis_t *axes;
  bool open;    ///< propagation may append minor axes
  int priority; ///< takes part from this round on; 0 first
} tspec_dim_t;

/// Where it was said how a dim starts.
typedef struct tspec_said_t {
  tspec_range_t range; ///< the annotation or the rule; all zero: nowhere, or not known
  const char *rule;    ///< the rule as written, "mlp -> model"; NULL: an annotation
  bool is_blocked;     ///< the rule's mesh axes split another dim: this one stays whole
  int blocker;         ///< that dim
} tspec_said_t;

typedef struct tspec_sharding_t {
  int rank;
  const tspec_dim_t *dims;
  int npending;                ///< axes along which every rank holds a partial result
  const tspec_axis_t *pending; ///< in mesh order
  tspec_reduce_t pending_kind; ///< how partial results combine; SUM if there are none
  int nreplicated; ///< axes that propagation must not use on any dim (no notation: engine only)
  const tspec_axis_t *replicated;
  const tspec_said_t *said; ///< of a starting sharding: per dim; NULL: not known. Equal shardings
                            ///< may differ in it; the written form does not carry it
} tspec_sharding_t;

/// A deep copy, what was said included.
const tspec_sharding_t *tspec_sharding_copy(tspec_arena_t *arena, const tspec_sharding_t *sharding);
/// An empty set of shardings, in `arena`: tspec_intern gives one object for all that are equal in
/// every field and in what was said.
tspec_intern_t tspec_sharding_set(tspec_arena_t *arena);
/// All dims closed and unsplit.
const tspec_sharding_t *tspec_sharding_replicated(tspec_arena_t *arena, int rank);
/// All dims open and unsplit: nothing said.
const tspec_sharding_t *tspec_sharding_open(tspec_arena_t *arena, int rank);
/// The same splits and pending axes with every dim closed, priority 0, nothing replicated or said.
const tspec_sharding_t *tspec_sharding_close(tspec_arena_t *arena,
                                             const tspec_sharding_t *sharding);
/// The same splits, without pending axes.
const tspec_sharding_t *tspec_sharding_complete(tspec_arena_t *arena,
                                                const tspec_sharding_t *sharding);
/// The same splits with these pending axes (sorted into mesh order and merged).
const tspec_sharding_t *tspec_sharding_with_pending(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                                    const tspec_sharding_t *sharding,
                                                    tspec_reduce_t kind, const tspec_axis_t *axes,
                                                    int naxes);
/// Equal in every field.
bool tspec_sharding_equal(const tspec_sharding_t *a, const tspec_sharding_t *b);
/// Equal in where data lies: axes of dims and pending axes; openness and priorities aside.
bool tspec_sharding_same_layout(const tspec_sharding_t *a, const tspec_sharding_t *b);
/// No dim split and nothing pending.
bool tspec_sharding_is_replicated(const tspec_sharding_t *sharding);

/// The notation. In `arena`.
const char *tspec_sharding_print(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                 const tspec_sharding_t *sharding);

/// Parses the notation for a value of `rank` dims ('...' is expanded, "[]" fits any rank; rank -1:
/// as many as written, no
/// '...'). Ownership: in `arena`. Errors: NULL after reporting at `about.range` to `diag`
/// (unknown axis with "did you mean", axis used twice, bad sub-axis, wrong rank, syntax);
/// `about.what` names the value in messages ("'w1'").
const tspec_sharding_t *tspec_sharding_parse(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                             const char *text, int rank, tspec_about_t about,
                                             tspec_diag_t *diag);

/// Checks that no axis or overlapping piece stands twice in dims and pending, and each piece fits
/// its axis. Errors: false after reporting at `range`.
bool tspec_sharding_check(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding,
                          const char *what, tspec_range_t range, tspec_diag_t *diag);

// ---- blocks: which elements a rank holds
// ----------------------------------------------------------------------------

/// Elements [begin, end) of a dim; empty if begin == end.
typedef struct tspec_block_t {
  int64_t begin;
  int64_t end;
} tspec_block_t;

/// Number of blocks that a dim is cut into: the product of its axes' sizes.
int64_t tspec_dim_nblocks(const tspec_dim_t *dim);
/// Which block of the dim `rank` holds: its flattened coordinate, first axis major.
int64_t tspec_dim_block_index(const tspec_mesh_t *mesh, const tspec_dim_t *dim, int64_t rank);
/// Block `index` of `nblocks` over `size` elements: [index * c, (index + 1) * c) with c = ceil(size
/// / nblocks), cut at size.
tspec_block_t tspec_block(int64_t size, int64_t nblocks, int64_t index);
/// The block of `rank`, per dim, into out_blocks[rank of the tensor].
void tspec_sharding_blocks(const tspec_mesh_t *mesh, const tspec_sharding_t *sharding,
                           tspec_type_t type, int64_t rank, tspec_block_t *out_blocks);
/// The type of the largest block (rank 0's): dims ceil(n / k).
tspec_type_t tspec_sharding_local_type(tspec_arena_t *arena, const tspec_sharding_t *sharding,
                                       tspec_type_t type);
/// True if every rank's block has the same size, that is if k divides n in each dim.
bool tspec_sharding_is_even(const tspec_sharding_t *sharding, tspec_type_t type);

#endif
