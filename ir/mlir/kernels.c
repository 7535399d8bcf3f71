#include "ir/mlir/kernels.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>
#include <mlir-c/Transforms.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/mlir/context.h"
#include "passes/kernel.h"

/// On functions of kernels the numbers of buffers and of arguments, on what they use a unit.
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

/// What an op of the kernels' text is marked with, so that import knows it again: a kernel's
/// function with its counts.
static MlirAttribute mark(const tspec_program_t *program, MlirOperation op, tspec_arena_t *arena) {
  MlirContext context = mlirOperationGetContext(op);
  const char *name = symbol(op, arena);
  const tspec_kernel_t *kernel = name == NULL ? NULL : tspec_kernel_find(program, name);
  if (kernel == NULL) {
    return mlirUnitAttrGet(context);
  }
  int64_t counts[] = {kernel->nbuffers, kernel->nargs};
  return mlirDenseI64ArrayGet(context, 2, counts);
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

/// Collects the globals that a kernel reads.
typedef struct globals_t {
  tspec_arena_t *arena;
  const tspec_names_t *texts; ///< of all globals, by symbol
  tspec_names_t seen;
  tspec_buf_t text;
} globals_t;

static MlirWalkResult visit(MlirOperation op, void *user) {
  globals_t *globals = user;
  MlirAttribute name = mlirOperationGetAttributeByName(op, tspec_string_ref("name"));
  if (is_op(op, "memref.get_global") && mlirAttributeIsAFlatSymbolRef(name)) {
    MlirStringRef ref = mlirFlatSymbolRefAttrGetValue(name);
    const char *key = tspec_arena_strdup(globals->arena, ref.data, ref.length);
    const char *text = tspec_names_get(globals->texts, key);
    if (text != NULL && tspec_names_get(&globals->seen, key) == NULL) {
      tspec_names_set(globals->arena, &globals->seen, key, (void *)text);
      tspec_buf_puts(&globals->text, text);
    }
  }
  return MlirWalkResultAdvance;
}

/// The globals that the function `op` reads, as text, or NULL if there are none.
static const char *read_globals(MlirOperation op, const tspec_names_t *texts,
                                tspec_arena_t *arena) {
  globals_t globals = {.arena = arena, .texts = texts};
  mlirOperationWalk(op, visit, &globals, MlirWalkPreOrder);
  const char *text = globals.text.length == 0
                         ? NULL
                         : tspec_arena_strdup(arena, globals.text.text, globals.text.length);
  tspec_buf_deinit(&globals.text);
  return text;
}

/// The text of every marked global, by symbol.
static tspec_names_t global_texts(MlirModule module, tspec_arena_t *arena) {
  tspec_names_t texts = {0};
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    const char *name = symbol(op, arena);
    if (tspec_kernels_owns(op) && is_op(op, "memref.global") && name != NULL) {
      tspec_buf_t text = {0};
      print_unmarked(op, &text);
      tspec_names_set(arena, &texts, name, tspec_arena_strdup(arena, text.text, text.length));
      tspec_buf_deinit(&text);
    }
  }
  return texts;
}

bool tspec_kernels_import(tspec_program_t *program, MlirModule module, tspec_diag_t *diag) {
  tspec_names_t texts = global_texts(module, program->arena);
  bool ok = true;
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute value = mlirOperationGetDiscardableAttributeByName(op, tspec_string_ref(kMark));
    if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseI64Array(value)) {
      continue;
    }
    tspec_kernel_t kernel;
    if (import_kernel(program, op, value, diag, &kernel)) {
      kernel.globals = read_globals(op, &texts, program->arena);
      tspec_kernel_add(program, &kernel);
    } else {
      ok = false;
    }
  }
  return ok;
}
