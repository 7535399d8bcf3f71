#include "ir/shard/cost.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/shard/axes.h"
#include "ir/shard/cuts.h"

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

static int64_t find_sender(const route_t *route, int64_t receiver, const int64_t *indices) {
  const tspec_sharding_t *from = route->step->from;
  const tspec_sharding_t *to = route->step->to;
  bool own = true;
  int64_t to_index = 0;
  for (int d = 0; d < from->rank; d++) {
    own &= tspec_dim_block_index(route->mesh, &from->dims[d], receiver) == indices[d];
    if (dims_equal(&from->dims[d], &to->dims[d])) {
      continue;
    }
    to_index = to_index * tspec_dim_nblocks(&to->dims[d]) +
               tspec_dim_block_index(route->mesh, &to->dims[d], receiver);
  }
  if (own) {
    return receiver;
  }
  int64_t ncopies = tspec_axes_product(route->from.axes, route->from.count);
  int64_t nto = tspec_axes_product(route->to.axes, route->to.count);
  int64_t copy =
      (spare_index(route, &route->to, receiver) + (nto % ncopies) * (to_index % ncopies)) % ncopies;
  int64_t sender = with_index(route->mesh, receiver, route->from.axes, route->from.count, copy);
  for (int d = 0; d < from->rank; d++) {
    sender = with_index(route->mesh, sender, from->dims[d].axes, from->dims[d].naxes, indices[d]);
  }
  return sender;
}

int64_t tspec_step_sender(const tspec_mesh_t *mesh, const tspec_step_t *step, int64_t receiver,
                          const int64_t *block_indices) {
  route_t route = make_route(mesh, step);
  return find_sender(&route, receiver, block_indices);
}

// ---- all_to_all and permute -------------------------------------------------------------------

// The dims that a collective changes, on a mesh of only the axes that matter to them: dims that
// stay are a factor, and the ranks that differ along other axes do the same.
typedef struct exchange_t {
  tspec_arena_t *arena;
  tspec_mesh_t mesh;
  tspec_step_t step;
  int64_t *sizes; // of the dims kept
  int64_t bytes;  // of one element of those, times the largest block of the dims left out
} exchange_t;

static const tspec_axis_t *renumber(exchange_t *exchange, const int *numbers,
                                    const tspec_axis_t *axes, int naxes) {
  tspec_axis_t *copy = tspec_arena_copy(exchange->arena, axes, sizeof *axes * (size_t)naxes);
  for (int i = 0; i < naxes; i++) {
    copy[i].axis = numbers[axes[i].axis];
  }
  return copy;
}

static const tspec_sharding_t *keep_changed(exchange_t *exchange, const int *numbers,
                                            const tspec_step_t *step,
                                            const tspec_sharding_t *sharding) {
  tspec_sharding_t *kept = TSPEC_ARENA_NEW(exchange->arena, tspec_sharding_t, 1);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(exchange->arena, tspec_dim_t, sharding->rank);
  for (int d = 0; d < sharding->rank; d++) {
    if (!dims_equal(&step->from->dims[d], &step->to->dims[d])) {
      const tspec_dim_t *dim = &sharding->dims[d];
      dims[kept->rank++] = (tspec_dim_t){
          .naxes = dim->naxes, .axes = renumber(exchange, numbers, dim->axes, dim->naxes)};
    }
  }
  kept->dims = dims;
  return kept;
}

static void mark(int *numbers, const tspec_axis_t *axes, int naxes) {
  for (int i = 0; i < naxes; i++) {
    numbers[axes[i].axis] = 1;
  }
}

static void shrink(exchange_t *exchange, const tspec_mesh_t *mesh, tspec_type_t type,
                   const tspec_step_t *step) {
  tspec_arena_t *arena = exchange->arena;
  int *numbers = TSPEC_ARENA_NEW(arena, int, mesh->naxes);
  mark(numbers, step->axes, step->naxes);
  exchange->sizes = TSPEC_ARENA_NEW(arena, int64_t, type.rank);
  exchange->bytes = tspec_dtype_bytes(type.dtype);
  int ndims = 0;
  for (int d = 0; d < type.rank; d++) {
    const tspec_dim_t *from = &step->from->dims[d];
    const tspec_dim_t *to = &step->to->dims[d];
    if (dims_equal(from, to)) {
      exchange->bytes =
          multiply(exchange->bytes, tspec_block(type.dims[d], tspec_dim_nblocks(from), 0).end);
      continue;
    }
    mark(numbers, from->axes, from->naxes);
    mark(numbers, to->axes, to->naxes);
    exchange->sizes[ndims++] = type.dims[d];
  }
  tspec_mesh_axis_t *axes = TSPEC_ARENA_NEW(arena, tspec_mesh_axis_t, mesh->naxes);
  for (int i = 0; i < mesh->naxes; i++) {
    if (numbers[i] != 0) {
      numbers[i] = exchange->mesh.naxes;
      axes[exchange->mesh.naxes++] = mesh->axes[i];
    }
  }
  exchange->mesh.axes = axes;
  exchange->step = *step;
  exchange->step.from = keep_changed(exchange, numbers, step, step->from);
  exchange->step.to = keep_changed(exchange, numbers, step, step->to);
  exchange->step.axes = renumber(exchange, numbers, step->axes, step->naxes);
}

