#include <stdarg.h>
#include <string.h>

#include "frontend/parser_internal.h"
#include "ir/base/str.h"

static tspec_token_kind_t raw_kind(const tspec_parser_t *p) {
  return tspec_parser_token(p)->kind;
}

void tspec_parser_fail(tspec_parser_t *p, tspec_range_t range, const char *format, ...) {
  if (p->panic) {
    return;
  }
  va_list args;
  va_start(args, format);
  tspec_diag_error(p->diag, range, "%s", tspec_arena_vprintf(p->arena, format, args));
  va_end(args);
  p->panic = true;
}

/// Behind the last token passed, where something is missing.
static tspec_range_t end_of_line(const tspec_parser_t *p) {
  tspec_range_t range = p->tokens.items[p->pos > 0 ? p->pos - 1 : 0].range;
  range.line = range.end_line;
  range.col = range.end_col;
  return range;
}

void tspec_parser_expected(tspec_parser_t *p, const char *what, const char *hint) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (p->newline) {
    tspec_parser_fail(p, end_of_line(p), "expected %s, got the end of the line", what);
  } else if (token->kind == TSPEC_TOKEN_END) {
    tspec_parser_fail(p, token->range, "expected %s, got the end of the file", what);
  } else if (token->kind == TSPEC_TOKEN_ERROR) {
    p->panic = true;
  } else {
    int shown = token->length <= 40 ? (int)token->length : 37;
    tspec_parser_fail(p, token->range, "expected %s, got '%.*s%s'%s", what, shown, token->text,
                      token->length <= 40 ? "" : "...", hint);
  }
}

void tspec_parser_enter(tspec_parser_t *p) {
  p->depth++;
  if (p->depth > TSPEC_PARSER_MAX_DEPTH) {
    tspec_parser_fail(p, tspec_parser_token(p)->range, "nested more than %d levels deep",
                      TSPEC_PARSER_MAX_DEPTH);
  }
}

void tspec_parser_leave(tspec_parser_t *p) {
  p->depth--;
}

const char *tspec_parser_meant(tspec_parser_t *p, const char *const *keywords) {
  if (!tspec_parser_at(p, TSPEC_TOKEN_NAME)) {
    return NULL;
  }
  const char *text = tspec_parser_token_text(p, tspec_parser_token(p));
  size_t limit = strlen(text) / 3 > 1 ? strlen(text) / 3 : 1;
  const char *best = NULL;
  for (; *keywords != NULL; keywords++) {
    size_t distance = tspec_str_distance(text, *keywords);
    if (distance <= limit && strlen(text) > 1) {
      best = *keywords;
      limit = distance - 1;
    }
    if (limit == 0) {
      break;
    }
  }
  return best;
}

const char *tspec_parser_line_hint(const tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  bool is_operator = token->kind >= TSPEC_TOKEN_ELLIPSIS && token->kind < TSPEC_TOKEN_LPAREN &&
                     token->kind != TSPEC_TOKEN_SEMICOLON;
  return is_operator && p->pos > 0
             ? " (a line is continued by ending it with the operator, or inside parentheses)"
             : "";
}

// ---- recovery ----

/// Words that start a declaration or a statement and nothing else: where they are the first on a
/// line, an unclosed bracket is taken for forgotten.
static bool starts_item(tspec_token_kind_t kind) {
  return tspec_token_is_reserved(kind) && kind != TSPEC_TOKEN_DTYPE && kind != TSPEC_TOKEN_TRUE &&
         kind != TSPEC_TOKEN_FALSE && kind != TSPEC_TOKEN_ELSE && kind != TSPEC_TOKEN_IN &&
         kind != TSPEC_TOKEN_SCAN && kind != TSPEC_TOKEN_EMIT;
}

/// Passes one token while skipping; `braces` counts those that opened on the way. Once a '{' is
/// met, brackets before it count as closed.
static void skip_token(tspec_parser_t *p, int *braces) {
  if (raw_kind(p) == TSPEC_TOKEN_LBRACE) {
    p->brackets = 0;
    (*braces)++;
  } else if (raw_kind(p) == TSPEC_TOKEN_RBRACE) {
    p->brackets = 0;
    (*braces)--;
  }
  tspec_parser_bump(p);
}

