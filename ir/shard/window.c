#include "ir/shard/window.h"

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

tspec_window_t tspec_window_make(int64_t size, int64_t operand_size, int64_t lo, int64_t start,
                                 int64_t step) {
  int64_t rest = operand_size - start;
  int64_t most = rest / step + (rest % step != 0);
  return (tspec_window_t){size, lo, start, step, larger(smaller(size - lo, most), 0)};
}

bool tspec_window_is_identity(const tspec_window_t *window, int64_t operand_size) {
  return window->size == operand_size && window->lo == 0 && window->start == 0 &&
         window->step == 1 && window->count == window->size;
}

// The first index whose element is not before `element`.
static int64_t first_from(const tspec_window_t *window, int64_t element) {
  int64_t distance = larger(element - window->start, 0);
  int64_t steps = distance / window->step + (distance % window->step != 0);
  return window->lo + smaller(steps, window->count);
}

tspec_block_t tspec_window_shown(const tspec_window_t *window, tspec_block_t block) {
  return (tspec_block_t){first_from(window, block.begin), first_from(window, block.end)};
}

int64_t tspec_window_source(const tspec_window_t *window, int64_t index) {
  return window->start + (index - window->lo) * window->step;
}

tspec_window_t tspec_window_compose(const tspec_window_t *outer, const tspec_window_t *inner) {
  tspec_block_t filled = {inner->lo, inner->lo + inner->count};
  tspec_block_t shown = tspec_window_shown(outer, filled);
  tspec_window_t composed = {outer->size, shown.begin, inner->start, outer->step * inner->step,
                             shown.end - shown.begin};
  if (composed.count > 0) {
    composed.start = tspec_window_source(inner, tspec_window_source(outer, shown.begin));
  }
  return composed;
}

bool tspec_windows_cover(const tspec_window_t *windows, int count, int rank) {
  int along = -1; // the dim in which one follows the other
  int64_t end = 0;
  for (int i = 0; i < count * rank; i++) {
    int d = i % rank;
    if (windows[i].lo == 0 && windows[i].count == windows[i].size) {
      continue;
    }
    if ((along >= 0 && along != d) || windows[i].lo != end ||
        i / rank != (along < 0 ? 0 : i / rank)) {
      return false;
    }
    along = d;
    end += windows[i].count;
  }
  return along < 0 || end == windows[along].size;
}

tspec_block_t tspec_block_common(tspec_block_t a, tspec_block_t b) {
  int64_t begin = larger(a.begin, b.begin);
  return (tspec_block_t){begin, larger(begin, smaller(a.end, b.end))};
}
