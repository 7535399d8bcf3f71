// The command line of a compiled program. Ranks: everything here is local and equal on all.
#ifndef TSPEC_RUNTIME_OPTIONS_H
#define TSPEC_RUNTIME_OPTIONS_H

#include <stdio.h>

#include "runtime/program.h"

/// What `--in NAME=VALUE` or `--out NAME=VALUE` gave; borrowed from argv.
typedef struct tspec_rt_binding_t {
  const char *name; ///< not terminated at its end: see name_length
  int name_length;
  const char *value;
} tspec_rt_binding_t;

/// Why the program does nothing but print.
typedef enum tspec_rt_mode_t {
  TSPEC_RT_MODE_RUN,
  TSPEC_RT_MODE_HELP,
  TSPEC_RT_MODE_VERSION,
  TSPEC_RT_MODE_INFO,
} tspec_rt_mode_t;

typedef struct tspec_rt_options_t {
  tspec_rt_mode_t mode;
  const char *entry;
  int nins, nouts;
  tspec_rt_binding_t *ins;
  tspec_rt_binding_t *outs;
  const char *load;
  const char *save;
  const char *profile;
  const char *counts;
  int64_t steps;
  int64_t ranks;   ///< 0: not given
  int64_t threads; ///< 0: not given
  uint64_t seed;
  bool deterministic;
  bool quiet;
  double timeout_seconds; ///< $TSPEC_TIMEOUT
} tspec_rt_options_t;

/// Parses; does not look at the program. Ownership: lists in `pool`, strings borrowed. Errors:
/// TSPEC_RT_USAGE, TSPEC_RT_MEMORY.
tspec_rt_status_t tspec_rt_options_parse(int argc, char **argv, tspec_rt_pool_t *pool,
                                         tspec_rt_error_t *error, tspec_rt_options_t *out_options);

/// Checks entry and names against the program. Errors: TSPEC_RT_USAGE (unknown entry, input or
/// result, each with what there is), or TSPEC_RT_INPUT (an input that was not given).
tspec_rt_status_t tspec_rt_options_check(const tspec_rt_options_t *options,
                                         tspec_rt_program_t *program, tspec_rt_error_t *error);

/// The binding of a name, or NULL.
const char *tspec_rt_binding_find(const tspec_rt_binding_t *bindings, int count, const char *name);

/// `OUT --help`.
void tspec_rt_print_help(const tspec_rt_program_t *program, const char *executable, FILE *stream);
/// `OUT --version`.
void tspec_rt_print_version(const tspec_rt_program_t *program, FILE *stream);
/// `OUT --info`: mesh, processor, parameters and entries with types and shardings.
void tspec_rt_print_info(const tspec_rt_program_t *program, FILE *stream);

#endif
