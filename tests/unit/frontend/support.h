// What the frontend's tests share: one parsed text with all that belongs to it.
#ifndef TSPEC_TESTS_UNIT_FRONTEND_SUPPORT_H
#define TSPEC_TESTS_UNIT_FRONTEND_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "frontend/ast_dump.h"
#include "frontend/parser.h"
#include "frontend/print.h"

typedef struct parsed_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag;
  uint32_t file;
  tspec_ast_file_t *tree;
} parsed_t;

/// Parses `length` bytes as "t.tspec". `parsed` must not move afterwards.
static inline void parse_text(parsed_t *parsed, const char *text, size_t length) {
  memset(parsed, 0, sizeof *parsed);
  tspec_arena_init(&parsed->arena);
  tspec_sources_init(&parsed->sources, &parsed->arena);
  tspec_diag_init(&parsed->diag, &parsed->sources, NULL);
  parsed->file = tspec_sources_add(&parsed->sources, "t.tspec", text, length);
  parsed->tree = tspec_parse(&parsed->arena, &parsed->sources, parsed->file, &parsed->diag);
}

static inline void parsed_deinit(parsed_t *parsed) {
  tspec_arena_deinit(&parsed->arena);
}

/// All of a file, NUL-terminated, on the heap; NULL if it cannot be read.
static inline char *read_all(const char *path, size_t *out_length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  fseek(file, 0, SEEK_END);
  size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(length + 1);
  length = fread(text, 1, length, file);
  text[length] = '\0';
  fclose(file);
  *out_length = length;
  return text;
}

#endif
