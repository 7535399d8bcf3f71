// The bodies of kernels within a module, for export.h and import.h: functions of upstream dialects
// after the entries.
#ifndef TSPEC_IR_MLIR_KERNELS_H
#define TSPEC_IR_MLIR_KERNELS_H

#include <mlir-c/IR.h>

#include "ir/program.h"

/// Appends the program's kernels, the globals they read and declarations of what they call to
/// `module`, without locations; each function and global bears `tspec.kernel`. Nothing if there are
/// no kernels. Errors: false after reporting to the context's diagnostics if a kernel's text does
/// not parse.
bool tspec_kernels_export(const tspec_program_t *program, MlirModule module);

/// True if a module-level op belongs to a kernel (or is the declaration of a function that kernels
/// call).
bool tspec_kernels_owns(MlirOperation op);

/// Reads the kernels of `module` into `program`. Errors: false after reporting to `diag`.
bool tspec_kernels_import(tspec_program_t *program, MlirModule module, tspec_diag_t *diag);

#endif
