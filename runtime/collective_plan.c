// Plans of collectives. Each rank works out its own sends and receives from the shardings, in time
// linear in the group.
#include "runtime/collective.h"

enum {
  ALIGNMENT = 64,
  // Up to here all partial results go to everyone in one call; beyond, each member reduces a share.
  // Twice the calls of a small message cost more than k times its bytes (perf.md 3).
  GATHER_COMBINE_BYTES = 32 * 1024,
  // From here on, in groups of at most so many, reducing shares and gathering them beats Open MPI's
  // own allreduce by 10 to 30 % (measured on 2, 4 and 8 ranks of one host).
  SHARES_BYTES = 4 * 1024 * 1024,
  SHARES_GROUP = 32,
};

// One member of the group, seen from the plan.
typedef struct member_t {
  int64_t rank;
  int64_t part; ///< coordinate along what is reduced
  int64_t rest; ///< coordinate along what stays pending
  int64_t key;  ///< equal for members that hold the same elements of the same partial result
  int64_t copy; ///< which of those: coordinate along the axes that `from` does not use
  int64_t turn; ///< coordinate along the axes that `to` does not use: others need the same
} member_t;

typedef struct planner_t {
  const tspec_rt_mesh_t *mesh;
  const tspec_rt_collective_spec_t *spec;
  tspec_rt_pool_t *pool;
  tspec_rt_error_t *error;
  tspec_rt_collective_t *plan;
  int nmembers;
  int me;
  const int *members;
  tspec_rt_pieces_t reduced;    ///< pending before, not after
  tspec_rt_pieces_t kept;       ///< pending before and after
  tspec_rt_pieces_t from_spare; ///< axes of the group along which blocks of `from` are copies
  tspec_rt_pieces_t to_spare;   ///< the same of `to`
  int shared;                   ///< dim along which copies share the sending of a block
} planner_t;

#define FAIL(planner, ...)                                                                         \
  tspec_rt_fail((planner)->error, TSPEC_RT_IMAGE, "program image: " __VA_ARGS__)

static void *get(planner_t *planner, int64_t count, size_t bytes) {
  return tspec_rt_pool_get(planner->pool, (size_t)count, bytes);
}

static tspec_rt_status_t out_of_memory(planner_t *planner) {
  return tspec_rt_fail(planner->error, TSPEC_RT_MEMORY, "out of memory while planning collectives");
}

static int64_t reserve(tspec_rt_collective_t *plan, int64_t bytes) {
  int64_t offset = plan->scratch_bytes;
  plan->scratch_bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return offset;
}

// The parts of `piece` that lie between the multiplicative bounds [begin, end) of its axis; empty
// if size is 1.
static tspec_image_piece_t clip(const tspec_image_piece_t *piece, int64_t begin, int64_t end) {
  int64_t low = piece->pre > begin ? piece->pre : begin;
  int64_t high = piece->pre * piece->size < end ? piece->pre * piece->size : end;
  bool fits = high > low && high % low == 0;
  return (tspec_image_piece_t){.axis = piece->axis, .pre = low, .size = fits ? high / low : 1};
}

// The first piece of `list` on the axis of `piece` that reaches beyond `done` and begins before
// `end`.
static const tspec_image_piece_t *
next_piece(tspec_rt_pieces_t list, const tspec_image_piece_t *piece, int64_t done, int64_t end) {
  const tspec_image_piece_t *next = NULL;
  for (int i = 0; i < list.count; ++i) {
    const tspec_image_piece_t *candidate = &list.pieces[i];
    if (candidate->axis == piece->axis && candidate->size > 1 && candidate->pre < end &&
        candidate->pre * candidate->size > done && (next == NULL || candidate->pre < next->pre)) {
      next = candidate;
    }
  }
  return next;
}

