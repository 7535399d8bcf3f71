#include "ir/shard/window.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

// Against what the words say, element by element.
TestSuite(window, .timeout = 30);

/// The operand's element that the result shows at `index`, or -1.
static int64_t shown_at(const tspec_window_t *window, int64_t operand_size, int64_t index) {
  for (int64_t i = 0, element = window->start; i < window->size - window->lo; i++) {
    if (window->lo + i == index && element < operand_size) {
      return element;
    }
    element += window->step;
  }
  return -1;
}

static void check_blocks(const tspec_window_t *window, int64_t operand_size) {
  for (int64_t begin = 0; begin <= operand_size; begin++) {
    for (int64_t end = begin; end <= operand_size; end++) {
      tspec_block_t shown = tspec_window_shown(window, (tspec_block_t){begin, end});
      for (int64_t i = 0; i < window->size; i++) {
        int64_t element = shown_at(window, operand_size, i);
        bool want = element >= begin && element < end;
        cr_assert(eq(int, i >= shown.begin && i < shown.end, want),
                  "%lld: %lld of %lld .. %lld, start %lld, step %lld", (long long)i,
                  (long long)element, (long long)begin, (long long)end, (long long)window->start,
                  (long long)window->step);
      }
    }
  }
}

Test(window, shows_what_it_says) {
  enum { MOST = 6 };
  for (int64_t size = 1; size <= MOST; size++) {
    for (int64_t operand = 1; operand <= MOST; operand++) {
      for (int64_t lo = 0; lo <= size; lo++) {
        for (int64_t start = 0; start <= operand; start++) {
          for (int64_t step = 1; step <= 3; step++) {
            tspec_window_t window = tspec_window_make(size, operand, lo, start, step);
            int64_t count = 0;
            for (int64_t i = 0; i < size; i++) {
              int64_t element = shown_at(&window, operand, i);
              count += element >= 0;
              cr_assert(element < 0 || element == tspec_window_source(&window, i));
            }
            cr_assert(eq(i64, window.count, count));
            check_blocks(&window, operand);
          }
        }
      }
    }
  }
}

Test(window, identity_is_the_whole_dim_as_it_is) {
  tspec_window_t same = tspec_window_make(6, 6, 0, 0, 1);
  tspec_window_t shorter = tspec_window_make(5, 6, 0, 0, 1);
  tspec_window_t longer = tspec_window_make(7, 6, 0, 0, 1);
  tspec_window_t one = tspec_window_make(1, 1, 0, 0, 3);
  cr_expect(tspec_window_is_identity(&same, 6));
  cr_expect(not(tspec_window_is_identity(&shorter, 6)));
  cr_expect(not(tspec_window_is_identity(&longer, 6)));
  cr_expect(not(tspec_window_is_identity(&one, 1)), "told by its numbers alone");
}

Test(window, what_is_shown_of_what_is_shown_is_a_window) {
  enum { OPERAND = 6, MIDDLE = 7, RESULT = 5 };
  for (int64_t i = 0; i < 2 * 2 * 3 * 3 * 3 * 3 * 2; i++) {
    int64_t rest = i, digits[7];
    static const int64_t bases[7] = {2, 2, 3, 3, 3, 3, 2};
    for (int d = 0; d < 7; d++) {
      digits[d] = rest % bases[d];
      rest /= bases[d];
    }
    tspec_window_t inner =
        tspec_window_make(MIDDLE, OPERAND, 2 * digits[2], digits[3], 1 + digits[0]);
    tspec_window_t outer =
        tspec_window_make(RESULT, MIDDLE, digits[4], 2 * digits[5], 1 + digits[1]);
    inner.count -= digits[6] < inner.count ? digits[6] : 0;
    tspec_window_t composed = tspec_window_compose(&outer, &inner);
    for (int64_t r = 0; r < RESULT; r++) {
      bool in_outer = r >= outer.lo && r < outer.lo + outer.count;
      int64_t middle = in_outer ? tspec_window_source(&outer, r) : -1;
      bool in_inner = middle >= inner.lo && middle < inner.lo + inner.count;
      bool is_shown = r >= composed.lo && r < composed.lo + composed.count;
      cr_assert(eq(int, is_shown, in_inner), "case %lld, %lld", (long long)i, (long long)r);
      if (is_shown) {
        cr_assert(eq(i64, tspec_window_source(&composed, r), tspec_window_source(&inner, middle)));
      }
    }
  }
}

Test(window, parts_that_follow_each_other_cover) {
  tspec_window_t joined[] = {tspec_window_make(9, 4, 0, 0, 1), tspec_window_make(2, 2, 0, 0, 1),
                             tspec_window_make(9, 5, 4, 0, 1), tspec_window_make(2, 2, 0, 0, 1)};
  cr_expect(tspec_windows_cover(joined, 2, 2));
  cr_expect(not(tspec_windows_cover(joined, 1, 2)), "the second one is missing");
  tspec_window_t gap[] = {tspec_window_make(9, 4, 0, 0, 1), tspec_window_make(9, 4, 5, 0, 1)};
  cr_expect(not(tspec_windows_cover(gap, 2, 1)));
  tspec_window_t both[] = {tspec_window_make(4, 2, 0, 0, 1), tspec_window_make(4, 2, 0, 0, 1),
                           tspec_window_make(4, 2, 2, 0, 1), tspec_window_make(4, 2, 2, 0, 1)};
  cr_expect(not(tspec_windows_cover(both, 2, 2)), "two corners of a square");
  tspec_window_t sliced[] = {tspec_window_make(3, 8, 0, 1, 2)};
  cr_expect(tspec_windows_cover(sliced, 1, 1));
}
