// From a planned program (level kernels, after plan-memory) to a native object or executable:
// kernels through MLIR and LLVM, the program image as constant data, the system's linker.
#ifndef TSPEC_PASSES_CODEGEN_H
#define TSPEC_PASSES_CODEGEN_H

#include <stdbool.h>

#include "ir/base/diag.h"
#include "ir/program.h"

/// What tspec_codegen_run writes.
typedef enum tspec_emit_t {
  TSPEC_EMIT_EXE,  ///< an executable, linked with libtspecrt
  TSPEC_EMIT_OBJ,  ///< the object file alone; its tspec_compiled_t is named tspec_program_NAME
  TSPEC_EMIT_ASM,  ///< assembly text of that object
  TSPEC_EMIT_LLVM, ///< LLVM IR text after optimisation
} tspec_emit_t;

/// How to generate code. All strings are borrowed.
typedef struct tspec_codegen_t {
  const char
      *cpu; ///< "native", "x86-64-v2", "x86-64-v3", "x86-64-v4" or an LLVM CPU name; NULL: native
  tspec_emit_t emit;
  const char *output;     ///< path of the file to write
  const char *compiler;   ///< goes into the image: "tspecc 0.1.0"
  const char *tspecc_dir; ///< folder of the running tspecc: libtspecrt.a is looked for in it, in
                          ///< ../lib, then where the build put it; NULL: only the last
  bool verbose;           ///< print the link command to stderr
} tspec_codegen_t;

/// Checks `cpu` (NULL: native) before anything is compiled. Errors: false after reporting at
/// `range` what names there are.
bool tspec_codegen_check_cpu(const char *cpu, tspec_range_t range, tspec_diag_t *diag);

/// Writes what `options` asks for. `program` is at level kernels with planned memory (passes fuse
/// and plan-memory ran); it is not changed. Temporary files lie beside the output and are removed.
/// Errors: false after reporting (file cannot be written, libtspecrt not found, the linker's own
/// words).
bool tspec_codegen_run(const tspec_program_t *program, const tspec_codegen_t *options,
                       tspec_diag_t *diag);

/// Links object file `object` with libtspecrt into `options->output`. Errors: as tspec_codegen_run.
bool tspec_link_executable(const char *object, const tspec_codegen_t *options, tspec_diag_t *diag);

#endif
