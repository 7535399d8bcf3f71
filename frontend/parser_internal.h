// What the parser's files share: the token cursor, errors and recovery. One function per grammar
// rule lives in parser_{type,expr,stmt,decl,rules}.c.
//
// Errors: the first one in a statement is reported and sets `panic`. From then on the cursor looks
// as if it were at the end of the file, so that every rule returns soon without checks of its own;
// what it returns is dropped. The list of statements or declarations around it then skips to where
// the next one starts (tspec_parser_item_end).
#ifndef TSPEC_FRONTEND_PARSER_INTERNAL_H
#define TSPEC_FRONTEND_PARSER_INTERNAL_H

#include "frontend/ast.h"
#include "frontend/lexer.h"
#include "frontend/parser.h"
#include "ir/base/diag.h"
#include "ir/base/vec.h"

typedef struct tspec_parser_t {
  tspec_arena_t *arena;
  tspec_diag_t *diag;
  tspec_tokens_t tokens;
  size_t pos;                      ///< of the current token
  int brackets;                    ///< open ( and [: newlines are blanks inside
  bool newline;                    ///< a newline that counts stands before the current token
  bool panic;                      ///< an error was reported, nothing is read
  bool unwind;                     ///< with `panic`: a '}' is missing, blocks end, too
  int depth;                       ///< nesting so far
  const tspec_token_t *block_open; ///< innermost '{'; NULL outside
} tspec_parser_t;

/// What may be declared where.
typedef enum tspec_parser_scope_t {
  TSPEC_PARSER_SCOPE_FILE,
  TSPEC_PARSER_SCOPE_NESTED, ///< in a for or if of the file
  TSPEC_PARSER_SCOPE_MODULE, ///< in a module, also in its for and if
} tspec_parser_scope_t;

// ---- the cursor (parser.c) ----

const tspec_token_t *tspec_parser_token(const tspec_parser_t *p);
/// The kind of the current token as rules see it: NEWLINE where a line ends a statement, END in
/// panic.
tspec_token_kind_t tspec_parser_peek(const tspec_parser_t *p);
/// The kind of the token after it, likewise.
tspec_token_kind_t tspec_parser_peek_next(const tspec_parser_t *p);
bool tspec_parser_at(const tspec_parser_t *p, tspec_token_kind_t kind);
/// At a name (no reserved word) that is `word`.
bool tspec_parser_at_word(const tspec_parser_t *p, const char *word);
/// At the end of a statement: newline, ';', '}' or the end.
bool tspec_parser_at_end(const tspec_parser_t *p);
/// Moves on by one token, and reports what is wrong with the one passed.
void tspec_parser_bump(tspec_parser_t *p);
bool tspec_parser_take(tspec_parser_t *p, tspec_token_kind_t kind);
bool tspec_parser_take_word(tspec_parser_t *p, const char *word);
/// The newline before the current token is a blank.
void tspec_parser_skip_newline(tspec_parser_t *p);
/// ',' and the newline after it.
bool tspec_parser_take_comma(tspec_parser_t *p);
/// ',' inside brackets that `close` ends; false also if only `close` follows the comma.
bool tspec_parser_take_comma_before(tspec_parser_t *p, tspec_token_kind_t close);
/// `kind`, also behind a newline that is then a blank ('->', 'else').
bool tspec_parser_take_after_newline(tspec_parser_t *p, tspec_token_kind_t kind);

/// `kind`, or an error.
bool tspec_parser_need(tspec_parser_t *p, tspec_token_kind_t kind);
/// '=' or '->' and the newline after it.
bool tspec_parser_need_then_newline(tspec_parser_t *p, tspec_token_kind_t kind);
/// The bracket that closes `open` after a list, or an error that says where it opened.
bool tspec_parser_need_close(tspec_parser_t *p, tspec_token_kind_t close,
                             const tspec_token_t *open);
/// A name; `what` says what is wanted.
tspec_ast_name_t tspec_parser_name(tspec_parser_t *p, const char *what);
/// name { ',' name }
tspec_ast_names_t tspec_parser_names(tspec_parser_t *p, const char *what);
/// A string without its quotes, or NULL.
const char *tspec_parser_string(tspec_parser_t *p, tspec_range_t *out_range);
/// Digits only; 0 after an error.
int64_t tspec_parser_integer(tspec_parser_t *p, const char *what);
char *tspec_parser_token_text(tspec_parser_t *p, const tspec_token_t *token);
/// From `first` to the last token passed.
tspec_range_t tspec_parser_range(const tspec_parser_t *p, const tspec_token_t *first);

// ---- errors and recovery (parser_recover.c) ----

