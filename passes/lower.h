// Kernels as LLVM IR. Only code generation includes this: it speaks LLVM's C API.
#ifndef TSPEC_PASSES_LOWER_H
#define TSPEC_PASSES_LOWER_H

#include <llvm-c/Types.h>

#include "ir/base/diag.h"
#include "ir/program.h"

/// The program's kernels as a module in `context`: one internal function per kernel,
/// NAME(buffers..., args..., begin, end), and the elementary functions that they call. Kernels may
/// be none. Ownership: the caller disposes it. Errors: NULL after reporting what MLIR says (a
/// kernel of a plugin or of a file may be wrong).
LLVMModuleRef tspec_lower_kernels(const tspec_program_t *program, LLVMContextRef context,
                                  tspec_diag_t *diag);

#endif
