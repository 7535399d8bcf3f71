// What must hold of every program.
#ifndef TSPEC_TESTS_PROPERTY_CHECK_H
#define TSPEC_TESTS_PROPERTY_CHECK_H

#include "tests/property/program.h"

enum { PROP_TEXT = 400 };

/// What became of a program. A plain value: it is handed from process to process.
typedef struct prop_outcome_t {
  bool ok;
  char kind[PROP_TEXT];   ///< what failed, without names and numbers: shrinking keeps it
  char detail[PROP_TEXT]; ///< the whole message
} prop_outcome_t;

typedef struct prop_check_options_t {
  const char *tspecc; ///< with it the program is also run natively
  const char *work;   ///< folder for files
  const char *ref;    ///< folder to write the program, its inputs and its results to, or NULL
} prop_check_options_t;

/// Checks one program in this process: it may crash.
void prop_check(const prop_program_t *program, const prop_check_options_t *options,
                prop_outcome_t *out_outcome);
/// Checks a program that was not made here, on small whole numbers: all sums must be exact.
void prop_check_text(const char *text, prop_outcome_t *out_outcome);
/// Checks it in a child, so that a crash or an endless loop is an outcome.
void prop_check_apart(const prop_program_t *program, const prop_check_options_t *options,
                      prop_outcome_t *out_outcome);

/// Sets a failed outcome; `kind` is made of the message.
void prop_fail(prop_outcome_t *outcome, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