/// True if the line before the cursor ends with what an item goes on after. The '-' of a rule
/// ("embed -> -") is no operator.
static bool is_continued(const tspec_parser_t *p) {
  if (p->pos < 2) {
    return false;
  }
  const tspec_token_t *last = &p->tokens.items[p->pos - 1];
  if (tspec_parser_binary_op(last->kind) != TSPEC_AST_BINARY_COUNT) {
    return last[-1].kind != TSPEC_TOKEN_ARROW;
  }
  return last->kind == TSPEC_TOKEN_NOT || last->kind == TSPEC_TOKEN_COMMA ||
         last->kind == TSPEC_TOKEN_ASSIGN || last->kind == TSPEC_TOKEN_ARROW;
}

/// True where skipping ends: before the next item, or before the '}' of the list.
static bool at_item_boundary(const tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (token->kind == TSPEC_TOKEN_END || token->kind == TSPEC_TOKEN_RBRACE) {
    return true;
  }
  if (p->brackets == 0 && token->kind == TSPEC_TOKEN_SEMICOLON) {
    return true;
  }
  return token->first_on_line && token->kind != TSPEC_TOKEN_ELSE &&
         ((p->brackets == 0 && !is_continued(p)) || starts_item(token->kind));
}

/// Skips to where the next item of a list starts, at least behind the token `start`.
static void resume_at_item(tspec_parser_t *p, size_t start) {
  int braces = 0;
  if (p->pos == start) {
    skip_token(p, &braces);
  }
  while (raw_kind(p) != TSPEC_TOKEN_END && (braces > 0 || !at_item_boundary(p))) {
    skip_token(p, &braces);
  }
  p->panic = false;
  p->brackets = 0;
  p->newline = tspec_parser_token(p)->first_on_line;
}

bool tspec_parser_resume_at_brace(tspec_parser_t *p) {
  if (p->unwind) {
    return false;
  }
  int braces = 0;
  while (raw_kind(p) != TSPEC_TOKEN_LBRACE && !at_item_boundary(p)) {
    skip_token(p, &braces);
  }
  if (raw_kind(p) != TSPEC_TOKEN_LBRACE) {
    return false;
  }
  p->panic = false;
  p->brackets = 0;
  p->newline = false;
  return true;
}

// ---- lists of items ----

void tspec_parser_items_begin(tspec_parser_t *p, tspec_parser_items_t *items, bool of_decls,
                              bool is_file) {
  *items = (tspec_parser_items_t){.of_decls = of_decls, .outer = p->block_open};
  if (!is_file) {
    tspec_parser_enter(p);
    items->open = tspec_parser_token(p);
    tspec_parser_need(p, TSPEC_TOKEN_LBRACE);
    p->block_open = items->open;
  }
}

static bool items_close(tspec_parser_t *p, const tspec_parser_items_t *items) {
  if (items->open != NULL) {
    tspec_parser_leave(p);
    p->block_open = items->outer;
  }
  return false;
}

bool tspec_parser_items_next(tspec_parser_t *p, tspec_parser_items_t *items) {
  while (!p->panic && (p->newline || raw_kind(p) == TSPEC_TOKEN_SEMICOLON)) {
    if (p->newline) {
      p->newline = false;
    } else {
      tspec_parser_bump(p);
    }
  }
  if (p->panic || (items->open != NULL && tspec_parser_take(p, TSPEC_TOKEN_RBRACE))) {
    return items_close(p, items);
  }
  if (raw_kind(p) == TSPEC_TOKEN_END) {
    if (items->open != NULL) {
      tspec_parser_fail(p, tspec_parser_token(p)->range, "'}' is missing");
      tspec_diag_note(p->diag, items->open->range, "'{' opened here");
      p->unwind = true;
    }
    return items_close(p, items);
  }
  items->start = p->pos;
  return true;
}

static void need_end(tspec_parser_t *p) {
  if (!tspec_parser_at_end(p)) {
    tspec_parser_expected(p, "the end of the statement", "");
  }
}

bool tspec_parser_item_end(tspec_parser_t *p, tspec_parser_items_t *items) {
  if (!p->panic) {
    need_end(p);
  }
  if (!p->panic) {
    return true;
  }
  if (p->unwind) {
    // A word in the first column starts a declaration of the file.
    bool of_file = tspec_parser_token(p)->range.col == 1 || raw_kind(p) == TSPEC_TOKEN_END;
    bool here = items->of_decls && (items->open == NULL || !of_file);
    if (here) {
      p->unwind = false;
      p->panic = false;
      p->newline = tspec_parser_token(p)->first_on_line;
    }
    return false;
  }
  resume_at_item(p, items->start);
  return false;
}
