// Carrying out planned collectives.
#include "runtime/collective.h"

#include <string.h>

static void *at(void *scratch, int64_t offset) {
  return (char *)scratch + offset;
}

// Where a receive's bytes go once they are unpacked: the block itself, or the partial result that
// they belong to.
static void *recv_target(const tspec_rt_collective_t *plan, const tspec_rt_transfer_t *recv,
                         void *to, void *scratch) {
  return plan->nparts == 1 ? to : at(scratch, plan->part_offsets[recv->part]);
}

static void combine_parts(const tspec_rt_collective_t *plan, const void *from, void *to,
                          void *scratch) {
  for (int p = 0; p < plan->nparts; ++p) {
    plan->parts[p] = plan->part_offsets[p] >= 0 ? at(scratch, plan->part_offsets[p])
                                                : (const char *)from + plan->local.from_offset;
  }
  tspec_rt_combine(plan->spec.to->dtype, plan->spec.reduce, plan->parts, plan->nparts,
                   plan->spec.to->elems, to);
}

// What this rank keeps.
static void copy_local(const tspec_rt_collective_t *plan, const void *from, void *to,
                       void *scratch) {
  if (!plan->has_local) {
    return;
  }
  if (plan->nparts == 1) {
    if (from != to) {
      tspec_rt_copy_execute(&plan->local, from, to);
    }
  } else if (plan->part_offsets[plan->own_part] >= 0) {
    tspec_rt_copy_execute(&plan->local, from, at(scratch, plan->part_offsets[plan->own_part]));
  }
}

static void pack_sends(const tspec_rt_collective_t *plan, const void *from, void *scratch) {
  for (int i = 0; i < plan->nsends; ++i) {
    const tspec_rt_transfer_t *send = &plan->sends[i];
    if (send->scratch_offset >= 0) {
      tspec_rt_copy_execute(&send->copy, from, at(scratch, send->scratch_offset));
    }
  }
}

// Puts what was received into its place.
static void unpack_recvs(const tspec_rt_collective_t *plan, const void *from, void *to,
                         void *scratch) {
  for (int i = 0; i < plan->nrecvs; ++i) {
    const tspec_rt_transfer_t *recv = &plan->recvs[i];
    if (recv->scratch_offset >= 0) {
      tspec_rt_copy_execute(&recv->copy, at(scratch, recv->scratch_offset),
                            recv_target(plan, recv, to, scratch));
    }
  }
  if (plan->nparts > 1) {
    combine_parts(plan, from, to, scratch);
  }
}

