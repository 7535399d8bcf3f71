#include "ir/mlir/guard.h"

#include <ctype.h>
#include <string.h>

#include "ir/base/str.h"

/// "#name = ..." or "!name = ...".
typedef struct alias_t {
  int depth;      ///< of its value, aliases in it written out
  int64_t weight; ///< tokens, likewise
} alias_t;

typedef struct guard_t {
  tspec_arena_t arena;
  const char *start;
  const char *at;
  const char *end;
  int round;  ///< ( [ { that are open
  int angle;  ///< < that are open; > also stands in "->" and ">=", so the two are kept apart
  int nchain; ///< operators since the last token that ends an expression
  int64_t weight;
  tspec_names_t aliases; ///< alias_t
  const char *name;      ///< of the alias being defined, or NULL
  alias_t *alias;
  const char *problem; ///< NULL: none so far
} guard_t;

static int depth_of(const guard_t *guard) {
  return guard->round + guard->angle;
}

static void add_weight(guard_t *guard, int64_t weight) {
  guard->weight += weight;
  if (guard->weight > TSPEC_MLIR_MAX_WEIGHT) {
    guard->problem = "with its aliases written out this text is too long";
  }
  if (guard->alias != NULL) {
    guard->alias->weight += weight;
  }
}

/// Something begins that lies `depth` deep.
static void reach(guard_t *guard, int depth) {
  if (depth > TSPEC_MLIR_MAX_DEPTH) {
    guard->problem = "this nests too deep";
  }
  if (guard->alias != NULL && guard->alias->depth < depth) {
    guard->alias->depth = depth;
  }
}

static bool is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static void skip_word(guard_t *guard) {
  while (guard->at < guard->end && is_word_char(*guard->at)) {
    guard->at++;
  }
}

static bool is_word(const char *word, size_t length, const char *wanted) {
  return length == strlen(wanted) && memcmp(word, wanted, length) == 0;
}

static void end_alias(guard_t *guard) {
  if (guard->alias != NULL) {
    tspec_names_set(&guard->arena, &guard->aliases, guard->name, guard->alias);
  }
  guard->alias = NULL;
}

static void count_operator(guard_t *guard) {
  if (++guard->nchain > TSPEC_MLIR_MAX_DEPTH) {
    guard->problem = "this expression is too long";
  }
}

static void read_word(guard_t *guard) {
  const char *word = guard->at;
  skip_word(guard);
  size_t length = (size_t)(guard->at - word);
  if (depth_of(guard) == 0 && is_word(word, length, "module")) {
    end_alias(guard);
  }
  if (is_word(word, length, "floordiv") || is_word(word, length, "ceildiv") ||
      is_word(word, length, "mod")) {
    count_operator(guard);
  }
  add_weight(guard, 1);
}

/// True if '=' comes next.
static bool is_definition(const guard_t *guard) {
  const char *at = guard->at;
  while (at < guard->end && isspace((unsigned char)*at)) {
    at++;
  }
  return at < guard->end && *at == '=' && (at + 1 == guard->end || at[1] != '=');
}

/// "#name" or "!name": defined or used here.
static void read_alias(guard_t *guard) {
  const char *word = guard->at++;
  skip_word(guard);
  const char *name = tspec_arena_strdup(&guard->arena, word, (size_t)(guard->at - word));
  if (depth_of(guard) == 0 && is_definition(guard)) {
    end_alias(guard);
    guard->name = name;
    guard->alias = TSPEC_ARENA_NEW(&guard->arena, alias_t, 1);
    return;
  }
  const alias_t *used = tspec_names_get(&guard->aliases, name);
  add_weight(guard, used == NULL ? 1 : used->weight + 1);
  reach(guard, depth_of(guard) + (used == NULL ? 0 : used->depth));
}

static void read_string(guard_t *guard) {
  const char *start = guard->at++;
  while (guard->at < guard->end && *guard->at != '"' && *guard->at != '\n') {
    guard->at += *guard->at == '\\' && guard->at + 1 < guard->end ? 2 : 1;
  }
  guard->at += guard->at < guard->end ? 1 : 0;
  if (depth_of(guard) == 0 && is_word(start, (size_t)(guard->at - start), "\"builtin.module\"")) {
    end_alias(guard);
  }
  guard->nchain = 0;
  add_weight(guard, 1);
}

static void skip_comment(guard_t *guard) {
  while (guard->at < guard->end && *guard->at != '\n') {
    guard->at++;
  }
}

static void open_bracket(guard_t *guard, int *count) {
  ++*count;
  add_weight(guard, 1);
  reach(guard, depth_of(guard));
}

static void close_bracket(int *count) {
  *count -= *count > 0 ? 1 : 0;
}

static void read_punct(guard_t *guard) {
  char c = *guard->at++;
  char next = guard->at < guard->end ? *guard->at : '\0';
  if ((c == '-' && next == '>') || (strchr("<>", c) != NULL && next == '=')) {
    guard->at++;
    return;
  }
  if (c == '-' || c == '+' || c == '*') {
    count_operator(guard);
  } else if (c == '<') {
    open_bracket(guard, &guard->angle);
  } else if (c == '>') {
    close_bracket(&guard->angle);
  } else if (strchr("([{", c) != NULL) {
    open_bracket(guard, &guard->round);
  } else if (strchr(")]}", c) != NULL) {
    close_bracket(&guard->round);
  }
  if (strchr(",={}", c) != NULL) {
    guard->nchain = 0;
  }
}

static void read_token(guard_t *guard) {
  char c = *guard->at;
  if (c == '"') {
    read_string(guard);
  } else if (c == '/' && guard->at + 1 < guard->end && guard->at[1] == '/') {
    skip_comment(guard);
  } else if (c == '#' || c == '!') {
    read_alias(guard);
  } else if (is_word_char(c)) {
    read_word(guard);
  } else if (c == '\0') {
    guard->at++; // strchr would find it
  } else {
    read_punct(guard);
  }
}

bool tspec_mlir_guard(uint32_t file, tspec_diag_t *diag) {
  const tspec_source_t *source = tspec_sources_get(diag->sources, file);
  guard_t guard = {.start = source->text, .at = source->text, .end = source->text + source->length};
  tspec_arena_init(&guard.arena);
  const char *token = guard.at;
  while (guard.problem == NULL && guard.at < guard.end) {
    token = guard.at;
    read_token(&guard);
  }
  if (guard.problem != NULL) {
    tspec_range_t range = tspec_source_range(diag->sources, file, (size_t)(token - guard.start),
                                             (size_t)(guard.at - guard.start));
    tspec_diag_error(diag, range, "%s for MLIR's parser", guard.problem);
  }
  tspec_arena_deinit(&guard.arena);
  return guard.problem == NULL;
}
