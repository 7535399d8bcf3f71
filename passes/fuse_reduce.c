// Kernels with reductions. The order in which a float sum is formed depends on the reduce op's
// global shape alone, never on the CPU, on what is fused or on which rank holds how many of the
// elements that are kept: so a sum over a dim that is not split has the same bits on every mesh.
//
// Where the innermost dim is reduced (rows): element j is added to lane j mod L, a chunk of
// elements at a time; lanes are added up as a tree at the end. Where it is kept (columns): a tile
// of columns is walked row by row, again by chunks. Sums of sums keep the rounding error small.
#include <inttypes.h>
#include <math.h>

#include "passes/fuse.h"

#define MAX_LANES 32    // two AVX-512 or four AVX2 registers of f32: additions overlap
#define ROW_CHUNK 512   // elements that lie in L1 between being computed and being added
#define COLUMN_CHUNK 64 // rows
#define COLUMN_TILE 256 // columns

/// What the accumulators of one root look like.
typedef struct sum_t {
  int root;
  const tspec_op_t *op;
  bool is_arg;
  tspec_reduce_t kind;
  tspec_dtype_t dtype; ///< of the elements
  const char *type;    ///< of accumulators
  int64_t lanes;
  int64_t ntotal; ///< elements in each accumulator's memory
  int64_t nvalues;
  int total, part, values, indices; ///< numbers of the scratch memories
  int fill_identity;                ///< SSA
} sum_t;

static int scratch(tspec_nest_t *nest, int64_t count, const char *type) {
  int ssa = nest->nssa++;
  tspec_buf_printf(&nest->allocas,
                   "%%%d = memref.alloca() {alignment = 64 : i64} : memref<%" PRId64 "x%s>\n", ssa,
                   count, type);
  return ssa;
}

// ---- scalars -----------------------------------------------------------------------------------

static const char *combine_name(const sum_t *sum) {
  bool is_float = tspec_dtype_is_float(sum->dtype);
  bool is_unsigned = sum->dtype == TSPEC_DTYPE_U8 || sum->dtype == TSPEC_DTYPE_BOOL;
  switch (sum->kind) {
  case TSPEC_REDUCE_SUM:
    return is_float ? "arith.addf" : "arith.addi";
  case TSPEC_REDUCE_PROD:
    return is_float ? "arith.mulf" : "arith.muli";
  case TSPEC_REDUCE_MAX:
    return is_float ? "arith.maximumf" : is_unsigned ? "arith.maxui" : "arith.maxsi";
  case TSPEC_REDUCE_MIN:
    return is_float ? "arith.minimumf" : is_unsigned ? "arith.minui" : "arith.minsi";
  case TSPEC_REDUCE_ALL:
    return "arith.andi";
  case TSPEC_REDUCE_ANY:
    return "arith.ori";
  case TSPEC_REDUCE_COUNT:
    break;
  }
  TSPEC_CHECK(false, "no reduction %d", (int)sum->kind);
  return NULL;
}

static double identity(const sum_t *sum) {
  bool is_float = tspec_dtype_is_float(sum->dtype);
  switch (sum->kind) {
  case TSPEC_REDUCE_MAX:
    return is_float ? -(double)INFINITY : tspec_dtype_min(sum->dtype);
  case TSPEC_REDUCE_MIN:
    return is_float ? (double)INFINITY : tspec_dtype_max(sum->dtype);
  case TSPEC_REDUCE_PROD:
  case TSPEC_REDUCE_ALL:
    return 1;
  case TSPEC_REDUCE_SUM:
  case TSPEC_REDUCE_ANY:
  case TSPEC_REDUCE_COUNT:
    break;
  }
  return 0;
}

/// bool is combined as it lies in memory.
static tspec_dtype_t accumulator_dtype(tspec_dtype_t dtype) {
  return dtype == TSPEC_DTYPE_BOOL ? TSPEC_DTYPE_U8 : dtype;
}

static int to_accumulator(tspec_nest_t *nest, const sum_t *sum, int x) {
  return sum->dtype == TSPEC_DTYPE_BOOL ? tspec_register_to_memory(nest, sum->dtype, x) : x;
}

