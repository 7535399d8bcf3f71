// An MLIR context that knows tspec's dialect and reports through our diagnostics.
#ifndef TSPEC_IR_MLIR_CONTEXT_H
#define TSPEC_IR_MLIR_CONTEXT_H

#include <mlir-c/IR.h>
#include <stdio.h>

#include "ir/base/diag.h"
#include "ir/base/str.h"

/// Loads the dialect `tspec` into `context`; `irdl` must be registered there. Returns false if MLIR
/// refuses the definition.
bool tspec_dialect_load(MlirContext context);

/// A context with the dialects func, irdl and tspec, one thread, whose errors, warnings and notes
/// go to `diag` (borrowed; must outlive it). Ownership: mlirContextDestroy. Attributes of others
/// that programs keep live in it: it must outlive them.
MlirContext tspec_context_create(tspec_diag_t *diag);

/// Where in a source file a location is: the first file place within it, `out_because` the
/// outermost name around it (in `arena`) or NULL. No place: all zero.
tspec_range_t tspec_location_range(MlirLocation location, tspec_sources_t *sources,
                                   tspec_arena_t *arena, const char **out_because);
/// The reverse: a FileLineColRange, a NameLoc around it if `because` is not NULL.
MlirLocation tspec_location_make(MlirContext context, const tspec_sources_t *sources,
                                 tspec_range_t range, const char *because);

/// Appends a module's text with all locations.
void tspec_module_print(MlirModule module, tspec_buf_t *buf);

static inline MlirStringRef tspec_string_ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

#endif
