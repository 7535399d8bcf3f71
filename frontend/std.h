// The standard library, frontend/std.tspec, as a text in the compiler. It is always in scope; a
// program's names hide its.
#ifndef TSPEC_FRONTEND_STD_H
#define TSPEC_FRONTEND_STD_H

#include <stddef.h>

/// The text, NUL-terminated.
extern const char tspec_std_text[];
/// Its length in bytes.
extern const size_t tspec_std_text_size;

#endif
