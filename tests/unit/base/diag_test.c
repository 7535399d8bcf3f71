#include "ir/base/diag.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/redirect.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
