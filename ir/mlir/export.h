// From a program to an MLIR module: what dumps print and what plugins and upstream passes see.
#ifndef TSPEC_IR_MLIR_EXPORT_H
#define TSPEC_IR_MLIR_EXPORT_H

#include <mlir-c/IR.h>

#include "ir/program.h"

/// A module that says all that `program` says, at its level:
///
///   module attributes {tspec.level = "global", tspec.name = "mlp"} {
///     "tspec.mesh"() {axes = ["data"], sizes = array<i64: 2>} : () -> ()
///     "tspec.param"() {path = "w", type = tensor<4x2xf32>, init = "normal", ...} : () -> ()
///     func.func @forward(%arg0: tensor<8x4xf32> {tspec.kind = "input", tspec.name = "x",
///                                                tspec.sharding = #tspec.sharding<"[data, -]">})
///         -> (tensor<8x2xf32> {tspec.kind = "result", tspec.name = "y"}) { ... }
///   }
///
/// Ops stand in generic form with their attributes, `shardings`, `names` and `spelling`. From
/// `local` on types are the blocks of rank 0, and `global` holds the whole types where they differ.
/// Locations are the program's places; `because` is a name around them. Kernels follow the entries
/// as functions of upstream dialects. `context` comes from tspec_context_create; numbers the
/// functions' values. Ownership: mlirModuleDestroy. Errors: a null module after reporting to the
/// context's diagnostics (a kernel's text that MLIR refuses).
MlirModule tspec_program_export(MlirContext context, tspec_program_t *program,
                                const tspec_sources_t *sources);

#endif