static int from_accumulator(tspec_nest_t *nest, const sum_t *sum, int x) {
  return sum->dtype == TSPEC_DTYPE_BOOL ? tspec_register_from_memory(nest, sum->dtype, x)
                                        : tspec_register_round(nest, sum->dtype, x);
}

static int load(tspec_nest_t *nest, int memory, int64_t count, const char *type, int at) {
  return tspec_nest_let(nest, "memref.load %%%d[%%%d] : memref<%" PRId64 "x%s>", memory, at, count,
                        type);
}

static void store(tspec_nest_t *nest, int x, int memory, int64_t count, const char *type, int at) {
  tspec_nest_line(nest, "memref.store %%%d, %%%d[%%%d] : memref<%" PRId64 "x%s>", x, memory, at,
                  count, type);
}

/// Takes element x at index `at` of the reduced dim if it is better than the best so far at `slot`.
/// The first NaN is the best of all.
static void update_arg(tspec_nest_t *nest, const sum_t *sum, int x, int at, int slot) {
  bool is_float = tspec_dtype_is_float(sum->dtype), is_max = sum->kind == TSPEC_REDUCE_MAX;
  bool is_unsigned = sum->dtype == TSPEC_DTYPE_U8 || sum->dtype == TSPEC_DTYPE_BOOL;
  int best = load(nest, sum->total, sum->ntotal, sum->type, slot);
  int index = load(nest, sum->indices, sum->ntotal, "i32", slot);
  const char *op = is_float      ? (is_max ? "arith.cmpf ogt" : "arith.cmpf olt")
                   : is_unsigned ? (is_max ? "arith.cmpi ugt" : "arith.cmpi ult")
                                 : (is_max ? "arith.cmpi sgt" : "arith.cmpi slt");
  int better = tspec_nest_let(nest, "%s, %%%d, %%%d : %s", op, x, best, sum->type);
  if (is_float) {
    int is_nan = tspec_nest_let(nest, "arith.cmpf uno, %%%d, %%%d : %s", x, x, sum->type);
    int was_number = tspec_nest_let(nest, "arith.cmpf ord, %%%d, %%%d : %s", best, best, sum->type);
    int first_nan = tspec_nest_let(nest, "arith.andi %%%d, %%%d : i1", is_nan, was_number);
    better = tspec_nest_let(nest, "arith.ori %%%d, %%%d : i1", better, first_nan);
  }
  int here = tspec_nest_let(nest, "arith.index_cast %%%d : index to i32", at);
  int value =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", better, x, best, sum->type);
  int place = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", better, here, index);
  store(nest, value, sum->total, sum->ntotal, sum->type, slot);
  store(nest, place, sum->indices, sum->ntotal, "i32", slot);
}

// ---- what both kinds share ---------------------------------------------------------------------

typedef struct sums_t {
  int count;
  sum_t *items;
  int last_reduced; ///< loop; -1: none
  int last;         ///< loop
  uint64_t open;    ///< dims
  int nopen;
} sums_t;

static sums_t plan_sums(tspec_nest_t *nest) {
  sums_t sums = {.last_reduced = -1, .last = (int)nest->loops.count - 1};
  sums.items = TSPEC_ARENA_NEW(nest->arena, sum_t, nest->roots.count);
  sums.open = tspec_nest_fixed_dims(nest);
  for (size_t i = 0; i < nest->loops.count; i++) {
    if (nest->loops.items[i].reduced) {
      sums.last_reduced = (int)i;
    }
  }
  for (size_t i = 0; i < nest->roots.count; i++) {
    const tspec_op_t *op = nest->roots.items[i].reduce;
    if (op == NULL) {
      continue;
    }
    sum_t *sum = &sums.items[sums.count++];
    sum->root = (int)i;
    sum->op = op;
    sum->is_arg = op->kind == TSPEC_OP_arg_reduce;
    sum->kind = tspec_op_get_attr(op, "kind")->reduce;
    sum->dtype = op->operands[0]->type.dtype;
    sum->type = tspec_register_type(accumulator_dtype(sum->dtype));
  }
  return sums;
}

