#include "frontend/ast.h"

#include <string.h>

#include "frontend/ast_dump.h"
#include "ir/base/str.h"

const char *tspec_ast_binary_name(tspec_ast_binary_t op) {
  static const char *const names[] = {
#define TSPEC_AST_BINARY_NAME(id, name, precedence) name,
      TSPEC_AST_BINARIES(TSPEC_AST_BINARY_NAME)
#undef TSPEC_AST_BINARY_NAME
  };
  return names[op];
}

int tspec_ast_binary_precedence(tspec_ast_binary_t op) {
  static const int precedences[] = {
#define TSPEC_AST_BINARY_PRECEDENCE(id, name, precedence) precedence,
      TSPEC_AST_BINARIES(TSPEC_AST_BINARY_PRECEDENCE)
#undef TSPEC_AST_BINARY_PRECEDENCE
  };
  return precedences[op];
}

bool tspec_ast_equal(const tspec_ast_file_t *a, const tspec_ast_file_t *b) {
  tspec_buf_t text_a = {0};
  tspec_buf_t text_b = {0};
  tspec_ast_dump(a, &text_a);
  tspec_ast_dump(b, &text_b);
  bool equal = strcmp(tspec_buf_get(&text_a), tspec_buf_get(&text_b)) == 0;
  tspec_buf_deinit(&text_a);
  tspec_buf_deinit(&text_b);
  return equal;
}
