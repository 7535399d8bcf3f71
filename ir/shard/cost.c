#include "ir/shard/cost.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"
#include "ir/shard/decompose.h"

const char *tspec_collective_name(tspec_collective_t kind) {
  static const char *const names[] = {
      [TSPEC_COLLECTIVE_ALL_REDUCE] = "all_reduce",
      [TSPEC_COLLECTIVE_ALL_GATHER] = "all_gather",
      [TSPEC_COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
      [TSPEC_COLLECTIVE_ALL_TO_ALL] = "all_to_all",
      [TSPEC_COLLECTIVE_PERMUTE] = "permute",
      [TSPEC_COLLECTIVE_ALL_SLICE] = "all_slice",
      [TSPEC_COLLECTIVE_MAKE_PENDING] = "make_pending",
  };
  return names[kind];
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static bool dims_equal(const tspec_dim_t *a, const tspec_dim_t *b) {
  return tspec_axes_equal(a->axes, a->naxes, b->axes, b->naxes);
}

// ---- who sends to whom ------------------------------------------------------------------------

// The parts of an axis group that a sharding leaves unused: along them blocks are copies.
typedef struct spare_t {
  int count;
  tspec_axis_t axes[TSPEC_MAX_ATOMS];
} spare_t;

typedef struct route_t {
  const tspec_mesh_t *mesh;
  const tspec_step_t *step;
  spare_t from;
  spare_t to;
} route_t;

static spare_t find_spare(const tspec_step_t *step, const tspec_sharding_t *sharding) {
  spare_t spare = {0};
  spare_t rest = {.count = step->naxes};
  memcpy(rest.axes, step->axes, sizeof *step->axes * (size_t)step->naxes);
  for (int d = 0; d <= sharding->rank; d++) {
    const tspec_axis_t *used = d < sharding->rank ? sharding->dims[d].axes : sharding->pending;
    int nused = d < sharding->rank ? sharding->dims[d].naxes : sharding->npending;
    spare.count = 0;
    bool ok = tspec_axes_subtract(rest.axes, rest.count, used, nused, spare.axes, &spare.count);
    TSPEC_CHECK(ok, "axes of a collective must refine those of its shardings");
    rest = spare;
  }
  return spare;
}

static route_t make_route(const tspec_mesh_t *mesh, const tspec_step_t *step) {
  return (route_t){mesh, step, find_spare(step, step->from), find_spare(step, step->to)};
}

static int64_t spare_index(const route_t *route, const spare_t *spare, int64_t rank) {
  int64_t index = 0;
  for (int i = 0; i < spare->count; i++) {
    index = index * spare->axes[i].size + tspec_axis_coordinate(route->mesh, rank, spare->axes[i]);
  }
  return index;
}

// `rank` with its coordinate along `piece` replaced.
static int64_t with_coordinate(const tspec_mesh_t *mesh, int64_t rank, tspec_axis_t piece,
                               int64_t coordinate) {
  int64_t stride = mesh->axes[piece.axis].size / tspec_axis_next(piece);
  for (int i = piece.axis + 1; i < mesh->naxes; i++) {
    stride *= mesh->axes[i].size;
  }
  return rank + (coordinate - tspec_axis_coordinate(mesh, rank, piece)) * stride;
}

static int64_t with_index(const tspec_mesh_t *mesh, int64_t rank, const tspec_axis_t *axes,
                          int naxes, int64_t index) {
  for (int i = naxes - 1; i >= 0; i--) {
    rank = with_coordinate(mesh, rank, axes[i], index % axes[i].size);
    index /= axes[i].size;
  }
  return rank;
}

static int64_t ncopies(const route_t *route) {
  return tspec_axes_product(route->from.axes, route->from.count);
}

// Which of the copies gives a receiver that part.
static int64_t copy_index(const route_t *route, int64_t receiver, int64_t part) {
  return (part + spare_index(route, &route->to, receiver)) % ncopies(route);
}

tspec_sharing_t tspec_step_sharing(tspec_type_t type, const tspec_step_t *step) {
  spare_t spare = find_spare(step, step->from);
  tspec_sharing_t sharing = {tspec_axes_product(spare.axes, spare.count), 0};
  int64_t longest = -1;
  for (int d = 0; d < type.rank; d++) {
    int64_t size = step->windows != NULL ? step->windows[d].size : type.dims[d];
    int64_t from = tspec_block(type.dims[d], tspec_dim_nblocks(&step->from->dims[d]), 0).end;
    int64_t to = tspec_block(size, tspec_dim_nblocks(&step->to->dims[d]), 0).end;
    int64_t length = from < to ? from : to;
    if (length > longest) {
      longest = length;
      sharing.dim = d;
    }
  }
  return sharing;
}

tspec_block_t tspec_block_part(tspec_block_t block, int64_t nparts, int64_t part) {
  tspec_block_t within = tspec_block(block.end - block.begin, nparts, part);
  return (tspec_block_t){block.begin + within.begin, block.begin + within.end};
}

int64_t tspec_step_sender(const tspec_mesh_t *mesh, const tspec_step_t *step, int64_t receiver,
                          const int64_t *block_indices, int64_t part) {
  route_t route = make_route(mesh, step);
  const tspec_sharding_t *from = step->from;
  bool own = true;
  for (int d = 0; d < from->rank; d++) {
    own &= tspec_dim_block_index(mesh, &from->dims[d], receiver) == block_indices[d];
  }
  if (own) {
    return receiver;
  }
  int64_t sender = with_index(mesh, receiver, route.from.axes, route.from.count,
                              copy_index(&route, receiver, part));
  for (int d = 0; d < from->rank; d++) {
    sender = with_index(mesh, sender, from->dims[d].axes, from->dims[d].naxes, block_indices[d]);
  }
  return sender;
}

// ---- all_to_all and permute -------------------------------------------------------------------

// One operand of an exchange, by the dims that are kept.
typedef struct part_t {
  tspec_step_t step;
  int64_t *sizes; // of the operand
  route_t route;
  tspec_sharing_t sharing;
  bool has_windows;
} part_t;

// The dims that a collective changes, on a mesh of only the axes that matter to them: dims that
// stay are a factor, and the ranks that differ along other axes do the same.
typedef struct exchange_t {
  tspec_arena_t *arena;
  tspec_mesh_t mesh;
  int count;
  part_t *parts;
  int64_t bytes; // of one element of those, times the largest block of the dims left out
} exchange_t;

static bool is_changed(tspec_type_t type, const tspec_step_t *step, int d) {
  return !dims_equal(&step->from->dims[d], &step->to->dims[d]) ||
         (step->windows != NULL && !tspec_window_is_identity(&step->windows[d], type.dims[d]));
}

static const tspec_axis_t *renumber(exchange_t *exchange, const int *numbers,
                                    const tspec_axis_t *axes, int naxes) {
  tspec_axis_t *copy = tspec_arena_copy(exchange->arena, axes, sizeof *axes * (size_t)naxes);
  for (int i = 0; i < naxes; i++) {
    copy[i].axis = numbers[axes[i].axis];
  }
  return copy;
}

static const tspec_sharding_t *keep_dims(exchange_t *exchange, const int *numbers,
                                         const bool *is_kept, const tspec_sharding_t *sharding) {
  tspec_sharding_t *kept = TSPEC_ARENA_NEW(exchange->arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(exchange->arena, tspec_dim_t, sharding->rank);
  for (int d = 0; d < sharding->rank; d++) {
    if (is_kept[d]) {
      const tspec_dim_t *dim = &sharding->dims[d];
      dims[kept->rank++] = (tspec_dim_t){
          .naxes = dim->naxes, .axes = renumber(exchange, numbers, dim->axes, dim->naxes)};
    }
  }
  kept->dims = dims;
  return kept;
}

static void renumber_spare(const int *numbers, spare_t *spare) {
  for (int i = 0; i < spare->count; i++) {
    spare->axes[i].axis = numbers[spare->axes[i].axis];
  }
}

static void keep_part(exchange_t *exchange, const int *numbers, const bool *is_kept,
                      tspec_type_t type, const tspec_step_t *step, part_t *part) {
  tspec_window_t *windows = TSPEC_ARENA_NEW(exchange->arena, tspec_window_t, type.rank);
  part->sizes = TSPEC_ARENA_NEW(exchange->arena, int64_t, type.rank);
  part->step = *step;
  part->step.from = keep_dims(exchange, numbers, is_kept, step->from);
  part->step.to = keep_dims(exchange, numbers, is_kept, step->to);
  part->step.axes = renumber(exchange, numbers, step->axes, step->naxes);
  part->step.windows = windows;
  part->has_windows = step->windows != NULL;
  part->sharing = tspec_step_sharing(type, step);
  int ndims = 0;
  int shared = part->sharing.dim;
  part->sharing.dim = 0; // any one, if nothing is shared
  for (int d = 0; d < type.rank; d++) {
    if (is_kept[d]) {
      part->sharing.dim = d == shared ? ndims : part->sharing.dim;
      part->sizes[ndims] = type.dims[d];
      windows[ndims++] = step->windows != NULL
                             ? step->windows[d]
                             : tspec_window_make(type.dims[d], type.dims[d], 0, 0, 1);
    }
  }
  // of the step as it is: axes of the group that dims left out use are no copies
  part->route = (route_t){&exchange->mesh, &part->step, find_spare(step, step->from),
                          find_spare(step, step->to)};
  renumber_spare(numbers, &part->route.from);
  renumber_spare(numbers, &part->route.to);
}

static void mark(int *numbers, const tspec_axis_t *axes, int naxes) {
  for (int i = 0; i < naxes; i++) {
    numbers[axes[i].axis] = 1;
  }
}

// Finds the dims to keep and marks the axes that matter.
static void find_changed(exchange_t *exchange, const tspec_type_t *types, const tspec_step_t *steps,
                         bool *is_kept, int *numbers) {
  for (int k = 0; k < exchange->count; k++) {
    mark(numbers, steps[k].axes, steps[k].naxes);
    tspec_sharing_t sharing = tspec_step_sharing(types[k], &steps[k]);
    for (int d = 0; d < types[k].rank; d++) {
      is_kept[d] |= is_changed(types[k], &steps[k], d) || (sharing.count > 1 && d == sharing.dim);
    }
  }
  exchange->bytes = tspec_dtype_bytes(types[0].dtype);
  for (int d = 0; d < types[0].rank; d++) {
    if (!is_kept[d]) {
      int64_t nblocks = tspec_dim_nblocks(&steps[0].from->dims[d]);
      exchange->bytes = multiply(exchange->bytes, tspec_block(types[0].dims[d], nblocks, 0).end);
    }
    for (int k = 0; is_kept[d] && k < exchange->count; k++) {
      mark(numbers, steps[k].from->dims[d].axes, steps[k].from->dims[d].naxes);
      mark(numbers, steps[k].to->dims[d].axes, steps[k].to->dims[d].naxes);
    }
  }
}

static void shrink(exchange_t *exchange, const tspec_mesh_t *mesh, const tspec_type_t *types,
                   const tspec_step_t *steps) {
  tspec_arena_t *arena = exchange->arena;
  int *numbers = TSPEC_ARENA_NEW(arena, int, mesh->naxes);
  bool *is_kept = TSPEC_ARENA_NEW(arena, bool, types[0].rank);
  find_changed(exchange, types, steps, is_kept, numbers);
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_mesh_axis_t, mesh->naxes);
  for (int i = 0; i < mesh->naxes; i++) {
    if (numbers[i] != 0) {
      numbers[i] = exchange->mesh.naxes;
      axes[exchange->mesh.naxes++] = mesh->axes[i];
    }
  }
  exchange->mesh.axes = axes;
  exchange->parts = TSPEC_ARENA_NEW(arena, part_t, exchange->count);
  for (int k = 0; k < exchange->count; k++) {
    keep_part(exchange, numbers, is_kept, types[k], &steps[k], &exchange->parts[k]);
  }
}

// What a block index of one dim of `from` adds to the rank of its holder, by index.
static int64_t *holder_offsets(const exchange_t *exchange, const tspec_dim_t *dim) {
  int64_t nblocks = tspec_dim_nblocks(dim);
  int64_t *offsets = TSPEC_ARENA_NEW(exchange->arena, int64_t, nblocks);
  for (int64_t i = 0; i < nblocks; i++) {
    offsets[i] = with_index(&exchange->mesh, 0, dim->axes, dim->naxes, i);
  }
  return offsets;
}

// The blocks of `from` that hold what a receiver needs of one dim.
typedef struct overlap_t {
  int64_t first;
  int64_t last;
  tspec_block_t need; // of the result
  int64_t size;       // of blocks of `from`
  int64_t own;        // the receiver's block of `from`
} overlap_t;

typedef struct counter_t {
  const exchange_t *exchange;
  const part_t *part;
  int64_t **offsets;     // by dim
  const int64_t *copies; // what each copy's index adds to a rank
  overlap_t *overlaps;
  int64_t *sent; // by rank
} counter_t;

// Elements of the part of a block that the receiver needs of one dim.
static int64_t overlap_size(const counter_t *counter, int d, int64_t index, int64_t nparts,
                            int64_t part) {
  const overlap_t *overlap = &counter->overlaps[d];
  int64_t begin = index * overlap->size;
  int64_t end = begin + overlap->size;
  int64_t size = counter->part->sizes[d];
  tspec_block_t held = {begin < size ? begin : size, end < size ? end : size};
  held = tspec_block_part(held, nparts, part);
  held =
      tspec_block_common(tspec_window_shown(&counter->part->step.windows[d], held), overlap->need);
  return held.end - held.begin;
}

// False if the receiver needs nothing.
static bool find_overlaps(const counter_t *counter, int64_t receiver) {
  const tspec_mesh_t *mesh = &counter->exchange->mesh;
  const part_t *part = counter->part;
  for (int d = 0; d < part->step.from->rank; d++) {
    const tspec_dim_t *from = &part->step.from->dims[d];
    const tspec_dim_t *to = &part->step.to->dims[d];
    const tspec_window_t *window = &part->step.windows[d];
    overlap_t *overlap = &counter->overlaps[d];
    overlap->need = tspec_block_common(
        tspec_block(window->size, tspec_dim_nblocks(to), tspec_dim_block_index(mesh, to, receiver)),
        (tspec_block_t){window->lo, window->lo + window->count});
    if (overlap->need.begin >= overlap->need.end) {
      return false;
    }
    overlap->size = tspec_block(part->sizes[d], tspec_dim_nblocks(from), 0).end;
    overlap->first = tspec_window_source(window, overlap->need.begin) / overlap->size;
    overlap->last = tspec_window_source(window, overlap->need.end - 1) / overlap->size;
    overlap->own = tspec_dim_block_index(mesh, from, receiver);
  }
  return true;
}

// What a walk over the blocks that hold what a receiver needs has come to.
typedef struct walk_t {
  int64_t holder;
  int64_t elems;
  bool is_own;
  int64_t first_copy; // the one that gives part 0
} walk_t;

// Adds the pieces of dims d and on.
static void count_pieces(const counter_t *counter, int d, walk_t walk) {
  if (d == counter->part->step.from->rank) {
    counter->sent[walk.holder] += walk.is_own ? 0 : walk.elems;
    return;
  }
  const overlap_t *overlap = &counter->overlaps[d];
  int64_t all = counter->part->sharing.count;
  int64_t nparts = d == counter->part->sharing.dim ? all : 1;
  for (int64_t i = overlap->first; i <= overlap->last; i++) {
    for (int64_t p = 0; p < nparts; p++) {
      walk_t next = walk;
      next.elems *= overlap_size(counter, d, i, nparts, p);
      next.holder += counter->offsets[d][i];
      next.holder += nparts > 1 ? counter->copies[(p + walk.first_copy) % all] : 0;
      next.is_own &= i == overlap->own;
      if (next.elems > 0) {
        count_pieces(counter, d + 1, next);
      }
    }
  }
}

// `rank` with its coordinates along what `from` uses and along its copies replaced by 0.
static int64_t first_holder(const route_t *route, int64_t rank) {
  rank = with_index(route->mesh, rank, route->from.axes, route->from.count, 0);
  for (int d = 0; d < route->step->from->rank; d++) {
    const tspec_dim_t *dim = &route->step->from->dims[d];
    rank = with_index(route->mesh, rank, dim->axes, dim->naxes, 0);
  }
  return rank;
}

// Adds what `receiver` lacks to what the holders of it send.
static void count_received(const counter_t *counter, int64_t receiver) {
  const route_t *route = &counter->part->route;
  if (find_overlaps(counter, receiver)) {
    count_pieces(counter, 0,
                 (walk_t){.holder = first_holder(route, receiver),
                          .elems = 1,
                          .is_own = true,
                          .first_copy = copy_index(route, receiver, 0)});
  }
}

// Elements that receivers take from one rank's copy of a block, if none of them held any: for each
// index along what `to` does not use, all of a part.
static int64_t asked_for(const part_t *part, const tspec_block_t *held, int64_t copy) {
  int64_t all = part->sharing.count;
  int64_t turns = tspec_axes_product(part->route.to.axes, part->route.to.count);
  tspec_block_t shared = held[part->sharing.dim];
  int64_t length = turns / all * (shared.end - shared.begin);
  for (int64_t i = 0; i < turns % all; i++) {
    tspec_block_t piece = tspec_block_part(shared, all, (copy + all - i) % all);
    length += piece.end - piece.begin;
  }
  for (int d = 0; d < part->step.from->rank; d++) {
    length *= d == part->sharing.dim ? 1 : held[d].end - held[d].begin;
  }
  return length;
}

// What each copy's index adds to a rank, by index.
static int64_t *copy_offsets(const exchange_t *exchange, const part_t *part) {
  const route_t *route = &part->route;
  int64_t *offsets = TSPEC_ARENA_NEW(exchange->arena, int64_t, part->sharing.count);
  for (int64_t i = 0; i < part->sharing.count; i++) {
    offsets[i] = with_index(route->mesh, 0, route->from.axes, route->from.count, i);
  }
  return offsets;
}

// One rank's blocks by dim, and where it is among their copies.
typedef struct holding_t {
  tspec_block_t *held; // of the operand
  tspec_block_t *own;  // of these, what belongs to its block of the result
  int64_t rank;
  int64_t copy;
} holding_t;

// Takes from the copies of a rank's block what the rank holds of its new one itself.
static void take_own(const part_t *part, const int64_t *offsets, const holding_t *holding,
                     int64_t *sent) {
  tspec_block_t shared = holding->held[part->sharing.dim];
  tspec_block_t own = holding->own[part->sharing.dim];
  int64_t others = own.end > own.begin ? 1 : 0;
  for (int d = 0; d < part->step.from->rank; d++) {
    int64_t length = holding->own[d].end - holding->own[d].begin;
    others *= d == part->sharing.dim ? 1 : length > 0 ? length : 0;
  }
  if (others == 0) {
    return;
  }
  int64_t all = part->sharing.count;
  int64_t size = tspec_block(shared.end - shared.begin, all, 0).end;
  int64_t last = (own.end - 1 - shared.begin) / size;
  int64_t base = holding->rank - offsets[holding->copy];
  int64_t turn = copy_index(&part->route, holding->rank, 0);
  for (int64_t p = (own.begin - shared.begin) / size; p <= last; p++) {
    int64_t begin = shared.begin + p * size;
    int64_t end = begin + size;
    begin = begin < own.begin ? own.begin : begin;
    end = end > own.end ? own.end : end;
    sent[base + offsets[(p + turn) % all]] -= others * (end - begin);
  }
}

// Where the result is the operand, laid out otherwise, every element of a block is asked for once
// along each axis that `to` does not use: no need to look at who needs which blocks.
static void count_given(const exchange_t *exchange, const part_t *part, int64_t *sent) {
  int rank = part->step.from->rank;
  const int64_t *offsets = copy_offsets(exchange, part);
  holding_t holding = {.held = TSPEC_ARENA_NEW(exchange->arena, tspec_block_t, rank),
                       .own = TSPEC_ARENA_NEW(exchange->arena, tspec_block_t, rank)};
  for (int64_t r = 0; r < tspec_mesh_nranks(&exchange->mesh); r++) {
    for (int d = 0; d < rank; d++) {
      const tspec_dim_t *from = &part->step.from->dims[d];
      const tspec_dim_t *to = &part->step.to->dims[d];
      holding.held[d] = tspec_block(part->sizes[d], tspec_dim_nblocks(from),
                                    tspec_dim_block_index(&exchange->mesh, from, r));
      holding.own[d] = tspec_block_common(
          holding.held[d], tspec_block(part->sizes[d], tspec_dim_nblocks(to),
                                       tspec_dim_block_index(&exchange->mesh, to, r)));
    }
    holding.rank = r;
    holding.copy = spare_index(&part->route, &part->route.from, r);
    sent[r] += asked_for(part, holding.held, holding.copy);
    take_own(part, offsets, &holding, sent);
  }
}

static void count_part(const exchange_t *exchange, const part_t *part, int64_t *sent) {
  int rank = part->step.from->rank;
  counter_t counter = {.exchange = exchange,
                       .part = part,
                       .offsets = TSPEC_ARENA_NEW(exchange->arena, int64_t *, rank),
                       .copies = copy_offsets(exchange, part),
                       .overlaps = TSPEC_ARENA_NEW(exchange->arena, overlap_t, rank),
                       .sent = sent};
  for (int d = 0; d < rank; d++) {
    counter.offsets[d] = holder_offsets(exchange, &part->step.from->dims[d]);
  }
  for (int64_t r = 0; r < tspec_mesh_nranks(&exchange->mesh); r++) {
    count_received(&counter, r);
  }
}

int64_t tspec_steps_joint_cost_bytes(const tspec_mesh_t *mesh, int count, const tspec_type_t *types,
                                     const tspec_step_t *steps) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  exchange_t exchange = {.arena = &arena, .count = count};
  shrink(&exchange, mesh, types, steps);
  int64_t nranks = tspec_mesh_nranks(&exchange.mesh);
  int64_t *sent = TSPEC_ARENA_NEW(&arena, int64_t, nranks);
  for (int k = 0; k < count; k++) {
    const part_t *part = &exchange.parts[k];
    if (part->step.from->rank > 0) {
      (part->has_windows ? count_part : count_given)(&exchange, part, sent);
    }
  }
  int64_t most = 0;
  for (int64_t r = 0; r < nranks; r++) {
    most = sent[r] > most ? sent[r] : most;
  }
  int64_t bytes = multiply(most, exchange.bytes);
  tspec_arena_deinit(&arena);
  return bytes;
}

// ---- all kinds --------------------------------------------------------------------------------

static int64_t block_bytes(const tspec_mesh_t *mesh, tspec_type_t type,
                           const tspec_sharding_t *sharding, int64_t rank) {
  int64_t bytes = tspec_dtype_bytes(type.dtype);
  for (int d = 0; d < type.rank; d++) {
    const tspec_dim_t *dim = &sharding->dims[d];
    tspec_block_t block =
        tspec_block(type.dims[d], tspec_dim_nblocks(dim), tspec_dim_block_index(mesh, dim, rank));
    bytes = multiply(bytes, block.end - block.begin);
  }
  return bytes;
}

// The whole of rank 0's group minus its smallest block, that of the last rank: no group has more,
// as blocks only get smaller with their index.
static int64_t whole_minus_smallest(const tspec_mesh_t *mesh, tspec_type_t type,
                                    const tspec_step_t *step, const tspec_sharding_t *whole,
                                    const tspec_sharding_t *parts) {
  int64_t nparts = tspec_axes_product(step->axes, step->naxes);
  int64_t last = with_index(mesh, 0, step->axes, step->naxes, nparts - 1);
  return block_bytes(mesh, type, whole, 0) - block_bytes(mesh, type, parts, last);
}

// numerator / denominator of `bytes`, rounded up.
static int64_t fraction(int64_t bytes, int64_t numerator, int64_t denominator) {
  if (bytes == INT64_MAX) {
    return INT64_MAX;
  }
  int64_t rest = multiply(bytes % denominator, numerator);
  int64_t whole = multiply(bytes / denominator, numerator);
  return add(whole, rest / denominator + (rest % denominator != 0 ? 1 : 0));
}

// The dim that loses (or with `wins`: gets) all axes of the group at its end; -1 if none does, -2
// if some dim changes otherwise.
static int moving_dim(const tspec_step_t *step, bool wins) {
  int64_t k = tspec_axes_product(step->axes, step->naxes);
  int moving = -1;
  for (int d = 0; d < step->from->rank; d++) {
    const tspec_dim_t *from = &step->from->dims[d];
    const tspec_dim_t *to = &step->to->dims[d];
    if (dims_equal(from, to)) {
      continue;
    }
    const tspec_dim_t *less = tspec_dim_nblocks(from) > tspec_dim_nblocks(to) ? to : from;
    const tspec_dim_t *more = less == to ? from : to;
    if (tspec_dim_nblocks(more) != tspec_dim_nblocks(less) * k ||
        !tspec_axes_is_prefix(less->axes, less->naxes, more->axes, more->naxes)) {
      return -2;
    }
    if ((more == to) == wins) {
      if (moving >= 0) {
        return -2;
      }
      moving = d;
    }
  }
  return moving;
}

// Axes move from the end of dim s to the end of dim t: rank j of a group keeps part j of what it
// has of t. The first group is the busiest one, as in whole_minus_smallest.
static int64_t plain_move_cost(tspec_type_t type, const tspec_step_t *step, int s, int t) {
  int64_t k = tspec_axes_product(step->axes, step->naxes);
  int64_t other = tspec_dtype_bytes(type.dtype);
  for (int d = 0; d < type.rank; d++) {
    if (d != s && d != t) {
      other = multiply(other,
                       tspec_block(type.dims[d], tspec_dim_nblocks(&step->from->dims[d]), 0).end);
    }
  }
  int64_t held = tspec_block(type.dims[t], tspec_dim_nblocks(&step->from->dims[t]), 0).end;
  int64_t most = 0;
  for (int64_t j = 0; j < k; j++) {
    tspec_block_t row = tspec_block(type.dims[s], tspec_dim_nblocks(&step->from->dims[s]), j);
    tspec_block_t kept = tspec_block(type.dims[t], tspec_dim_nblocks(&step->to->dims[t]), j);
    int64_t sent = multiply(row.end - row.begin, held - (kept.end - kept.begin));
    most = sent > most ? sent : most;
  }
  return multiply(most, other);
}

// True if the axes that dim s loses stand in the order in which dim t gets them.
static bool keeps_order(const tspec_step_t *step, int s, int t) {
  const tspec_dim_t *more[2] = {&step->from->dims[s], &step->to->dims[t]};
  const tspec_dim_t *less[2] = {&step->to->dims[s], &step->from->dims[t]};
  tspec_axis_t moved[2][TSPEC_MAX_ATOMS];
  int count[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    tspec_axis_t atoms[TSPEC_MAX_ATOMS];
    int natoms = 0;
    if (!tspec_axes_subtract(more[i]->axes, more[i]->naxes, less[i]->axes, less[i]->naxes, atoms,
                             &natoms)) {
      return false;
    }
    for (int a = 0; a < natoms; a++) {
      tspec_axes_push(moved[i], &count[i], atoms[a]);
    }
  }
  return tspec_axes_equal(moved[0], count[0], moved[1], count[1]);
}

static bool keeps_counts(const tspec_step_t *step) {
  for (int d = 0; d < step->from->rank; d++) {
    if (tspec_dim_nblocks(&step->from->dims[d]) != tspec_dim_nblocks(&step->to->dims[d])) {
      return false;
    }
  }
  return true;
}

static int64_t exchange_cost(const tspec_mesh_t *mesh, tspec_type_t type,
                             const tspec_step_t *step) {
  if (step->windows != NULL) {
    return tspec_steps_joint_cost_bytes(mesh, 1, &type, step);
  }
  if (tspec_sharding_same_layout(step->from, step->to)) {
    return 0;
  }
  int s = moving_dim(step, false);
  int t = moving_dim(step, true);
  bool even = tspec_sharding_is_even(step->from, type) && tspec_sharding_is_even(step->to, type);
  if (s >= 0 && t >= 0 && (even || keeps_order(step, s, t)) &&
      tspec_step_is_local_to_axes(mesh, type, step)) {
    return plain_move_cost(type, step, s, t);
  }
  if (even && keeps_counts(step) && tspec_step_sharing(type, step).count == 1) {
    return block_bytes(mesh, type, step->from, 0);
  }
  return tspec_steps_joint_cost_bytes(mesh, 1, &type, step);
}

static int64_t all_reduce_cost(const tspec_step_t *step, int64_t block_bytes) {
  int64_t k = tspec_axes_product(step->axes, step->naxes);
  return fraction(block_bytes, 2 * (k - 1), k);
}

int64_t tspec_steps_combined_cost_bytes(const tspec_mesh_t *mesh, int count,
                                        const tspec_type_t *types, const tspec_step_t *steps) {
  bool reduces = steps[0].kind == TSPEC_COLLECTIVE_ALL_REDUCE;
  int64_t bytes = 0;
  for (int i = 0; i < count; i++) {
    bytes = add(bytes, reduces ? block_bytes(mesh, types[i], steps[i].from, 0)
                               : tspec_step_cost_bytes(mesh, types[i], &steps[i]));
  }
  return reduces ? all_reduce_cost(&steps[0], bytes) : bytes;
}

int64_t tspec_step_cost_bytes(const tspec_mesh_t *mesh, tspec_type_t type,
                              const tspec_step_t *step) {
  switch (step->kind) {
  case TSPEC_COLLECTIVE_ALL_REDUCE:
    return all_reduce_cost(step, block_bytes(mesh, type, step->from, 0));
  case TSPEC_COLLECTIVE_ALL_GATHER:
    return whole_minus_smallest(mesh, type, step, step->to, step->from);
  case TSPEC_COLLECTIVE_REDUCE_SCATTER:
    return whole_minus_smallest(mesh, type, step, step->from, step->to);
  case TSPEC_COLLECTIVE_ALL_TO_ALL:
  case TSPEC_COLLECTIVE_PERMUTE:
    return exchange_cost(mesh, type, step);
  case TSPEC_COLLECTIVE_ALL_SLICE:
  case TSPEC_COLLECTIVE_MAKE_PENDING:
    return 0;
  }
  TSPEC_CHECK(false, "no such collective");
}