static void open_loop(tspec_nest_t *nest, sums_t *sums, int loop, int lo, int hi) {
  tspec_nest_open(nest, loop, lo, hi);
  sums->open |= tspec_loop_dims(&nest->loops.items[loop]);
  sums->nopen++;
  tspec_nest_atoms(nest, sums->open);
}

static void close_to(tspec_nest_t *nest, sums_t *sums, int nopen) {
  for (; sums->nopen > nopen; sums->nopen--) {
    tspec_nest_close(nest);
  }
}

/// Opens the loops of one kind that come before `end`.
static void open_loops(tspec_nest_t *nest, sums_t *sums, bool reduced, int end) {
  bool is_range = !reduced;
  for (int i = 0; i < end; i++) {
    if (nest->loops.items[i].reduced != reduced) {
      continue;
    }
    int lo = is_range ? nest->begin : tspec_nest_index(nest, 0);
    int hi = is_range ? nest->end : tspec_nest_amount(nest, nest->loops.items[i].extent);
    open_loop(nest, sums, i, lo, hi);
    is_range = false;
  }
}

/// Opens a loop of blocks over [lo, hi); returns the block's begin and, in *out_end, its end.
static int open_blocks(tspec_nest_t *nest, sums_t *sums, int lo, int hi, int64_t size,
                       int *out_end) {
  int step = tspec_nest_index(nest, size);
  int begin = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", begin, lo, hi, step);
  sums->nopen++;
  int end = tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", begin, step);
  *out_end = tspec_nest_let(nest, "arith.minsi %%%d, %%%d : index", end, hi);
  return begin;
}

/// Opens a plain loop over [0, hi) by steps; returns its index.
static int open_counter(tspec_nest_t *nest, sums_t *sums, int lo, int hi, int64_t step) {
  int by = tspec_nest_index(nest, step);
  int index = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", index, lo, hi, by);
  sums->nopen++;
  return index;
}

/// The linear index of the open kept dims in the result of a reduction.
static int result_linear(tspec_nest_t *nest, const sum_t *sum) {
  const tspec_value_t *result = nest->roots.items[sum->root].value;
  tspec_coord_t *coords = TSPEC_ARENA_NEW(nest->arena, tspec_coord_t, result->type.rank);
  int next = 0;
  for (int d = 0; d < nest->space->type.rank; d++) {
    if ((nest->reduced_dims >> d & 1) == 0) {
      coords[next++] = (tspec_coord_t){.dim = d, .mul = 1};
    }
  }
  return tspec_nest_linear(nest, result, coords);
}

static void store_result(tspec_nest_t *nest, const sum_t *sum, int x) {
  tspec_nest_store(nest, sum->root, result_linear(nest, sum), x);
}

static int zero_i32(tspec_nest_t *nest) {
  return tspec_nest_let(nest, "arith.constant 0 : i32");
}

// ---- nothing to combine: all reduced dims have one element -------------------------------------

static void emit_single(tspec_nest_t *nest, sums_t *sums) {
  tspec_nest_atoms(nest, sums->open);
  open_loops(nest, sums, false, (int)nest->loops.count);
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    store_result(nest, sum, sum->is_arg ? zero_i32(nest) : nest->roots.items[sum->root].atom->ssa);
  }
  tspec_nest_store_atoms(nest);
  close_to(nest, sums, 0);
}

// ---- rows --------------------------------------------------------------------------------------

static int vector_load(tspec_nest_t *nest, const sum_t *sum, int memory, int64_t count, int at) {
  return tspec_nest_let(nest,
                        "vector.load %%%d[%%%d] : memref<%" PRId64 "x%s>, vector<%" PRId64 "x%s>",
                        memory, at, count, sum->type, sum->lanes, sum->type);
}

static void vector_store(tspec_nest_t *nest, const sum_t *sum, int x, int memory, int at) {
  tspec_nest_line(nest,
                  "vector.store %%%d, %%%d[%%%d] : memref<%" PRId64 "x%s>, vector<%" PRId64 "x%s>",
                  x, memory, at, sum->ntotal, sum->type, sum->lanes, sum->type);
}

