// Source files and places in them. Everything that a user may be told about carries a
// tspec_range_t.
#ifndef TSPEC_IR_BASE_SOURCE_H
#define TSPEC_IR_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/// A place in a file: 1-based lines and byte columns, the end excluded. `file` is an index into
/// tspec_sources_t plus 1; all zero means "no place".
typedef struct tspec_range_t {
  uint32_t file;
  uint32_t line;
  uint32_t col;
  uint32_t end_line;
  uint32_t end_col;
} tspec_range_t;

typedef struct tspec_source_t {
  const char *path;          ///< as the user gave it; shown in diagnostics
  const char *text;          ///< NUL-terminated; may hold NUL bytes before `length`
  size_t length;             ///< bytes
  const size_t *line_starts; ///< byte offset of each line
  size_t nlines;
  bool embedded; ///< stands for the file of its path, which is not read
} tspec_source_t;

/// All files of one compilation.
typedef struct tspec_sources_t {
  tspec_arena_t *arena;
  tspec_source_t *items;
  size_t count;
  size_t capacity;
} tspec_sources_t;

void tspec_sources_init(tspec_sources_t *sources, tspec_arena_t *arena);

/// Adds a text under a name (copied). Returns its `file` number (index + 1). The same path again
/// with the same text gives the same number.
uint32_t tspec_sources_add(tspec_sources_t *sources, const char *path, const char *text,
                           size_t length);

/// Adds a text that stands for the file `path`: reading that gives it. Returns its number.
uint32_t tspec_sources_embed(tspec_sources_t *sources, const char *path, const char *text,
                             size_t length);

/// Reads a file. Returns its number, or 0 with errno set.
uint32_t tspec_sources_read(tspec_sources_t *sources, const char *path);

/// The number of a path, adding it without text if it is new (for places that come from an .mlir
/// file whose sources are not at hand; a readable file is read).
uint32_t tspec_sources_intern(tspec_sources_t *sources, const char *path);

/// The file of a range, or NULL.
const tspec_source_t *tspec_sources_get(const tspec_sources_t *sources, uint32_t file);

/// The range of bytes [begin, end) of a file.
tspec_range_t tspec_source_range(const tspec_sources_t *sources, uint32_t file, size_t begin,
                                 size_t end);

/// The smallest range that holds both; either may be empty.
tspec_range_t tspec_range_join(tspec_range_t a, tspec_range_t b);

/// "gpt.tspec:9" (or "?" for no place), in the arena of `sources`.
const char *tspec_range_brief(const tspec_sources_t *sources, tspec_range_t range);

#endif
