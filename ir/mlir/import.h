// From an MLIR module to a program, the reverse of export.h.
#ifndef TSPEC_IR_MLIR_IMPORT_H
#define TSPEC_IR_MLIR_IMPORT_H

#include <mlir-c/IR.h>

#include "ir/program.h"

/// Reads what export.h writes, at any level, also written by hand or rewritten by other tools.
/// Attributes with a foreign prefix
/// ("mine.x") are kept on ops. What holds between ops is tspec_program_verify's affair, which the
/// caller runs.
///
/// Ownership: in `arena`; foreign attributes stay in the module's context.
/// Errors:    NULL after reporting to `diag` everything that does not fit, at the ops' locations:
/// unknown ops and attributes,
///            missing or ill-typed attributes, types other than static tensors, bad notation,
///            regions, several blocks.
tspec_program_t *tspec_program_import(MlirModule module, tspec_arena_t *arena, tspec_diag_t *diag);

/// Parses file number `file` of `diag->sources` in `context` (tspec_context_create) and imports it.
tspec_program_t *tspec_program_import_file(MlirContext context, uint32_t file, tspec_arena_t *arena,
                                           tspec_diag_t *diag);

#endif