/// Reports at `range` and panics; nothing in panic.
void tspec_parser_fail(tspec_parser_t *p, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// "expected <what>, got <the current token><hint>"; silent at a malformed token, which speaks for
/// itself.
void tspec_parser_expected(tspec_parser_t *p, const char *what, const char *hint);
/// One level deeper; an error beyond the limit. Always paired with tspec_parser_leave.
void tspec_parser_enter(tspec_parser_t *p);
void tspec_parser_leave(tspec_parser_t *p);
/// The keyword that the current name may have been meant as, or NULL.
const char *tspec_parser_meant(tspec_parser_t *p, const char *const *keywords);
/// After an error in a header: moves to its '{' if there is one, and ends the panic.
bool tspec_parser_resume_at_brace(tspec_parser_t *p);
/// A hint if the current token is an operator that starts a line, else "".
const char *tspec_parser_line_hint(const tspec_parser_t *p);

/// A list of items, each ended by END, in braces or (a file) without.
typedef struct tspec_parser_items_t {
  const tspec_token_t *open;  ///< NULL: a file
  const tspec_token_t *outer; ///< the '{' around it
  bool of_decls;
  size_t start; ///< where the current item starts
} tspec_parser_items_t;

/// Takes the '{' (not if `is_file`).
void tspec_parser_items_begin(tspec_parser_t *p, tspec_parser_items_t *items, bool of_decls,
                              bool is_file);
/// True if an item follows; false after the '}' is taken (or the end of the file reached).
bool tspec_parser_items_next(tspec_parser_t *p, tspec_parser_items_t *items);
/// Ends one item. True if it was read well; else it is to be dropped, and the cursor is where the
/// next one starts.
bool tspec_parser_item_end(tspec_parser_t *p, tspec_parser_items_t *items);

// ---- rules ----

tspec_ast_type_t *tspec_parser_type(tspec_parser_t *p);
tspec_ast_entry_t tspec_parser_entry(tspec_parser_t *p);
tspec_ast_sharding_t *tspec_parser_sharding(tspec_parser_t *p);
/// '@' sharding, or NULL.
tspec_ast_sharding_t *tspec_parser_at_sharding(tspec_parser_t *p);
/// sharding [ 'use' sharding ]
tspec_ast_storage_t tspec_parser_storage(tspec_parser_t *p);

tspec_ast_expr_t *tspec_parser_expr(tspec_parser_t *p);
/// An expression without comparisons, && and || outside of parentheses.
tspec_ast_expr_t *tspec_parser_sum(tspec_parser_t *p);
tspec_ast_expr_t *tspec_parser_postfix(tspec_parser_t *p);
/// expr { ',' expr }
tspec_ast_exprs_t tspec_parser_exprs(tspec_parser_t *p);
/// '(' [ args ] ')'
tspec_ast_args_t tspec_parser_args(tspec_parser_t *p);
/// The operator that a token is: a comparison, && or || or arithmetic; TSPEC_AST_BINARY_COUNT if
/// none.
tspec_ast_binary_t tspec_parser_binary_op(tspec_token_kind_t kind);
/// A fresh expression node that starts at `first`; kind and payload are the caller's.
tspec_ast_expr_t *tspec_parser_new_expr(tspec_parser_t *p, tspec_ast_expr_kind_t kind,
                                        const tspec_token_t *first);

/// At 'scan' or 'remat scan'.
bool tspec_parser_at_scan(const tspec_parser_t *p);
tspec_ast_block_t tspec_parser_block(tspec_parser_t *p);
/// NAME 'in' expr '..' expr
void tspec_parser_for_header(tspec_parser_t *p, tspec_ast_name_t *out_var,
                             tspec_ast_expr_t **out_lo, tspec_ast_expr_t **out_hi);

/// One declaration, or a member; NULL or anything after an error.
tspec_ast_decl_t *tspec_parser_decl(tspec_parser_t *p, tspec_parser_scope_t scope);
tspec_ast_decl_t *tspec_parser_new_decl(tspec_parser_t *p, tspec_ast_decl_kind_t kind);
/// module, fn (entry, manual, a method), optimizer
void tspec_parser_module(tspec_parser_t *p, tspec_ast_decl_t *decl);
void tspec_parser_function(tspec_parser_t *p, tspec_ast_decl_t *decl, bool is_method);
void tspec_parser_optimizer(tspec_parser_t *p, tspec_ast_decl_t *decl);
tspec_ast_decls_t tspec_parser_decls(tspec_parser_t *p, tspec_parser_scope_t scope);
/// After their keyword: shard, expect
void tspec_parser_shard(tspec_parser_t *p, tspec_ast_decl_t *decl);
void tspec_parser_expect(tspec_parser_t *p, tspec_ast_decl_t *decl);

#endif
