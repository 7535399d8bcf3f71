#include "frontend/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/parser_internal.h"

const tspec_token_t *tspec_parser_token(const tspec_parser_t *p) {
  return &p->tokens.items[p->pos];
}

tspec_token_kind_t tspec_parser_peek(const tspec_parser_t *p) {
  if (p->panic) {
    return TSPEC_TOKEN_END;
  }
  return p->newline ? TSPEC_TOKEN_NEWLINE : tspec_parser_token(p)->kind;
}

tspec_token_kind_t tspec_parser_peek_next(const tspec_parser_t *p) {
  if (p->panic || p->newline || p->pos + 1 >= p->tokens.count) {
    return TSPEC_TOKEN_END;
  }
  const tspec_token_t *next = &p->tokens.items[p->pos + 1];
  return next->first_on_line && p->brackets == 0 ? TSPEC_TOKEN_NEWLINE : next->kind;
}

bool tspec_parser_at(const tspec_parser_t *p, tspec_token_kind_t kind) {
  return tspec_parser_peek(p) == kind;
}

bool tspec_parser_at_word(const tspec_parser_t *p, const char *word) {
  const tspec_token_t *token = tspec_parser_token(p);
  return tspec_parser_at(p, TSPEC_TOKEN_NAME) && token->length == strlen(word) &&
         memcmp(token->text, word, token->length) == 0;
}

bool tspec_parser_at_end(const tspec_parser_t *p) {
  tspec_token_kind_t kind = tspec_parser_peek(p);
  return kind == TSPEC_TOKEN_NEWLINE || kind == TSPEC_TOKEN_SEMICOLON ||
         kind == TSPEC_TOKEN_RBRACE || kind == TSPEC_TOKEN_END;
}

void tspec_parser_bump(tspec_parser_t *p) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (token->error != NULL) {
    tspec_diag_error(p->diag, token->range, "%s", token->error);
  }
  if (token->kind == TSPEC_TOKEN_END) {
    return;
  }
  if (token->kind == TSPEC_TOKEN_LPAREN || token->kind == TSPEC_TOKEN_LBRACKET) {
    p->brackets++;
  }
  if ((token->kind == TSPEC_TOKEN_RPAREN || token->kind == TSPEC_TOKEN_RBRACKET) &&
      p->brackets > 0) {
    p->brackets--;
  }
  p->pos++;
  p->newline = tspec_parser_token(p)->first_on_line && p->brackets == 0;
}

bool tspec_parser_take(tspec_parser_t *p, tspec_token_kind_t kind) {
  bool here = tspec_parser_at(p, kind) && kind != TSPEC_TOKEN_END;
  if (here) {
    tspec_parser_bump(p);
  }
  return here;
}

bool tspec_parser_take_word(tspec_parser_t *p, const char *word) {
  bool here = tspec_parser_at_word(p, word);
  if (here) {
    tspec_parser_bump(p);
  }
  return here;
}

void tspec_parser_skip_newline(tspec_parser_t *p) {
  if (!p->panic) {
    p->newline = false;
  }
}

bool tspec_parser_take_comma(tspec_parser_t *p) {
  if (!tspec_parser_take(p, TSPEC_TOKEN_COMMA)) {
    return false;
  }
  tspec_parser_skip_newline(p);
  return true;
}

bool tspec_parser_take_comma_before(tspec_parser_t *p, tspec_token_kind_t close) {
  return tspec_parser_take_comma(p) && !tspec_parser_at(p, close);
}

bool tspec_parser_take_after_newline(tspec_parser_t *p, tspec_token_kind_t kind) {
  if (p->panic || tspec_parser_token(p)->kind != kind) {
    return false;
  }
  tspec_parser_bump(p);
  return true;
}

bool tspec_parser_need(tspec_parser_t *p, tspec_token_kind_t kind) {
  if (tspec_parser_take(p, kind)) {
    return true;
  }
  tspec_parser_expected(p, tspec_token_kind_name(kind), "");
  return false;
}

bool tspec_parser_need_then_newline(tspec_parser_t *p, tspec_token_kind_t kind) {
  if (!tspec_parser_need(p, kind)) {
    return false;
  }
  tspec_parser_skip_newline(p);
  return true;
}

