// The command line of tspecc.
#ifndef TSPEC_FRONTEND_OPTIONS_H
#define TSPEC_FRONTEND_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/vec.h"
#include "ir/program.h"
#include "passes/pipeline.h"

/// What --emit asks for.
typedef enum tspec_output_t {
  TSPEC_OUTPUT_EXE,
  TSPEC_OUTPUT_OBJ,
  TSPEC_OUTPUT_ASM,
  TSPEC_OUTPUT_LLVM,
  TSPEC_OUTPUT_MLIR,  ///< the local program
  TSPEC_OUTPUT_TSPEC, ///< the program back, with shardings
} tspec_output_t;

typedef enum tspec_dump_kind_t {
  TSPEC_DUMP_SOURCE,
  TSPEC_DUMP_LEVEL,
  TSPEC_DUMP_BEFORE, ///< a pass
  TSPEC_DUMP_AFTER,
  TSPEC_DUMP_ALL,
} tspec_dump_kind_t;

/// One --dump-ir.
typedef struct tspec_dump_t {
  tspec_dump_kind_t kind;
  tspec_level_t level; ///< LEVEL
  const char *pass;    ///< BEFORE, AFTER
} tspec_dump_t;

/// A report as text or as JSON.
typedef enum tspec_report_t {
  TSPEC_REPORT_NONE,
  TSPEC_REPORT_TEXT,
  TSPEC_REPORT_JSON,
} tspec_report_t;

typedef TSPEC_VEC(const char *) tspec_words_t;

/// A parsed command line. Strings are borrowed from argv; lists lie in an arena.
typedef struct tspec_command_t {
  bool help;
  bool version;
  bool list_passes;
  bool list_ops;
  bool list_md; ///< lists as the pages of docs/
  bool list_rules;
  const char *input;
  const char *output;
  tspec_words_t entries;
  tspec_words_t sets;
  tspec_words_t rules;
  const char *mesh;
  int64_t nranks; ///< 0: not given
  const char *cpu;
  bool verbose;
  bool emit_given;
  tspec_output_t emit;
  TSPEC_VEC(tspec_dump_t) dumps;
  const char *dump_dir;
  bool time_passes;
  const char *stop_after;
  const char *passes;
  tspec_words_t plugins; ///< "LIB[,key=value...]" of each --pass-plugin
  bool verify_each;
  tspec_report_t report;
  tspec_report_t shardings;
  tspec_report_t explain;
  tspec_cost_model_t cost_model;
  tspec_words_t explained; ///< the values that --explain names; none: all
  bool lint;
  bool strict;
  bool check;
} tspec_command_t;

/// Parses argv. Errors: false after one line on `errors` that says what is wrong (and, for a slip
/// of the pen, what may be meant); the caller then ends with the exit code for usage.
bool tspec_command_parse(tspec_arena_t *arena, int argc, const char *const *argv, FILE *errors,
                         tspec_command_t *out_command);

/// Whether `name`, given as option `option`, is a pass; `extras` (may be NULL) are those of
/// plugins. Errors: false after one line on `errors`. Called by tspec_command_parse if there are no
/// plugins and no --passes, whose own steps may be meant.
bool tspec_command_check_pass(tspec_arena_t *arena, const char *option, const char *name,
                              const tspec_extra_passes_t *extras, FILE *errors);

/// The text of --help.
void tspec_command_print_help(FILE *stream);

#endif
