// Plans by index arithmetic alone, without data: what each rank holds is a box.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/shard/axes.h"
#include "tests/property/reshards.h"

enum { MAX_PAIRS = 20000, SAMPLE = 24 };

typedef struct box_t {
  tspec_block_t dims[RESHARDS_MAX_RANK];
} box_t;

void reshard_fail(reshard_case_t *c, const char *format, ...) {
  if (c->has_failed) {
    return;
  }
  va_list args;
  va_start(args, format);
  vsnprintf(c->message, sizeof c->message, format, args);
  va_end(args);
  c->has_failed = true;
}

static box_t box_of(const reshard_case_t *c, const tspec_sharding_t *sharding, int64_t rank) {
  box_t box;
  tspec_sharding_blocks(&c->mesh, sharding, c->type, rank, box.dims);
  return box;
}

static int64_t volume(const reshard_case_t *c, const box_t *box) {
  int64_t elems = 1;
  for (int d = 0; d < c->type.rank; d++) {
    elems *= box->dims[d].end > box->dims[d].begin ? box->dims[d].end - box->dims[d].begin : 0;
  }
  return elems;
}

static box_t common(const reshard_case_t *c, const box_t *a, const box_t *b) {
  box_t box = {0};
  for (int d = 0; d < c->type.rank; d++) {
    box.dims[d].begin = a->dims[d].begin > b->dims[d].begin ? a->dims[d].begin : b->dims[d].begin;
    box.dims[d].end = a->dims[d].end < b->dims[d].end ? a->dims[d].end : b->dims[d].end;
  }
  return box;
}

static bool is_inside(const reshard_case_t *c, const box_t *inner, const box_t *outer) {
  box_t both = common(c, inner, outer);
  return volume(c, &both) == volume(c, inner);
}

// The rank with its coordinates along the axes replaced by 0.
static int64_t first_of_group(const reshard_case_t *c, const tspec_step_t *step, int64_t rank) {
  for (int i = 0; i < step->naxes; i++) {
    tspec_axis_t piece = step->axes[i];
    int64_t stride = c->mesh.axes[piece.axis].size / tspec_axis_next(piece);
    for (int k = piece.axis + 1; k < c->mesh.naxes; k++) {
      stride *= c->mesh.axes[k].size;
    }
    rank -= tspec_axis_coordinate(&c->mesh, rank, piece) * stride;
  }
  return rank;
}

static bool is_reduction(const tspec_step_t *step) {
  return step->kind == TSPEC_COLLECTIVE_ALL_REDUCE || step->kind == TSPEC_COLLECTIVE_REDUCE_SCATTER;
}

static bool is_local(const tspec_step_t *step) {
  return step->kind == TSPEC_COLLECTIVE_ALL_SLICE || step->kind == TSPEC_COLLECTIVE_MAKE_PENDING;
}

int64_t reshard_received(const reshard_case_t *c, tspec_steps_t steps, int64_t rank) {
  int64_t sum = 0;
  for (int i = 0; i < steps.count; i++) {
    box_t from = box_of(c, steps.items[i].from, rank);
    box_t to = box_of(c, steps.items[i].to, rank);
    box_t own = common(c, &from, &to);
    sum += is_reduction(&steps.items[i]) ? 0 : volume(c, &to) - volume(c, &own);
  }
  return sum;
}

// ---- one step ---------------------------------------------------------------------------------

typedef struct follow_t {
  reshard_case_t *c;
  const tspec_step_t *step;
  int index;
  int64_t *sent; // by rank, in elements
} follow_t;

static bool has_pending_alike(const follow_t *follow, int64_t a, int64_t b) {
  const tspec_sharding_t *from = follow->step->from;
  bool same = true;
  for (int i = 0; i < from->npending; i++) {
    same &= tspec_axis_coordinate(&follow->c->mesh, a, from->pending[i]) ==
            tspec_axis_coordinate(&follow->c->mesh, b, from->pending[i]);
  }
  return same;
}

// What one block of `from` gives a receiver, part by part: true if all of its senders hold it and
// may send it. Adds the elements to *found.
static bool follow_block(follow_t *follow, int64_t receiver, const box_t *wanted,
                         const int64_t *indices, int64_t *found) {
  reshard_case_t *c = follow->c;
  const tspec_step_t *step = follow->step;
  tspec_sharing_t sharing = tspec_step_sharing(c->type, step);
  for (int64_t p = 0; p < sharing.count; p++) {
    box_t held;
    for (int d = 0; d < c->type.rank; d++) {
      held.dims[d] =
          tspec_block(c->type.dims[d], tspec_dim_nblocks(&step->from->dims[d]), indices[d]);
    }
    held.dims[sharing.dim] = tspec_block_part(held.dims[sharing.dim], sharing.count, p);
    box_t part = common(c, &held, wanted);
    int64_t sender = tspec_step_sender(&c->mesh, step, receiver, indices, p);
    if (sender < 0 || sender >= c->nranks ||
        first_of_group(c, step, sender) != first_of_group(c, step, receiver) ||
        !has_pending_alike(follow, sender, receiver)) {
      return false;
    }
    box_t holds = box_of(c, step->from, sender);
    if (!is_inside(c, &part, &holds)) {
      return false;
    }
    *found += volume(c, &part);
    follow->sent[sender] += sender == receiver ? 0 : volume(c, &part);
  }
  return true;
}

