#include "ir/base/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/base/vec.h"

void tspec_sources_init(tspec_sources_t *sources, tspec_arena_t *arena) {
  *sources = (tspec_sources_t){.arena = arena};
}

static void index_lines(tspec_arena_t *arena, tspec_source_t *source) {
  TSPEC_VEC(size_t) starts = {0};
  TSPEC_VEC_PUSH(arena, &starts, (size_t)0);
  for (size_t i = 0; i < source->length; ++i) {
    if (source->text[i] == '\n') {
      TSPEC_VEC_PUSH(arena, &starts, i + 1);
    }
  }
  source->line_starts = starts.items;
  source->nlines = starts.count;
}

static uint32_t find_path(const tspec_sources_t *sources, const char *path) {
  for (size_t i = 0; i < sources->count; ++i) {
    if (strcmp(sources->items[i].path, path) == 0) {
      return (uint32_t)i + 1;
    }
  }
  return 0;
}

static bool same_text(const tspec_source_t *source, const char *text, size_t length) {
  return source->length == length && (length == 0 || memcmp(source->text, text, length) == 0);
}

uint32_t tspec_sources_add(tspec_sources_t *sources, const char *path, const char *text,
                           size_t length) {
  uint32_t known = find_path(sources, path);
  if (known != 0 && same_text(&sources->items[known - 1], text, length)) {
    return known;
  }
  tspec_source_t source = {
      .path = tspec_arena_strdup(sources->arena, path, strlen(path)),
      .text = tspec_arena_strdup(sources->arena, text, length),
      .length = length,
  };
  index_lines(sources->arena, &source);
  TSPEC_VEC_PUSH(sources->arena, sources, source);
  return (uint32_t)sources->count;
}

// The whole file on the heap, or NULL with errno set.
static char *read_all(FILE *file, size_t *out_length) {
  size_t length = 0, capacity = 1 << 14;
  char *text = malloc(capacity);
  while (text != NULL) {
    length += fread(text + length, 1, capacity - length, file);
    if (length < capacity) {
      break;
    }
    capacity *= 2;
    char *grown = realloc(text, capacity);
    if (grown == NULL) {
      free(text);
    }
    text = grown;
  }
  if (text != NULL && ferror(file)) {
    int reason = errno;
    free(text);
    errno = reason;
    return NULL;
  }
  *out_length = length;
  return text;
}

uint32_t tspec_sources_embed(tspec_sources_t *sources, const char *path, const char *text,
                             size_t length) {
  uint32_t number = tspec_sources_add(sources, path, text, length);
  sources->items[number - 1].embedded = true;
  return number;
}

uint32_t tspec_sources_read(tspec_sources_t *sources, const char *path) {
  uint32_t known = find_path(sources, path);
  if (known != 0 && sources->items[known - 1].embedded) {
    return known;
  }
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return 0;
  }
  size_t length = 0;
  char *text = read_all(file, &length);
  int reason = errno;
  fclose(file);
  errno = reason;
  if (text == NULL) {
    return 0;
  }
  uint32_t number = tspec_sources_add(sources, path, text, length);
  free(text);
  return number;
}

// Devices and pipes are not read: the path comes from a text, and they may never end.
static bool is_file(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

uint32_t tspec_sources_intern(tspec_sources_t *sources, const char *path) {
  uint32_t known = find_path(sources, path);
  if (known == 0 && is_file(path)) {
    known = tspec_sources_read(sources, path);
  }
  return known != 0 ? known : tspec_sources_add(sources, path, "", 0);
}

const tspec_source_t *tspec_sources_get(const tspec_sources_t *sources, uint32_t file) {
  return file == 0 || file > sources->count ? NULL : &sources->items[file - 1];
}

// Line and column of a byte offset, by bisection.
static void locate(const tspec_source_t *source, size_t at, uint32_t *out_line, uint32_t *out_col) {
  size_t low = 0, high = source->nlines;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (source->line_starts[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  *out_line = (uint32_t)low + 1;
  *out_col = (uint32_t)(at - source->line_starts[low]) + 1;
}

tspec_range_t tspec_source_range(const tspec_sources_t *sources, uint32_t file, size_t begin,
                                 size_t end) {
  tspec_range_t range = {.file = file};
  const tspec_source_t *source = tspec_sources_get(sources, file);
  if (source != NULL) {
    locate(source, begin, &range.line, &range.col);
    locate(source, end < begin ? begin : end, &range.end_line, &range.end_col);
  }
  return range;
}

static bool is_before(uint32_t line_a, uint32_t col_a, uint32_t line_b, uint32_t col_b) {
  return line_a < line_b || (line_a == line_b && col_a < col_b);
}

tspec_range_t tspec_range_join(tspec_range_t a, tspec_range_t b) {
  if (a.line == 0 || a.file != b.file) {
    return a.line == 0 ? b : a;
  }
  if (b.line == 0) {
    return a;
  }
  tspec_range_t joined = a;
  if (is_before(b.line, b.col, a.line, a.col)) {
    joined.line = b.line;
    joined.col = b.col;
  }
  if (is_before(a.end_line, a.end_col, b.end_line, b.end_col)) {
    joined.end_line = b.end_line;
    joined.end_col = b.end_col;
  }
  return joined;
}

const char *tspec_range_brief(const tspec_sources_t *sources, tspec_range_t range) {
  const tspec_source_t *source = tspec_sources_get(sources, range.file);
  if (source == NULL || range.line == 0) {
    return "?";
  }
  return tspec_arena_printf(sources->arena, "%s:%u", source->path, range.line);
}
