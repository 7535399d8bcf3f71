// Collectives of all ranks at once: who gets which elements from whom, and what that costs.
#include <stdlib.h>
#include <string.h>

#include "ir/eval/eval_internal.h"
#include "ir/eval/ops.h"
#include "ir/program_steps.h"

/// A collective about to be played, operand by operand.
typedef struct exchange_t {
  tspec_eval_t *eval;
  const tspec_op_t *op;
  tspec_type_t type;           ///< of the operand
  const tspec_value_t *result; ///< that it goes to
  tspec_step_t step;
  tspec_dense_t *const *from;
  tspec_dense_t **to;
  int64_t *held; ///< bytes per rank of all operands before, of all results for a reduce_scatter
  int64_t *sent; ///< bytes per rank, of the kinds where every rank has its own
} exchange_t;

// ---- groups ------------------------------------------------------------------------------------

/// Two ranks are of one group if they differ along the axes alone. The number is that of the first
/// rank of the group.
static int64_t first_of_group(const exchange_t *exchange, int64_t rank) {
  const tspec_mesh_t *mesh = &exchange->eval->program->mesh;
  for (int i = 0; i < exchange->step.naxes; i++) {
    tspec_axis_t piece = exchange->step.axes[i];
    int64_t stride = 1; // in ranks, of one step along the piece
    for (int k = piece.axis + 1; k < mesh->naxes; k++) {
      stride *= mesh->axes[k].size;
    }
    stride *= mesh->axes[piece.axis].size / (piece.pre * piece.size);
    rank -= tspec_axis_coordinate(mesh, rank, piece) * stride;
  }
  return rank;
}

static int64_t block_bytes(const tspec_dense_t *block) {
  return block->count * tspec_dtype_bytes(block->type.dtype);
}

/// The whole that a group holds and its smallest block, in bytes.
typedef struct group_size_t {
  int64_t whole;
  int64_t smallest;
} group_size_t;

static group_size_t *measure_groups(const exchange_t *exchange) {
  tspec_eval_t *eval = exchange->eval;
  group_size_t *sizes = TSPEC_ARENA_NEW(&eval->scratch, group_size_t, eval->nranks);
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    int64_t first = first_of_group(exchange, rank);
    int64_t bytes = exchange->held[rank];
    group_size_t *size = &sizes[first];
    size->smallest = rank == first || bytes < size->smallest ? bytes : size->smallest;
    size->whole += bytes;
  }
  return sizes;
}

/// What a ring sends at most: everything but the smallest block.
static int64_t ring_bytes(const exchange_t *exchange) {
  const group_size_t *sizes = measure_groups(exchange);
  int64_t most = 0;
  for (int64_t rank = 0; rank < exchange->eval->nranks; rank++) {
    int64_t bytes = sizes[rank].whole - sizes[rank].smallest;
    most = bytes > most ? bytes : most;
  }
  return most;
}

static int64_t all_reduce_bytes(const exchange_t *exchange) {
  int64_t nranks = tspec_axes_product(exchange->step.axes, exchange->step.naxes);
  int64_t most = 0;
  for (int64_t rank = 0; rank < exchange->eval->nranks; rank++) {
    int64_t bytes = (2 * (nranks - 1) * exchange->held[rank] + nranks - 1) / nranks;
    most = bytes > most ? bytes : most;
  }
  return most;
}

static int64_t busiest_sender_bytes(const exchange_t *exchange) {
  int64_t most = 0;
  for (int64_t rank = 0; rank < exchange->eval->nranks; rank++) {
    most = exchange->sent[rank] > most ? exchange->sent[rank] : most;
  }
  return most;
}

static int64_t counted_bytes(const exchange_t *exchange) {
  switch (exchange->step.kind) {
  case TSPEC_COLLECTIVE_ALL_REDUCE:
    return all_reduce_bytes(exchange);
  case TSPEC_COLLECTIVE_ALL_GATHER:
  case TSPEC_COLLECTIVE_REDUCE_SCATTER:
    return ring_bytes(exchange);
  case TSPEC_COLLECTIVE_ALL_TO_ALL:
  case TSPEC_COLLECTIVE_PERMUTE:
    return busiest_sender_bytes(exchange);
  case TSPEC_COLLECTIVE_ALL_SLICE:
  case TSPEC_COLLECTIVE_MAKE_PENDING:
    break;
  }
  return 0;
}

