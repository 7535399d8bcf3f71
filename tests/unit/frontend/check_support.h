// What the checker's tests share: one checked text with all that belongs to it, its messages and
// its ops as text.
#ifndef TSPEC_TESTS_UNIT_FRONTEND_CHECK_SUPPORT_H
#define TSPEC_TESTS_UNIT_FRONTEND_CHECK_SUPPORT_H

#include "frontend/check.h"
#include "ir/base/str.h"

typedef struct checked_t {
  tspec_arena_t arena;
  tspec_sources_t sources;
  tspec_diag_t diag; ///< keeps its messages, prints nothing
  tspec_program_t *program;
} checked_t;

/// Parses and checks a text as "t.tspec". `options` NULL: none. `checked` must not move afterwards.
void check_text(checked_t *checked, const char *text, const tspec_check_options_t *options);
/// The same, of a file.
void check_file(checked_t *checked, const char *path, const tspec_check_options_t *options);
void checked_deinit(checked_t *checked);

/// The messages as tspecc prints them, in the arena.
const char *checked_messages(checked_t *checked);
/// The number of messages that hold this text.
int checked_count(const checked_t *checked, const char *text);

/// The ops of an entry, one a line: "%1 = dot x w lhs_contract=1 rhs_contract=0 dtype=f32 : f32[8]
/// @h". Arguments have their names, empty lists are left out, "@h" is the value's name.
const char *checked_ops(checked_t *checked, const char *entry);
/// The same, the kinds alone: "dot relu constraint".
const char *checked_kinds(checked_t *checked, const char *entry);
/// The sharding of a parameter, of an entry's input, result or constraint; "none" if nothing is
/// said, "?" if there is no such value.
const char *checked_param(checked_t *checked, const char *path);
const char *checked_input(checked_t *checked, const char *entry, const char *name);
const char *checked_result(checked_t *checked, const char *entry, const char *name);
const char *checked_constraint(checked_t *checked, const char *entry, const char *name);

#endif
