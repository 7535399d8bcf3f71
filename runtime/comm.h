// Communication between ranks: what the collectives are built from, with one backend that is MPI
// (comm_mpi.c, in a shared library of its own) and one for a single rank (comm_self.c). Every call
// returns a status; the reason stands in tspec_comm_t.error. Buffers never overlap unless said.
#ifndef TSPEC_RUNTIME_COMM_H
#define TSPEC_RUNTIME_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/dtype.h"
#include "runtime/status.h"

typedef struct tspec_comm_t tspec_comm_t;

/// Some ranks in a fixed order. A backend's own group starts with this.
typedef struct tspec_comm_group_t {
  tspec_comm_t *comm;
  int size;
  int index;          ///< of this rank, 0 .. size - 1
  const int *members; ///< their ranks
} tspec_comm_group_t;

/// One message to or from another member of a group.
typedef struct tspec_comm_part_t {
  int peer; ///< index in the group
  void *memory;
  int64_t bytes;
} tspec_comm_part_t;

typedef struct tspec_comm_ops_t {
  /// Makes a group; members[index] is this rank. Ranks: collective over all, each with its own
  /// group; ranks of one group hand over the same members. Ownership: destroyed with group_destroy.
  tspec_rt_status_t (*group_create)(tspec_comm_t *comm, const int *members, int size, int index,
                                    tspec_comm_group_t **out_group);
  void (*group_destroy)(tspec_comm_group_t *group);
  /// Sends and receives all parts; no part is for this rank itself. At most one message per
  /// direction and pair. Ranks: collective over those of the group that name each other.
  tspec_rt_status_t (*exchange)(tspec_comm_group_t *group, const tspec_comm_part_t *sends,
                                int nsends, const tspec_comm_part_t *recvs, int nrecvs);
  /// Member i's `bytes[i]` bytes go to all + offsets[i] on everyone; `mine` may be this member's
  /// own place in `all`. Ranks: collective over the group, with equal bytes and offsets.
  tspec_rt_status_t (*allgather)(tspec_comm_group_t *group, const void *mine, void *all,
                                 const int64_t *bytes, const int64_t *offsets);
  /// Combines elements in place, in an order of the backend's choice, with equal bits on every
  /// member. Only where `can_reduce` says so. Ranks: collective over the group, with equal counts.
  tspec_rt_status_t (*allreduce)(tspec_comm_group_t *group, void *memory, int64_t elems,
                                 tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce);
  bool (*can_reduce)(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce);
  /// From member 0 to all. Ranks: collective over the group.
  tspec_rt_status_t (*broadcast)(tspec_comm_group_t *group, void *memory, int64_t bytes);
  /// Returns when all have called it. Ranks: collective over all.
  tspec_rt_status_t (*barrier)(tspec_comm_t *comm);
  /// A number per rank that the others on this host can read without its help: how far each is.
  /// NULL if the backend has none; out_ranks[i] is the rank of number i. Ownership: the comm's.
  /// Ranks: collective over all.
  int64_t *(*board_create)(tspec_comm_t *comm, int *out_count, const int **out_ranks);
  /// Takes all ranks down with this exit code. Does not return. Ranks: local.
  void (*abort)(tspec_comm_t *comm, int exit_code);
  /// Ends communication; groups are destroyed before. Ranks: collective over all.
  void (*destroy)(tspec_comm_t *comm);
} tspec_comm_ops_t;

struct tspec_comm_t {
  const tspec_comm_ops_t *ops;
  int rank;
  int nranks;
  tspec_comm_group_t *world; ///< all ranks in order
  char error[256];           ///< why the last call failed
};

/// One rank, no MPI. Errors: NULL when out of memory.
tspec_comm_t *tspec_comm_self_create(void);

/// Loads the MPI backend. `communicator` points to an MPI_Comm of the caller's, which is
/// duplicated; NULL: MPI_COMM_WORLD, and MPI is started unless it runs already. The backend is
/// looked for in $TSPEC_RT_DIR, next to the executable, and where it was built and installed.
/// Errors: TSPEC_RT_COMM in `error`. Ranks: collective over all of the communicator.
tspec_rt_status_t tspec_comm_mpi_create(const void *communicator, tspec_rt_error_t *error,
                                        tspec_comm_t **out_comm);

#define TSPEC_COMM_SHIM_VERSION 2
/// What the shim defines, found by name: "tspec_comm_mpi_open". NULL after writing the reason to
/// `error` if MPI does not start, the communicator is not one, or the version differs.
typedef tspec_comm_t *(*tspec_comm_open_fn_t)(int version, const void *communicator, char *error,
                                              size_t error_bytes);

#endif
