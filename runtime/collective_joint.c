// Plans of several collectives as one call. Each is planned by itself first; what they send then
// shares messages.
#include "runtime/collective.h"

enum { ALIGNMENT = 64 };

typedef struct planner_t {
  tspec_rt_pool_t *pool;
  tspec_rt_error_t *error;
  const tspec_rt_mesh_t *mesh;
  int rank;
  tspec_rt_joint_t *joint;
} planner_t;

static void *get(planner_t *planner, int64_t count, size_t bytes) {
  return tspec_rt_pool_get(planner->pool, (size_t)count, bytes);
}

static tspec_rt_status_t out_of_memory(planner_t *planner) {
  return tspec_rt_fail(planner->error, TSPEC_RT_MEMORY, "out of memory while planning collectives");
}

static int64_t reserve(tspec_rt_joint_t *joint, int64_t bytes) {
  int64_t offset = joint->scratch_bytes;
  joint->scratch_bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return offset;
}

// ---- one tensor of all elements -----------------------------------------------------------------

// What lies side by side in scratch: `elems` elements that are pending as a tensor of the spec is.
static tspec_rt_tensor_t *make_flat(planner_t *planner, const tspec_rt_tensor_t *like,
                                    int64_t elems) {
  tspec_rt_tensor_t *flat = get(planner, 1, sizeof *flat);
  tspec_image_dim_t *dim = get(planner, 1, sizeof *dim);
  tspec_rt_pieces_t *split = get(planner, 1, sizeof *split);
  int64_t *size = get(planner, 1, sizeof *size);
  if (flat == NULL || dim == NULL || split == NULL || size == NULL) {
    return NULL;
  }
  dim->size = elems;
  *size = elems;
  *flat = (tspec_rt_tensor_t){
      .dtype = like->dtype,
      .layout = {.ndims = 1, .dims = dim, .splits = split, .pending = like->layout.pending},
      .sizes = size,
      .box = {.ndims = 1, .end = {elems}},
      .elems = elems,
      .bytes = elems * tspec_rt_dtype_bytes(like->dtype),
  };
  return flat;
}

// Blocks of an all_reduce are the same on the whole group, so together they are one, too.
static tspec_rt_status_t plan_reduction(planner_t *planner) {
  tspec_rt_joint_t *joint = planner->joint;
  int64_t elems = 0;
  for (int i = 0; i < joint->count; ++i) {
    const tspec_rt_collective_spec_t *spec = &planner->joint->specs[i];
    if (joint->plans[i].method == TSPEC_RT_METHOD_EXCHANGE ||
        !tspec_rt_box_equal(&spec->from->box, &spec->to->box)) {
      return tspec_rt_fail(planner->error, TSPEC_RT_IMAGE,
                           "program image: an all_reduce of blocks that differ between ranks");
    }
    elems += spec->from->elems;
  }
  tspec_rt_collective_spec_t spec = planner->joint->specs[0];
  spec.from = make_flat(planner, planner->joint->specs[0].from, elems);
  spec.to = make_flat(planner, planner->joint->specs[0].to, elems);
  joint->whole = get(planner, 1, sizeof *joint->whole);
  if (spec.from == NULL || spec.to == NULL || joint->whole == NULL) {
    return out_of_memory(planner);
  }
  joint->packed = reserve(joint, spec.from->bytes);
  TSPEC_RT_TRY(tspec_rt_collective_plan(planner->mesh, planner->rank, &spec, planner->pool,
                                        planner->error, joint->whole));
  joint->whole_scratch = reserve(joint, joint->whole->scratch_bytes);
  joint->method = TSPEC_RT_METHOD_REDUCE;
  joint->sent_bytes = joint->whole->sent_bytes;
  return TSPEC_RT_OK;
}

// ---- blocks side by side ------------------------------------------------------------------------

static tspec_rt_status_t plan_gather(planner_t *planner) {
  tspec_rt_joint_t *joint = planner->joint;
  int nmembers = joint->plans[0].spec.group->size;
  joint->method = TSPEC_RT_METHOD_GATHER;
  joint->gather_bytes = get(planner, nmembers, sizeof *joint->gather_bytes);
  joint->gather_offsets = get(planner, nmembers, sizeof *joint->gather_offsets);
  if (joint->gather_bytes == NULL || joint->gather_offsets == NULL) {
    return out_of_memory(planner);
  }
  int64_t packed = 0;
  for (int m = 0; m < nmembers; ++m) {
    joint->gather_offsets[m] = packed;
    for (int i = 0; i < joint->count; ++i) {
      joint->gather_bytes[m] += joint->plans[i].gather_bytes[m];
    }
    packed += joint->gather_bytes[m];
  }
  joint->packed = reserve(joint, packed);
  return TSPEC_RT_OK;
}

