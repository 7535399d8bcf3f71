// Collectives over boxes: what each rank holds before and after follows from the two shardings
// alone, so one plan serves every kind, exactly on uneven and empty blocks. Plans are made once at
// start; running one allocates nothing.
#ifndef TSPEC_RUNTIME_COLLECTIVE_H
#define TSPEC_RUNTIME_COLLECTIVE_H

#include "runtime/comm.h"
#include "runtime/layout.h"
#include "runtime/pool.h"

/// What to plan. Borrowed for the plan's life.
typedef struct tspec_rt_collective_spec_t {
  uint32_t kind; ///< TSPEC_IMAGE_ALL_REDUCE ..
  tspec_rt_reduce_t reduce;
  const tspec_rt_tensor_t *from;
  const tspec_rt_tensor_t *to;
  tspec_rt_pieces_t axes; ///< the communicator
  tspec_comm_group_t
      *group; ///< the ranks along `axes`, in order of their coordinate; NULL: this rank alone
  const tspec_image_window_t
      *windows;       ///< per dim, what `to` shows of `from`; NULL: the same tensor
  bool deterministic; ///< sums in rank order, whatever the backend would choose
} tspec_rt_collective_spec_t;

/// Elements that go to or come from one member.
typedef struct tspec_rt_transfer_t {
  int peer; ///< index in the group
  int part; ///< received: which partial result it belongs to
  int64_t bytes;
  int64_t scratch_offset; ///< where it is packed; -1: it lies in one piece in the buffer
  tspec_rt_copy_t
      copy; ///< sends: buffer to packed; receives: packed to block (or to the partial result)
} tspec_rt_transfer_t;

/// How a collective is carried out.
typedef enum tspec_rt_method_t {
  TSPEC_RT_METHOD_LOCAL,    ///< nothing is sent
  TSPEC_RT_METHOD_EXCHANGE, ///< parts to and from single members, then partial results combined in
                            ///< rank order
  TSPEC_RT_METHOD_GATHER,   ///< the backend's allgather
  TSPEC_RT_METHOD_REDUCE,   ///< the backend's allreduce
  TSPEC_RT_METHOD_GATHER_COMBINE, ///< all partial results to everyone, combined in rank order
  TSPEC_RT_METHOD_SCATTER_GATHER, ///< each member combines its share in rank order, then the shares
                                  ///< are gathered
} tspec_rt_method_t;

typedef struct tspec_rt_collective_t {
  tspec_rt_collective_spec_t spec;
  tspec_rt_method_t method;
  int64_t sent_bytes;    ///< by this rank, ring convention (design.md, Costs), fractions rounded up
  int64_t scratch_bytes; ///< needed by tspec_rt_collective_run
  int nparts;            ///< partial results per element; 1: nothing is reduced
  int own_part;          ///< which of them this rank holds
  bool has_local;
  tspec_rt_copy_t local; ///< what stays: buffer to block, or to this rank's partial result
  int nsends, nrecvs;
  tspec_rt_transfer_t *sends;
  tspec_rt_transfer_t *recvs;
  int64_t
      *part_offsets;  ///< per partial result: where it is kept in scratch; -1: in the buffer itself
  const void **parts; ///< room for the run
  tspec_comm_part_t *messages; ///< room for the run: nsends, then nrecvs
  int64_t *gather_bytes;       ///< per member
  int64_t *gather_offsets;     ///< per member
  int64_t gather_scratch;      ///< where blocks are gathered; -1: straight into the result
  int64_t mine_scratch; ///< where this rank's block is packed; -1: it is sent from the buffer
} tspec_rt_collective_t;

/// Works out who sends what to whom. Ownership: lists in `pool`. Errors: TSPEC_RT_IMAGE if elements
/// that this rank needs are held by nobody in the group, or a kind does not do what the shardings
/// say; TSPEC_RT_MEMORY. Ranks: local.
tspec_rt_status_t tspec_rt_collective_plan(const tspec_rt_mesh_t *mesh, int rank,
                                           const tspec_rt_collective_spec_t *spec,
                                           tspec_rt_pool_t *pool, tspec_rt_error_t *error,
                                           tspec_rt_collective_t *out_plan);

/// Does it: what `to` shows of `from`, all of it without windows. From this rank's block `from` to
/// its block `to`; the two are the same or do not overlap, the same only for all_reduce. `scratch`
/// has at least scratch_bytes, aligned to 64. Errors: the backend's; the reason stands in the comm.
/// Ranks: collective over the group.
tspec_rt_status_t tspec_rt_collective_run(const tspec_rt_collective_t *plan, const void *from,
                                          void *to, void *scratch);

#endif
