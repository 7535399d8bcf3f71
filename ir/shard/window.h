// Where an op that only places elements (slice, pad, concat) puts one operand's along one dim: an
// interval of the result shows elements of the operand at a fixed distance.
#ifndef TSPEC_IR_SHARD_WINDOW_H
#define TSPEC_IR_SHARD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/shard/sharding.h"

/// Elements lo .. lo + count - 1 of the result are elements start, start + step, ... of the
/// operand.
typedef struct tspec_window_t {
  int64_t size; ///< of the result's dim
  int64_t lo;
  int64_t start;
  int64_t step; ///< at least 1
  int64_t count;
} tspec_window_t;

/// As many elements as fit from `lo` on in `size`, and from `start` on in `operand_size`.
tspec_window_t tspec_window_make(int64_t size, int64_t operand_size, int64_t lo, int64_t start,
                                 int64_t step);
/// What a result shows of an operand's operand: `outer` of what `inner` shows of that. Nothing, if
/// count is 0.
tspec_window_t tspec_window_compose(const tspec_window_t *outer, const tspec_window_t *inner);
/// True if the result's dim is the operand's.
bool tspec_window_is_identity(const tspec_window_t *window, int64_t operand_size);
/// The indices of the result that show elements of the operand's `block`; empty: begin == end.
tspec_block_t tspec_window_shown(const tspec_window_t *window, tspec_block_t block);
/// The operand's element that the result shows at `index`, which lies in the window.
int64_t tspec_window_source(const tspec_window_t *window, int64_t index);
/// True if `count` operands' windows, [operand * rank + dim], fill the result one behind the other.
bool tspec_windows_cover(const tspec_window_t *windows, int count, int rank);
/// The indices that two blocks share.
tspec_block_t tspec_block_common(tspec_block_t a, tspec_block_t b);

#endif
