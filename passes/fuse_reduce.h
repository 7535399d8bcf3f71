// What kernels with reductions share: accumulators and the loops around them. Private to
// passes/fuse_reduce*.c. SSA values are ints, as in fuse.h.
#ifndef TSPEC_PASSES_FUSE_REDUCE_H
#define TSPEC_PASSES_FUSE_REDUCE_H

#include "passes/fuse.h"

/// What the accumulators of one root look like.
typedef struct tspec_sum_t {
  int root; ///< index into the nest's roots
  const tspec_op_t *op;
  bool is_arg; ///< arg_reduce
  tspec_reduce_t kind;
  tspec_dtype_t dtype;              ///< of the elements
  const char *type;                 ///< of accumulators
  int64_t lanes;                    ///< elements of a vector
  int64_t ntotal;                   ///< elements in each accumulator's memory
  int64_t nvalues;                  ///< elements in the memory of a chunk's values
  int total, part, values, indices; ///< memories: SSA values
} tspec_sum_t;

/// All accumulators of a nest, and which loops are open.
typedef struct tspec_sums_t {
  int count;
  tspec_sum_t *items;
  int last_reduced; ///< loop; -1: none
  int last;         ///< loop
  uint64_t open;    ///< dims
  int nopen;        ///< braces to close
} tspec_sums_t;

// ---- numbers -----------------------------------------------------------------------------------

/// bool is combined as it lies in memory.
tspec_dtype_t tspec_sum_dtype(const tspec_sum_t *sum);
int tspec_sum_to_accumulator(tspec_nest_t *nest, const tspec_sum_t *sum, int x);
/// Rounds to bf16 or f16, once.
int tspec_sum_from_accumulator(tspec_nest_t *nest, const tspec_sum_t *sum, int x);
/// What combining with changes nothing.
double tspec_sum_identity(const tspec_sum_t *sum);
/// "f32", or with lanes > 0 "vector<32xf32>".
const char *tspec_sum_shaped(tspec_nest_t *nest, int64_t lanes, const char *type);
/// i1 (a vector with lanes > 0): x beats the best so far. The first NaN is the best of all.
int tspec_sum_is_better(tspec_nest_t *nest, const tspec_sum_t *sum, int64_t lanes, int x, int best);
/// Takes element x at index `at` of the reduced dim if it beats the best so far at `slot`.
void tspec_sum_update_arg(tspec_nest_t *nest, const tspec_sum_t *sum, int x, int at, int slot);
/// memory[slot] = memory[slot] combined with x.
void tspec_sum_combine_at(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int slot, int x);
/// Stores the finished sum of the open kept dims.
void tspec_sum_store_result(tspec_nest_t *nest, const tspec_sum_t *sum, int x);

// ---- memory ------------------------------------------------------------------------------------

/// Scratch memory of the kernel.
int tspec_sum_scratch(tspec_nest_t *nest, int64_t count, const char *type);
int tspec_sum_load(tspec_nest_t *nest, int memory, int64_t count, const char *type, int at);
void tspec_sum_store(tspec_nest_t *nest, int x, int memory, int64_t count, const char *type,
                     int at);
/// As many lanes as there are elements, up to a number that fits all CPUs; a power of two.
int64_t tspec_sum_lanes(int64_t size);
int tspec_sum_vector_load(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int64_t count,
                          int at);
/// Into an accumulator's memory.
void tspec_sum_vector_store(tspec_nest_t *nest, const tspec_sum_t *sum, int x, int memory, int at);
int tspec_sum_vector_combine(tspec_nest_t *nest, const tspec_sum_t *sum, int64_t lanes, int a,
                             int b);
/// Sets a vector of an accumulator's memory to what changes nothing; of its indices to 0.
void tspec_sum_vector_reset(tspec_nest_t *nest, const tspec_sum_t *sum, int memory, int at);
void tspec_sum_reset_indices(tspec_nest_t *nest, const tspec_sum_t *sum, int at);

// ---- loops -------------------------------------------------------------------------------------

/// Opens a loop of the nest over [lo, hi) and emits the atoms that can then be computed.
void tspec_sum_open_loop(tspec_nest_t *nest, tspec_sums_t *sums, int loop, int lo, int hi);
/// Opens the loops before `end` that are reduced, or those that are kept; the first kept one over
/// the outer range.
void tspec_sum_open_loops(tspec_nest_t *nest, tspec_sums_t *sums, bool reduced, int end);
/// Opens a loop of blocks over [lo, hi); returns the block's begin and, in *out_end, its end.
int tspec_sum_open_blocks(tspec_nest_t *nest, tspec_sums_t *sums, tspec_amount_t size, int lo,
                          int hi, int *out_end);
/// Opens a plain loop over [lo, hi) by steps; returns its index.
int tspec_sum_open_counter(tspec_nest_t *nest, tspec_sums_t *sums, int lo, int hi, int64_t step);
/// Closes loops until `nopen` are left.
void tspec_sum_close_to(tspec_nest_t *nest, tspec_sums_t *sums, int nopen);

// ---- the two kinds of nests --------------------------------------------------------------------

/// The innermost dim is reduced (fuse_reduce_rows.c).
void tspec_nest_emit_rows(tspec_nest_t *nest, tspec_sums_t *sums);
/// The innermost dim is kept (fuse_reduce_columns.c).
void tspec_nest_emit_columns(tspec_nest_t *nest, tspec_sums_t *sums);

#endif
