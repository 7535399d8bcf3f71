#include "frontend/lexer.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static tspec_arena_t arena;

static void setup(void) {
  tspec_arena_init(&arena);
}

static void teardown(void) {
  tspec_arena_deinit(&arena);
}

TestSuite(lexer, .init = setup, .fini = teardown);

static tspec_tokens_t lex(const char *text) {
  tspec_sources_t sources;
  tspec_sources_init(&sources, &arena);
  uint32_t file = tspec_sources_add(&sources, "t", text, strlen(text));
  return tspec_lex(&arena, tspec_sources_get(&sources, file), file);
}

/// The texts of all tokens with '|' between them.
static char *texts(const char *text) {
  tspec_tokens_t tokens = lex(text);
  char *all = tspec_arena_printf(&arena, "%s", "");
  for (size_t i = 0; i + 1 < tokens.count; i++) {
    all = tspec_arena_printf(&arena, "%s%s%.*s", all, i > 0 ? "|" : "", (int)tokens.items[i].length,
                             tokens.items[i].text);
  }
  return all;
}

Test(lexer, takes_the_longest_match) {
  cr_assert(eq(str, texts("......->--> != !== <=< && ||"), "...|...|->|-|->|!=|!=|=|<=|<|&&|||"));
  cr_assert(eq(str, texts("a.b..c...d"), "a|.|b|..|c|...|d"));
}

Test(lexer, a_dot_belongs_to_a_number_only_before_a_digit) {
  cr_assert(eq(str, texts("0..n 1. .5 1.5 1.5.2"), "0|..|n|1|.|.|5|1.5|1.5|.|2"));
}

Test(lexer, exponents_need_digits) {
  cr_assert(eq(str, texts("1e5 2E-3 3e+07"), "1e5|2E-3|3e+07"));
  tspec_tokens_t tokens = lex("1e+ 2x 3_ 4e5f");
  cr_assert(eq(str, (char *)tokens.items[0].error, "a letter touches the number '1'"));
  cr_assert(eq(int, tokens.items[1].kind, TSPEC_TOKEN_PLUS));
  cr_assert(eq(str, (char *)tokens.items[2].error, "a letter touches the number '2'"));
  cr_assert(eq(str, (char *)tokens.items[3].error, "a letter touches the number '3'"));
  cr_assert(eq(str, (char *)tokens.items[4].error, "a letter touches the number '4e5'"));
}

Test(lexer, strings_have_no_escapes_and_end_on_their_line) {
  cr_assert(eq(str, texts("\"a\\\" b \"c//\""), "\"a\\\"|b|\"c//\""));
  tspec_tokens_t tokens = lex("\"abc\nd");
  cr_assert(ne(ptr, (void *)tokens.items[0].error, NULL));
  cr_assert(eq(sz, tokens.items[0].length, 4));
  cr_assert(eq(int, tokens.items[1].kind, TSPEC_TOKEN_NAME));
}

Test(lexer, comments_run_to_the_end_of_the_line) {
  cr_assert(eq(str, texts("a // b\nc//\n// d"), "a|c"));
}

Test(lexer, knows_which_token_is_first_on_its_line) {
  tspec_tokens_t tokens = lex("a b\n\n  c // d\ne");
  bool want[] = {true, false, true, true};
  for (size_t i = 0; i < 4; i++) {
    cr_assert(eq(int, tokens.items[i].first_on_line, want[i]), "token %zu", i);
  }
}

Test(lexer, ranges_are_one_based_with_the_end_excluded) {
  tspec_tokens_t tokens = lex("ab\n  -> x");
  tspec_range_t arrow = tokens.items[1].range;
  cr_assert(eq(int, (int)arrow.line, 2));
  cr_assert(eq(int, (int)arrow.col, 3));
  cr_assert(eq(int, (int)arrow.end_line, 2));
  cr_assert(eq(int, (int)arrow.end_col, 5));
  cr_assert(eq(int, tokens.items[3].kind, TSPEC_TOKEN_END));
  cr_assert(eq(int, (int)tokens.items[3].range.col, 7));
}

Test(lexer, tells_reserved_words_from_names) {
  static const char *const reserved[] = {
      "mesh",   "axis",   "const", "import", "precision", "shard",     "param", "state",
      "module", "fn",     "entry", "manual", "expect",    "optimizer", "let",   "for",
      "in",     "return", "if",    "else",   "minimize",  "apply",     "scan",  "next",
      "emit",   "true",   "false", "f64",    "f32",       "bf16",      "f16",   "i64",
      "i32",    "i16",    "i8",    "u8",     "bool",
  };
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
    tspec_token_kind_t kind = lex(reserved[i]).items[0].kind;
    cr_assert(tspec_token_is_reserved(kind), "%s", reserved[i]);
  }
  static const char *const names[] = {"stack", "remat", "over",   "with",   "clip", "slot",
                                      "sum",   "axes",  "values", "params", "_",    "f128",
                                      "u16",   "lets",  "Mesh",   "update", "use"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    cr_assert(eq(int, lex(names[i]).items[0].kind, TSPEC_TOKEN_NAME), "%s", names[i]);
  }
}

Test(lexer, unknown_bytes_are_one_token_per_run) {
  tspec_tokens_t tokens = lex("a \xc3\xa9~ b \x01");
  cr_assert(eq(int, tokens.items[1].kind, TSPEC_TOKEN_ERROR));
  cr_assert(eq(str, (char *)tokens.items[1].error, "unexpected character '\xc3\xa9'"));
  cr_assert(eq(sz, tokens.items[1].length, 3));
  cr_assert(eq(str, (char *)tokens.items[3].error, "unexpected byte 0x01"));
}

Test(lexer, an_empty_text_is_an_end) {
  tspec_tokens_t tokens = lex("");
  cr_assert(eq(sz, tokens.count, 1));
  cr_assert(eq(int, tokens.items[0].kind, TSPEC_TOKEN_END));
}
