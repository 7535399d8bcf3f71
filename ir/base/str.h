// String building and a table of names. Names in programs are NUL-terminated strings in an arena.
#ifndef TSPEC_IR_BASE_STR_H
#define TSPEC_IR_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/// A growing text on the heap. All zero is the empty one; `text` is NULL then, else NUL-terminated.
typedef struct tspec_buf_t {
  char *text;
  size_t length;
  size_t capacity;
} tspec_buf_t;

void tspec_buf_deinit(tspec_buf_t *buf);
void tspec_buf_append(tspec_buf_t *buf, const char *text, size_t length);
void tspec_buf_puts(tspec_buf_t *buf, const char *text);
void tspec_buf_printf(tspec_buf_t *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tspec_buf_vprintf(tspec_buf_t *buf, const char *format, va_list args);
/// The text ("" if empty), borrowed until the next change.
const char *tspec_buf_get(const tspec_buf_t *buf);
/// A number so that reading it back gives the same double, as short as possible: 1e-05 prints as
/// 1e-05, 3 as 3.
void tspec_buf_put_double(tspec_buf_t *buf, double number);

/// A map from names to pointers that keeps the order of insertion. All zero is the empty one.
typedef struct tspec_names_t {
  struct tspec_names_entry_t {
    const char *name;
    void *value;
  } *entries; ///< in order of insertion
  size_t count;
  size_t capacity;
  uint32_t *slots; ///< open addressing, index + 1; its layout never shows in any order
  size_t nslots;
} tspec_names_t;

/// The value under `name`, or NULL.
void *tspec_names_get(const tspec_names_t *names, const char *name);
/// Sets or replaces; `name` is borrowed (it must outlive the table).
void tspec_names_set(tspec_arena_t *arena, tspec_names_t *names, const char *name, void *value);
/// The entry nearest to `name` by edit distance (at most a third of its length, at least 1), or
/// NULL: "did you mean".
const char *tspec_names_nearest(const tspec_names_t *names, const char *name);

/// Edit distance (insert, delete, replace, swap of neighbours: 1 each), for "did you mean".
size_t tspec_str_distance(const char *a, const char *b);

#endif
