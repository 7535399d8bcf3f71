// From a syntax tree back to text (`--emit=tspec`): one layout for all programs. Comments are not
// kept.
#ifndef TSPEC_FRONTEND_PRINT_H
#define TSPEC_FRONTEND_PRINT_H

#include "frontend/ast.h"
#include "ir/base/str.h"

/// Appends the program to `buf`. Parsing it again gives an equal tree (`tspec_ast_equal`), printing
/// that the same text.
void tspec_print_file(const tspec_ast_file_t *file, tspec_buf_t *buf);

/// "[data, -, model?!1] sum(x)", in `arena`; the text that `tspec_sharding_parse` reads.
const char *tspec_print_sharding(tspec_arena_t *arena, const tspec_ast_sharding_t *sharding);
/// One entry of it: "data*model?!1".
const char *tspec_print_entry(tspec_arena_t *arena, const tspec_ast_entry_t *entry);
/// "f32[batch, 4 * embed]", in `arena`, for messages.
const char *tspec_print_type(tspec_arena_t *arena, const tspec_ast_type_t *type);
/// An expression on one line, in `arena`, for messages. A scan is shown by its header.
const char *tspec_print_expr(tspec_arena_t *arena, const tspec_ast_expr_t *expr);

#endif
