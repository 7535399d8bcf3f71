// Kernels with reductions. The order in which a float sum is formed depends on the reduce op's
// global shape alone, never on the CPU, on what is fused or on which rank holds how many of the
// elements that are kept: so a sum over a dim that is not split has the same bits on every mesh.
#include "passes/fuse_reduce.h"

#include <inttypes.h>
#include <math.h>

#define MAX_LANES 32 // two AVX-512 or four AVX2 registers of f32: additions overlap

int tspec_sum_scratch(tspec_nest_t *nest, int64_t count, const char *type) {
  int ssa = nest->nssa++;
  tspec_buf_printf(&nest->allocas,
                   "%%%d = memref.alloca() {alignment = 64 : i64} : memref<%" PRId64 "x%s>\n", ssa,
                   count, type);
  return ssa;
}

// ---- scalars -----------------------------------------------------------------------------------

static const char *combine_name(const tspec_sum_t *sum) {
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

double tspec_sum_identity(const tspec_sum_t *sum) {
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

tspec_dtype_t tspec_sum_dtype(const tspec_sum_t *sum) {
  return sum->dtype == TSPEC_DTYPE_BOOL ? TSPEC_DTYPE_U8 : sum->dtype;
}

int tspec_sum_to_accumulator(tspec_nest_t *nest, const tspec_sum_t *sum, int x) {
  return sum->dtype == TSPEC_DTYPE_BOOL ? tspec_register_to_memory(nest, sum->dtype, x) : x;
}

int tspec_sum_from_accumulator(tspec_nest_t *nest, const tspec_sum_t *sum, int x) {
  return sum->dtype == TSPEC_DTYPE_BOOL ? tspec_register_from_memory(nest, sum->dtype, x)
                                        : tspec_register_round(nest, sum->dtype, x);
}

int tspec_sum_load(tspec_nest_t *nest, int memory, int64_t count, const char *type, int at) {
  return tspec_nest_let(nest, "memref.load %%%d[%%%d] : memref<%" PRId64 "x%s>", memory, at, count,
                        type);
}

void tspec_sum_store(tspec_nest_t *nest, int x, int memory, int64_t count, const char *type,
                     int at) {
  tspec_nest_line(nest, "memref.store %%%d, %%%d[%%%d] : memref<%" PRId64 "x%s>", x, memory, at,
                  count, type);
}

const char *tspec_sum_shaped(tspec_nest_t *nest, int64_t lanes, const char *type) {
  return lanes == 0 ? type : tspec_arena_printf(nest->arena, "vector<%" PRId64 "x%s>", lanes, type);
}

int tspec_sum_is_better(tspec_nest_t *nest, const tspec_sum_t *sum, int64_t lanes, int x,
                        int best) {
  bool is_float = tspec_dtype_is_float(sum->dtype), is_max = sum->kind == TSPEC_REDUCE_MAX;
  bool is_unsigned = sum->dtype == TSPEC_DTYPE_U8 || sum->dtype == TSPEC_DTYPE_BOOL;
  const char *type = tspec_sum_shaped(nest, lanes, sum->type),
             *mask = tspec_sum_shaped(nest, lanes, "i1");
  const char *op = is_float      ? (is_max ? "arith.cmpf ogt" : "arith.cmpf olt")
                   : is_unsigned ? (is_max ? "arith.cmpi ugt" : "arith.cmpi ult")
                                 : (is_max ? "arith.cmpi sgt" : "arith.cmpi slt");
  int better = tspec_nest_let(nest, "%s, %%%d, %%%d : %s", op, x, best, type);
  if (!is_float) {
    return better;
  }
  int is_nan = tspec_nest_let(nest, "arith.cmpf uno, %%%d, %%%d : %s", x, x, type);
  int was_number = tspec_nest_let(nest, "arith.cmpf ord, %%%d, %%%d : %s", best, best, type);
  int first_nan = tspec_nest_let(nest, "arith.andi %%%d, %%%d : %s", is_nan, was_number, mask);
  return tspec_nest_let(nest, "arith.ori %%%d, %%%d : %s", better, first_nan, mask);
}

void tspec_sum_update_arg(tspec_nest_t *nest, const tspec_sum_t *sum, int x, int at, int slot) {
  int best = tspec_sum_load(nest, sum->total, sum->ntotal, sum->type, slot);
  int index = tspec_sum_load(nest, sum->indices, sum->ntotal, "i32", slot);
  int better = tspec_sum_is_better(nest, sum, 0, x, best);
  int here = tspec_nest_let(nest, "arith.index_cast %%%d : index to i32", at);
  int value =
      tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : %s", better, x, best, sum->type);
  int place = tspec_nest_let(nest, "arith.select %%%d, %%%d, %%%d : i32", better, here, index);
  tspec_sum_store(nest, value, sum->total, sum->ntotal, sum->type, slot);
  tspec_sum_store(nest, place, sum->indices, sum->ntotal, "i32", slot);
}

// ---- what both kinds share ---------------------------------------------------------------------

static tspec_sums_t plan_sums(tspec_nest_t *nest) {
  tspec_sums_t sums = {.last_reduced = -1, .last = (int)nest->loops.count - 1};
  sums.items = TSPEC_ARENA_NEW(nest->arena, tspec_sum_t, nest->roots.count);
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
    tspec_sum_t *sum = &sums.items[sums.count++];
    sum->root = (int)i;
    sum->op = op;
    sum->is_arg = op->kind == TSPEC_OP_arg_reduce;
    sum->kind = tspec_op_get_attr(op, "kind")->reduce;
    sum->dtype = op->operands[0]->type.dtype;
    sum->type = tspec_register_type(tspec_sum_dtype(sum));
  }
  return sums;
}

void tspec_sum_open_loop(tspec_nest_t *nest, tspec_sums_t *sums, int loop, int lo, int hi) {
  tspec_nest_open(nest, loop, lo, hi);
  sums->open |= tspec_loop_dims(&nest->loops.items[loop]);
  sums->nopen++;
  tspec_nest_atoms(nest, sums->open);
}

void tspec_sum_close_to(tspec_nest_t *nest, tspec_sums_t *sums, int nopen) {
  for (; sums->nopen > nopen; sums->nopen--) {
    tspec_nest_close(nest);
  }
}

void tspec_sum_open_loops(tspec_nest_t *nest, tspec_sums_t *sums, bool reduced, int end) {
  bool is_range = !reduced;
  for (int i = 0; i < end; i++) {
    if (nest->loops.items[i].reduced != reduced) {
      continue;
    }
    int lo = is_range ? nest->begin : tspec_nest_index(nest, 0);
    int hi = is_range ? nest->end : tspec_nest_amount(nest, nest->loops.items[i].extent);
    tspec_sum_open_loop(nest, sums, i, lo, hi);
    is_range = false;
  }
}

int tspec_sum_open_blocks(tspec_nest_t *nest, tspec_sums_t *sums, tspec_amount_t size, int lo,
                          int hi, int *out_end) {
  int step = tspec_nest_amount(nest, size);
  int begin = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", begin, lo, hi, step);
  sums->nopen++;
  int end = tspec_nest_let(nest, "arith.addi %%%d, %%%d overflow<nsw> : index", begin, step);
  *out_end = tspec_nest_let(nest, "arith.minsi %%%d, %%%d : index", end, hi);
  return begin;
}

int tspec_sum_open_counter(tspec_nest_t *nest, tspec_sums_t *sums, int lo, int hi, int64_t step) {
  int by = tspec_nest_index(nest, step);
  int index = nest->nssa++;
  tspec_nest_line(nest, "scf.for %%%d = %%%d to %%%d step %%%d {", index, lo, hi, by);
  sums->nopen++;
  return index;
}

/// The linear index of the open kept dims in the result of a reduction.
static int result_linear(tspec_nest_t *nest, const tspec_sum_t *sum) {
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

void tspec_sum_store_result(tspec_nest_t *nest, const tspec_sum_t *sum, int x) {
  tspec_nest_store(nest, sum->root, result_linear(nest, sum), x);
}

static int zero_i32(tspec_nest_t *nest) {
  return tspec_nest_let(nest, "arith.constant 0 : i32");
}

// ---- nothing to combine: all reduced dims have one element -------------------------------------

static void emit_single(tspec_nest_t *nest, tspec_sums_t *sums) {
  tspec_nest_atoms(nest, sums->open);
  tspec_sum_open_loops(nest, sums, false, (int)nest->loops.count);
  for (int i = 0; i < sums->count; i++) {
    const tspec_sum_t *sum = &sums->items[i];
    tspec_sum_store_result(nest, sum,
                           sum->is_arg ? zero_i32(nest) : nest->roots.items[sum->root].atom->ssa);
  }
  tspec_nest_store_atoms(nest);
  tspec_sum_close_to(nest, sums, 0);
}

int tspec_sum_vector_load(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int64_t count,
                          int at) {
  return tspec_nest_let(nest,
                        "vector.load %%%d[%%%d] : memref<%" PRId64 "x%s>, vector<%" PRId64 "x%s>",
                        memory, at, count, sum->type, sum->lanes, sum->type);
}

void tspec_sum_vector_store(tspec_nest_t *nest, const tspec_sum_t *sum, int x, int memory, int at) {
  tspec_nest_line(nest,
                  "vector.store %%%d, %%%d[%%%d] : memref<%" PRId64 "x%s>, vector<%" PRId64 "x%s>",
                  x, memory, at, sum->ntotal, sum->type, sum->lanes, sum->type);
}

int tspec_sum_vector_combine(tspec_nest_t *nest, const tspec_sum_t *sum, int64_t lanes, int a,
                             int b) {
  return tspec_nest_let(nest, "%s %%%d, %%%d : vector<%" PRId64 "x%s>", combine_name(sum), a, b,
                        lanes, sum->type);
}

void tspec_sum_vector_reset(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int at) {
  int x = tspec_register_constant(nest, tspec_sum_dtype(sum), tspec_sum_identity(sum));
  int all = tspec_nest_let(nest, "vector.broadcast %%%d : %s to vector<%" PRId64 "x%s>", x,
                           sum->type, sum->lanes, sum->type);
  tspec_sum_vector_store(nest, sum, all, memory, at);
}

int64_t tspec_sum_lanes(int64_t size) {
  int64_t lanes = 1;
  while (lanes < size && lanes < MAX_LANES) {
    lanes *= 2;
  }
  return lanes;
}

void tspec_sum_reset_indices(tspec_nest_t *nest, const tspec_sum_t *sum, int at) {
  int zeros = tspec_nest_let(nest, "arith.constant dense<0> : vector<%" PRId64 "xi32>", sum->lanes);
  tspec_nest_line(
      nest, "vector.store %%%d, %%%d[%%%d] : memref<%" PRId64 "xi32>, vector<%" PRId64 "xi32>",
      zeros, sum->indices, at, sum->ntotal, sum->lanes);
}

void tspec_sum_combine_at(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int slot, int x) {
  int old = tspec_sum_load(nest, memory, sum->ntotal, sum->type, slot);
  int new = tspec_nest_let(nest, "%s %%%d, %%%d : %s", combine_name(sum), old, x, sum->type);
  tspec_sum_store(nest, new, memory, sum->ntotal, sum->type, slot);
}

void tspec_nest_emit_reduce(tspec_nest_t *nest) {
  tspec_sums_t sums = plan_sums(nest);
  if (sums.last_reduced < 0) {
    emit_single(nest, &sums);
  } else if (sums.last_reduced == sums.last) {
    tspec_nest_emit_rows(nest, &sums);
  } else {
    tspec_nest_emit_columns(nest, &sums);
  }
}
