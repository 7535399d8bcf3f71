// The dialect's definition as IRDL text, made from the op table: what tspec loads into a context,
// and what is installed as share/tspec/tspec.irdl.mlir for stock tools (mlir-opt --irdl-file=). No
// MLIR needed.
#ifndef TSPEC_IR_MLIR_IRDL_H
#define TSPEC_IR_MLIR_IRDL_H

#include "ir/base/str.h"

/// Appends the text of the module that defines `tspec`: every op of ir/ops.def with its arity and
/// required attributes, the module-level ops (mesh, param, expect), to_any and from_any, the type
/// `any` and the attribute `sharding`. It is loose on purpose: shapes and shardings are checked by
/// tspec_program_verify, whose messages say more.
void tspec_dialect_print_irdl(tspec_buf_t *buf);

#endif
