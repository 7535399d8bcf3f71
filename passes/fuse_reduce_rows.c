// Reductions of the innermost dim: element j is added to lane j mod L, a chunk of elements at a
// time, and the lanes are added up as a tree at the end. Sums of sums keep the rounding error
// small.
#include <inttypes.h>

#include "passes/fuse_reduce.h"

#define ROW_CHUNK 512 // elements that lie in L1 between being computed and being added

static void alloc_rows(tspec_nest_t *nest, tspec_sums_t *sums) {
  int dim = nest->loops.items[sums->last].first;
  for (int i = 0; i < sums->count; i++) {
    tspec_sum_t *sum = &sums->items[i];
    sum->lanes = tspec_sum_lanes(nest->space->type.dims[dim]);
    sum->ntotal = sum->lanes;
    sum->nvalues = ROW_CHUNK;
    sum->total = tspec_sum_scratch(nest, sum->ntotal, sum->type);
    sum->values = tspec_sum_scratch(nest, sum->nvalues, sum->type);
    if (sum->is_arg) {
      sum->indices = tspec_sum_scratch(nest, sum->ntotal, "i32");
    } else {
      sum->part = tspec_sum_scratch(nest, sum->ntotal, sum->type);
    }
  }
}

static void reset_row(tspec_nest_t *nest, const tspec_sums_t *sums) {
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    tspec_sum_vector_reset(nest, sum, sum->total, tspec_nest_index(nest, 0));
    if (sum->is_arg) {
      tspec_sum_reset_indices(nest, sum, tspec_nest_index(nest, 0));
    }
  }
}

/// Computes the elements of one chunk.
static void fill_chunk(tspec_nest_t *nest, tspec_sums_t *sums, int begin, int end) {
  int before = sums->nopen;
  tspec_sum_open_loop(nest, sums, sums->last, begin, end);
  int at = tspec_loop_index(nest, sums->last);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index", at, begin);
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    int x = tspec_sum_to_accumulator(nest, sum, nest->roots.items[sum->root].atom->ssa);
    tspec_sum_store(nest, x, sum->values, sum->nvalues, sum->type, slot);
  }
  tspec_nest_store_atoms(nest);
  tspec_sum_close_to(nest, sums, before);
}

/// Fills the chunk's last lanes with what changes nothing. Returns its length then.
static int fill_up(tspec_nest_t *nest, tspec_sums_t *sums, const tspec_sum_t *sum, int begin,
                   int end) {
  int before = sums->nopen;
  int count = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index", end, begin);
  int less = tspec_nest_index(nest, sum->lanes - 1);
  int mask = tspec_nest_index(nest, -sum->lanes);
  int more = tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", count, less);
  int full = tspec_nest_let(nest, "arith.andi %%%d, %%%d : index", more, mask);
  int fill = tspec_sum_open_counter(nest, sums, count, full, 1);
  int x = tspec_register_constant(nest, tspec_sum_dtype(sum), tspec_sum_identity(sum));
  tspec_sum_store(nest, x, sum->values, sum->nvalues, sum->type, fill);
  tspec_sum_close_to(nest, sums, before);
  return full;
}

/// Adds the elements of one chunk to the lanes.
static void add_chunk(tspec_nest_t *nest, tspec_sums_t *sums, const tspec_sum_t *sum, int begin,
                      int end) {
  int before = sums->nopen;
  int zero = tspec_nest_index(nest, 0);
  int full = fill_up(nest, sums, sum, begin, end);
  tspec_sum_vector_reset(nest, sum, sum->part, zero);
  int at = tspec_sum_open_counter(nest, sums, zero, full, sum->lanes);
  int values = tspec_sum_vector_load(nest, sum, sum->values, sum->nvalues, at);
  int part = tspec_sum_vector_load(nest, sum, sum->part, sum->ntotal, zero);
  tspec_sum_vector_store(nest, sum, tspec_sum_vector_combine(nest, sum, sum->lanes, part, values),
                         sum->part, zero);
  tspec_sum_close_to(nest, sums, before);
  int total = tspec_sum_vector_load(nest, sum, sum->total, sum->ntotal, zero);
  int chunk = tspec_sum_vector_load(nest, sum, sum->part, sum->ntotal, zero);
  tspec_sum_vector_store(nest, sum, tspec_sum_vector_combine(nest, sum, sum->lanes, total, chunk),
                         sum->total, zero);
}

/// i32 vectors in memory.
static int load_indices(tspec_nest_t *nest, const tspec_sum_t *sum, int at) {
  return tspec_nest_let(nest,
                        "vector.load %%%d[%%%d] : memref<%" PRId64 "xi32>, vector<%" PRId64 "xi32>",
                        sum->indices, at, sum->ntotal, sum->lanes);
}

static void store_indices(tspec_nest_t *nest, const tspec_sum_t *sum, int x, int at) {
  tspec_nest_line(
      nest, "vector.store %%%d, %%%d[%%%d] : memref<%" PRId64 "xi32>, vector<%" PRId64 "xi32>", x,
      sum->indices, at, sum->ntotal, sum->lanes);
}

