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
  bool exchanges;     ///< by messages between members, though an allgather would do
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

/// What goes to or comes from one member in a joint exchange.
typedef struct tspec_rt_joint_message_t {
  int peer;       ///< index in the group
  int64_t offset; ///< in scratch
  int64_t bytes;
} tspec_rt_joint_message_t;

/// Several collectives of one kind over one group, carried out in one call.
typedef struct tspec_rt_joint_t {
  int count;                               ///< at least 1
  const tspec_rt_collective_spec_t *specs; ///< of each, without windows; borrowed
  tspec_rt_method_t method;                ///< LOCAL, EXCHANGE, GATHER or REDUCE
  tspec_rt_collective_t *plans; ///< of each by itself; EXCHANGE: with places in the joint scratch
  int64_t sent_bytes;           ///< by this rank, payloads added up before fractions are rounded
  int64_t scratch_bytes;        ///< needed by tspec_rt_joint_run
  int64_t packed;               ///< REDUCE, GATHER: where blocks lie side by side
  tspec_rt_collective_t *whole; ///< REDUCE: of all elements as one tensor
  int64_t whole_scratch;        ///< REDUCE: what that one needs
  int64_t *gather_bytes;        ///< GATHER: per member
  int64_t *gather_offsets;      ///< GATHER: per member
  int nsends, nrecvs;
  tspec_rt_joint_message_t *places; ///< EXCHANGE: nsends, then nrecvs
  tspec_comm_part_t *messages;      ///< EXCHANGE: room for the run
} tspec_rt_joint_t;

/// Plans what joint->specs say: all_reduces of one dtype and reduction, all_gathers or
/// reduce_scatters, all with the same group. Fills in the rest, which was zero. Sums are in the
/// order that each by itself would have if that is rank order. Ownership and errors: as
/// tspec_rt_collective_plan. Ranks: local.
tspec_rt_status_t tspec_rt_joint_plan(const tspec_rt_mesh_t *mesh, int rank, tspec_rt_pool_t *pool,
                                      tspec_rt_error_t *error, tspec_rt_joint_t *joint);

/// Does all of them. From blocks `from[i]` to blocks `to[i]`, which overlap nothing, but may be
/// from[i] for an all_reduce. Scratch and errors: as tspec_rt_collective_run. Ranks: collective
/// over the group.
tspec_rt_status_t tspec_rt_joint_run(const tspec_rt_joint_t *joint, void *const *from,
                                     void *const *to, void *scratch);

#endif
