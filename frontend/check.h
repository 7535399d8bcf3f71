// From syntax trees to a global program: names, compile-time numbers, modules, rules, shapes,
// dtypes and shardings are checked here, calls are inlined, loops unrolled, ops emitted. The last
// step of the frontend.
#ifndef TSPEC_FRONTEND_CHECK_H
#define TSPEC_FRONTEND_CHECK_H

#include "frontend/ast.h"
#include "ir/base/diag.h"
#include "ir/program.h"

/// What the command line says. All zero: nothing.
typedef struct tspec_check_options_t {
  size_t nsets;
  const char *const *sets; ///< "NAME=VALUE" of each --set
  const char *mesh;        ///< "data=4,model=2" of --mesh, or NULL
  int64_t nranks;          ///< --ranks; 0: not given
  size_t nrules;
  const char *const *rules; ///< paths of rules files, in order (--rules)
  size_t nentries;
  const char *const *entries; ///< --entry; only checked here: all entries are propagated together
  bool strict;       ///< promises hold under --mesh and --set, too (`diag` makes warnings errors)
  int64_t max_steps; ///< how many expressions, calls and iterations may be worked out in all; 0:
                     ///< the language's limit
  bool lint;         ///< more said about rules: fallbacks taken, rules that an '@' overrides
} tspec_check_options_t;

/// Checks a program: `main`, what it imports (files relative to the importing one), the rules
/// files and the standard library.
///
/// Ownership: the program lies in `arena` and borrows names from the trees; files read are added to
/// `sources`.
/// Errors:    NULL after reporting everything found to `diag`. An entry that needs a part of the
///            language that is not built is left out with one warning; an error if none is left.
tspec_program_t *tspec_check(tspec_arena_t *arena, tspec_sources_t *sources,
                             const tspec_ast_file_t *main, const tspec_check_options_t *options,
                             tspec_diag_t *diag);

#endif