static int vector_combine(tspec_nest_t *nest, const sum_t *sum, int64_t lanes, int a, int b) {
  return tspec_nest_let(nest, "%s %%%d, %%%d : vector<%" PRId64 "x%s>", combine_name(sum), a, b,
                        lanes, sum->type);
}

static void vector_reset(tspec_nest_t *nest, const sum_t *sum, int memory, int at) {
  int x = tspec_register_constant(nest, accumulator_dtype(sum->dtype), identity(sum));
  int all = tspec_nest_let(nest, "vector.broadcast %%%d : %s to vector<%" PRId64 "x%s>", x,
                           sum->type, sum->lanes, sum->type);
  vector_store(nest, sum, all, memory, at);
}

/// As many lanes as there are elements, up to MAX_LANES: a power of two.
static int64_t lanes_for(int64_t size) {
  int64_t lanes = 1;
  while (lanes < size && lanes < MAX_LANES) {
    lanes *= 2;
  }
  return lanes;
}

static void alloc_rows(tspec_nest_t *nest, sums_t *sums) {
  int dim = nest->loops.items[sums->last].first;
  for (int i = 0; i < sums->count; i++) {
    sum_t *sum = &sums->items[i];
    sum->lanes = sum->is_arg ? 1 : lanes_for(nest->space->type.dims[dim]);
    sum->ntotal = sum->lanes;
    sum->nvalues = ROW_CHUNK;
    sum->total = scratch(nest, sum->ntotal, sum->type);
    if (sum->is_arg) {
      sum->indices = scratch(nest, sum->ntotal, "i32");
    } else {
      sum->part = scratch(nest, sum->ntotal, sum->type);
      sum->values = scratch(nest, sum->nvalues, sum->type);
    }
  }
}

static void reset_row(tspec_nest_t *nest, const sums_t *sums) {
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    vector_reset(nest, sum, sum->total, tspec_nest_index(nest, 0));
    if (sum->is_arg) {
      store(nest, zero_i32(nest), sum->indices, sum->ntotal, "i32", tspec_nest_index(nest, 0));
    }
  }
}

/// Computes the elements of one chunk.
static void fill_chunk(tspec_nest_t *nest, sums_t *sums, int begin, int end) {
  int before = sums->nopen;
  open_loop(nest, sums, sums->last, begin, end);
  int at = tspec_loop_index(nest, sums->last);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index", at, begin);
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    int x = to_accumulator(nest, sum, nest->roots.items[sum->root].atom->ssa);
    if (sum->is_arg) {
      update_arg(nest, sum, x, at, tspec_nest_index(nest, 0));
    } else {
      store(nest, x, sum->values, sum->nvalues, sum->type, slot);
    }
  }
  tspec_nest_store_atoms(nest);
  close_to(nest, sums, before);
}

/// Adds the elements of one chunk to the lanes, after filling up the last lanes.
static void add_chunk(tspec_nest_t *nest, sums_t *sums, const sum_t *sum, int begin, int end) {
  int before = sums->nopen;
  int zero = tspec_nest_index(nest, 0);
  int count = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index", end, begin);
  int less = tspec_nest_index(nest, sum->lanes - 1);
  int mask = tspec_nest_index(nest, -sum->lanes);
  int more = tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", count, less);
  int full = tspec_nest_let(nest, "arith.andi %%%d, %%%d : index", more, mask);
  int fill = open_counter(nest, sums, count, full, 1);
  int x = tspec_register_constant(nest, accumulator_dtype(sum->dtype), identity(sum));
  store(nest, x, sum->values, sum->nvalues, sum->type, fill);
  close_to(nest, sums, before);
  vector_reset(nest, sum, sum->part, zero);
  int at = open_counter(nest, sums, zero, full, sum->lanes);
  int values = vector_load(nest, sum, sum->values, sum->nvalues, at);
  int part = vector_load(nest, sum, sum->part, sum->ntotal, zero);
  vector_store(nest, sum, vector_combine(nest, sum, sum->lanes, part, values), sum->part, zero);
  close_to(nest, sums, before);
  int total = vector_load(nest, sum, sum->total, sum->ntotal, zero);
  int chunk = vector_load(nest, sum, sum->part, sum->ntotal, zero);
  vector_store(nest, sum, vector_combine(nest, sum, sum->lanes, total, chunk), sum->total, zero);
}

