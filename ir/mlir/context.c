#include "ir/mlir/context.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/IRDL.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/MemRef.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/Vector.h>
#include <string.h>

#include "ir/mlir/irdl.h"

static void append(MlirStringRef text, void *buf) {
  tspec_buf_append(buf, text.data, text.length);
}

bool tspec_dialect_load(MlirContext context) {
  tspec_buf_t text = {0};
  tspec_dialect_print_irdl(&text);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreate(tspec_buf_get(&text), text.length));
  bool ok = !mlirModuleIsNull(module) && mlirLogicalResultIsSuccess(mlirLoadIRDLDialects(module));
  if (!mlirModuleIsNull(module)) {
    mlirModuleDestroy(module);
  }
  tspec_buf_deinit(&text);
  return ok;
}

// "see current operation" repeats the IR of what the message already names: no error is ever only
// about the IR.
static bool is_noise(const char *text) {
  return strncmp(text, "see current operation", strlen("see current operation")) == 0;
}

static void report_one(MlirDiagnostic diagnostic, tspec_severity_t severity, tspec_diag_t *diag) {
  tspec_buf_t text = {0};
  mlirDiagnosticPrint(diagnostic, append, &text);
  const char *because = NULL;
  tspec_range_t range = tspec_location_range(mlirDiagnosticGetLocation(diagnostic), diag->sources,
                                             diag->sources->arena, &because);
  const char *message = tspec_buf_get(&text);
  if (severity == TSPEC_SEVERITY_ERROR) {
    tspec_diag_error(diag, range, "%s", message);
  } else if (severity == TSPEC_SEVERITY_WARNING) {
    tspec_diag_warning(diag, range, "%s", message);
  } else if (!is_noise(message)) {
    tspec_diag_note(diag, range, "%s", message);
  }
  tspec_buf_deinit(&text);
}

static MlirLogicalResult report(MlirDiagnostic diagnostic, void *diag) {
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  report_one(diagnostic,
             severity == MlirDiagnosticError     ? TSPEC_SEVERITY_ERROR
             : severity == MlirDiagnosticWarning ? TSPEC_SEVERITY_WARNING
                                                 : TSPEC_SEVERITY_NOTE,
             diag);
  intptr_t nnotes = mlirDiagnosticGetNumNotes(diagnostic);
  for (intptr_t i = 0; i < nnotes; i++) {
    report_one(mlirDiagnosticGetNote(diagnostic, i), TSPEC_SEVERITY_NOTE, diag);
  }
  return mlirLogicalResultSuccess();
}

MlirContext tspec_context_create(tspec_diag_t *diag) {
  // Loaded when a text first uses one of them; the last ones only in the bodies of kernels.
  const MlirDialectHandle handles[] = {
      mlirGetDialectHandle__func__(),  mlirGetDialectHandle__irdl__(),
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__cf__(),
      mlirGetDialectHandle__math__(),  mlirGetDialectHandle__memref__(),
      mlirGetDialectHandle__scf__(),   mlirGetDialectHandle__vector__(),
  };
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleInsertDialect(handles[i], registry);
  }
  MlirContext context = mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirContextGetOrLoadDialect(context, tspec_string_ref("func"));
  mlirContextAttachDiagnosticHandler(context, report, diag, NULL);
  bool loaded = tspec_dialect_load(context);
  TSPEC_CHECK(loaded, "MLIR refuses the definition of the dialect");
  return context;
}

static tspec_range_t file_range(MlirLocation location, tspec_sources_t *sources) {
  MlirStringRef name = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  char *path = tspec_arena_strdup(sources->arena, name.data, name.length);
  tspec_range_t range = {
      .file = tspec_sources_intern(sources, path),
      .line = (uint32_t)mlirLocationFileLineColRangeGetStartLine(location),
      .col = (uint32_t)mlirLocationFileLineColRangeGetStartColumn(location),
      .end_line = (uint32_t)mlirLocationFileLineColRangeGetEndLine(location),
      .end_col = (uint32_t)mlirLocationFileLineColRangeGetEndColumn(location),
  };
  return range;
}

tspec_range_t tspec_location_range(MlirLocation location, tspec_sources_t *sources,
                                   tspec_arena_t *arena, const char **out_because) {
  *out_because = NULL;
  for (;;) {
    if (mlirLocationIsAFileLineColRange(location)) {
      return file_range(location, sources);
    }
    if (mlirLocationIsAName(location)) {
      if (*out_because == NULL) {
        MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(location));
        *out_because = tspec_arena_strdup(arena, name.data, name.length);
      }
      location = mlirLocationNameGetChildLoc(location);
    } else if (mlirLocationIsACallSite(location)) {
      location = mlirLocationCallSiteGetCallee(location);
    } else if (mlirLocationIsAFused(location)) {
      unsigned count = mlirLocationFusedGetNumLocations(location);
      if (count == 0) {
        return (tspec_range_t){0};
      }
      MlirLocation *parts = TSPEC_ARENA_NEW(arena, MlirLocation, count);
      mlirLocationFusedGetLocations(location, parts);
      location = parts[0];
    } else {
      return (tspec_range_t){0};
    }
  }
}

MlirLocation tspec_location_make(MlirContext context, const tspec_sources_t *sources,
                                 tspec_range_t range, const char *because) {
  const tspec_source_t *source = range.file == 0 ? NULL : tspec_sources_get(sources, range.file);
  MlirLocation location = mlirLocationUnknownGet(context);
  if (source != NULL) {
    MlirStringRef path = tspec_string_ref(source->path);
    bool empty =
        range.end_line == 0 || (range.end_line == range.line && range.end_col == range.col);
    location = empty ? mlirLocationFileLineColGet(context, path, range.line, range.col)
                     : mlirLocationFileLineColRangeGet(context, path, range.line, range.col,
                                                       range.end_line, range.end_col);
  }
  return because == NULL ? location
                         : mlirLocationNameGet(context, tspec_string_ref(because), location);
}

void tspec_module_print(MlirModule module, tspec_buf_t *buf) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, /*enable=*/true, /*prettyForm=*/false);
  mlirOperationPrintWithFlags(mlirModuleGetOperation(module), flags, append, buf);
  mlirOpPrintingFlagsDestroy(flags);
}