static tspec_rt_status_t run_exchange(const tspec_rt_collective_t *plan, const void *from, void *to,
                                      void *scratch) {
  tspec_comm_part_t *sends = plan->messages;
  tspec_comm_part_t *recvs = plan->messages + plan->nsends;
  pack_sends(plan, from, scratch);
  for (int i = 0; i < plan->nsends; ++i) {
    const tspec_rt_transfer_t *send = &plan->sends[i];
    // the interface has one kind of message; what is sent is only read
    char *memory = send->scratch_offset >= 0 ? at(scratch, send->scratch_offset)
                                             : (char *)(uintptr_t)from + send->copy.from_offset;
    sends[i] = (tspec_comm_part_t){send->peer, memory, send->bytes};
  }
  for (int i = 0; i < plan->nrecvs; ++i) {
    const tspec_rt_transfer_t *recv = &plan->recvs[i];
    void *memory = recv->scratch_offset >= 0
                       ? at(scratch, recv->scratch_offset)
                       : at(recv_target(plan, recv, to, scratch), recv->copy.to_offset);
    recvs[i] = (tspec_comm_part_t){recv->peer, memory, recv->bytes};
  }
  copy_local(plan, from, to, scratch);
  if (plan->spec.group != NULL) {
    TSPEC_RT_TRY(plan->spec.group->comm->ops->exchange(plan->spec.group, sends, plan->nsends, recvs,
                                                       plan->nrecvs));
  }
  unpack_recvs(plan, from, to, scratch);
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_gather(const tspec_rt_collective_t *plan, const void *from, void *to,
                                    void *scratch) {
  tspec_comm_group_t *group = plan->spec.group;
  void *all = plan->gather_scratch < 0 ? to : at(scratch, plan->gather_scratch);
  TSPEC_RT_TRY(
      group->comm->ops->allgather(group, from, all, plan->gather_bytes, plan->gather_offsets));
  if (plan->gather_scratch >= 0) {
    for (int i = 0; i < plan->nrecvs; ++i) {
      tspec_rt_copy_execute(&plan->recvs[i].copy, at(all, plan->gather_offsets[i]), to);
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_reduce(const tspec_rt_collective_t *plan, const void *from, void *to) {
  tspec_comm_group_t *group = plan->spec.group;
  const tspec_rt_tensor_t *tensor = plan->spec.to;
  if (from != to) {
    memcpy(to, from, (size_t)tensor->bytes);
  }
  return group->comm->ops->allreduce(group, to, tensor->elems, tensor->dtype, plan->spec.reduce);
}

static tspec_rt_status_t run_gather_combine(const tspec_rt_collective_t *plan, const void *from,
                                            void *to, void *scratch) {
  tspec_comm_group_t *group = plan->spec.group;
  void *all = at(scratch, plan->gather_scratch);
  TSPEC_RT_TRY(
      group->comm->ops->allgather(group, from, all, plan->gather_bytes, plan->gather_offsets));
  for (int i = 0; i < group->size; ++i) {
    plan->parts[i] = at(all, plan->gather_offsets[i]);
  }
  tspec_rt_combine(plan->spec.to->dtype, plan->spec.reduce, plan->parts, group->size,
                   plan->spec.to->elems, to);
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_scatter_gather(const tspec_rt_collective_t *plan, const void *from,
                                            void *to, void *scratch) {
  tspec_comm_group_t *group = plan->spec.group;
  int64_t share_bytes = plan->gather_bytes[group->index];
  int64_t share_offset = plan->gather_offsets[group->index];
  char *shares = at(scratch, plan->gather_scratch);
  tspec_comm_part_t *sends = plan->messages;
  tspec_comm_part_t *recvs = plan->messages + group->size;
  int nsends = 0;
  int nrecvs = 0;
  for (int i = 0; i < group->size; ++i) {
    plan->parts[i] =
        i == group->index ? (const char *)from + share_offset : shares + share_bytes * i;
    if (i == group->index) {
      continue;
    }
    if (plan->gather_bytes[i] > 0) {
      char *memory = (char *)(uintptr_t)from + plan->gather_offsets[i];
      sends[nsends++] = (tspec_comm_part_t){i, memory, plan->gather_bytes[i]};
    }
    if (share_bytes > 0) {
      recvs[nrecvs++] = (tspec_comm_part_t){i, shares + share_bytes * i, share_bytes};
    }
  }
  TSPEC_RT_TRY(group->comm->ops->exchange(group, sends, nsends, recvs, nrecvs));
  tspec_rt_dtype_t dtype = plan->spec.to->dtype;
  char *mine = (char *)to + share_offset;
  tspec_rt_combine(dtype, plan->spec.reduce, plan->parts, group->size,
                   share_bytes / tspec_rt_dtype_bytes(dtype), mine);
  return group->comm->ops->allgather(group, mine, to, plan->gather_bytes, plan->gather_offsets);
}

tspec_rt_status_t tspec_rt_collective_run(const tspec_rt_collective_t *plan, const void *from,
                                          void *to, void *scratch) {
  switch (plan->method) {
  case TSPEC_RT_METHOD_LOCAL:
    copy_local(plan, from, to, scratch);
    return TSPEC_RT_OK;
  case TSPEC_RT_METHOD_EXCHANGE:
    return run_exchange(plan, from, to, scratch);
  case TSPEC_RT_METHOD_GATHER:
    return run_gather(plan, from, to, scratch);
  case TSPEC_RT_METHOD_REDUCE:
    return run_reduce(plan, from, to);
  case TSPEC_RT_METHOD_GATHER_COMBINE:
    return run_gather_combine(plan, from, to, scratch);
  case TSPEC_RT_METHOD_SCATTER_GATHER:
    return run_scatter_gather(plan, from, to, scratch);
  }
  return TSPEC_RT_COMM;
}

// ---- several at once ----------------------------------------------------------------------------

static tspec_rt_status_t run_joint_reduce(const tspec_rt_joint_t *joint, void *const *from,
                                          void *const *to, void *scratch) {
  char *packed = at(scratch, joint->packed);
  char *place = packed;
  for (int i = 0; i < joint->count; ++i) {
    int64_t bytes = joint->plans[i].spec.from->bytes;
    memcpy(place, from[i], (size_t)bytes);
    place += bytes;
  }
  TSPEC_RT_TRY(
      tspec_rt_collective_run(joint->whole, packed, packed, at(scratch, joint->whole_scratch)));
  place = packed;
  for (int i = 0; i < joint->count; ++i) {
    int64_t bytes = joint->plans[i].spec.to->bytes;
    memcpy(to[i], place, (size_t)bytes);
    place += bytes;
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_joint_gather(const tspec_rt_joint_t *joint, void *const *from,
                                          void *const *to, void *scratch) {
  tspec_comm_group_t *group = joint->plans[0].spec.group;
  char *all = at(scratch, joint->packed);
  char *mine = all + joint->gather_offsets[group->index];
  char *place = mine;
  for (int i = 0; i < joint->count; ++i) {
    int64_t bytes = joint->plans[i].gather_bytes[group->index];
    memcpy(place, from[i], (size_t)bytes);
    place += bytes;
  }
  TSPEC_RT_TRY(
      group->comm->ops->allgather(group, mine, all, joint->gather_bytes, joint->gather_offsets));
  for (int m = 0; m < group->size; ++m) {
    place = all + joint->gather_offsets[m];
    for (int i = 0; i < joint->count; ++i) {
      tspec_rt_copy_execute(&joint->plans[i].recvs[m].copy, place, to[i]);
      place += joint->plans[i].gather_bytes[m];
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t run_joint_exchange(const tspec_rt_joint_t *joint, void *const *from,
                                            void *const *to, void *scratch) {
  for (int i = 0; i < joint->count; ++i) {
    pack_sends(&joint->plans[i], from[i], scratch);
    copy_local(&joint->plans[i], from[i], to[i], scratch);
  }
  for (int i = 0; i < joint->nsends + joint->nrecvs; ++i) {
    const tspec_rt_joint_message_t *place = &joint->places[i];
    joint->messages[i] = (tspec_comm_part_t){place->peer, at(scratch, place->offset), place->bytes};
  }
  tspec_comm_group_t *group = joint->plans[0].spec.group;
  TSPEC_RT_TRY(group->comm->ops->exchange(group, joint->messages, joint->nsends,
                                          joint->messages + joint->nsends, joint->nrecvs));
  for (int i = 0; i < joint->count; ++i) {
    unpack_recvs(&joint->plans[i], from[i], to[i], scratch);
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_joint_run(const tspec_rt_joint_t *joint, void *const *from,
                                     void *const *to, void *scratch) {
  if (joint->method == TSPEC_RT_METHOD_REDUCE) {
    return run_joint_reduce(joint, from, to, scratch);
  }
  if (joint->method == TSPEC_RT_METHOD_GATHER) {
    return run_joint_gather(joint, from, to, scratch);
  }
  if (joint->method == TSPEC_RT_METHOD_EXCHANGE) {
    return run_joint_exchange(joint, from, to, scratch);
  }
  for (int i = 0; i < joint->count; ++i) {
    copy_local(&joint->plans[i], from[i], to[i], scratch);
  }
  return TSPEC_RT_OK;
}
