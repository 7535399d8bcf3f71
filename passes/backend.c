#include "passes/backend.h"

#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/export.h"
#include "ir/mlir/import.h"
#include "passes/plugin.h"

struct tspec_backend_context_t {
  MlirContext context;
};

static tspec_backend_context_t *create_context(tspec_diag_t *diag) {
  tspec_backend_context_t *context = malloc(sizeof *context);
  TSPEC_CHECK(context != NULL, "out of memory");
  context->context = tspec_context_create(diag);
  return context;
}

static void destroy_context(tspec_backend_context_t *context) {
  mlirContextDestroy(context->context);
  free(context);
}

static bool print(tspec_backend_context_t *context, tspec_program_t *program,
                  const tspec_sources_t *sources, tspec_buf_t *buf) {
  MlirModule module = tspec_program_export(context->context, program, sources);
  if (mlirModuleIsNull(module)) {
    return false;
  }
  tspec_module_print(module, buf);
  mlirModuleDestroy(module);
  return true;
}

static tspec_program_t *read_program(tspec_backend_context_t *context, uint32_t file,
                                     tspec_arena_t *arena, tspec_diag_t *diag) {
  return tspec_program_import_file(context->context, file, arena, diag);
}

static void append(MlirStringRef text, void *buf) {
  tspec_buf_append(buf, text.data, text.length);
}

/// The first line of MLIR's words about a pipeline, without the place in a text that the user did
/// not write.
static const char *reason_of(const tspec_buf_t *buf, tspec_arena_t *arena) {
  const char *text = tspec_buf_get(buf);
  const char *after = strstr(text, "error: ");
  text = after == NULL ? text : after + strlen("error: ");
  return tspec_arena_strdup(arena, text, strcspn(text, "\n"));
}

/// Parses the pipeline and runs it. Errors: false after reporting.
static bool run_passes(MlirModule module, const char *pipeline, tspec_diag_t *diag) {
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(module));
  tspec_buf_t reason = {0};
  bool ok = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(passes), tspec_string_ref(pipeline), append, &reason));
  if (!ok) {
    tspec_diag_error(diag, (tspec_range_t){0}, "--passes: '%s' is no pass of tspec or MLIR: %s",
                     pipeline, reason_of(&reason, diag->sources->arena));
  } else {
    ok = mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module)));
    if (!ok) {
      tspec_diag_error(diag, (tspec_range_t){0}, "pass '%s' failed", pipeline);
    }
  }
  tspec_buf_deinit(&reason);
  mlirPassManagerDestroy(passes);
  return ok;
}

static bool run_upstream(tspec_backend_context_t *context, const char *pipeline,
                         tspec_program_t **program, tspec_diag_t *diag) {
  MlirModule module = tspec_program_export(context->context, *program, diag->sources);
  if (mlirModuleIsNull(module)) {
    return false;
  }
  mlirRegisterAllPasses(); // registering again changes nothing
  tspec_program_t *result = NULL;
  if (run_passes(module, pipeline, diag)) {
    result = tspec_program_import(module, (*program)->arena, diag);
  }
  mlirModuleDestroy(module);
  if (result == NULL) {
    return false;
  }
  *program = result;
  return true;
}

static bool run_plugin(tspec_backend_context_t *context, const tspec_extra_pass_t *pass,
                       tspec_program_t **program, tspec_diag_t *diag) {
  return tspec_plugin_run_pass(context->context, pass, program, diag);
}

const tspec_backend_t *tspec_backend_get(void) {
  static const tspec_backend_t kBackend = {
      .version = TSPEC_VERSION,
      .set_check_handler = tspec_check_handler_set,
      .create_context = create_context,
      .destroy_context = destroy_context,
      .print = print,
      .read = read_program,
      .run_upstream = run_upstream,
      .load_plugin = tspec_plugin_load,
      .run_plugin = run_plugin,
      .check_cpu = tspec_codegen_check_cpu,
      .codegen = tspec_codegen_run,
  };
  return &kBackend;
}