// ---- messages -----------------------------------------------------------------------------------

// Gives a place in scratch to what all plans send to (or receive from) each member, in one piece
// per member. Both ends have the plans in the same order.
static tspec_rt_status_t join_messages(planner_t *planner, bool sending) {
  tspec_rt_joint_t *joint = planner->joint;
  int *next = get(planner, joint->count, sizeof *next); // transfer of each plan; by rising member
  if (next == NULL) {
    return out_of_memory(planner);
  }
  for (int m = 0; m < joint->plans[0].spec.group->size; ++m) {
    tspec_rt_joint_message_t message = {.peer = m, .offset = joint->scratch_bytes};
    for (int i = 0; i < joint->count; ++i) {
      const tspec_rt_collective_t *plan = &joint->plans[i];
      tspec_rt_transfer_t *transfers = sending ? plan->sends : plan->recvs;
      if (next[i] < (sending ? plan->nsends : plan->nrecvs) && transfers[next[i]].peer == m) {
        tspec_rt_transfer_t *transfer = &transfers[next[i]++];
        transfer->scratch_offset = message.offset + message.bytes;
        message.bytes += transfer->bytes;
      }
    }
    if (message.bytes > 0) {
      (void)reserve(joint, message.bytes);
      joint->places[joint->nsends + joint->nrecvs] = message;
      *(sending ? &joint->nsends : &joint->nrecvs) += 1;
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t plan_exchange(planner_t *planner) {
  tspec_rt_joint_t *joint = planner->joint;
  int64_t most = 2 * (int64_t)joint->plans[0].spec.group->size;
  joint->method = TSPEC_RT_METHOD_EXCHANGE;
  joint->places = get(planner, most, sizeof *joint->places);
  joint->messages = get(planner, most, sizeof *joint->messages);
  if (joint->places == NULL || joint->messages == NULL) {
    return out_of_memory(planner);
  }
  for (int i = 0; i < joint->count; ++i) {
    const tspec_rt_collective_t *plan = &joint->plans[i];
    int64_t begin = reserve(joint, plan->scratch_bytes);
    for (int p = 0; plan->part_offsets != NULL && p < plan->nparts; ++p) {
      plan->part_offsets[p] += plan->part_offsets[p] >= 0 ? begin : 0;
    }
  }
  TSPEC_RT_TRY(join_messages(planner, true));
  return join_messages(planner, false);
}

// ---- all ----------------------------------------------------------------------------------------

static tspec_rt_status_t plan_each(planner_t *planner, bool exchanges) {
  tspec_rt_joint_t *joint = planner->joint;
  joint->sent_bytes = 0;
  for (int i = 0; i < joint->count; ++i) {
    tspec_rt_collective_spec_t spec = planner->joint->specs[i];
    spec.exchanges = exchanges;
    TSPEC_RT_TRY(tspec_rt_collective_plan(planner->mesh, planner->rank, &spec, planner->pool,
                                          planner->error, &joint->plans[i]));
    joint->sent_bytes += joint->plans[i].sent_bytes;
  }
  return TSPEC_RT_OK;
}

static bool all_gather(const tspec_rt_joint_t *joint) {
  for (int i = 0; i < joint->count; ++i) {
    if (joint->plans[i].method != TSPEC_RT_METHOD_GATHER) {
      return false;
    }
  }
  return true;
}

tspec_rt_status_t tspec_rt_joint_plan(const tspec_rt_mesh_t *mesh, int rank, tspec_rt_pool_t *pool,
                                      tspec_rt_error_t *error, tspec_rt_joint_t *joint) {
  planner_t planner = {pool, error, mesh, rank, joint};
  joint->plans = get(&planner, joint->count, sizeof *joint->plans);
  if (joint->plans == NULL) {
    return out_of_memory(&planner);
  }
  TSPEC_RT_TRY(plan_each(&planner, false));
  if (joint->specs[0].kind == TSPEC_IMAGE_ALL_REDUCE) {
    return plan_reduction(&planner);
  }
  if (joint->specs[0].group == NULL) {
    joint->method = TSPEC_RT_METHOD_LOCAL;
    return TSPEC_RT_OK;
  }
  if (all_gather(joint)) {
    return plan_gather(&planner);
  }
  TSPEC_RT_TRY(plan_each(&planner, true));
  return plan_exchange(&planner);
}
