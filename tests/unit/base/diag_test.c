#include "ir/base/diag.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"

static tspec_arena_t arena;
static tspec_sources_t sources;
static tspec_diag_t diag;
static const char kText[] = "let x = 1\n\tlet yy = x + z\nlast";

static void set_up(void) {
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  tspec_diag_init(&diag, &sources, NULL);
}

static void tear_down(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(diag, .init = set_up, .fini = tear_down, .timeout = 20);

// What one message prints.
static char *printed(const tspec_message_t *message) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  tspec_message_print(&sources, message, stream);
  fclose(stream);
  char *copy = tspec_arena_strdup(&arena, text, length);
  free(text);
  return copy;
}

Test(diag, a_message_shows_its_line_and_carets) {
  uint32_t file = tspec_sources_add(&sources, "a.tspec", kText, sizeof kText - 1);
  tspec_diag_error(&diag, tspec_source_range(&sources, file, 4, 5), "bad '%s'", "x");
  cr_assert(
      eq(str, printed(&diag.messages[0]), "a.tspec:1:5: error: bad 'x'\n  let x = 1\n      ^\n"));
}

Test(diag, carets_stay_under_text_after_tabs) {
  uint32_t file = tspec_sources_add(&sources, "a.tspec", kText, sizeof kText - 1);
  tspec_diag_warning(&diag, tspec_source_range(&sources, file, 15, 17), "w");
  cr_assert(eq(str, printed(&diag.messages[0]),
               "a.tspec:2:6: warning: w\n  \tlet yy = x + z\n  \t    ^~\n"));
}

// What is printed below "a.tspec:1:COL: error: e" for the bytes [begin, end) of a text of one line.
static char *excerpt(const char *text, size_t begin, size_t end) {
  uint32_t file = tspec_sources_add(&sources, "a.tspec", text, strlen(text));
  tspec_message_t message = {.range = tspec_source_range(&sources, file, begin, end), .text = "e"};
  return strchr(printed(&message), '\n') + 1;
}

Test(diag, carets_stay_under_text_after_characters_of_several_bytes) {
  cr_assert(eq(str, excerpt("a \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 xy z", 12, 14),
               "  a \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 xy z\n        ^~\n"));
  cr_assert(
      eq(str, excerpt("\xc3\xa9 \xc3\xa9\xc3\xa9", 0, 7), "  \xc3\xa9 \xc3\xa9\xc3\xa9\n  ^~~~\n"));
  cr_assert(eq(str, excerpt("ab\tcd", 1, 5), "  ab\tcd\n   ^\t~~\n"));
}

static char *repeated(const char *unit, size_t count) {
  size_t length = strlen(unit);
  char *text = tspec_arena_alloc(&arena, length * count + 1);
  for (size_t i = 0; i < count; ++i) {
    memcpy(text + i * length, unit, length);
  }
  text[length * count] = '\0';
  return text;
}

Test(diag, a_line_of_160_columns_is_whole_and_a_longer_one_is_cut) {
  const char *whole = repeated("x", 160);
  cr_assert(eq(str, excerpt(whole, 0, 1), tspec_arena_printf(&arena, "  %s\n  ^\n", whole)));
  cr_assert(eq(str, excerpt(repeated("x", 161), 0, 1),
               tspec_arena_printf(&arena, "  %.154s...\n  ^\n", whole)));
  const char *tabs = repeated("\t", 20);
  cr_assert(
      eq(str, excerpt(tabs, 19, 20), tspec_arena_printf(&arena, "  %s\n  %.19s^\n", tabs, tabs)));
  cr_assert(eq(str, excerpt(repeated("\t", 21), 0, 1),
               tspec_arena_printf(&arena, "  %.19s...\n  ^\n", tabs)));
}

Test(diag, a_range_longer_than_what_is_shown_is_marked_to_where_that_ends) {
  char *text = tspec_arena_printf(&arena, "%s%s", repeated("x", 100), repeated("y", 1000));
  cr_assert(eq(str, excerpt(text, 100, 1100),
               tspec_arena_printf(&arena, "  ...%s%s...\n  %43s^%s\n", repeated("x", 40),
                                  repeated("y", 114), "", repeated("~", 113))));
  cr_assert(eq(str, excerpt(text, 1100, 1100),
               tspec_arena_printf(&arena, "  ...%s\n  %157s^\n", repeated("y", 154), "")));
}

