// A syntax tree as an S-expression: everything that it says and nothing of how it was laid out. Two
// trees that say the same dump alike.
#ifndef TSPEC_FRONTEND_AST_DUMP_H
#define TSPEC_FRONTEND_AST_DUMP_H

#include "frontend/ast.h"
#include "ir/base/str.h"

/// Appends "(program (mesh (data 2)) ...)" to `buf`, on one line.
void tspec_ast_dump(const tspec_ast_file_t *file, tspec_buf_t *buf);

// The parts, for the dump's own files.
void tspec_ast_dump_name(const tspec_ast_name_t *name, tspec_buf_t *buf);
void tspec_ast_dump_names(const char *head, const tspec_ast_names_t *names, tspec_buf_t *buf);
void tspec_ast_dump_entry(const tspec_ast_entry_t *entry, tspec_buf_t *buf);
void tspec_ast_dump_sharding(const tspec_ast_sharding_t *sharding, const tspec_ast_sharding_t *use,
                             tspec_buf_t *buf);
void tspec_ast_dump_type(const tspec_ast_type_t *type, tspec_buf_t *buf);
void tspec_ast_dump_expr(const tspec_ast_expr_t *expr, tspec_buf_t *buf);
void tspec_ast_dump_args(const tspec_ast_args_t *args, tspec_buf_t *buf);
void tspec_ast_dump_block(const tspec_ast_block_t *block, tspec_buf_t *buf);

#endif