// Splits the pieces of `list` into what `used` has of them, and the rest, cut along the pieces of
// `used`.
static tspec_rt_status_t split_pieces(planner_t *planner, tspec_rt_pieces_t list,
                                      tspec_rt_pieces_t used, tspec_rt_pieces_t *out_common,
                                      tspec_rt_pieces_t *out_rest) {
  int64_t room = list.count + 2 * used.count + 2;
  tspec_image_piece_t *common = get(planner, room, sizeof *common);
  tspec_image_piece_t *rest = get(planner, room, sizeof *rest);
  if (common == NULL || rest == NULL) {
    return out_of_memory(planner);
  }
  *out_common = (tspec_rt_pieces_t){0, common};
  *out_rest = (tspec_rt_pieces_t){0, rest};
  for (int i = 0; i < list.count; ++i) {
    const tspec_image_piece_t *piece = &list.pieces[i];
    int64_t done = piece->pre;
    int64_t end = piece->pre * piece->size;
    while (done < end) {
      const tspec_image_piece_t *next = next_piece(used, piece, done, end);
      int64_t until = next == NULL ? end : (next->pre > done ? next->pre : done);
      tspec_image_piece_t gap = clip(piece, done, until);
      tspec_image_piece_t shared = next == NULL ? gap : clip(next, until, end);
      rest[out_rest->count] = gap;
      out_rest->count += gap.size > 1;
      if (next == NULL || shared.size == 1) {
        break; // if a piece was left that does not refine this one, the sizes will not add up
      }
      common[out_common->count++] = shared;
      done = shared.pre * shared.size;
    }
  }
  if (tspec_rt_pieces_size(*out_common) * tspec_rt_pieces_size(*out_rest) !=
      tspec_rt_pieces_size(list)) {
    return FAIL(planner, "pieces of an axis that do not fit together");
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t split_pending(planner_t *planner) {
  tspec_rt_pieces_t after = planner->spec->to->layout.pending;
  TSPEC_RT_TRY(split_pieces(planner, planner->spec->from->layout.pending, after, &planner->kept,
                            &planner->reduced));
  if (tspec_rt_pieces_size(planner->kept) != tspec_rt_pieces_size(after)) {
    return FAIL(planner, "a collective makes a value pending that was not");
  }
  return TSPEC_RT_OK;
}

// The axes of the group that a layout does not use.
static tspec_rt_status_t find_spare(planner_t *planner, const tspec_rt_layout_t *layout,
                                    tspec_rt_pieces_t *out_spare) {
  int count = layout->pending.count;
  for (int d = 0; d < layout->ndims; ++d) {
    count += layout->splits[d].count;
  }
  tspec_image_piece_t *used = get(planner, count, sizeof *used);
  if (used == NULL) {
    return out_of_memory(planner);
  }
  count = 0;
  for (int d = 0; d <= layout->ndims; ++d) {
    tspec_rt_pieces_t some = d < layout->ndims ? layout->splits[d] : layout->pending;
    for (int i = 0; i < some.count; ++i) {
      used[count++] = some.pieces[i];
    }
  }
  tspec_rt_pieces_t common;
  return split_pieces(planner, planner->spec->axes, (tspec_rt_pieces_t){count, used}, &common,
                      out_spare);
}

// The dim along which copies share the sending of a block: where the smaller of the blocks of both
// tensors is longest. It is the compiler's choice, too, whose predictions count on it
// (ir/shard/cost.h: tspec_step_sharing).
static int shared_dim(const planner_t *planner) {
  const tspec_rt_tensor_t *tensors[2] = {planner->spec->from, planner->spec->to};
  int64_t longest = -1;
  int dim = 0;
  for (int d = 0; d < tensors[0]->layout.ndims; ++d) {
    int64_t length = INT64_MAX;
    for (int i = 0; i < 2; ++i) {
      int64_t begin;
      int64_t end;
      tspec_rt_block(tensors[i]->layout.dims[d].size,
                     tspec_rt_pieces_size(tensors[i]->layout.splits[d]), 0, &begin, &end);
      length = end < length ? end : length;
    }
    if (length > longest) {
      longest = length;
      dim = d;
    }
  }
  return dim;
}

static member_t member_at(const planner_t *planner, int index) {
  member_t member = {.rank = planner->members[index]};
  const tspec_rt_mesh_t *mesh = planner->mesh;
  member.part = tspec_rt_pieces_coordinate(mesh, planner->reduced, member.rank);
  member.rest = tspec_rt_pieces_coordinate(mesh, planner->kept, member.rank);
  member.key = tspec_rt_layout_block_number(mesh, &planner->spec->from->layout, member.rank);
  member.key = member.key * tspec_rt_pieces_size(planner->kept) + member.rest;
  member.key = member.key * tspec_rt_pieces_size(planner->reduced) + member.part;
  member.copy = tspec_rt_pieces_coordinate(mesh, planner->from_spare, member.rank);
  member.turn = tspec_rt_pieces_coordinate(mesh, planner->to_spare, member.rank);
  return member;
}

static tspec_rt_box_t from_box(const planner_t *planner, const member_t *member) {
  return tspec_rt_layout_box(planner->mesh, &planner->spec->from->layout, member->rank);
}

// What the result shows of a block of `from`.
static tspec_rt_box_t shown_box(const planner_t *planner, const tspec_rt_box_t *box) {
  return tspec_rt_box_shown(box, planner->spec->windows);
}

static tspec_rt_box_t to_box(const planner_t *planner, const member_t *member) {
  return tspec_rt_layout_box(planner->mesh, &planner->spec->to->layout, member->rank);
}

// True if `taker` may get what it needs of `giver`'s block from `giver`: it holds no such block
// itself.
static bool takes_from(const member_t *taker, const member_t *giver) {
  return taker->rest == giver->rest && taker->key != giver->key;
}

// What `taker` gets of `giver`'s block: the copies share it, each a part, in turn for those that
// need the same.
static tspec_rt_box_t given_box(const planner_t *planner, const member_t *taker,
                                const member_t *giver) {
  tspec_rt_box_t box = from_box(planner, giver);
  int64_t ncopies = tspec_rt_pieces_size(planner->from_spare);
  if (ncopies == 1 || box.ndims == 0) {
    return box;
  }
  int d = planner->shared;
  int64_t part = (giver->copy + ncopies - taker->turn % ncopies) % ncopies;
  int64_t begin;
  int64_t end;
  tspec_rt_block(box.end[d] - box.begin[d], ncopies, part, &begin, &end);
  box.end[d] = box.begin[d] + end;
  box.begin[d] += begin;
  return box;
}

static tspec_rt_status_t plan_sends(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  plan->sends = get(planner, planner->nmembers, sizeof *plan->sends);
  if (plan->sends == NULL) {
    return out_of_memory(planner);
  }
  int64_t elem_bytes = tspec_rt_dtype_bytes(planner->spec->from->dtype);
  member_t self = member_at(planner, planner->me);
  const tspec_rt_box_t *box = &planner->spec->from->box;
  for (int i = 0; i < planner->nmembers; ++i) {
    member_t other = member_at(planner, i);
    if (i == planner->me || !takes_from(&other, &self)) {
      continue;
    }
    tspec_rt_box_t given = given_box(planner, &other, &self);
    tspec_rt_box_t shown = shown_box(planner, &given);
    tspec_rt_box_t wanted = to_box(planner, &other);
    tspec_rt_box_t part = tspec_rt_box_intersect(&shown, &wanted);
    tspec_rt_transfer_t *send = &plan->sends[plan->nsends];
    send->peer = i;
    send->bytes = tspec_rt_box_elems(&part) * elem_bytes;
    if (send->bytes == 0) {
      continue;
    }
    send->copy = tspec_rt_copy_plan_window(box, planner->spec->windows, &part, &part, elem_bytes);
    send->scratch_offset = tspec_rt_copy_is_run(&send->copy) ? -1 : reserve(plan, send->bytes);
    plan->nsends += 1;
  }
  return TSPEC_RT_OK;
}

static void plan_recv(planner_t *planner, int index, const member_t *giver,
                      const tspec_rt_box_t *part) {
  tspec_rt_collective_t *plan = planner->plan;
  int64_t elem_bytes = tspec_rt_dtype_bytes(planner->spec->to->dtype);
  tspec_rt_transfer_t *recv = &plan->recvs[plan->nrecvs++];
  recv->peer = index;
  recv->part = (int)giver->part;
  recv->bytes = tspec_rt_box_elems(part) * elem_bytes;
  recv->copy = tspec_rt_copy_plan(part, &planner->spec->to->box, part, elem_bytes);
  recv->scratch_offset = tspec_rt_copy_is_run(&recv->copy) ? -1 : reserve(plan, recv->bytes);
}

// Elements of this rank's block of the result that come from the operand.
static int64_t wanted_elems(const planner_t *planner) {
  tspec_rt_box_t all = tspec_rt_layout_whole(&planner->spec->from->layout);
  tspec_rt_box_t shown = shown_box(planner, &all);
  tspec_rt_box_t wanted = tspec_rt_box_intersect(&shown, &planner->spec->to->box);
  return tspec_rt_box_elems(&wanted);
}

static tspec_rt_status_t plan_recvs(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  const tspec_rt_tensor_t *to = planner->spec->to;
  plan->recvs = get(planner, planner->nmembers, sizeof *plan->recvs);
  int64_t *found = get(planner, plan->nparts, sizeof *found);
  if (plan->recvs == NULL || found == NULL) {
    return out_of_memory(planner);
  }
  member_t self = member_at(planner, planner->me);
  plan->own_part = (int)self.part;
  for (int i = 0; i < planner->nmembers; ++i) {
    member_t other = member_at(planner, i);
    bool own = i == planner->me;
    if (!own && !takes_from(&self, &other)) {
      continue;
    }
    tspec_rt_box_t held = own ? from_box(planner, &other) : given_box(planner, &self, &other);
    tspec_rt_box_t shown = shown_box(planner, &held);
    tspec_rt_box_t part = tspec_rt_box_intersect(&shown, &to->box);
    int64_t elems = tspec_rt_box_elems(&part);
    found[other.part] += elems;
    if (elems == 0) {
      continue;
    }
    if (own) {
      plan->has_local = true;
      plan->local = tspec_rt_copy_plan_window(&held, planner->spec->windows, &to->box, &part,
                                              tspec_rt_dtype_bytes(to->dtype));
    } else {
      plan_recv(planner, i, &other, &part);
    }
  }
  int64_t wanted = wanted_elems(planner);
  for (int p = 0; p < plan->nparts; ++p) {
    if (found[p] != wanted) {
      return FAIL(planner, "a collective in which rank %d needs %lld elements and finds %lld",
                  planner->members[planner->me], (long long)wanted, (long long)found[p]);
    }
  }
  return TSPEC_RT_OK;
}

// Partial results are kept apart until they are combined; this rank's own is used where it lies if
// it is one run.
static tspec_rt_status_t plan_parts(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  const tspec_rt_tensor_t *to = planner->spec->to;
  plan->part_offsets = get(planner, plan->nparts, sizeof *plan->part_offsets);
  plan->parts = (const void **)get(planner, plan->nparts, sizeof *plan->parts);
  if (plan->part_offsets == NULL || plan->parts == NULL) {
    return out_of_memory(planner);
  }
  for (int p = 0; p < plan->nparts; ++p) {
    bool in_place = p == plan->own_part && plan->has_local && plan->local.run_bytes == to->bytes;
    plan->part_offsets[p] = in_place ? -1 : reserve(plan, to->bytes);
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t plan_messages(planner_t *planner, int64_t count) {
  planner->plan->messages = get(planner, count, sizeof(tspec_comm_part_t));
  return planner->plan->messages == NULL ? out_of_memory(planner) : TSPEC_RT_OK;
}

static tspec_rt_status_t plan_exchange(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  plan->method = planner->nmembers == 1 ? TSPEC_RT_METHOD_LOCAL : TSPEC_RT_METHOD_EXCHANGE;
  TSPEC_RT_TRY(plan_sends(planner));
  TSPEC_RT_TRY(plan_recvs(planner));
  if (plan->nparts > 1) {
    TSPEC_RT_TRY(plan_parts(planner));
  }
  return plan_messages(planner, plan->nsends + plan->nrecvs);
}

// The backend's allgather serves if everyone needs the same box and each member holds a part of its
// own of it.
static bool can_gather(const planner_t *planner) {
  if (planner->plan->nparts > 1 || tspec_rt_pieces_size(planner->from_spare) > 1) {
    return false;
  }
  member_t self = member_at(planner, planner->me);
  for (int i = 0; i < planner->nmembers; ++i) {
    member_t other = member_at(planner, i);
    tspec_rt_box_t wanted = to_box(planner, &other);
    tspec_rt_box_t held = from_box(planner, &other);
    tspec_rt_box_t part = tspec_rt_box_intersect(&held, &wanted);
    if (other.rest != self.rest || !tspec_rt_box_equal(&wanted, &planner->spec->to->box) ||
        tspec_rt_box_elems(&part) != tspec_rt_box_elems(&held)) {
      return false;
    }
  }
  return true;
}

// Turns an exchange into a gather: every member's block in the order of the group, straight into
// the result if each is one run there.
static tspec_rt_status_t plan_gather(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  const tspec_rt_tensor_t *to = planner->spec->to;
  int64_t elem_bytes = tspec_rt_dtype_bytes(to->dtype);
  plan->method = TSPEC_RT_METHOD_GATHER;
  plan->scratch_bytes = 0;
  plan->recvs = get(planner, planner->nmembers, sizeof *plan->recvs);
  plan->gather_bytes = get(planner, planner->nmembers, sizeof *plan->gather_bytes);
  plan->gather_offsets = get(planner, planner->nmembers, sizeof *plan->gather_offsets);
  if (plan->recvs == NULL || plan->gather_bytes == NULL || plan->gather_offsets == NULL) {
    return out_of_memory(planner);
  }
  bool direct = true;
  int64_t packed = 0;
  plan->nrecvs = planner->nmembers;
  for (int i = 0; i < planner->nmembers; ++i) {
    member_t other = member_at(planner, i);
    tspec_rt_box_t held = from_box(planner, &other);
    plan->recvs[i].copy = tspec_rt_copy_plan(&held, &to->box, &held, elem_bytes);
    plan->gather_bytes[i] = tspec_rt_box_elems(&held) * elem_bytes;
    plan->gather_offsets[i] = packed;
    packed += plan->gather_bytes[i];
    direct = direct && tspec_rt_copy_is_run(&plan->recvs[i].copy);
  }
  for (int i = 0; direct && i < planner->nmembers; ++i) {
    plan->gather_offsets[i] = plan->recvs[i].copy.to_offset;
  }
  plan->gather_scratch = direct ? -1 : reserve(plan, packed);
  return TSPEC_RT_OK;
}

// Every member holds a partial result of the same block, and all of them are reduced.
static bool is_plain_reduction(const planner_t *planner) {
  const tspec_rt_collective_spec_t *spec = planner->spec;
  if (planner->plan->nparts != planner->nmembers ||
      !tspec_rt_box_equal(&spec->from->box, &spec->to->box)) {
    return false;
  }
  for (int i = 0; i < planner->nmembers; ++i) {
    member_t other = member_at(planner, i);
    tspec_rt_box_t held = from_box(planner, &other);
    tspec_rt_box_t wanted = to_box(planner, &other);
    if (!tspec_rt_box_equal(&held, &spec->from->box) ||
        !tspec_rt_box_equal(&wanted, &spec->to->box)) {
      return false;
    }
  }
  return true;
}

static void plan_shares(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  int64_t elem_bytes = tspec_rt_dtype_bytes(planner->spec->to->dtype);
  for (int i = 0; i < planner->nmembers; ++i) {
    int64_t begin = 0;
    int64_t end = 0;
    tspec_rt_block(planner->spec->to->elems, planner->nmembers, i, &begin, &end);
    plan->gather_bytes[i] = (end - begin) * elem_bytes;
    plan->gather_offsets[i] = begin * elem_bytes;
  }
}

static tspec_rt_status_t plan_reduction(planner_t *planner) {
  tspec_rt_collective_t *plan = planner->plan;
  const tspec_rt_collective_spec_t *spec = planner->spec;
  int64_t bytes = spec->from->bytes;
  if (planner->nmembers == 1) {
    plan->method = TSPEC_RT_METHOD_LOCAL;
    plan->has_local = true;
    plan->local = tspec_rt_copy_plan(&spec->from->box, &spec->to->box, &spec->to->box,
                                     tspec_rt_dtype_bytes(spec->to->dtype));
    return TSPEC_RT_OK;
  }
  bool ordered = (spec->deterministic && tspec_rt_dtype_is_float(spec->from->dtype)) ||
                 (bytes >= SHARES_BYTES && planner->nmembers <= SHARES_GROUP);
  if (!ordered && spec->group->comm->ops->can_reduce(spec->from->dtype, spec->reduce)) {
    plan->method = TSPEC_RT_METHOD_REDUCE;
    return TSPEC_RT_OK;
  }
  plan->own_part = planner->me;
  plan->gather_bytes = get(planner, planner->nmembers, sizeof *plan->gather_bytes);
  plan->gather_offsets = get(planner, planner->nmembers, sizeof *plan->gather_offsets);
  plan->parts = (const void **)get(planner, planner->nmembers, sizeof *plan->parts);
  if (plan->gather_bytes == NULL || plan->gather_offsets == NULL || plan->parts == NULL) {
    return out_of_memory(planner);
  }
  if (bytes * planner->nmembers <= GATHER_COMBINE_BYTES) {
    plan->method = TSPEC_RT_METHOD_GATHER_COMBINE;
    for (int i = 0; i < planner->nmembers; ++i) {
      plan->gather_bytes[i] = bytes;
      plan->gather_offsets[i] = bytes * i;
    }
    plan->gather_scratch = reserve(plan, bytes * planner->nmembers);
    return TSPEC_RT_OK;
  }
  plan->method = TSPEC_RT_METHOD_SCATTER_GATHER;
  plan_shares(planner);
  plan->gather_scratch = reserve(plan, plan->gather_bytes[planner->me] * planner->nmembers);
  return plan_messages(planner, 2 * (int64_t)planner->nmembers);
}

// Smallest block of a tensor within the group.
static int64_t smallest_bytes(const planner_t *planner, const tspec_rt_tensor_t *tensor) {
  int64_t smallest = tensor->elems;
  for (int i = 0; i < planner->nmembers; ++i) {
    tspec_rt_box_t box = tspec_rt_layout_box(planner->mesh, &tensor->layout, planner->members[i]);
    int64_t elems = tspec_rt_box_elems(&box);
    smallest = elems < smallest ? elems : smallest;
  }
  return smallest * tspec_rt_dtype_bytes(tensor->dtype);
}

// Ring convention (design.md, Costs): what a bandwidth-optimal algorithm makes the busiest rank
// send.
static int64_t count_bytes(const planner_t *planner) {
  const tspec_rt_collective_spec_t *spec = planner->spec;
  int64_t size = planner->nmembers;
  int64_t bytes = 0;
  switch (spec->kind) {
  case TSPEC_IMAGE_ALL_REDUCE:
    return (2 * (size - 1) * spec->from->bytes + size - 1) / size;
  case TSPEC_IMAGE_ALL_GATHER:
    bytes = spec->to->bytes - smallest_bytes(planner, spec->from);
    return bytes > 0 ? bytes : 0;
  case TSPEC_IMAGE_REDUCE_SCATTER:
    bytes = spec->from->bytes - smallest_bytes(planner, spec->to);
    return bytes > 0 ? bytes : 0;
  default:
    for (int i = 0; i < planner->plan->nsends; ++i) {
      bytes += planner->plan->sends[i].bytes;
    }
    return bytes;
  }
}

static tspec_rt_status_t check_kind(planner_t *planner) {
  bool reduces = planner->spec->kind == TSPEC_IMAGE_ALL_REDUCE ||
                 planner->spec->kind == TSPEC_IMAGE_REDUCE_SCATTER;
  if (!reduces && planner->plan->nparts > 1) {
    return FAIL(planner, "a collective of kind %u would have to reduce", planner->spec->kind);
  }
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_collective_plan(const tspec_rt_mesh_t *mesh, int rank,
                                           const tspec_rt_collective_spec_t *spec,
                                           tspec_rt_pool_t *pool, tspec_rt_error_t *error,
                                           tspec_rt_collective_t *out_plan) {
  *out_plan =
      (tspec_rt_collective_t){.spec = *spec, .nparts = 1, .gather_scratch = -1, .mine_scratch = -1};
  planner_t planner = {.mesh = mesh, .spec = spec, .pool = pool, .error = error, .plan = out_plan};
  bool alone = spec->group == NULL || spec->kind == TSPEC_IMAGE_ALL_SLICE;
  planner.nmembers = alone ? 1 : spec->group->size;
  planner.me = alone ? 0 : spec->group->index;
  planner.members = alone ? &rank : spec->group->members;
  TSPEC_RT_TRY(split_pending(&planner));
  out_plan->nparts = (int)tspec_rt_pieces_size(planner.reduced);
  TSPEC_RT_TRY(check_kind(&planner));
  TSPEC_RT_TRY(find_spare(&planner, &spec->from->layout, &planner.from_spare));
  TSPEC_RT_TRY(find_spare(&planner, &spec->to->layout, &planner.to_spare));
  planner.shared = shared_dim(&planner);
  if (spec->kind == TSPEC_IMAGE_ALL_REDUCE && is_plain_reduction(&planner)) {
    TSPEC_RT_TRY(plan_reduction(&planner));
  } else {
    TSPEC_RT_TRY(plan_exchange(&planner));
    if (spec->kind == TSPEC_IMAGE_ALL_GATHER && !spec->exchanges && planner.nmembers > 1 &&
        can_gather(&planner)) {
      TSPEC_RT_TRY(plan_gather(&planner));
    }
  }
  out_plan->sent_bytes = count_bytes(&planner);
  return TSPEC_RT_OK;
}