/// The lanes' tree: halves are combined until one is left.
static int add_lanes(tspec_nest_t *nest, const sum_t *sum) {
  int all = vector_load(nest, sum, sum->total, sum->ntotal, tspec_nest_index(nest, 0));
  for (int64_t lanes = sum->lanes; lanes > 1; lanes /= 2) {
    int half[2];
    for (int i = 0; i < 2; i++) {
      half[i] = tspec_nest_let(
          nest,
          "vector.extract_strided_slice %%%d {offsets = [%" PRId64 "], sizes = [%" PRId64
          "], strides = [1]} : vector<%" PRId64 "x%s> to vector<%" PRId64 "x%s>",
          all, i * lanes / 2, lanes / 2, lanes, sum->type, lanes / 2, sum->type);
    }
    all = vector_combine(nest, sum, lanes / 2, half[0], half[1]);
  }
  return tspec_nest_let(nest, "vector.extract %%%d[0] : %s from vector<1x%s>", all, sum->type,
                        sum->type);
}

static void emit_rows(tspec_nest_t *nest, sums_t *sums) {
  alloc_rows(nest, sums);
  tspec_nest_atoms(nest, sums->open);
  open_loops(nest, sums, false, sums->last);
  reset_row(nest, sums);
  int row = sums->nopen;
  open_loops(nest, sums, true, sums->last);
  int zero = tspec_nest_index(nest, 0), end;
  int size = tspec_nest_amount(nest, nest->loops.items[sums->last].extent);
  int begin = open_blocks(nest, sums, zero, size, ROW_CHUNK, &end);
  fill_chunk(nest, sums, begin, end);
  for (int i = 0; i < sums->count; i++) {
    if (!sums->items[i].is_arg) {
      add_chunk(nest, sums, &sums->items[i], begin, end);
    }
  }
  close_to(nest, sums, row);
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    store_result(nest, sum,
                 sum->is_arg ? load(nest, sum->indices, 1, "i32", tspec_nest_index(nest, 0))
                             : from_accumulator(nest, sum, add_lanes(nest, sum)));
  }
  close_to(nest, sums, 0);
}

// ---- columns -----------------------------------------------------------------------------------

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

static void alloc_columns(tspec_nest_t *nest, const sums_t *sums) {
  for (int i = 0; i < sums->count; i++) {
    sum_t *sum = &sums->items[i];
    sum->ntotal = tile_for(nest, &nest->loops.items[sums->last]);
    sum->lanes = lanes_for(sum->ntotal);
    sum->total = scratch(nest, sum->ntotal, sum->type);
    if (sum->is_arg) {
      sum->indices = scratch(nest, sum->ntotal, "i32");
    } else {
      sum->part = scratch(nest, sum->ntotal, sum->type);
    }
  }
}

/// Opens a loop over a tile's accumulators, vector by vector; returns its index.
static int open_vectors(tspec_nest_t *nest, sums_t *sums, const sum_t *sum) {
  int end = tspec_nest_index(nest, sum->ntotal);
  return open_counter(nest, sums, tspec_nest_index(nest, 0), end, sum->lanes);
}

static void reset_indices(tspec_nest_t *nest, const sum_t *sum, int at) {
  int zeros = tspec_nest_let(nest, "arith.constant dense<0> : vector<%" PRId64 "xi32>", sum->lanes);
  tspec_nest_line(
      nest, "vector.store %%%d, %%%d[%%%d] : memref<%" PRId64 "xi32>, vector<%" PRId64 "xi32>",
      zeros, sum->indices, at, sum->ntotal, sum->lanes);
}

/// Sets the columns' accumulators: totals (and indices), or the parts of one chunk.
static void reset_columns(tspec_nest_t *nest, sums_t *sums, bool parts) {
  int before = sums->nopen;
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    if (parts && sum->is_arg) {
      continue;
    }
    int at = open_vectors(nest, sums, sum);
    vector_reset(nest, sum, parts ? sum->part : sum->total, at);
    if (sum->is_arg) {
      reset_indices(nest, sum, at);
    }
    close_to(nest, sums, before);
  }
}

