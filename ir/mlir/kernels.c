#include "ir/mlir/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>
#include <mlir-c/Transforms.h>
#include <string.h>

#include "ir/base/vec.h"
#include "ir/mlir/context.h"
#include "passes/kernel.h"

static const char kMark[] = "tspec.kernel";

static bool is_op(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), tspec_string_ref(name));
}

/// The symbol that an op defines, in `arena`, or NULL.
static const char *symbol(MlirOperation op, tspec_arena_t *arena) {
  MlirAttribute name = mlirOperationGetAttributeByName(op, tspec_string_ref("sym_name"));
  if (mlirAttributeIsNull(name) || !mlirAttributeIsAString(name)) {
    return NULL;
  }
  MlirStringRef text = mlirStringAttrGetValue(name);
  return tspec_arena_strdup(arena, text.data, text.length);
}

/// The kernel that a global belongs to: the one with the longest name that its own starts with.
static const tspec_kernel_t *owner(const tspec_program_t *program, const char *global) {
  const tspec_kernel_t *best = NULL;
  for (int i = 0; i < program->nkernels; i++) {
    const tspec_kernel_t *kernel = &program->kernels[i];
    size_t length = strlen(kernel->name);
    if (strncmp(global, kernel->name, length) == 0 &&
        (best == NULL || length > strlen(best->name))) {
      best = kernel;
    }
  }
  return best;
}

/// What an op of the kernels' text is marked with, so that import knows it again.
static MlirAttribute mark(const tspec_program_t *program, MlirOperation op, tspec_arena_t *arena) {
  MlirContext context = mlirOperationGetContext(op);
  const char *name = symbol(op, arena);
  const tspec_kernel_t *kernel = name == NULL ? NULL : tspec_kernel_find(program, name);
  if (kernel != NULL) {
    int64_t counts[] = {kernel->nbuffers, kernel->nargs};
    return mlirDenseI64ArrayGet(context, 2, counts);
  }
  if (name != NULL && is_op(op, "memref.global")) {
    kernel = owner(program, name);
    TSPEC_CHECK(kernel != NULL, "global '%s' belongs to no kernel", name);
    return mlirStringAttrGet(context, tspec_string_ref(kernel->name));
  }
  return mlirUnitAttrGet(context);
}

/// Where a kernel's text stood is no place in the user's files.
static bool strip_locations(MlirModule module) {
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(module));
  mlirPassManagerAddOwnedPass(passes, mlirCreateTransformsStripDebugInfo());
  MlirLogicalResult result = mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(passes);
  return mlirLogicalResultIsSuccess(result);
}

bool tspec_kernels_export(const tspec_program_t *program, MlirModule module) {
  if (program->nkernels == 0) {
    return true;
  }
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  MlirContext context = mlirModuleGetContext(module);
  const char *text = tspec_kernels_print(program, &scratch);
  MlirModule kernels = mlirModuleCreateParse(context, tspec_string_ref(text));
  bool ok = !mlirModuleIsNull(kernels) && strip_locations(kernels);
  if (ok) {
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(kernels));
    while (!mlirOperationIsNull(op)) {
      MlirOperation next = mlirOperationGetNextInBlock(op);
      mlirOperationSetDiscardableAttributeByName(op, tspec_string_ref(kMark),
                                                 mark(program, op, &scratch));
      mlirOperationRemoveFromParent(op);
      mlirBlockAppendOwnedOperation(mlirModuleGetBody(module), op);
      op = next;
    }
  }
  if (!mlirModuleIsNull(kernels)) {
    mlirModuleDestroy(kernels);
  }
  tspec_arena_deinit(&scratch);
  return ok;
}

bool tspec_kernels_owns(MlirOperation op) {
  return !mlirAttributeIsNull(
      mlirOperationGetDiscardableAttributeByName(op, tspec_string_ref(kMark)));
}

static void append(MlirStringRef text, void *buf) {
  tspec_buf_append(buf, text.data, text.length);
}

/// An op's text without its mark.
static void print_unmarked(MlirOperation op, tspec_buf_t *buf) {
  MlirOperation copy = mlirOperationClone(op);
  mlirOperationRemoveDiscardableAttributeByName(copy, tspec_string_ref(kMark));
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOperationPrintWithFlags(copy, flags, append, buf);
  mlirOpPrintingFlagsDestroy(flags);
  mlirOperationDestroy(copy);
  tspec_buf_puts(buf, "\n");
}

/// Fills in a kernel from the function that is its body.
static bool import_kernel(tspec_program_t *program, MlirOperation op, MlirAttribute counts,
                          tspec_diag_t *diag, tspec_kernel_t *out_kernel) {
  tspec_arena_t *arena = program->arena;
  const char *because = NULL;
  tspec_range_t range =
      tspec_location_range(mlirOperationGetLocation(op), diag->sources, arena, &because);
  if (!is_op(op, "func.func") || mlirDenseArrayGetNumElements(counts) != 2) {
    tspec_diag_error(diag, range, "'tspec.kernel' wants a function and its two counts");
    return false;
  }
  tspec_buf_t text = {0};
  print_unmarked(op, &text);
  *out_kernel = (tspec_kernel_t){
      .name = symbol(op, arena),
      .body = tspec_arena_strdup(arena, tspec_buf_get(&text), text.length),
      .nbuffers = (int)mlirDenseI64ArrayGetElement(counts, 0),
      .nargs = (int)mlirDenseI64ArrayGetElement(counts, 1),
  };
  tspec_buf_deinit(&text);
  return true;
}

/// The globals of `kernel`, as text, or NULL if there are none.
static const char *import_globals(MlirModule module, const char *kernel, tspec_arena_t *arena) {
  tspec_buf_t text = {0};
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute value = mlirOperationGetDiscardableAttributeByName(op, tspec_string_ref(kMark));
    if (!mlirAttributeIsNull(value) && mlirAttributeIsAString(value) &&
        mlirStringRefEqual(mlirStringAttrGetValue(value), tspec_string_ref(kernel))) {
      print_unmarked(op, &text);
    }
  }
  const char *globals = text.length == 0 ? NULL : tspec_arena_strdup(arena, text.text, text.length);
  tspec_buf_deinit(&text);
  return globals;
}

bool tspec_kernels_import(tspec_program_t *program, MlirModule module, tspec_diag_t *diag) {
  TSPEC_VEC(tspec_kernel_t) kernels = {0};
  bool ok = true;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute value = mlirOperationGetDiscardableAttributeByName(op, tspec_string_ref(kMark));
    if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseI64Array(value)) {
      continue;
    }
    tspec_kernel_t kernel;
    if (import_kernel(program, op, value, diag, &kernel)) {
      kernel.globals = import_globals(module, kernel.name, program->arena);
      TSPEC_VEC_PUSH(program->arena, &kernels, kernel);
    } else {
      ok = false;
    }
  }
  program->kernels = kernels.items;
  program->nkernels = (int)kernels.count;
  return ok;
}