static void record_traffic(const exchange_t *exchange) {
  tspec_eval_t *eval = exchange->eval;
  if (exchange->step.kind >= TSPEC_COLLECTIVE_ALL_SLICE) {
    return;
  }
  if (eval->ntraffic == eval->traffic_capacity) {
    eval->traffic_capacity = eval->traffic_capacity * 2 + 16;
    size_t size = sizeof *eval->traffic * (size_t)eval->traffic_capacity;
    tspec_eval_traffic_t *grown = realloc(eval->traffic, size);
    TSPEC_CHECK(grown != NULL, "out of memory");
    eval->traffic = grown;
  }
  eval->traffic[eval->ntraffic++] = (tspec_eval_traffic_t){exchange->op, counted_bytes(exchange)};
}

// ---- moving ------------------------------------------------------------------------------------

static tspec_window_t window_of(const exchange_t *exchange, int d) {
  int64_t size = exchange->type.dims[d];
  return exchange->step.windows != NULL ? exchange->step.windows[d]
                                        : tspec_window_make(size, size, 0, 0, 1);
}

/// The part of the receiver's block that shows the part of the block of `from` with these indices,
/// per dim. False if there is none.
static bool overlap(const exchange_t *exchange, const tspec_block_t *wanted, const int64_t *indices,
                    tspec_sharing_t sharing, int64_t part, tspec_block_t *out_box) {
  for (int i = 0; i < exchange->type.rank; i++) {
    const tspec_dim_t *dim = &exchange->step.from->dims[i];
    tspec_block_t held = tspec_block(exchange->type.dims[i], tspec_dim_nblocks(dim), indices[i]);
    tspec_window_t window = window_of(exchange, i);
    held = i == sharing.dim ? tspec_block_part(held, sharing.count, part) : held;
    out_box[i] = tspec_block_common(tspec_window_shown(&window, held), wanted[i]);
    if (out_box[i].begin >= out_box[i].end) {
      return false;
    }
  }
  return true;
}

/// Copies a box, in numbers of the whole result, from one rank to another.
static void copy_between(exchange_t *exchange, int64_t sender, int64_t receiver,
                         const tspec_block_t *box) {
  tspec_eval_t *eval = exchange->eval;
  tspec_type_t type = exchange->type;
  const tspec_value_t *result = exchange->result;
  const tspec_block_t *held = tspec_eval_blocks(eval, type, exchange->step.from, sender);
  const tspec_block_t *wanted = tspec_eval_blocks(eval, result->type, exchange->step.to, receiver);
  int64_t *steps = TSPEC_ARENA_NEW(&eval->scratch, int64_t, type.rank);
  int64_t *at_sender = TSPEC_ARENA_NEW(&eval->scratch, int64_t, type.rank);
  int64_t *at_receiver = TSPEC_ARENA_NEW(&eval->scratch, int64_t, type.rank);
  int64_t *extents = TSPEC_ARENA_NEW(&eval->scratch, int64_t, type.rank);
  int64_t bytes = tspec_dtype_bytes(type.dtype);
  for (int i = 0; i < type.rank; i++) {
    tspec_window_t window = window_of(exchange, i);
    at_sender[i] = tspec_window_source(&window, box[i].begin) - held[i].begin;
    steps[i] = window.step;
    at_receiver[i] = box[i].begin - wanted[i].begin;
    extents[i] = box[i].end - box[i].begin;
    bytes *= extents[i];
  }
  tspec_dense_copy_box(exchange->to[receiver], at_receiver, exchange->from[sender], at_sender,
                       steps, extents);
  exchange->sent[sender] += sender == receiver ? 0 : bytes;
}

/// The sender is of the receiver's group, shares its part of a pending sum, and holds the block.
static bool may_send(const exchange_t *exchange, int64_t sender, int64_t receiver,
                     const int64_t *indices) {
  const tspec_mesh_t *mesh = &exchange->eval->program->mesh;
  bool ok = first_of_group(exchange, sender) == first_of_group(exchange, receiver);
  ok = ok && (exchange->step.kind != TSPEC_COLLECTIVE_ALL_SLICE || sender == receiver);
  for (int i = 0; ok && i < exchange->type.rank; i++) {
    ok = tspec_dim_block_index(mesh, &exchange->step.from->dims[i], sender) == indices[i];
  }
  for (int i = 0; ok && i < exchange->step.from->npending; i++) {
    tspec_axis_t piece = exchange->step.from->pending[i];
    ok = tspec_axis_coordinate(mesh, sender, piece) == tspec_axis_coordinate(mesh, receiver, piece);
  }
  return ok;
}