// The column of text that stands above the caret: tabs to the next multiple of 8 as terminals do.
static size_t width_until(const char *line, const char *end) {
  size_t column = 0;
  for (; line < end; ++line) {
    if (*line == '\t') {
      column = (column / 8 + 1) * 8;
    } else if (((unsigned char)*line & 0xC0) != 0x80) {
      ++column;
    }
  }
  return column;
}

static const char *const kUnits[] = {"x", "\t", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

Test(diag, the_caret_is_under_its_text_wherever_a_long_line_is_cut) {
  uint32_t state = 1;
  for (size_t round = 0; round < 500; ++round) {
    tspec_buf_t buf = {0};
    size_t place = 0, count = 1 + round;
    for (size_t i = 0; i < count; ++i) {
      place = i == round * 7 % count ? buf.length : place;
      tspec_buf_puts(&buf, i == round * 7 % count ? "@" : "");
      state = state * 1664525u + 1013904223u;
      tspec_buf_puts(&buf, kUnits[(state >> 16) % (1 + round % 5)]);
    }
    const char *shown = excerpt(buf.text, place, place + 1);
    const char *carets = strchr(shown, '\n') + 1;
    const char *at = strchr(shown, '@');
    cr_assert(ne(ptr, (void *)(uintptr_t)at, NULL), "round %zu", round);
    cr_assert(eq(sz, width_until(shown, at), width_until(carets, strchr(carets, '^'))), "round %zu",
              round);
    cr_assert(le(sz, width_until(shown, carets - 1), 2 + 160), "round %zu", round);
    tspec_buf_deinit(&buf);
  }
}

Test(diag, a_range_over_several_lines_marks_the_first) {
  uint32_t file = tspec_sources_add(&sources, "a.tspec", kText, sizeof kText - 1);
  tspec_diag_error(&diag, tspec_source_range(&sources, file, 8, sizeof kText - 1), "e");
  cr_assert(
      eq(str, printed(&diag.messages[0]), "a.tspec:1:9: error: e\n  let x = 1\n          ^\n"));
}

Test(diag, a_message_without_place_names_the_program) {
  tspec_diag_error(&diag, (tspec_range_t){0}, "no input");
  cr_assert(eq(str, printed(&diag.messages[0]), "tspecc: error: no input\n"));
}

Test(diag, counts_errors_and_warnings_but_not_notes) {
  tspec_range_t nowhere = {0};
  tspec_diag_error(&diag, nowhere, "a");
  tspec_diag_note(&diag, nowhere, "b");
  tspec_diag_warning(&diag, nowhere, "c");
  cr_assert(eq(int, diag.nerrors, 1));
  cr_assert(eq(int, diag.nwarnings, 1));
  cr_assert(eq(sz, diag.count, 3));
}

Test(diag, strict_turns_warnings_to_errors) {
  diag.warnings_are_errors = true;
  tspec_diag_warning(&diag, (tspec_range_t){0}, "c");
  cr_assert(eq(int, diag.nerrors, 1));
}

Test(diag, ranges_join_to_the_smallest_that_holds_both) {
  uint32_t file = tspec_sources_add(&sources, "a.tspec", kText, sizeof kText - 1);
  tspec_range_t a = tspec_source_range(&sources, file, 12, 14);
  tspec_range_t b = tspec_source_range(&sources, file, 2, 4);
  tspec_range_t joined = tspec_range_join(a, b);
  tspec_range_t want = tspec_source_range(&sources, file, 2, 14);
  cr_assert(eq(int, memcmp(&joined, &want, sizeof joined), 0));
  tspec_range_t nothing = tspec_range_join((tspec_range_t){0}, a);
  cr_assert(eq(int, memcmp(&nothing, &a, sizeof a), 0));
}

Test(diag, the_same_file_is_kept_once) {
  uint32_t first = tspec_sources_add(&sources, "a", "x", 1);
  cr_assert(eq(u32, tspec_sources_add(&sources, "a", "x", 1), first));
  cr_assert(ne(u32, tspec_sources_add(&sources, "b", "x", 1), first));
  cr_assert(eq(u32, tspec_sources_read(&sources, "/nonexistent/file"), 0));
}

Test(diag, a_failed_check_names_the_pass_and_aborts, .signal = SIGABRT) {
  cr_redirect_stderr();
  tspec_check_context_set("propagate");
  TSPEC_CHECK(arena.head == (void *)1, "value %d", 3);
}