static void combine_at(tspec_nest_t *nest, const sum_t *sum, int memory, int slot, int x) {
  int old = load(nest, memory, sum->ntotal, sum->type, slot);
  int new = tspec_nest_let(nest, "%s %%%d, %%%d : %s", combine_name(sum), old, x, sum->type);
  store(nest, new, memory, sum->ntotal, sum->type, slot);
}

/// One chunk of rows of a tile of columns.
static void add_rows(tspec_nest_t *nest, sums_t *sums, int begin, int end, int left, int right) {
  int before = sums->nopen;
  open_loop(nest, sums, sums->last_reduced, begin, end);
  int at = tspec_loop_index(nest, sums->last_reduced);
  open_loop(nest, sums, sums->last, left, right);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index",
                            tspec_loop_index(nest, sums->last), left);
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    int x = to_accumulator(nest, sum, nest->roots.items[sum->root].atom->ssa);
    if (sum->is_arg) {
      update_arg(nest, sum, x, at, slot);
    } else {
      combine_at(nest, sum, sum->part, slot, x);
    }
  }
  tspec_nest_store_atoms(nest);
  close_to(nest, sums, before);
}

/// Adds the parts of a chunk to the totals.
static void add_parts(tspec_nest_t *nest, sums_t *sums) {
  int before = sums->nopen;
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    if (sum->is_arg) {
      continue;
    }
    int at = open_vectors(nest, sums, sum);
    int total = vector_load(nest, sum, sum->total, sum->ntotal, at);
    int part = vector_load(nest, sum, sum->part, sum->ntotal, at);
    vector_store(nest, sum, vector_combine(nest, sum, sum->lanes, total, part), sum->total, at);
    close_to(nest, sums, before);
  }
}

static void store_columns(tspec_nest_t *nest, sums_t *sums, int left, int right) {
  int before = sums->nopen;
  open_loop(nest, sums, sums->last, left, right);
  int slot = tspec_nest_let(nest, "arith.subi %%%d, %%%d overflow<nsw> : index",
                            tspec_loop_index(nest, sums->last), left);
  for (int i = 0; i < sums->count; i++) {
    const sum_t *sum = &sums->items[i];
    int x = sum->is_arg
                ? load(nest, sum->indices, sum->ntotal, "i32", slot)
                : from_accumulator(nest, sum, load(nest, sum->total, sum->ntotal, sum->type, slot));
    store_result(nest, sum, x);
  }
  close_to(nest, sums, before);
}

static void emit_columns(tspec_nest_t *nest, sums_t *sums) {
  alloc_columns(nest, sums);
  tspec_nest_atoms(nest, sums->open);
  open_loops(nest, sums, false, sums->last);
  bool is_range = sums->nopen == 0;
  int lo = is_range ? nest->begin : tspec_nest_index(nest, 0);
  int hi = is_range ? nest->end : tspec_nest_amount(nest, nest->loops.items[sums->last].extent);
  int right, end;
  int64_t width = tile_for(nest, &nest->loops.items[sums->last]);
  int left = open_blocks(nest, sums, lo, hi, width, &right);
  int tile = sums->nopen;
  reset_columns(nest, sums, false);
  open_loops(nest, sums, true, sums->last_reduced);
  int size = tspec_nest_amount(nest, nest->loops.items[sums->last_reduced].extent);
  int begin = open_blocks(nest, sums, tspec_nest_index(nest, 0), size, COLUMN_CHUNK, &end);
  reset_columns(nest, sums, true);
  add_rows(nest, sums, begin, end, left, right);
  add_parts(nest, sums);
  close_to(nest, sums, tile);
  store_columns(nest, sums, left, right);
  close_to(nest, sums, 0);
}

void tspec_nest_emit_reduce(tspec_nest_t *nest) {
  sums_t sums = plan_sums(nest);
  if (sums.last_reduced < 0) {
    emit_single(nest, &sums);
  } else if (sums.last_reduced == sums.last) {
    emit_rows(nest, &sums);
  } else {
    emit_columns(nest, &sums);
  }
}