/// The receiver gets what it needs of one block of `from`, part by part.
static bool receive_block(exchange_t *exchange, int64_t receiver, const int64_t *indices,
                          tspec_sharing_t sharing, tspec_block_t *box) {
  tspec_eval_t *eval = exchange->eval;
  const tspec_block_t *wanted =
      tspec_eval_blocks(eval, exchange->result->type, exchange->step.to, receiver);
  for (int64_t part = 0; part < sharing.count; part++) {
    if (!overlap(exchange, wanted, indices, sharing, part, box)) {
      continue;
    }
    int64_t sender =
        tspec_step_sender(&eval->program->mesh, &exchange->step, receiver, indices, part);
    if (sender < 0 || sender >= eval->nranks || !may_send(exchange, sender, receiver, indices)) {
      tspec_diag_error(eval->diag, exchange->op->range,
                       "'%s': rank %lld needs elements that rank %lld cannot send it",
                       tspec_op_info(exchange->op->kind)->name, (long long)receiver,
                       (long long)sender);
      return false;
    }
    copy_between(exchange, sender, receiver, box);
  }
  return true;
}

/// The receiver gets every element of its new block from a rank that holds it.
static bool receive(exchange_t *exchange, int64_t receiver) {
  tspec_eval_t *eval = exchange->eval;
  int rank = exchange->type.rank;
  int64_t *nblocks = TSPEC_ARENA_NEW(&eval->scratch, int64_t, rank);
  int64_t *indices = TSPEC_ARENA_NEW(&eval->scratch, int64_t, rank);
  tspec_block_t *box = TSPEC_ARENA_NEW(&eval->scratch, tspec_block_t, rank);
  tspec_sharing_t sharing = tspec_step_sharing(exchange->type, &exchange->step);
  for (int i = 0; i < rank; i++) {
    nblocks[i] = tspec_dim_nblocks(&exchange->step.from->dims[i]);
  }
  do {
    if (!receive_block(exchange, receiver, indices, sharing, box)) {
      return false;
    }
  } while (tspec_dense_next(rank, nblocks, indices));
  return true;
}

// ---- reducing ----------------------------------------------------------------------------------

/// Adds `part` (of the receiver's block) to what was gathered so far.
static void accumulate(tspec_reduce_t kind, const tspec_dense_t *part, double *floats,
                       int64_t *ints) {
  for (int64_t i = 0; i < part->count; i++) {
    if (tspec_dtype_is_float(part->type.dtype)) {
      floats[i] = tspec_eval_combine_float(kind, floats[i], tspec_dense_get_float(part, i));
    } else {
      ints[i] = tspec_eval_combine_int(kind, ints[i], tspec_dense_get_int(part, i));
    }
  }
}

/// The receiver's block of the group's sum: in double, in the order of ranks, rounded once.
static bool reduce_for(exchange_t *exchange, int64_t receiver) {
  tspec_eval_t *eval = exchange->eval;
  tspec_dense_t *to = exchange->to[receiver];
  tspec_reduce_t kind = exchange->step.reduce;
  bool is_float = tspec_dtype_is_float(exchange->type.dtype);
  if (to->count == 0) {
    return true;
  }
  double *floats = TSPEC_ARENA_NEW(&eval->scratch, double, to->count);
  int64_t *ints = TSPEC_ARENA_NEW(&eval->scratch, int64_t, to->count);
  for (int64_t i = 0; i < to->count; i++) {
    floats[i] = tspec_eval_identity_float(kind);
    ints[i] = is_float ? 0 : tspec_eval_identity_int(kind, exchange->type.dtype);
  }
  const tspec_block_t *wanted =
      tspec_eval_blocks(eval, exchange->type, exchange->step.to, receiver);
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    if (first_of_group(exchange, rank) != first_of_group(exchange, receiver)) {
      continue;
    }
    const tspec_block_t *held = tspec_eval_blocks(eval, exchange->type, exchange->step.from, rank);
    for (int i = 0; i < exchange->type.rank; i++) {
      if (wanted[i].begin < held[i].begin || wanted[i].end > held[i].end) {
        tspec_diag_error(eval->diag, exchange->op->range,
                         "'%s': rank %lld needs elements that rank %lld does not hold",
                         tspec_op_info(exchange->op->kind)->name, (long long)receiver,
                         (long long)rank);
        return false;
      }
    }
    copy_between(exchange, rank, receiver, wanted);
    accumulate(kind, to, floats, ints);
  }
  for (int64_t i = 0; i < to->count; i++) {
    if (is_float) {
      tspec_dense_set_float(to, i, floats[i]);
    } else {
      tspec_dense_set_int(to, i, ints[i]);
    }
  }
  return true;
}

