// tests/data/parser/*.txt: blocks of a title between lines of '=', a source, a line of '-', and
// what is expected of it: its printed form, or its diagnostics as "line:col: error: text" if there
// are any.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/unit/frontend/support.h"

#define RULE "===================="
#define DASHES "--------------------"

/// What the parser and the printer make of a source.
static void answer(const char *text, size_t length, tspec_buf_t *buf) {
  static const char *const severities[] = {
      [TSPEC_SEVERITY_ERROR] = "error",
      [TSPEC_SEVERITY_WARNING] = "warning",
      [TSPEC_SEVERITY_NOTE] = "note",
  };
  parsed_t parsed;
  parse_text(&parsed, text, length);
  for (size_t i = 0; i < parsed.diag.count; i++) {
    const tspec_message_t *message = &parsed.diag.messages[i];
    tspec_buf_printf(buf, "%u:%u: %s: %s\n", message->range.line, message->range.col,
                     severities[message->severity], message->text);
  }
  if (parsed.diag.count == 0) {
    tspec_print_file(parsed.tree, buf);
  }
  parsed_deinit(&parsed);
}

/// The end of the text without blank lines.
static size_t trimmed(const char *begin, const char *end) {
  while (end > begin && end[-1] == '\n') {
    end--;
  }
  return (size_t)(end - begin);
}

/// Checks the block that starts at `block` and returns the next one, or NULL.
static const char *check_block(const char *block, const char *file) {
  const char *title = block + strlen(RULE) + 1;
  const char *title_end = strchr(title, '\n');
  const char *source = strstr(title_end, RULE "\n");
  cr_assert(ne(ptr, (void *)source, NULL), "%s: no source", file);
  source += strlen(RULE) + 1;
  const char *source_end = strstr(source, "\n" DASHES "\n");
  cr_assert(ne(ptr, (void *)source_end, NULL), "%s: no expectation", file);
  const char *want = source_end + strlen(DASHES) + 2;
  const char *next = strstr(want, "\n" RULE "\n");
  const char *end = next != NULL ? next : want + strlen(want);
  tspec_buf_t got = {0};
  answer(source, (size_t)(source_end + 1 - source), &got);
  char *wanted = strndup(want, trimmed(want, end));
  char *gotten = strndup(tspec_buf_get(&got), trimmed(got.text, got.text + got.length));
  cr_expect(eq(str, gotten, wanted), "%s: %.*s", file, (int)(title_end - title), title);
  free(wanted);
  free(gotten);
  tspec_buf_deinit(&got);
  return next != NULL ? next + 1 : NULL;
}

static void check_file(const char *name) {
  char path[1000];
  snprintf(path, sizeof path, "%s/data/parser/%s.txt", TSPEC_TEST_SOURCE_DIR, name);
  size_t length = 0;
  char *text = read_all(path, &length);
  cr_assert(ne(ptr, text, NULL), "%s", path);
  size_t nblocks = 0;
  for (const char *block = text; block != NULL; nblocks++) {
    block = check_block(block, name);
  }
  cr_expect(gt(sz, nblocks, 3));
  free(text);
}

Test(corpus, declarations) {
  check_file("declarations");
}

Test(corpus, types) {
  check_file("types");
}

Test(corpus, statements) {
  check_file("statements");
}

Test(corpus, expressions) {
  check_file("expressions");
}
