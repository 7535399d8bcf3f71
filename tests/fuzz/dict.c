// Prints a libFuzzer dictionary from the tables that the compiler itself uses: `program` (the
// language's words, ops and library) or `mlir` (the dialect's).
#include <stdio.h>
#include <string.h>

#include "frontend/lexer.h"
#include "frontend/std.h"
#include "ir/base/str.h"
#include "ir/op_rules.h"

static void print_word(const char *before, const char *word, const char *after) {
  printf("\"%s%s%s\"\n", before, word, after);
}

static void print_tokens(void) {
#define TSPEC_TOKEN_KEYWORD(id, text) print_word("", text, "");
#define TSPEC_TOKEN_PUNCT(id, text) print_word("", text, "");
#include "frontend/token.def"
}

/// Names that the library of the language declares or uses, once each.
static void print_library(void) {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_names_t seen = {0};
  tspec_arena_init(&arena);
  tspec_sources_init(&sources, &arena);
  uint32_t file = tspec_sources_add(&sources, "std", tspec_std_text, tspec_std_text_size);
  tspec_tokens_t tokens = tspec_lex(&arena, tspec_sources_get(&sources, file), file);
  for (size_t i = 0; i < tokens.count; i++) {
    const tspec_token_t *token = &tokens.items[i];
    const char *name = tspec_arena_strdup(&arena, token->text, token->length);
    if (token->kind == TSPEC_TOKEN_NAME && tspec_names_get(&seen, name) == NULL) {
      tspec_names_set(&arena, &seen, name, &arena);
      print_word("", name, "");
    }
  }
  tspec_arena_deinit(&arena);
}

static void print_program(void) {
  static const char *const kIdioms[] = {"mesh data = 2, model = 2\\x0a",
                                        "entry fn f(x: f32[8]) -> (y: f32[8]) {\\x0a",
                                        "return ",
                                        "param w: f32[4, 4] = ones\\x0a",
                                        "shard params {\\x0a",
                                        "shard axes {\\x0a",
                                        "shard values {\\x0a",
                                        " @ [data, -]",
                                        " @ [model]",
                                        ": f32[4, 8]",
                                        "dims = 0",
                                        "keep = true",
                                        "0..3",
                                        "1e308",
                                        "9007199254740992",
                                        "-1",
                                        "\\x0a"};
  print_tokens();
  print_library();
  for (int i = 0; i < TSPEC_DTYPE_COUNT; i++) {
    print_word("", tspec_dtype_name((tspec_dtype_t)i), "");
  }
  for (int i = 0; i < TSPEC_OP_COUNT; i++) {
    print_word("", tspec_op_info((tspec_op_kind_t)i)->name, "(");
  }
  for (size_t i = 0; i < sizeof kIdioms / sizeof *kIdioms; i++) {
    print_word("", kIdioms[i], "");
  }
}

static void print_mlir(void) {
  static const char *const kIdioms[] = {"tspec.level = ",
                                        "\\\"global\\\"",
                                        "\\\"sharded\\\"",
                                        "\\\"local\\\"",
                                        "\\\"kernels\\\"",
                                        "tspec.kind = ",
                                        "tspec.name = ",
                                        "tspec.sharding = ",
                                        "#tspec.sharding<\\\"[data, -]\\\">",
                                        "shardings = [",
                                        "names = [",
                                        "axes = [\\\"data\\\"]",
                                        "sizes = array<i64: 2>",
                                        "array<i64: 0>",
                                        "array<i64>",
                                        "array<f64: 0.0>",
                                        "tensor<2x4xf32>",
                                        "tensor<f32>",
                                        "tensor<?xf32>",
                                        " : i64",
                                        " : f64",
                                        "func.func @",
                                        "return ",
                                        "module attributes {",
                                        "loc(\\\"a.tspec\\\":1:2)",
                                        "loc(unknown)",
                                        "global = [",
                                        "because",
                                        "unit",
                                        "\\x0a"};
  for (int i = 0; i < TSPEC_OP_COUNT; i++) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)i);
    print_word("\\\"tspec.", info->name, "\\\"(");
    for (const tspec_attr_spec_t *spec = info->rules->attrs; spec != NULL && spec->name != NULL;
         spec++) {
      print_word("", spec->name, " = ");
    }
  }
  for (int i = 0; i < TSPEC_DTYPE_COUNT; i++) {
    print_word("tensor<4x", tspec_dtype_mlir_name((tspec_dtype_t)i), ">");
  }
  for (size_t i = 0; i < sizeof kIdioms / sizeof *kIdioms; i++) {
    print_word("", kIdioms[i], "");
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "program") == 0) {
    print_program();
  } else if (argc == 2 && strcmp(argv[1], "mlir") == 0) {
    print_mlir();
  } else {
    fprintf(stderr, "usage: fuzz_dict program|mlir\n");
    return 2;
  }
  return 0;
}
