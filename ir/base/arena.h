// Memory for one compilation, or for one pass run. The base of every other layer: AST, types,
// shardings, programs and rules are plain structs in an arena and own nothing themselves.
#ifndef TSPEC_IR_BASE_ARENA_H
#define TSPEC_IR_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/// A growing pool of chunks. A plain value in the caller's storage; not thread-safe.
/// Out of memory ends the process with a message: no function below returns NULL.
/// With TSPEC_ARENA_STRESS defined at build time every object is a malloc of its own, so that
/// AddressSanitizer sees an overrun of each.
typedef struct tspec_arena_t {
  struct tspec_arena_chunk_t *head; ///< newest chunk; NULL before the first allocation
  size_t used_bytes;                ///< sum of all sizes handed out, for memory reports
} tspec_arena_t;

void tspec_arena_init(tspec_arena_t *arena);

/// Sum of `used_bytes` of all arenas, and the most that it was since tspec_arena_reset_peak: for
/// memory reports and tests.
size_t tspec_arena_live_bytes(void);
size_t tspec_arena_peak_bytes(void);
void tspec_arena_reset_peak(void);

/// Frees everything that was allocated; the arena may be used again.
void tspec_arena_deinit(tspec_arena_t *arena);

/// `size_bytes` zeroed bytes, aligned to 16. Size 0 gives a valid pointer, too.
void *tspec_arena_alloc(tspec_arena_t *arena, size_t size_bytes) __attribute__((returns_nonnull));

/// A copy of `size_bytes` bytes at `source` (may be NULL if the size is 0).
void *tspec_arena_copy(tspec_arena_t *arena, const void *source, size_t size_bytes)
    __attribute__((returns_nonnull));

/// A NUL-terminated copy of `length` bytes at `text`.
char *tspec_arena_strdup(tspec_arena_t *arena, const char *text, size_t length)
    __attribute__((returns_nonnull));

/// A formatted, NUL-terminated string.
char *tspec_arena_printf(tspec_arena_t *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *tspec_arena_vprintf(tspec_arena_t *arena, const char *format, va_list args);

/// `count` zeroed objects of `type`.
#define TSPEC_ARENA_NEW(arena, type, count)                                                        \
  ((type *)tspec_arena_alloc((arena), sizeof(type) * (size_t)(count)))

#endif