/// The best of one chunk, lane by lane.
static void best_of_chunk(tspec_nest_t *nest, tspec_sums_t *sums, const tspec_sum_t *sum, int begin,
                          int end) {
  int before = sums->nopen;
  int zero = tspec_nest_index(nest, 0);
  const char *type = tspec_sum_shaped(nest, sum->lanes, sum->type),
             *words = tspec_sum_shaped(nest, sum->lanes, "i32");
  const char *places = tspec_sum_shaped(nest, sum->lanes, "index"),
             *mask = tspec_sum_shaped(nest, sum->lanes, "i1");
  int full = fill_up(nest, sums, sum, begin, end);
  int steps = tspec_nest_let(nest, "vector.step : %s", places);
  int at = tspec_sum_open_counter(nest, sums, zero, full, sum->lanes);
  int values = tspec_sum_vector_load(nest, sum, sum->values, sum->nvalues, at);
  int best = tspec_sum_vector_load(nest, sum, sum->total, sum->ntotal, zero);
  int indices = load_indices(nest, sum, zero);
  int better = tspec_sum_is_better(nest, sum, sum->lanes, values, best);
  int first = tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", begin, at);
  int spread = tspec_nest_let(nest, "vector.broadcast %%%d : index to %s", first, places);
  int wide = tspec_nest_let(nest, "arith.addi %%%d, %%%d : %s", spread, steps, places);
  int here = tspec_nest_let(nest, "arith.index_cast %%%d : %s to %s", wide, places, words);
  int value = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s, %s", better, values, best,
                             mask, type);
  int place = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s, %s", better, here, indices,
                             mask, words);
  tspec_sum_vector_store(nest, sum, value, sum->total, zero);
  store_indices(nest, sum, place, zero);
  tspec_sum_close_to(nest, sums, before);
}

/// The lanes' tree: halves are combined until one is left.
static int add_lanes(tspec_nest_t *nest, const tspec_sum_t *sum) {
  int all = tspec_sum_vector_load(nest, sum, sum->total, sum->ntotal, tspec_nest_index(nest, 0));
  for (int64_t lanes = sum->lanes; lanes > 1; lanes /= 2) {
    int half[2];
    for (int i = 0; i < 2; i++) {
      half[i] = tspec_nest_let(
          nest,
          "vector.extract_strided_slice %%%d {offsets = [%" PRId64 "], sizes = [%" PRId64
          "], strides = [1]} : vector<%" PRId64 "x%s> to vector<%" PRId64 "x%s>",
          all, i * lanes / 2, lanes / 2, lanes, sum->type, lanes / 2, sum->type);
    }
    all = tspec_sum_vector_combine(nest, sum, lanes / 2, half[0], half[1]);
  }
  return tspec_nest_let(nest, "vector.extract %%%d[0] : %s from vector<1x%s>", all, sum->type,
                        sum->type);
}

/// The best of the lanes: of equal ones, and of NaNs, that with the lowest index. Lanes that met
/// nothing hold what nothing is worse than, at index 0.
static int best_of_lanes(tspec_nest_t *nest, tspec_sums_t *sums, const tspec_sum_t *sum) {
  int before = sums->nopen;
  int zero = tspec_nest_index(nest, 0), one = tspec_nest_index(nest, 1);
  int lanes = tspec_nest_index(nest, sum->lanes);
  int at = tspec_sum_open_counter(nest, sums, one, lanes, 1);
  int x = tspec_sum_load(nest, sum->total, sum->ntotal, sum->type, at);
  int x_index = tspec_sum_load(nest, sum->indices, sum->ntotal, "i32", at);
  int best = tspec_sum_load(nest, sum->total, sum->ntotal, sum->type, zero);
  int index = tspec_sum_load(nest, sum->indices, sum->ntotal, "i32", zero);
  int better = tspec_sum_is_better(nest, sum, 0, x, best);
  int worse = tspec_sum_is_better(nest, sum, 0, best, x);
  int yes = tspec_register_constant(nest, TSPEC_DTYPE_BOOL, 1);
  int equal = tspec_nest_let(nest, "arith.xori %%%d, %%%d : i1", worse, yes);
  int lower = tspec_nest_let(nest, "arith.cmpi slt, %%%d, %%%d : i32", x_index, index);
  int earlier = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", equal, lower);
  int takes = tspec_nest_let(nest, "arith.ori %%%d, %%%d : i1", better, earlier);
  int value = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", takes, x, best, sum->type);
  int place = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", takes, x_index, index);
  tspec_sum_store(nest, value, sum->total, sum->ntotal, sum->type, zero);
  tspec_sum_store(nest, place, sum->indices, sum->ntotal, "i32", zero);
  tspec_sum_close_to(nest, sums, before);
  return tspec_sum_load(nest, sum->indices, sum->ntotal, "i32", zero);
}

void tspec_nest_emit_rows(tspec_nest_t *nest, tspec_sums_t *sums) {
  alloc_rows(nest, sums);
  tspec_nest_atoms(nest, sums->open);
  tspec_sum_open_loops(nest, sums, false, sums->last);
  reset_row(nest, sums);
  int row = sums->nopen;
  tspec_sum_open_loops(nest, sums, true, sums->last);
  int zero = tspec_nest_index(nest, 0), end;
  int size = tspec_nest_amount(nest, nest->loops.items[sums->last].extent);
  int begin = tspec_sum_open_blocks(nest, sums, (tspec_amount_t){.value = ROW_CHUNK, .ssa = -1},
                                    zero, size, &end);
  fill_chunk(nest, sums, begin, end);
  for (int i = 0; i < sums->count; i++) {
    if (sums->items[i].is_arg) {
      best_of_chunk(nest, sums, &sums->items[i], begin, end);
    } else {
      add_chunk(nest, sums, &sums->items[i], begin, end);
    }
  }
  tspec_sum_close_to(nest, sums, row);
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    tspec_sum_store_result(nest, sum,
                           sum->is_arg
                               ? best_of_lanes(nest, sums, sum)
                               : tspec_sum_from_accumulator(nest, sum, add_lanes(nest, sum)));
  }
  tspec_sum_close_to(nest, sums, 0);
}
