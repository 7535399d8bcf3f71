// .tspec text: lexer, parser, printer, checker and passes. Whatever the bytes are, all places lie
// inside of the text; what parses is printed and parsed again as the same tree; what checks is
// verified after every pass.
#include <string.h>

#include "frontend/check.h"
#include "frontend/lexer.h"
#include "frontend/parser.h"
#include "frontend/print.h"
#include "tests/fuzz/text.h"

enum { MAX_BYTES = 1 << 13, MAX_STEPS = 20000 };

static void check_tokens(fuzz_text_t *text) {
  const tspec_source_t *source = tspec_sources_get(&text->sources, text->file);
  tspec_tokens_t tokens = tspec_lex(&text->arena, source, text->file);
  const char *at = source->text;
  for (size_t i = 0; i < tokens.count; i++) {
    const tspec_token_t *token = &tokens.items[i];
    FUZZ_CHECK(fuzz_is_inside(&text->sources, token->range), "token %zu is no place", i);
    FUZZ_CHECK(token->text >= at &&
                   token->length <= (size_t)(source->text + source->length - token->text),
               "token %zu lies outside of the text", i);
    FUZZ_CHECK((token->kind == TSPEC_TOKEN_END) == (i + 1 == tokens.count), "token %zu ends", i);
    FUZZ_CHECK(token->kind != TSPEC_TOKEN_ERROR || token->error != NULL, "token %zu is mute", i);
    at = token->text + token->length;
  }
}

static void check_decls(const fuzz_text_t *text, const tspec_ast_file_t *tree) {
  for (size_t i = 0; i < tree->decls.count; i++) {
    FUZZ_CHECK(fuzz_is_inside(&text->sources, tree->decls.items[i]->range),
               "declaration %zu is no place", i);
  }
}

/// The printed tree is parsed as an equal one and printed alike.
static void check_round_trip(fuzz_text_t *text, const tspec_ast_file_t *tree) {
  tspec_buf_t first = {0};
  tspec_buf_t second = {0};
  tspec_print_file(tree, &first);
  fuzz_text_t again;
  fuzz_text_init(&again, "printed.tspec", tspec_buf_get(&first), first.length);
  tspec_ast_file_t *copy = tspec_parse(&again.arena, &again.sources, again.file, &again.diag);
  FUZZ_CHECK(again.diag.nerrors == 0, "what was printed does not parse: %s\n%s",
             again.diag.messages[0].text, tspec_buf_get(&first));
  FUZZ_CHECK(tspec_ast_equal(tree, copy), "what was printed is another tree:\n%s",
             tspec_buf_get(&first));
  tspec_print_file(copy, &second);
  FUZZ_CHECK(strcmp(tspec_buf_get(&first), tspec_buf_get(&second)) == 0,
             "printed twice it reads\n%s\nand\n%s", tspec_buf_get(&first), tspec_buf_get(&second));
  fuzz_text_deinit(&again);
  tspec_buf_deinit(&first);
  tspec_buf_deinit(&second);
  (void)text;
}

/// Files are none of a fuzz target's business.
static bool has_imports(const tspec_ast_file_t *tree) {
  for (size_t i = 0; i < tree->decls.count; i++) {
    if (tree->decls.items[i]->kind == TSPEC_AST_DECL_IMPORT) {
      return true;
    }
  }
  return false;
}

static uint64_t check_and_run(uint64_t said, fuzz_text_t *text, const tspec_ast_file_t *tree) {
  tspec_check_options_t options = {.lint = true, .max_steps = MAX_STEPS};
  tspec_program_t *program = tspec_check(&text->arena, &text->sources, tree, &options, &text->diag);
  fuzz_check_messages(text);
  FUZZ_CHECK(program != NULL || text->diag.nerrors > 0, "refused without a word");
  said = fuzz_hash_number(said, program != NULL);
  if (program == NULL || text->diag.nerrors > 0) {
    return said;
  }
  FUZZ_CHECK(tspec_program_verify(program, NULL, &text->diag), "the checker's program is wrong: %s",
             text->diag.messages[text->diag.count - 1].text);
  return fuzz_run_passes(said, text, program);
}

uint64_t fuzz_one(const uint8_t *data, size_t size) {
  if (size > MAX_BYTES) {
    return 0;
  }
  fuzz_text_t text;
  fuzz_text_init(&text, "fuzz.tspec", data, size);
  check_tokens(&text);
  tspec_ast_file_t *tree = tspec_parse(&text.arena, &text.sources, text.file, &text.diag);
  fuzz_check_messages(&text);
  check_decls(&text, tree);
  uint64_t said = 0;
  if (text.diag.nerrors == 0) {
    check_round_trip(&text, tree);
    if (!has_imports(tree)) {
      said = check_and_run(said, &text, tree);
    }
  }
  said = fuzz_hash_messages(said, &text);
  fuzz_text_deinit(&text);
  return said;
}
