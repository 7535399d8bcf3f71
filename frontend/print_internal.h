// What the printer's files share: the line being built, with the places where it may be broken. A
// line is laid out when it is complete: if it is too long it is broken at the loosest of those
// places that fit, and continued behind the bracket that is open there.
#ifndef TSPEC_FRONTEND_PRINT_INTERNAL_H
#define TSPEC_FRONTEND_PRINT_INTERNAL_H

#include "frontend/ast.h"
#include "ir/base/str.h"
#include "ir/base/vec.h"

/// How tight the things on both sides of a break hold together, within the same brackets; operators
/// use their precedence.
enum { TSPEC_PRINT_COMMA = 0, TSPEC_PRINT_ARROW = 0, TSPEC_PRINT_ASSIGN = 8 };

typedef enum tspec_print_mark_kind_t {
  TSPEC_PRINT_MARK_OPEN, ///< a bracket opened before `at`
  TSPEC_PRINT_MARK_CLOSE,
  TSPEC_PRINT_MARK_BREAK, ///< a newline may stand at `at`
} tspec_print_mark_kind_t;

typedef struct tspec_print_mark_t {
  tspec_print_mark_kind_t kind;
  size_t at; ///< bytes from the start of the line
  int level; ///< BREAK: low ones are broken first
} tspec_print_mark_t;

typedef struct tspec_printer_t {
  tspec_arena_t *arena; ///< for marks
  tspec_buf_t *out;
  tspec_buf_t line; ///< without the indent
  TSPEC_VEC(tspec_print_mark_t) marks;
  int indent;   ///< columns
  int brackets; ///< open on this line
} tspec_printer_t;

void tspec_printer_put(tspec_printer_t *p, const char *text);
void tspec_printer_open(tspec_printer_t *p, const char *bracket);
void tspec_printer_close(tspec_printer_t *p, const char *bracket);
void tspec_printer_break(tspec_printer_t *p, int tightness);
/// ", " with a break, but not before the first of a list.
void tspec_printer_comma(tspec_printer_t *p, size_t index);
/// " = " with a break.
void tspec_printer_assign(tspec_printer_t *p);
/// Lays the line out and starts the next one.
void tspec_printer_end_line(tspec_printer_t *p);
/// Puts "{", ends the line, indents.
void tspec_printer_begin_block(tspec_printer_t *p);
/// Undoes the indent and puts "}"; the line goes on.
void tspec_printer_end_block(tspec_printer_t *p);

void tspec_printer_type(tspec_printer_t *p, const tspec_ast_type_t *type);
void tspec_printer_entry(tspec_printer_t *p, const tspec_ast_entry_t *entry);
void tspec_printer_sharding(tspec_printer_t *p, const tspec_ast_sharding_t *sharding);
/// " @ [...] use [...]", or nothing.
void tspec_printer_storage(tspec_printer_t *p, const tspec_ast_storage_t *storage);
void tspec_printer_names(tspec_printer_t *p, const tspec_ast_names_t *names);

/// In parentheses if the expression binds looser than `min_precedence` (1: any).
void tspec_printer_expr(tspec_printer_t *p, const tspec_ast_expr_t *expr, int min_precedence);
void tspec_printer_exprs(tspec_printer_t *p, const tspec_ast_exprs_t *exprs);
/// "(a, b = c)"
void tspec_printer_args(tspec_printer_t *p, const tspec_ast_args_t *args);

/// " { ... }" at the end of what the line holds; on one line if it is short and `may_be_short`. The
/// line goes on after '}'.
void tspec_printer_block(tspec_printer_t *p, const tspec_ast_block_t *block, bool may_be_short);

#endif
