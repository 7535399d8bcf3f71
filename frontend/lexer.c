#include "frontend/lexer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/type.h"
#include "ir/base/vec.h"

typedef struct spelling_t {
  tspec_token_kind_t kind;
  const char *text;
  size_t length;
} spelling_t;

static const spelling_t keywords[] = {
#define TSPEC_TOKEN_KEYWORD(id, text) {TSPEC_TOKEN_##id, (text), sizeof(text) - 1},
#include "frontend/token.def"
};

static const spelling_t puncts[] = {
#define TSPEC_TOKEN_PUNCT(id, text) {TSPEC_TOKEN_##id, (text), sizeof(text) - 1},
#include "frontend/token.def"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct lexer_t {
  tspec_arena_t *arena;
  const char *text;
  size_t length;
  uint32_t file;
  size_t pos;
  uint32_t line;
  size_t line_start;
  bool first_on_line;
  TSPEC_VEC(tspec_token_t) tokens;
} lexer_t;

const char *tspec_token_kind_name(tspec_token_kind_t kind) {
  static const char *const names[] = {
#define TSPEC_TOKEN_CLASS(id, name) name,
#define TSPEC_TOKEN_KEYWORD(id, text) "'" text "'",
#define TSPEC_TOKEN_PUNCT(id, text) "'" text "'",
#include "frontend/token.def"
  };
  return names[kind];
}

bool tspec_token_is_reserved(tspec_token_kind_t kind) {
  return kind == TSPEC_TOKEN_DTYPE || (kind >= keywords[0].kind && kind < puncts[0].kind);
}

// The character classes are ASCII and do not depend on the locale.
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c) {
  return is_word_start(c) || is_digit(c);
}

static char char_at(const lexer_t *lexer, size_t pos) {
  return pos < lexer->length ? lexer->text[pos] : '\0';
}

/// Appends the token [lexer->pos, end) and moves behind it. Tokens never span lines.
static tspec_token_t *push(lexer_t *lexer, tspec_token_kind_t kind, size_t end) {
  uint32_t col = (uint32_t)(lexer->pos - lexer->line_start) + 1;
  uint32_t end_col = (uint32_t)(end - lexer->line_start) + 1;
  tspec_range_t range = {lexer->file, lexer->line, col, lexer->line, end_col};
  TSPEC_VEC_PUSH(lexer->arena, &lexer->tokens,
                 (tspec_token_t){kind, lexer->first_on_line, lexer->text + lexer->pos,
                                 end - lexer->pos, range, NULL});
  lexer->first_on_line = false;
  lexer->pos = end;
  return &lexer->tokens.items[lexer->tokens.count - 1];
}

static void lex_word(lexer_t *lexer) {
  size_t end = lexer->pos;
  while (is_word(char_at(lexer, end))) {
    end++;
  }
  const char *text = lexer->text + lexer->pos;
  size_t length = end - lexer->pos;
  tspec_token_kind_t kind = TSPEC_TOKEN_NAME;
  tspec_dtype_t dtype;
  if (tspec_dtype_parse(text, length, &dtype)) {
    kind = TSPEC_TOKEN_DTYPE;
  }
  for (size_t i = 0; i < COUNT(keywords); i++) {
    if (keywords[i].length == length && memcmp(keywords[i].text, text, length) == 0) {
      kind = keywords[i].kind;
    }
  }
  push(lexer, kind, end);
}

static size_t skip_digits(const lexer_t *lexer, size_t pos) {
  while (is_digit(char_at(lexer, pos))) {
    pos++;
  }
  return pos;
}

static void lex_number(lexer_t *lexer) {
  size_t end = skip_digits(lexer, lexer->pos);
  if (char_at(lexer, end) == '.' && is_digit(char_at(lexer, end + 1))) {
    end = skip_digits(lexer, end + 1);
  }
  if (char_at(lexer, end) == 'e' || char_at(lexer, end) == 'E') {
    size_t digits = end + 1;
    if (char_at(lexer, digits) == '+' || char_at(lexer, digits) == '-') {
      digits++;
    }
    if (is_digit(char_at(lexer, digits))) {
      end = skip_digits(lexer, digits);
    }
  }
  size_t number_length = end - lexer->pos;
  while (is_word(char_at(lexer, end))) {
    end++;
  }
  tspec_token_t *token = push(lexer, TSPEC_TOKEN_NUMBER, end);
  if (token->length > number_length) {
    token->error = tspec_arena_printf(lexer->arena, "a letter touches the number '%.*s'",
                                      (int)(number_length < 40 ? number_length : 40), token->text);
    token->length = number_length;
  }
  const char *copy = tspec_arena_strdup(lexer->arena, token->text, token->length);
  if (token->error == NULL && !isfinite(strtod(copy, NULL))) {
    token->error = "this number is too large for f64";
  }
}

