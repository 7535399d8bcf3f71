// No text makes the parser crash, and all that it says points into the text.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "frontend/lexer.h"
#include "tests/unit/frontend/support.h"

static const char *const programs[] = {"programs/ring_attention.tspec",
                                       "programs/llama.rules.tspec",
                                       "programs/more/gpt_decode.tspec", "../frontend/std.tspec"};

#define NPROGRAMS (sizeof programs / sizeof *programs)

static char *read_program(size_t index, size_t *out_length) {
  char path[1000];
  snprintf(path, sizeof path, "%s/../examples/%s", TSPEC_TEST_SOURCE_DIR, programs[index]);
  char *text = read_all(path, out_length);
  cr_assert(ne(ptr, text, NULL), "%s", path);
  return text;
}

/// True if both ends of the range are places of the file, in order.
static bool is_inside(const parsed_t *parsed, tspec_range_t range) {
  const tspec_source_t *source = tspec_sources_get(&parsed->sources, range.file);
  if (source == NULL || range.line == 0 || range.line > range.end_line ||
      range.end_line > source->nlines) {
    return false;
  }
  size_t begin = source->line_starts[range.line - 1] + range.col - 1;
  size_t end = source->line_starts[range.end_line - 1] + range.end_col - 1;
  return range.col > 0 && range.end_col > 0 && begin <= end && end <= source->length;
}

static void check_text(const char *text, size_t length, const char *what, size_t at) {
  parsed_t parsed;
  parse_text(&parsed, text, length);
  for (size_t i = 0; i < parsed.diag.count; i++) {
    cr_assert(is_inside(&parsed, parsed.diag.messages[i].range), "%s %zu: %s", what, at,
              parsed.diag.messages[i].text);
  }
  const tspec_source_t *source = tspec_sources_get(&parsed.sources, parsed.file);
  tspec_tokens_t tokens = tspec_lex(&parsed.arena, source, parsed.file);
  for (size_t i = 0; i < tokens.count; i++) {
    cr_assert(is_inside(&parsed, tokens.items[i].range), "%s %zu: token %zu", what, at, i);
  }
  for (size_t i = 0; i < parsed.tree->decls.count; i++) {
    cr_assert(is_inside(&parsed, parsed.tree->decls.items[i]->range), "%s %zu", what, at);
  }
  // What was read is whole: it can be printed and dumped.
  tspec_buf_t buf = {0};
  tspec_print_file(parsed.tree, &buf);
  tspec_ast_dump(parsed.tree, &buf);
  tspec_buf_deinit(&buf);
  parsed_deinit(&parsed);
}

static void check_prefixes(size_t program) {
  size_t length = 0;
  char *text = read_program(program, &length);
  for (size_t i = 0; i <= length; i++) {
    check_text(text, i, "prefix", i);
  }
  free(text);
}

Test(robust, every_prefix_of_a_program_parses_or_is_refused, .timeout = 180) {
  for (size_t i = 0; i < 3; i++) {
    check_prefixes(i);
  }
}

Test(robust, any_byte_may_be_replaced_or_dropped, .timeout = 180) {
  // Bytes that matter to the lexer and the parser, and some that nothing knows.
  static const char bytes[] = "(){}[]@=-.,:;!?\"\n/*^a0 \x00\x80\xff";
  uint32_t state = 12345;
  for (size_t p = 0; p < NPROGRAMS; p++) {
    size_t length = 0;
    char *text = read_program(p, &length);
    for (size_t i = 0; i < 1500; i++) {
      state = state * 1664525u + 1013904223u;
      size_t at = (state >> 8) % length;
      char old = text[at];
      state = state * 1664525u + 1013904223u;
      text[at] = bytes[(state >> 16) % (sizeof bytes - 1)];
      check_text(text, length, "byte", at);
      text[at] = old;
    }
    free(text);
  }
}

Test(robust, any_token_may_be_dropped_or_doubled, .timeout = 180) {
  size_t length = 0;
  char *text = read_program(2, &length);
  parsed_t parsed;
  parse_text(&parsed, text, length);
  const tspec_source_t *source = tspec_sources_get(&parsed.sources, parsed.file);
  tspec_tokens_t tokens = tspec_lex(&parsed.arena, source, parsed.file);
  for (size_t i = 0; i + 1 < tokens.count; i++) {
    size_t begin = (size_t)(tokens.items[i].text - source->text);
    size_t end = begin + tokens.items[i].length;
    tspec_buf_t buf = {0};
    tspec_buf_append(&buf, text, begin);
    tspec_buf_append(&buf, text + end, length - end);
    check_text(buf.text, buf.length, "dropped token", i);
    buf.length = 0;
    tspec_buf_append(&buf, text, end);
    tspec_buf_append(&buf, text + begin, length - begin);
    check_text(buf.text, buf.length, "doubled token", i);
    tspec_buf_deinit(&buf);
  }
  parsed_deinit(&parsed);
  free(text);
}