bool tspec_parser_need_close(tspec_parser_t *p, tspec_token_kind_t close,
                             const tspec_token_t *open) {
  if (tspec_parser_take(p, close)) {
    return true;
  }
  bool silent = p->panic || tspec_parser_token(p)->kind == TSPEC_TOKEN_ERROR;
  const char *what = close == TSPEC_TOKEN_RPAREN ? "',' or ')'" : "',' or ']'";
  tspec_parser_expected(p, what, "");
  if (!silent) {
    tspec_diag_note(p->diag, open->range, "%s opened here", tspec_token_kind_name(open->kind));
  }
  return false;
}

char *tspec_parser_token_text(tspec_parser_t *p, const tspec_token_t *token) {
  return tspec_arena_strdup(p->arena, token->text, token->length);
}

tspec_ast_name_t tspec_parser_name(tspec_parser_t *p, const char *what) {
  const tspec_token_t *token = tspec_parser_token(p);
  if (!tspec_parser_take(p, TSPEC_TOKEN_NAME)) {
    bool reserved = tspec_token_is_reserved(tspec_parser_peek(p));
    tspec_parser_expected(p, what, reserved ? " (a reserved word)" : "");
    return (tspec_ast_name_t){0};
  }
  return (tspec_ast_name_t){tspec_parser_token_text(p, token), token->range};
}

tspec_ast_names_t tspec_parser_names(tspec_parser_t *p, const char *what) {
  TSPEC_VEC(tspec_ast_name_t) names = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &names, tspec_parser_name(p, what));
  } while (tspec_parser_take_comma(p));
  return (tspec_ast_names_t){names.items, names.count};
}

const char *tspec_parser_string(tspec_parser_t *p, tspec_range_t *out_range) {
  const tspec_token_t *token = tspec_parser_token(p);
  *out_range = token->range;
  if (!tspec_parser_take(p, TSPEC_TOKEN_STRING)) {
    tspec_parser_expected(p, "a string", "");
    return NULL;
  }
  size_t quotes = token->error == NULL ? 2 : 1;
  return tspec_arena_strdup(p->arena, token->text + 1, token->length - quotes);
}

int64_t tspec_parser_integer(tspec_parser_t *p, const char *what) {
  const tspec_token_t *token = tspec_parser_token(p);
  bool digits = tspec_parser_at(p, TSPEC_TOKEN_NUMBER);
  for (size_t i = 0; digits && i < token->length; i++) {
    digits = token->text[i] >= '0' && token->text[i] <= '9';
  }
  if (!digits) {
    tspec_parser_expected(p, what, "");
    return 0;
  }
  tspec_parser_bump(p);
  errno = 0;
  long long value = strtoll(tspec_parser_token_text(p, token), NULL, 10);
  if (errno == ERANGE) {
    tspec_parser_fail(p, token->range, "this integer does not fit into 64 bits");
    return 0;
  }
  return value;
}

tspec_range_t tspec_parser_range(const tspec_parser_t *p, const tspec_token_t *first) {
  const tspec_token_t *last = p->pos > 0 ? &p->tokens.items[p->pos - 1] : first;
  return last < first ? first->range : tspec_range_join(first->range, last->range);
}

tspec_ast_file_t *tspec_parse(tspec_arena_t *arena, tspec_sources_t *sources, uint32_t file,
                              tspec_diag_t *diag) {
  const tspec_source_t *source = tspec_sources_get(sources, file);
  TSPEC_CHECK(source != NULL, "parsing a file that is not in the sources");
  tspec_parser_t parser = {.arena = arena, .diag = diag};
  parser.tokens = tspec_lex(arena, source, file);
  tspec_parser_items_t items;
  TSPEC_VEC(tspec_ast_decl_t *) decls = {0};
  tspec_parser_items_begin(&parser, &items, true, true);
  while (tspec_parser_items_next(&parser, &items)) {
    tspec_ast_decl_t *decl = tspec_parser_decl(&parser, TSPEC_PARSER_SCOPE_FILE);
    if (tspec_parser_item_end(&parser, &items)) {
      TSPEC_VEC_PUSH(arena, &decls, decl);
    }
  }
  tspec_ast_file_t *tree = TSPEC_ARENA_NEW(arena, tspec_ast_file_t, 1);
  tree->file = file;
  tree->decls.items = decls.items;
  tree->decls.count = decls.count;
  tree->decls.range = tspec_parser_range(&parser, &parser.tokens.items[0]);
  return tree;
}
