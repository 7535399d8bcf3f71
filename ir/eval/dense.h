// A tensor or a rank's block of one, dense and row-major, elements in their memory form. The value
// of everything that the reference evaluator computes.
#ifndef TSPEC_IR_EVAL_DENSE_H
#define TSPEC_IR_EVAL_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/type.h"
#include "ir/shard/sharding.h"

typedef struct tspec_dense_t {
  tspec_type_t type; ///< dims may be 0 here; they live with the tensor
  int64_t count;     ///< elements
  void *data;        ///< f64 f32, bf16 and f16 as their bits, integers, bool as one byte
} tspec_dense_t;

/// All zero. Ownership: the caller's, tspec_dense_destroy.
tspec_dense_t *tspec_dense_create(tspec_dtype_t dtype, int rank, const int64_t *dims);
tspec_dense_t *tspec_dense_clone(const tspec_dense_t *dense);
/// NULL is fine.
void tspec_dense_destroy(tspec_dense_t *dense);

/// An element of a float dtype, exactly.
double tspec_dense_get_float(const tspec_dense_t *dense, int64_t index);
/// An element of an integer dtype or bool.
int64_t tspec_dense_get_int(const tspec_dense_t *dense, int64_t index);
/// Any element as a double (i64 beyond 2^53 is rounded): for messages and comparisons.
double tspec_dense_get(const tspec_dense_t *dense, int64_t index);
/// Sets an element of a float dtype; rounds once, to nearest even.
void tspec_dense_set_float(tspec_dense_t *dense, int64_t index, double number);
/// Sets an element of an integer dtype, which wraps, or bool (not 0).
void tspec_dense_set_int(tspec_dense_t *dense, int64_t index, int64_t number);
/// Sets any element from a double as `convert` does: truncates, saturates, NaN is 0.
void tspec_dense_set(tspec_dense_t *dense, int64_t index, double number);
/// Copies an element's bits; one dtype.
void tspec_dense_copy_element(tspec_dense_t *to, int64_t to_index, const tspec_dense_t *from,
                              int64_t from_index);
/// Same type and same bits.
bool tspec_dense_equal(const tspec_dense_t *a, const tspec_dense_t *b);

/// Copies the box of these extents at `from_begin` to `to_begin`; one dtype and rank. `from_steps`:
/// every how many elements are taken, per dim; NULL: each.
void tspec_dense_copy_box(tspec_dense_t *to, const int64_t *to_begin, const tspec_dense_t *from,
                          const int64_t *from_begin, const int64_t *from_steps,
                          const int64_t *extents);
/// The part of a whole tensor that the blocks (one per dim) state. Ownership: the caller's.
tspec_dense_t *tspec_dense_cut(const tspec_dense_t *whole, const tspec_block_t *blocks);
/// Writes a block into the whole tensor.
void tspec_dense_paste(tspec_dense_t *whole, const tspec_dense_t *part,
                       const tspec_block_t *blocks);

/// The next index of a row-major walk over `dims`. False (and all zero) after the last one.
bool tspec_dense_next(int rank, const int64_t *dims, int64_t *index);

#endif