/// The value on the first rank along the axes; elsewhere what a reduction does not notice.
static void make_pending(exchange_t *exchange, int64_t rank) {
  const tspec_dense_t *from = exchange->from[rank];
  tspec_dense_t *to = exchange->to[rank];
  tspec_reduce_t kind = exchange->step.reduce;
  bool keeps = first_of_group(exchange, rank) == rank || kind == TSPEC_REDUCE_MAX ||
               kind == TSPEC_REDUCE_MIN;
  for (int64_t i = 0; i < to->count; i++) {
    if (keeps) {
      tspec_dense_copy_element(to, i, from, i);
    } else if (tspec_dtype_is_float(to->type.dtype)) {
      tspec_dense_set_float(to, i, tspec_eval_identity_float(kind));
    } else {
      tspec_dense_set_int(to, i, tspec_eval_identity_int(kind, to->type.dtype));
    }
  }
}

// ---- parts of operands -------------------------------------------------------------------------

static void fill(const tspec_op_t *op, tspec_dense_t *block) {
  const tspec_attr_t *value = tspec_op_get_attr(op, "value");
  for (int64_t i = 0; value != NULL && i < block->count; i++) {
    tspec_dense_set(block, i, value->f);
  }
}

/// One operand after the other puts its part into every rank's block.
static bool place_parts(exchange_t *exchange, tspec_dense_t *const *const *operands) {
  tspec_eval_t *eval = exchange->eval;
  const tspec_step_t *steps = tspec_op_parts(exchange->op, &eval->program->mesh, &eval->scratch);
  bool ok = true;
  for (int64_t rank = 0; rank < eval->nranks; rank++) {
    fill(exchange->op, exchange->to[rank]);
  }
  for (int k = 0; ok && k < exchange->op->noperands; k++) {
    exchange->type = exchange->op->operands[k]->type;
    exchange->step = steps[k];
    exchange->from = operands[k];
    for (int64_t rank = 0; ok && rank < eval->nranks; rank++) {
      ok = receive(exchange, rank);
    }
  }
  return ok;
}

/// One operand into every rank's block of its result.
static bool play(exchange_t *exchange) {
  bool ok = true;
  for (int64_t rank = 0; ok && rank < exchange->eval->nranks; rank++) {
    if (exchange->step.kind == TSPEC_COLLECTIVE_MAKE_PENDING) {
      make_pending(exchange, rank);
    } else if (exchange->step.kind == TSPEC_COLLECTIVE_ALL_REDUCE ||
               exchange->step.kind == TSPEC_COLLECTIVE_REDUCE_SCATTER) {
      ok = reduce_for(exchange, rank);
    } else {
      ok = receive(exchange, rank);
    }
  }
  return ok;
}

static void measure_held(const exchange_t *exchange) {
  bool after = exchange->step.kind == TSPEC_COLLECTIVE_REDUCE_SCATTER;
  for (int64_t rank = 0; rank < exchange->eval->nranks; rank++) {
    exchange->held[rank] += block_bytes(after ? exchange->to[rank] : exchange->from[rank]);
  }
}

bool tspec_eval_collective(tspec_eval_t *eval, const tspec_op_t *op,
                           tspec_dense_t *const *const *operands,
                           tspec_dense_t **const *out_blocks) {
  exchange_t exchange = {
      .eval = eval,
      .op = op,
      .held = TSPEC_ARENA_NEW(&eval->scratch, int64_t, eval->nranks),
      .sent = TSPEC_ARENA_NEW(&eval->scratch, int64_t, eval->nranks),
  };
  bool ok = true;
  for (int i = 0; ok && i < op->nresults; i++) {
    exchange.result = op->results[i];
    exchange.type = exchange.result->type;
    exchange.step = tspec_step_of_op(op, i);
    exchange.from = operands[i];
    exchange.to = out_blocks[i];
    for (int64_t rank = 0; rank < eval->nranks; rank++) {
      exchange.to[rank] = tspec_eval_new_block(eval, exchange.result, rank);
    }
    measure_held(&exchange);
    ok = tspec_op_has_parts(op) ? place_parts(&exchange, operands) : play(&exchange);
  }
  if (ok) {
    record_traffic(&exchange);
  }
  return ok;
}
