// From text to tokens, the parser's first step. The lexer knows nothing of brackets or statements:
// it notes which token is the first on its line, and the parser decides where a line ends a
// statement.
#ifndef TSPEC_FRONTEND_LEXER_H
#define TSPEC_FRONTEND_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/source.h"

typedef enum tspec_token_kind_t {
#define TSPEC_TOKEN_CLASS(id, name) TSPEC_TOKEN_##id,
#define TSPEC_TOKEN_KEYWORD(id, text) TSPEC_TOKEN_##id,
#define TSPEC_TOKEN_PUNCT(id, text) TSPEC_TOKEN_##id,
#include "frontend/token.def"
  TSPEC_TOKEN_COUNT,
} tspec_token_kind_t;

/// One token; `text` is borrowed from the source and not NUL-terminated.
typedef struct tspec_token_t {
  tspec_token_kind_t kind;
  bool first_on_line; ///< at least one newline stands between the token before and this one
  const char *text;   ///< a string's quotes included
  size_t length;      ///< bytes; 0 for END
  tspec_range_t range;
  const char *error; ///< NULL, or what is wrong with it, for the parser to report once; always set
                     ///< for ERROR
} tspec_token_t;

typedef struct tspec_tokens_t {
  const tspec_token_t *items; ///< the last one, and only that, is END
  size_t count;
} tspec_tokens_t;

/// Splits a source file. Ownership: tokens and error texts lie in `arena`, token texts in the
/// source. Errors: none reported; a malformed token carries its `error`. Bytes that start no token
/// become one ERROR token per run.
tspec_tokens_t tspec_lex(tspec_arena_t *arena, const tspec_source_t *source, uint32_t file);

/// How messages call the kind: "'->'", "a name".
const char *tspec_token_kind_name(tspec_token_kind_t kind);
/// True for reserved words; element types are reserved, too.
bool tspec_token_is_reserved(tspec_token_kind_t kind);

#endif
