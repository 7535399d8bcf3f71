// Diagnostics: every message that a user sees from the compiler goes through here. The callee that
// sees the reason reports; callers only propagate failure.
//
//   gpt.tspec:12:7: error: 'x' is not declared
//     let y = x + 1
//             ^
//   gpt.tspec:3:1: note: declared here
#ifndef TSPEC_IR_BASE_DIAG_H
#define TSPEC_IR_BASE_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/base/source.h"

typedef enum tspec_severity_t {
  TSPEC_SEVERITY_ERROR,
  TSPEC_SEVERITY_WARNING,
  TSPEC_SEVERITY_NOTE,
} tspec_severity_t;

typedef struct tspec_message_t {
  tspec_severity_t severity;
  tspec_range_t range;
  const char *text; ///< lower-case sentence without full stop, names quoted with ''
} tspec_message_t;

/// What a message is about: its name there ("'w1'", "dim 1 of 'x'"), and where it stands.
typedef struct tspec_about_t {
  const char *what;
  tspec_range_t range;
} tspec_about_t;

typedef struct tspec_diag_t {
  tspec_sources_t *sources;
  FILE *stream;              ///< printed at once when not NULL
  tspec_message_t *messages; ///< all so far, in order
  size_t count;
  size_t capacity;
  int nerrors;
  int nwarnings;
  bool warnings_are_errors; ///< --strict
  bool quiet_warnings;      ///< drop warnings (a second check of the same text)
  int max_errors; ///< after this many, further errors are counted, not printed; 0: no limit
} tspec_diag_t;

/// Messages go to `stream` (NULL: only kept). `sources` is borrowed and owns the texts.
void tspec_diag_init(tspec_diag_t *diag, tspec_sources_t *sources, FILE *stream);

void tspec_diag_error(tspec_diag_t *diag, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tspec_diag_warning(tspec_diag_t *diag, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// A note belongs to the error or warning before it.
void tspec_diag_note(tspec_diag_t *diag, tspec_range_t range, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Prints one message with its source line and carets. Of a line of more than 160 columns the part
/// around the caret is shown, with "..." where it is cut; a tab counts as 8 columns, any other
/// character of UTF-8 as one.
void tspec_message_print(const tspec_sources_t *sources, const tspec_message_t *message,
                         FILE *stream);

/// What runs now, named in internal errors: a pass name, or NULL. Process-wide.
void tspec_check_context_set(const char *what);
/// Called before abort by a failed TSPEC_CHECK (the driver turns it into exit code 70).
/// Process-wide.
void tspec_check_handler_set(void (*handler)(const char *message));
_Noreturn void tspec_check_failed(const char *file, int line, const char *condition,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/// A bug in the compiler: prints file, line, the running pass and "internal compiler error", then
/// aborts. On in release, too.
#define TSPEC_CHECK(condition, ...)                                                                \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      tspec_check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                         \
    }                                                                                              \
  } while (0)

#endif