// Blocks of `from` that a box overlaps, per dim.
static void find_range(const follow_t *follow, const box_t *wanted, int64_t *first, int64_t *last) {
  const reshard_case_t *c = follow->c;
  for (int d = 0; d < c->type.rank; d++) {
    int64_t size =
        tspec_block(c->type.dims[d], tspec_dim_nblocks(&follow->step->from->dims[d]), 0).end;
    first[d] = wanted->dims[d].begin / size;
    last[d] = (wanted->dims[d].end - 1) / size;
  }
}

static void follow_receiver(follow_t *follow, int64_t receiver) {
  reshard_case_t *c = follow->c;
  box_t wanted = box_of(c, follow->step->to, receiver);
  int64_t first[RESHARDS_MAX_RANK];
  int64_t last[RESHARDS_MAX_RANK];
  int64_t indices[RESHARDS_MAX_RANK];
  int64_t found = 0;
  if (volume(c, &wanted) == 0) {
    return;
  }
  find_range(follow, &wanted, first, last);
  memcpy(indices, first, sizeof indices);
  for (int d = 0; d >= 0;) {
    if (!follow_block(follow, receiver, &wanted, indices, &found)) {
      reshard_fail(c, "step %d: rank %d gets elements from one that cannot send them",
                   follow->index, (int)receiver);
      return;
    }
    for (d = c->type.rank - 1; d >= 0 && ++indices[d] > last[d]; d--) {
      indices[d] = first[d];
    }
  }
  if (found != volume(c, &wanted)) {
    reshard_fail(c, "step %d: rank %d needs %d elements and finds %d", follow->index, (int)receiver,
                 (int)volume(c, &wanted), (int)found);
  }
}

// A reduction adds up what all of the group have of the receiver's new block; what is local comes
// from the rank itself.
static void follow_inside(follow_t *follow, int64_t receiver) {
  reshard_case_t *c = follow->c;
  box_t wanted = box_of(c, follow->step->to, receiver);
  int64_t group = first_of_group(c, follow->step, receiver);
  for (int64_t r = 0; r < c->nranks; r++) {
    bool gives =
        is_local(follow->step) ? r == receiver : first_of_group(c, follow->step, r) == group;
    box_t held = box_of(c, follow->step->from, r);
    if (gives && !is_inside(c, &wanted, &held)) {
      reshard_fail(c, "step %d: rank %d lacks elements for rank %d", follow->index, (int)r,
                   (int)receiver);
      return;
    }
  }
}

static int64_t count_pairs(const follow_t *follow) {
  int64_t pairs = follow->c->nranks;
  if (is_reduction(follow->step) || is_local(follow->step)) {
    return pairs * pairs;
  }
  box_t wanted = box_of(follow->c, follow->step->to, 0);
  int64_t first[RESHARDS_MAX_RANK];
  int64_t last[RESHARDS_MAX_RANK];
  find_range(follow, &wanted, first, last);
  pairs *= tspec_step_sharing(follow->c->type, follow->step).count;
  for (int d = 0; d < follow->c->type.rank; d++) {
    pairs *= last[d] - first[d] + 1;
  }
  return pairs;
}

static bool follow_step(follow_t *follow) {
  reshard_case_t *c = follow->c;
  const tspec_step_t *step = follow->step;
  bool is_full = count_pairs(follow) <= MAX_PAIRS;
  int64_t every = is_full || c->nranks <= SAMPLE ? 1 : c->nranks / SAMPLE;
  bool inside = is_reduction(step) || is_local(step);
  memset(follow->sent, 0, sizeof *follow->sent * (size_t)c->nranks);
  for (int64_t r = 0; r < c->nranks; r += every) {
    int64_t rank = every > 1 && r > 0 ? r + reshard_draw(c, every) : r;
    rank = rank < c->nranks ? rank : c->nranks - 1;
    if (inside) {
      follow_inside(follow, rank);
    } else {
      follow_receiver(follow, rank);
    }
  }
  if (step->kind != TSPEC_COLLECTIVE_ALL_TO_ALL && step->kind != TSPEC_COLLECTIVE_PERMUTE) {
    return is_full;
  }
  int64_t most = 0;
  for (int64_t r = 0; r < c->nranks; r++) {
    most = follow->sent[r] > most ? follow->sent[r] : most;
  }
  int64_t cost = tspec_step_cost_bytes(&c->mesh, c->type, step);
  int64_t bytes = most * tspec_dtype_bytes(c->type.dtype);
  if (is_full && every == 1 ? cost != bytes : cost < bytes) {
    reshard_fail(c, "step %d: costs %lld bytes, %lld are sent", follow->index, (long long)cost,
                 (long long)bytes);
  }
  return is_full;
}

