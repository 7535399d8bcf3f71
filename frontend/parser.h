// From text to a syntax tree. The first step of the frontend; what a tree means is the checker's
// affair.
#ifndef TSPEC_FRONTEND_PARSER_H
#define TSPEC_FRONTEND_PARSER_H

#include "frontend/ast.h"
#include "ir/base/diag.h"

/// Parses one source file (a program, an imported file or a rules file) by the grammar of
/// docs/language.md.
///
/// Ownership: the tree and its strings lie in `arena`; they borrow nothing from `sources`.
/// Errors:    every syntax error is reported to `diag` (`diag->nerrors` tells), each statement or
/// declaration once; the
///            tree is never NULL and holds the statements and declarations that were read. No input
///            makes it fail otherwise: nesting deeper than TSPEC_PARSER_MAX_DEPTH is an error, too.
tspec_ast_file_t *tspec_parse(tspec_arena_t *arena, tspec_sources_t *sources, uint32_t file,
                              tspec_diag_t *diag);

/// How high the tree of an expression may grow: operators in a chain count one each, so recursion
/// over a tree is bounded.
#define TSPEC_PARSER_MAX_HEIGHT 1000
/// How deep expressions, blocks and brackets may nest in all.
#define TSPEC_PARSER_MAX_DEPTH 256

#endif