// Adds what `receiver` lacks to what the holders of it send.
static void count_received(const exchange_t *exchange, const route_t *route, int64_t receiver,
                           int64_t *indices, int64_t *sent) {
  const tspec_sharding_t *from = exchange->step.from;
  int rank = from->rank;
  tspec_block_t *need = TSPEC_ARENA_NEW(exchange->arena, tspec_block_t, rank);
  int64_t *first = TSPEC_ARENA_NEW(exchange->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) {
    const tspec_dim_t *to = &exchange->step.to->dims[d];
    need[d] = tspec_block(exchange->sizes[d], tspec_dim_nblocks(to),
                          tspec_dim_block_index(&exchange->mesh, to, receiver));
    if (need[d].begin >= need[d].end) {
      return;
    }
    first[d] =
        need[d].begin / tspec_block(exchange->sizes[d], tspec_dim_nblocks(&from->dims[d]), 0).end;
    indices[d] = first[d];
  }
  for (int d = 0; d >= 0;) {
    int64_t elems = 1;
    for (int e = 0; e < rank; e++) {
      tspec_block_t held =
          tspec_block(exchange->sizes[e], tspec_dim_nblocks(&from->dims[e]), indices[e]);
      int64_t begin = held.begin > need[e].begin ? held.begin : need[e].begin;
      int64_t end = held.end < need[e].end ? held.end : need[e].end;
      elems = multiply(elems, end - begin);
    }
    int64_t sender = find_sender(route, receiver, indices);
    if (sender != receiver) {
      sent[sender] += elems;
    }
    for (d = rank - 1; d >= 0; d--) {
      int64_t size = tspec_block(exchange->sizes[d], tspec_dim_nblocks(&from->dims[d]), 0).end;
      if ((indices[d] + 1) * size < need[d].end) {
        indices[d]++;
        break;
      }
      indices[d] = first[d];
    }
  }
}

static int64_t count_exchanged(const tspec_mesh_t *mesh, tspec_type_t type,
                               const tspec_step_t *step) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  exchange_t exchange = {.arena = &arena};
  shrink(&exchange, mesh, type, step);
  route_t route = make_route(&exchange.mesh, &exchange.step);
  int64_t nranks = tspec_mesh_nranks(&exchange.mesh);
  int64_t *sent = TSPEC_ARENA_NEW(&arena, int64_t, nranks);
  int64_t *indices = TSPEC_ARENA_NEW(&arena, int64_t, exchange.step.from->rank + 1);
  int64_t most = 0;
  if (exchange.step.from->rank > 0) {
    for (int64_t r = 0; r < nranks; r++) {
      count_received(&exchange, &route, r, indices, sent);
    }
  }
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
  int64_t sum;
  int64_t part = rest / denominator + (rest % denominator != 0 ? 1 : 0);
  return __builtin_add_overflow(whole, part, &sum) ? INT64_MAX : sum;
}

// True if axes only move from the end of one dim to the end of another, and all of them in the
// group.
static bool is_plain_move(const tspec_step_t *step) {
  int64_t k = tspec_axes_product(step->axes, step->naxes);
  int losing = 0;
  int winning = 0;
  for (int d = 0; d < step->from->rank; d++) {
    const tspec_dim_t *from = &step->from->dims[d];
    const tspec_dim_t *to = &step->to->dims[d];
    if (dims_equal(from, to)) {
      continue;
    }
    int64_t before = tspec_dim_nblocks(from);
    int64_t after = tspec_dim_nblocks(to);
    if (before == after * k && tspec_axes_is_prefix(to->axes, to->naxes, from->axes, from->naxes)) {
      losing++;
    } else if (after == before * k &&
               tspec_axes_is_prefix(from->axes, from->naxes, to->axes, to->naxes)) {
      winning++;
    } else {
      return false;
    }
  }
  return losing == 1 && winning == 1;
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
  if (tspec_sharding_same_layout(step->from, step->to)) {
    return 0;
  }
  if (tspec_sharding_is_even(step->from, type) && tspec_sharding_is_even(step->to, type)) {
    int64_t bytes = block_bytes(mesh, type, step->from, 0);
    int64_t k = tspec_axes_product(step->axes, step->naxes);
    if (is_plain_move(step)) {
      return fraction(bytes, k - 1, k);
    }
    if (keeps_counts(step)) {
      return bytes;
    }
  }
  return count_exchanged(mesh, type, step);
}

int64_t tspec_step_cost_bytes(const tspec_mesh_t *mesh, tspec_type_t type,
                              const tspec_step_t *step) {
  int64_t k = tspec_axes_product(step->axes, step->naxes);
  switch (step->kind) {
  case TSPEC_COLLECTIVE_ALL_REDUCE:
    return fraction(block_bytes(mesh, type, step->from, 0), 2 * (k - 1), k);
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