// ---- the whole --------------------------------------------------------------------------------

static void check_joints(reshard_case_t *c) {
  const tspec_sharding_t *at = tspec_sharding_drop_ones(c->arena, c->from);
  for (int i = 0; i < c->steps.count; i++) {
    const tspec_step_t *step = &c->steps.items[i];
    tspec_sources_t sources;
    tspec_diag_t diag;
    tspec_sources_init(&sources, c->arena);
    tspec_diag_init(&diag, &sources, NULL);
    if (!tspec_sharding_same_layout(step->from, at)) {
      reshard_fail(c, "step %d does not start where the last one ended", i);
    }
    if (!tspec_sharding_check(&c->mesh, step->to, "a step", (tspec_range_t){0}, &diag)) {
      reshard_fail(c, "step %d has no legal sharding", i);
    }
    if (!tspec_step_is_local_to_axes(&c->mesh, c->type, step)) {
      reshard_fail(c, "step %d reaches beyond its axes", i);
    }
    at = step->to;
  }
  if (!tspec_sharding_same_layout(at, tspec_sharding_drop_ones(c->arena, c->to))) {
    reshard_fail(c, "the steps end elsewhere");
  }
}

// No step makes a block larger than both the first and the last: what is whole at the end is
// gathered, nothing else is.
static void check_sizes(reshard_case_t *c) {
  box_t from = box_of(c, c->from, 0);
  box_t to = box_of(c, c->to, 0);
  int64_t most = volume(c, &from) > volume(c, &to) ? volume(c, &from) : volume(c, &to);
  for (int i = 0; i < c->steps.count; i++) {
    box_t made = box_of(c, c->steps.items[i].to, 0);
    if (volume(c, &made) > most) {
      reshard_fail(c, "step %d makes blocks of %lld elements, more than %lld", i,
                   (long long)volume(c, &made), (long long)most);
    }
  }
}

static bool dim_differs(const reshard_case_t *c, int d) {
  const tspec_dim_t *a = &c->from->dims[d];
  const tspec_dim_t *b = &c->to->dims[d];
  return !tspec_axes_equal(a->axes, a->naxes, b->axes, b->naxes);
}

static void count_rank(reshard_case_t *c, int64_t rank, reshard_traffic_t *most) {
  box_t from = box_of(c, c->from, rank);
  box_t to = box_of(c, c->to, rank);
  box_t own = common(c, &from, &to);
  box_t whole = from;
  for (int d = 0; d < c->type.rank; d++) {
    if (dim_differs(c, d)) {
      whole.dims[d] = (tspec_block_t){0, c->type.dims[d]};
    }
  }
  int64_t plan = reshard_received(c, c->steps, rank);
  int64_t lacking = volume(c, &to) - volume(c, &own);
  int64_t gather = volume(c, &whole) - volume(c, &from);
  most->plan = plan > most->plan ? plan : most->plan;
  most->lacking = lacking > most->lacking ? lacking : most->lacking;
  most->gather = gather > most->gather ? gather : most->gather;
  most->first_gather = rank == 0 ? gather : most->first_gather;
}

void reshard_follow(reshard_case_t *c, reshard_traffic_t *out_traffic) {
  follow_t follow = {.c = c, .sent = TSPEC_ARENA_NEW(c->arena, int64_t, c->nranks)};
  *out_traffic = (reshard_traffic_t){.is_full = true};
  check_joints(c);
  for (int i = 0; i < c->steps.count && !c->has_failed; i++) {
    follow.step = &c->steps.items[i];
    follow.index = i;
    out_traffic->is_full &= follow_step(&follow);
  }
  check_sizes(c);
  for (int64_t r = 0; r < c->nranks; r++) {
    count_rank(c, r, out_traffic);
  }
  bool reduces = false;
  for (int i = 0; i < c->steps.count; i++) {
    reduces |= is_reduction(&c->steps.items[i]);
  }
  if (!reduces && out_traffic->plan > out_traffic->gather) {
    reshard_fail(c, "the busiest rank receives %lld elements, by gather and slice %lld",
                 (long long)out_traffic->plan, (long long)out_traffic->gather);
  }
  if (!reduces && out_traffic->lacking == 0 &&
      tspec_steps_cost_bytes(&c->mesh, c->type, c->steps) != 0) {
    reshard_fail(c, "no rank lacks anything, and bytes are sent");
  }
}