static void lex_string(lexer_t *lexer) {
  size_t end = lexer->pos + 1;
  while (end < lexer->length && lexer->text[end] != '"' && lexer->text[end] != '\n') {
    end++;
  }
  bool closed = end < lexer->length && lexer->text[end] == '"';
  tspec_token_t *token = push(lexer, TSPEC_TOKEN_STRING, closed ? end + 1 : end);
  if (!closed) {
    token->error = "a string must end on its line with '\"'";
  }
}

static bool starts_token(const lexer_t *lexer, size_t pos) {
  char c = lexer->text[pos];
  if (is_word(c) || (c != '\0' && strchr("\"\n \t\r", c) != NULL)) {
    return true;
  }
  for (size_t i = 0; i < COUNT(puncts); i++) {
    if (lexer->length - pos >= puncts[i].length &&
        memcmp(puncts[i].text, lexer->text + pos, puncts[i].length) == 0) {
      return true;
    }
  }
  return false;
}

/// Bytes of the UTF-8 sequence at `text`, or 0 if it is none (or ASCII).
static size_t utf8_length(const char *text, size_t available) {
  unsigned char lead = (unsigned char)text[0];
  size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                  : lead >= 0xe0 && lead < 0xf0 ? 3
                  : lead >= 0xc2 && lead < 0xe0 ? 2
                                                : 0;
  if (length > available) {
    return 0;
  }
  for (size_t i = 1; i < length; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

static void lex_error(lexer_t *lexer) {
  size_t end = lexer->pos + 1;
  while (end < lexer->length && !starts_token(lexer, end)) {
    end++;
  }
  tspec_token_t *token = push(lexer, TSPEC_TOKEN_ERROR, end);
  unsigned char c = (unsigned char)token->text[0];
  size_t utf8 = utf8_length(token->text, token->length);
  if (c > 0x20 && c < 0x7f) {
    utf8 = 1;
  }
  token->error = utf8 > 0 ? tspec_arena_printf(lexer->arena, "unexpected character '%.*s'",
                                               (int)utf8, token->text)
                          : tspec_arena_printf(lexer->arena, "unexpected byte 0x%02x", c);
}

static bool lex_punct(lexer_t *lexer) {
  for (size_t i = 0; i < COUNT(puncts); i++) {
    if (lexer->length - lexer->pos >= puncts[i].length &&
        memcmp(puncts[i].text, lexer->text + lexer->pos, puncts[i].length) == 0) {
      push(lexer, puncts[i].kind, lexer->pos + puncts[i].length);
      return true;
    }
  }
  return false;
}

static void skip_blanks(lexer_t *lexer) {
  while (lexer->pos < lexer->length) {
    char c = lexer->text[lexer->pos];
    if (c == '\n') {
      lexer->line++;
      lexer->line_start = lexer->pos + 1;
      lexer->first_on_line = true;
    } else if (c == '/' && char_at(lexer, lexer->pos + 1) == '/') {
      while (lexer->pos + 1 < lexer->length && lexer->text[lexer->pos + 1] != '\n') {
        lexer->pos++;
      }
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
    lexer->pos++;
  }
}

tspec_tokens_t tspec_lex(tspec_arena_t *arena, const tspec_source_t *source, uint32_t file) {
  lexer_t lexer = {.arena = arena, .text = source->text, .length = source->length, .file = file};
  lexer.line = 1;
  lexer.first_on_line = true;
  for (skip_blanks(&lexer); lexer.pos < lexer.length; skip_blanks(&lexer)) {
    char c = lexer.text[lexer.pos];
    if (is_word_start(c)) {
      lex_word(&lexer);
    } else if (is_digit(c)) {
      lex_number(&lexer);
    } else if (c == '"') {
      lex_string(&lexer);
    } else if (!lex_punct(&lexer)) {
      lex_error(&lexer);
    }
  }
  push(&lexer, TSPEC_TOKEN_END, lexer.length);
  return (tspec_tokens_t){lexer.tokens.items, lexer.tokens.count};
}
