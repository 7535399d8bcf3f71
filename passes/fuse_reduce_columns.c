// Reductions that keep the innermost dim: a tile of columns is walked row by row, a chunk of rows
// at a time. Sums of sums keep the rounding error small.
#include <inttypes.h>

#include "passes/fuse_reduce.h"

#define COLUMN_CHUNK 64 // rows
#define COLUMN_TILE 256 // columns

/// Columns that are walked together: a power of two, not much more than there are.
static int64_t tile_for(const tspec_nest_t *nest, const tspec_loop_t *loop) {
  int64_t size = 1, tile = 1;
  for (int d = loop->first; d <= loop->last; d++) {
    size *= nest->space->type.dims[d];
  }
  while (tile < size && tile < COLUMN_TILE) {
    tile *= 2;
  }
  return tile;
}

static void alloc_columns(tspec_nest_t *nest, const tspec_sums_t *sums) {
  for (int i = 0; i < sums->count; i++) {
    tspec_sum_t *sum = &sums->items[i];
    sum->ntotal = tile_for(nest, &nest->loops.items[sums->last]);
    sum->lanes = tspec_sum_lanes(sum->ntotal);
    sum->total = tspec_sum_scratch(nest, sum->ntotal, sum->type);
    if (sum->is_arg) {
      sum->indices = tspec_sum_scratch(nest, sum->ntotal, "i32");
    } else {
      sum->part = tspec_sum_scratch(nest, sum->ntotal, sum->type);
    }
  }
}

/// Opens a loop over a tile's accumulators, vector by vector; returns its index.
static int open_vectors(tspec_nest_t *nest, tspec_sums_t *sums, const tspec_sum_t *sum) {
  int end = tspec_nest_index(nest, sum->ntotal);
  return tspec_sum_open_counter(nest, sums, tspec_nest_index(nest, 0), end, sum->lanes);
}

/// Sets the columns' accumulators: totals (and indices), or the parts of one chunk.
static void reset_columns(tspec_nest_t *nest, tspec_sums_t *sums, bool parts) {
  int before = sums->nopen;
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    if (parts && sum->is_arg) {
      continue;
    }
    int at = open_vectors(nest, sums, sum);
    tspec_sum_vector_reset(nest, sum, parts ? sum->part : sum->total, at);
    if (sum->is_arg) {
      tspec_sum_reset_indices(nest, sum, at);
    }
    tspec_sum_close_to(nest, sums, before);
  }
}

/// One chunk of rows of a tile of columns.
static void add_rows(tspec_nest_t *nest, tspec_sums_t *sums, int begin, int end, int left,
                     int right) {
  int before = sums->nopen;
  tspec_sum_open_loop(nest, sums, sums->last_reduced, begin, end);
  int at = tspec_loop_index(nest, sums->last_reduced);
  tspec_sum_open_loop(nest, sums, sums->last, left, right);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index",
                            tspec_loop_index(nest, sums->last), left);
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    int x = tspec_sum_to_accumulator(nest, sum, nest->roots.items[sum->root].atom->ssa);
    if (sum->is_arg) {
      tspec_sum_update_arg(nest, sum, x, at, slot);
    } else {
      tspec_sum_combine_at(nest, sum, sum->part, slot, x);
    }
  }
  tspec_nest_store_atoms(nest);
  tspec_sum_close_to(nest, sums, before);
}

/// Adds the parts of a chunk to the totals.
static void add_parts(tspec_nest_t *nest, tspec_sums_t *sums) {
  int before = sums->nopen;
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    if (sum->is_arg) {
      continue;
    }
    int at = open_vectors(nest, sums, sum);
    int total = tspec_sum_vector_load(nest, sum, sum->total, sum->ntotal, at);
    int part = tspec_sum_vector_load(nest, sum, sum->part, sum->ntotal, at);
    tspec_sum_vector_store(nest, sum, tspec_sum_vector_combine(nest, sum, sum->lanes, total, part),
                           sum->total, at);
    tspec_sum_close_to(nest, sums, before);
  }
}

static void store_columns(tspec_nest_t *nest, tspec_sums_t *sums, int left, int right) {
  int before = sums->nopen;
  tspec_sum_open_loop(nest, sums, sums->last, left, right);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index",
                            tspec_loop_index(nest, sums->last), left);
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    int x = sum->is_arg
                ? tspec_sum_load(nest, sum->indices, sum->ntotal, "i32", slot)
                : tspec_sum_from_accumulator(
                      nest, sum, tspec_sum_load(nest, sum->total, sum->ntotal, sum->type, slot));
    tspec_sum_store_result(nest, sum, x);
  }
  tspec_sum_close_to(nest, sums, before);
}

void tspec_nest_emit_columns(tspec_nest_t *nest, tspec_sums_t *sums) {
  alloc_columns(nest, sums);
  tspec_nest_atoms(nest, sums->open);
  tspec_sum_open_loops(nest, sums, false, sums->last);
  bool is_range = sums->nopen == 0;
  int lo = is_range ? nest->begin : tspec_nest_index(nest, 0);
  int hi = is_range ? nest->end : tspec_nest_amount(nest, nest->loops.items[sums->last].extent);
  int right, end;
  int64_t width = tile_for(nest, &nest->loops.items[sums->last]);
  int left = tspec_sum_open_blocks(nest, sums, (tspec_amount_t){.value = width, .ssa = -1}, lo, hi,
                                   &right);
  int tile = sums->nopen;
  reset_columns(nest, sums, false);
  tspec_sum_open_loops(nest, sums, true, sums->last_reduced);
  int size = tspec_nest_amount(nest, nest->loops.items[sums->last_reduced].extent);
  int begin = tspec_sum_open_blocks(nest, sums, (tspec_amount_t){.value = COLUMN_CHUNK, .ssa = -1},
                                    tspec_nest_index(nest, 0), size, &end);
  reset_columns(nest, sums, true);
  add_rows(nest, sums, begin, end, left, right);
  add_parts(nest, sums);
  tspec_sum_close_to(nest, sums, tile);
  store_columns(nest, sums, left, right);
  tspec_sum_close_to(nest, sums, 0);
}
